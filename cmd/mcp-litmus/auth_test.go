package main

import (
	"strings"
	"testing"
)

// What litmus.yaml says of an authorization server holds for every command that drives a server, and not only for run.
func TestAnAuthorizationServerForEveryCommand(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "litmus.yaml", "auth: {listen: 127.0.0.1:0}\n")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"tools/list", []string{"tour", "--revision", "2025-11-25"}},
		{"conforms", []string{"run", "--revision", "2025-11-25", "--select", "ping.empty"}},
		{"0 requirements broken only at 2025-06-18", []string{"compare", "--revisions", "2025-06-18,2025-11-25", "--select", "ping.empty"}},
	} {
		out, stderr, code := litmus(t, dir, c.args...)
		if code != 0 || !strings.Contains(stderr, "authorization server: issuer http://127.0.0.1:") || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit code %d, or no authorization server, or it does not say %q\n%s%s", c.args[0], code, c.says, out, stderr)
		}
	}
	write(t, dir, "over-stdio.yaml", "target: {command: [never-started]}\nauth: {listen: 127.0.0.1:0}\n")
	for _, args := range [][]string{{"run"}, {"tour"}, {"init", "--output", "-"}} {
		if _, stderr, code := litmus(t, dir, append(args, "--config", "over-stdio.yaml")...); code != 2 || !strings.Contains(stderr, "--auth is about a server over HTTP") {
			t.Errorf("%s: exit code %d: %s", args[0], code, stderr)
		}
	}
}
