//go:build unix

package suite_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-litmus/mcp-litmus/internal/rejudge"
	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// hostileBound is far beyond what any of these runs takes: it only keeps a hang from taking the whole test run along.
const hostileBound = 4 * time.Minute

// marker is a variable in the environment of a hostile server, by which its processes are found wherever they have gone.
const marker = "MCP_LITMUS_HOSTILE_TEST"

// hostileTests say what must be seen of each hostile server. What is the same for all is in runHostile.
var hostileTests = map[string]struct {
	args    []string
	choose  string        // a selection for a server that costs much each time
	escapes bool          // what it leaves behind is out of the suite's reach
	wait    time.Duration // of the suite for an answer; 0: 400 ms
	start   time.Duration // of the suite for a handshake; 0: 30 s
	check   func(t *testing.T, o *suite.Outcome)
}{
	"crash-at-start": {check: undriven("exited with code 3", "crashing at the start")},
	"crash-mid":      {check: breaks("base.response.every-request")},
	"silent":         {start: 2 * time.Second, check: undriven("nothing came in time")},
	"endless-notifications": {choose: "basic", wait: 10 * time.Second, check: func(t *testing.T, o *suite.Outcome) {
		told(t, o, "more than 10000 messages in one session")
		if n := count(o, verdict.Pass); n == 0 {
			t.Error("nothing passed, though it answers")
		}
	}},
	"garbage": {check: breaks("stdio.stdout.only-messages")},
	"huge-line": {args: []string{"--size", "20000000"}, choose: "tools", wait: time.Minute, check: func(t *testing.T, o *suite.Outcome) {
		told(t, o, "more than the suite reads of one")
	}},
	"slow-drip":             {args: []string{"--pause", "1ms"}, check: judged},
	"stderr-flood":          {args: []string{"--size", "300000"}, check: judged},
	"ignore-eof":            {check: notes("stdio.shutdown.exits")},
	"fork-holder":           {check: judged},
	"fork-escapee":          {escapes: true, check: judged},
	"http-never-answers":    {start: 2 * time.Second, check: undriven("nothing came in time")},
	"http-endless-sse":      {choose: "basic", wait: 10 * time.Second, check: func(t *testing.T, o *suite.Outcome) { told(t, o, "more than 10000 messages in one session") }},
	"http-huge-body":        {args: []string{"--size", "20000000"}, choose: "tools", wait: time.Minute, check: func(t *testing.T, o *suite.Outcome) { told(t, o, "more than the suite reads of one") }},
	"http-garbage":          {check: breaks("base.response.every-request")},
	"http-drops-connection": {check: breaks("base.response.every-request")},
	"http-crash":            {choose: "basic", wait: 10 * time.Second, check: endsForAll},
}

// endsForAll holds that the end of the process that all sessions share is told, and is not held against what came after it.
func endsForAll(t *testing.T, o *suite.Outcome) {
	t.Helper()
	told(t, o, "the server's process exited with code 3")
	for _, v := range o.Report.Verdicts {
		if v.Status == verdict.Error || strings.HasPrefix(v.Requirement, "lifecycle.initialize.") && v.Status == verdict.Fail {
			t.Errorf("%s (%s): %s: %s", v.Requirement, v.Exchange, v.Status, v.Reason)
		}
	}
}

// TestHostileServers holds that no server can hang, bloat or crash the suite, whatever it does.
func TestHostileServers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	dir := t.TempDir()
	hostile := build(t, dir, "./fixtures/hostile")
	listed, err := exec.Command(hostile, "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(listed)) {
		names = append(names, strings.Fields(line)[0])
	}
	if len(names) != len(hostileTests) {
		t.Errorf("there are %d hostile servers and %d tests of them", len(names), len(hostileTests))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { runHostile(t, hostile, name) })
	}
	cli := build(t, dir, "./cmd/mcp-litmus")
	t.Run("command line", func(t *testing.T) {
		t.Run("huge-line", func(t *testing.T) { hugeLineOnTheCommandLine(t, cli, hostile) })
		t.Run("crash-mid", func(t *testing.T) { crashOnTheCommandLine(t, cli, hostile) })
		for _, name := range []string{"silent", "slow-drip"} {
			t.Run("interrupted in "+name, func(t *testing.T) { interruptOnTheCommandLine(t, cli, hostile, name) })
		}
	})
}

func build(t *testing.T, dir, pkg string) string {
	t.Helper()
	program := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", program, pkg)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s cannot be built: %v\n%s", pkg, err, out)
	}
	return program
}

// hostileTarget is the server and the value of its marker.
func hostileTarget(t *testing.T, program, name string) (target suite.Target, mark string) {
	t.Helper()
	mark = newMark()
	argv := append([]string{program, name, "--life", "5m"}, hostileTests[name].args...)
	opts := transport.CommandOptions{Env: []string{marker + "=" + mark}, Limits: transport.Limits{Grace: 300 * time.Millisecond}}
	if !strings.HasPrefix(name, "http-") {
		return transport.Command(argv, opts), mark
	}
	address := freeAddress(t)
	served, err := transport.Served(append(argv, "--http", address), opts, "http://"+address+"/mcp", transport.URLOptions{Limits: opts.Limits}, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return served, mark
}

var marks atomic.Int64

func newMark() string { return fmt.Sprintf("%d-%d", os.Getpid(), marks.Add(1)) }

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func runHostile(t *testing.T, program, name string) {
	test, ok := hostileTests[name]
	if !ok {
		t.Fatalf("nothing says what must be seen of %s", name)
	}
	target, mark := hostileTarget(t, program, name)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), hostileBound)
	defer cancel()
	o, err := suite.Run(ctx, target, suite.Timeout(cmp.Or(test.wait, 400*time.Millisecond)), suite.StartTimeout(cmp.Or(test.start, 30*time.Second)), suite.Select(test.choose))
	if err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil || !o.Transcript.Complete {
		t.Fatal("the run does not end by itself")
	}
	noProcessLeft(t, mark, test.escapes)
	noGoroutineLeft(t, before)
	rejudge.Check(t, o)
	readable(t, o.Report)
	if len(o.Report.Verdicts) == 0 {
		t.Error("there are no verdicts")
	}
	test.check(t, o)
}

// readable holds that the reports can be written and read.
func readable(t *testing.T, r *verdict.Report) {
	t.Helper()
	var file bytes.Buffer
	if err := reports.JSON(&file, r); err != nil {
		t.Fatal(err)
	}
	again, err := reports.ReadJSON(&file)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Verdicts) != len(r.Verdicts) {
		t.Errorf("%d verdicts were written and %d read", len(r.Verdicts), len(again.Verdicts))
	}
	file.Reset()
	if err := reports.JUnit(&file, r, false); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, file.Bytes())
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	var suites struct {
		XMLName xml.Name
		Tests   int `xml:"tests,attr"`
	}
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatalf("the JUnit report is no XML: %v", err)
	}
	if suites.XMLName.Local != "testsuites" || suites.Tests == 0 {
		t.Errorf("the JUnit report is a %s of %d tests", suites.XMLName.Local, suites.Tests)
	}
}

// noProcessLeft holds that no process with the mark is left; those that have escaped it ends itself.
func noProcessLeft(t *testing.T, mark string, escapes bool) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	left := marked(mark)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if escapes && len(left) == 0 {
		t.Error("nothing has escaped, so this proves nothing")
	}
	if !escapes && len(left) > 0 {
		t.Errorf("the processes %v are left", left)
	}
}

// marked lists the living processes with the mark in their environment.
func marked(mark string) []int {
	var pids []int
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		env, err := os.ReadFile(file) // empty for a zombie; others' cannot be read
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), marker+"="+mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// noGoroutineLeft waits for the goroutines to end that a run has started: some are just about to.
func noGoroutineLeft(t *testing.T, before int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(25 * time.Millisecond) // there is nothing to wait for that would tell
	}
	stacks := make([]byte, 64<<10)
	t.Errorf("%d goroutines were there and %d are left:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

// What must be seen.

func undriven(words ...string) func(*testing.T, *suite.Outcome) {
	return func(t *testing.T, o *suite.Outcome) {
		t.Helper()
		if !o.Undriven() {
			t.Error("it counts as driven")
		}
		for _, w := range words {
			told(t, o, w)
		}
	}
}

func told(t *testing.T, o *suite.Outcome, words string) {
	t.Helper()
	if all := strings.Join(o.Report.Problems, "\n"); !strings.Contains(all, words) {
		t.Errorf("the problems do not tell %q:\n%s", words, all)
	}
}

func breaks(requirement string) func(*testing.T, *suite.Outcome) {
	return has(requirement, verdict.Fail)
}
func notes(requirement string) func(*testing.T, *suite.Outcome) {
	return has(requirement, verdict.Note)
}

func has(requirement string, status verdict.Status) func(*testing.T, *suite.Outcome) {
	return func(t *testing.T, o *suite.Outcome) {
		t.Helper()
		if !slices.ContainsFunc(o.Report.Verdicts, func(v verdict.Verdict) bool { return v.Requirement == requirement && v.Status == status }) {
			t.Errorf("no verdict of %s is %s", requirement, status)
		}
	}
}

func judged(t *testing.T, o *suite.Outcome) {
	t.Helper()
	if o.Report.Judged() == 0 || o.Undriven() {
		t.Errorf("nothing was judged: %v", o.Report.Problems)
	}
}

func count(o *suite.Outcome, status verdict.Status) int { return o.Report.Count()[status] }

// The command line.

type files struct{ json, junit, transcript string }

func command(t *testing.T, cli, mark string, args ...string) (*exec.Cmd, files) {
	t.Helper()
	dir := t.TempDir()
	f := files{filepath.Join(dir, "report.json"), filepath.Join(dir, "report.xml"), filepath.Join(dir, "transcript.jsonl")}
	ctx, cancel := context.WithTimeout(t.Context(), hostileBound)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, cli, append([]string{"run", "--json", f.json, "--junit", f.junit, "--transcript", f.transcript}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), marker+"="+mark)
	return cmd, f
}

// verify holds that the files can be read and that judging the transcript again with the command line gives the same verdicts.
func (f files) verify(t *testing.T, cli string) *verdict.Report {
	t.Helper()
	report := readReport(t, f.json)
	text, err := os.ReadFile(f.junit)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, text)
	again := f.json + ".again"
	out, err := exec.Command(cli, "judge", "--json", again, f.transcript).CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	second := readReport(t, again)
	if len(second.Verdicts) != len(report.Verdicts) {
		t.Fatalf("judged again there are %d verdicts, not %d:\n%s", len(second.Verdicts), len(report.Verdicts), out)
	}
	for i, v := range report.Verdicts {
		if w := second.Verdicts[i]; v.Requirement != w.Requirement || v.Status != w.Status || v.Reason != w.Reason {
			t.Errorf("judged again, %s is %s (%s), not %s (%s)", v.Requirement, w.Status, w.Reason, v.Status, v.Reason)
		}
	}
	return report
}

func readReport(t *testing.T, name string) *verdict.Report {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := reports.ReadJSON(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func hugeLineOnTheCommandLine(t *testing.T, cli, hostile string) {
	mark := newMark()
	cmd, f := command(t, cli, mark, "--select", "tools && !MAY", "--revision", "2025-11-25", "--timeout", "1m", "--", hostile, "huge-line", "--size", "100000000", "--life", "5m")
	// Without it the command line lets garbage lie; here it is the living memory that counts.
	cmd.Env = append(cmd.Env, "GOMEMLIMIT=200MiB")
	peak := peakMemory(t, cmd)
	if code := cmd.ProcessState.ExitCode(); code != 3 && code != 1 {
		t.Errorf("the exit code is %d", code)
	}
	t.Logf("peak memory: %d MB", peak>>20)
	if peak > 400<<20 {
		t.Errorf("it took %d MB of memory", peak>>20)
	}
	noProcessLeft(t, mark, false)
	f.verify(t, cli)
}

// peakMemory runs the command and gives the largest resident size of it alone, in bytes; 0 where that cannot be known.
// What wait tells would count the memory of this test, too, out of which the process is started.
func peakMemory(t *testing.T, cmd *exec.Cmd) (peak int64) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the exit code tells it
	}()
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	for {
		text, _ := os.ReadFile(status)
		if _, rest, ok := strings.Cut(string(text), "\nVmHWM:"); ok {
			if kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
				peak = max(peak, kb<<10)
			}
		}
		select {
		case <-ended:
			return peak
		case <-time.After(5 * time.Millisecond): // it only grows
		}
	}
}

func crashOnTheCommandLine(t *testing.T, cli, hostile string) {
	mark := newMark()
	cmd, f := command(t, cli, mark, "--timeout", "2s", "--", hostile, "crash-mid", "--life", "5m")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("the exit code is %d:\n%s", code, out)
	}
	noProcessLeft(t, mark, false)
	report := f.verify(t, cli)
	if report.Broken(verdict.Fail) == 0 {
		t.Error("nothing is broken in the report")
	}
}

// interruptOnTheCommandLine interrupts a run as soon as the server has been started.
func interruptOnTheCommandLine(t *testing.T, cli, hostile, name string) {
	if runtime.GOOS != "linux" {
		t.Skip("looks for the server's process in /proc")
	}
	mark := newMark()
	cmd, f := command(t, cli, mark, "--timeout", "1m", "--", hostile, name, "--life", "5m", "--pause", "5ms")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(marked(mark)) < 2 { // the command line itself and the server
		time.Sleep(10 * time.Millisecond) // the kernel tells nobody of a process that begins
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("the exit code is %d:\n%s", code, out.String())
	}
	if !strings.Contains(out.String(), "interrupted") {
		t.Errorf("it does not say that it was interrupted:\n%s", out.String())
	}
	noProcessLeft(t, mark, false)
	if report := readReport(t, f.json); report.Complete {
		t.Error("the report says that the run is complete")
	}
	if _, err := os.Stat(f.junit); err != nil {
		t.Error(err)
	}
	if out, err := exec.Command(cli, "judge", f.transcript).CombinedOutput(); err == nil || !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("judging half a run is no success: %v\n%s", err, out)
	}
}
