package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// Every subcommand shows how it is used, and each example is one that its flags can read.
func TestEveryHelpHasExamples(t *testing.T) {
	top := root()
	for _, cmd := range append(top.Commands(), top) {
		if !strings.Contains(cmd.Example, "mcp-litmus") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			words := strings.Fields(strings.SplitN(strings.SplitN(line, "   ", 2)[0]+" ", "--", 2)[0])
			if len(words) > 1 && words[0] == "mcp-litmus" {
				if _, _, err := root().Find(words[1:2]); err != nil {
					t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
				}
			}
			for _, flag := range strings.Fields(strings.SplitN(line, " -- ", 2)[0]) {
				name, ok := strings.CutPrefix(flag, "--")
				if ok && name != "" && len(words) > 1 {
					sub, _, _ := root().Find(words[1:2])
					if sub.Flags().Lookup(strings.SplitN(name, "=", 2)[0]) == nil {
						t.Errorf("%s: the example %q: there is no %s", cmd.CommandPath(), line, flag)
					}
				}
			}
		}
	}
}

func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".mcp.json", `{"mcpServers": {"weather": {"command": "x"}, "time": {"command": "y"}}}`)
	for _, c := range []struct {
		args []string
		has  string
		not  string
	}{
		{[]string{"explain", "tools.call.unk"}, "tools.call.unknown-tool\t", "tools.list"},
		{[]string{"explain", "failing-t"}, "failing-tool\ta role: ", "text-tool"},
		{[]string{"run", "--revision", "2025-1"}, "2025-11-25\n", "2024-11-05"},
		{[]string{"run", "--select", "tools && MU"}, "tools && MUST\n", "SHOULD"},
		{[]string{"list", "--select", "server/to"}, "server/tools\n", "server/prompts"},
		{[]string{"run", "--server", ""}, "weather\ntime\n", ""},
		{[]string{"run", "--call-tools", ""}, "safe\nall\nnone\n", ""},
		{[]string{"tour", "--transport", "http"}, "http+sse\n", "auto"},
		{[]string{"selftest", "--fault", "unknown-tool-is-a"}, "unknown-tool-is-a-result\t", "tool-listed-twice"},
		{[]string{"revisions", "2026"}, "2026-07-28\n", "2025"},
	} {
		out, _, code := litmus(t, dir, append([]string{cobra.ShellCompRequestCmd}, c.args...)...)
		if code != 0 || !strings.Contains(out, c.has) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%q is completed to (code %d)\n%s", c.args, code, out)
		}
	}
}

// A change of a watched file runs the suite again; Ctrl-C ends it with the code of the last run.
func TestWatching(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "fault.txt", "")
	write(t, dir, "serve.sh", "exec "+self+" "+referenceCommand+" $(cat fault.txt)\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "run", "--quiet", "--strict", "--select", "tools.call.unknown-tool", "--revision", "2025-11-25",
		"--watch", ".", "--junit", "report.xml", "--", "sh", "serve.sh")
	cmd.Env = append(os.Environ(), "MCP_LITMUS_AS_COMMAND=1")
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	awaitLine := func(what string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), what) {
				return
			}
		}
		t.Fatalf("it never said %q", what)
	}
	awaitLine("waiting for a change")
	if strings.Contains(string(read(t, dir, "report.xml")), "<failure") {
		t.Error("without a fault, something failed")
	}
	if err := os.WriteFile(filepath.Join(dir, "fault.txt"), []byte("unknown-tool-is-a-result"), 0o644); err != nil {
		t.Fatal(err)
	}
	awaitLine("fault.txt has changed")
	awaitLine("waiting for a change")
	if !strings.Contains(string(read(t, dir, "report.xml")), "<failure") {
		t.Error("with the fault, nothing failed")
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("the exit code is %d, not that of the last run", code)
	}
}
