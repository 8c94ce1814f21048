package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// TestMain lets the test binary be the command line, so that the tests run real processes.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_LITMUS_AS_COMMAND") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// litmus runs the command line in dir (empty: here).
func litmus(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	// As outside of any CI, unless a test says otherwise.
	cmd.Env = append(os.Environ(), "MCP_LITMUS_AS_COMMAND=1", "GITHUB_ACTIONS=", "GITHUB_STEP_SUMMARY=")
	if summary := os.Getenv("AS_IN_ACTIONS"); summary != "" {
		cmd.Env = append(cmd.Env, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+summary)
	}
	cmd.Dir = dir
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

func TestExitCodes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("timeuot: 3s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	role := filepath.Join(t.TempDir(), "role.yaml")
	if err := os.WriteFile(role, []byte("roles:\n  faling-tool: {name: explode}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	host := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(host, []byte(`{"servers": {"mine": {"command": "`+self+`", "args": ["`+referenceCommand+`"]}, "other": {}}} // two`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says string // in standard output or error
	}{
		{"the reference server conforms", []string{"run", "--select", "lifecycle", "--revision", "2025-11-25"}, 0, "conforms"},
		{"a fault does not", []string{"run", "--select", "tools.call.unknown-tool", "--revision", "2025-11-25", "--strict", "--", self, referenceCommand, "unknown-tool-is-a-result"}, 1, "does not conform"},
		{"advice that is not followed is a verdict", []string{"run", "--select", "tools.call.unknown-tool-code", "--revision", "2025-11-25", "--", self, referenceCommand, "unknown-tool-is-internal-error"}, 0, "\nconforms\n"},
		{"a URL from a variable that is not set", []string{"run", "--url", ""}, 2, "--url is empty; write the server's URL"},
		{"a command from a variable that is not set", []string{"run", "--"}, 2, "there is no command after --"},
		{"a command that is an empty text", []string{"tour", "--", ""}, 2, "there is no command after --"},
		{"no exchange at a time", []string{"run", "--jobs", "0"}, 2, "--jobs is zero; give a positive value"},
		{"no time to wait", []string{"run", "--timeout", "0s"}, 2, "--timeout is zero; give a positive value"},
		{"a command that is mistyped", []string{"rnu"}, 2, "there is no command \"rnu\"; did you mean \"run\"?"},
		{"explain an area", []string{"explain", "tools"}, 2, "mcp-litmus list --select tools lists its requirements"},
		{"a selection that wants nothing", []string{"run", "--select", "promts"}, 2, `the selection "promts" wants none of the`},
		{"the reference server asks for authorization", []string{"run", "--auth", "--select", "basic/authorization", "--revision", "2025-11-25"}, 0, "authorization server: issuer http://127.0.0.1:"},
		{"authorization over stdio", []string{"run", "--auth", "--", self}, 2, "--auth is about a server over HTTP; add --url"},
		{"an authorization server for all the world", []string{"run", "--auth=0.0.0.0:0"}, 2, "only at a loopback address"},
		{"a list of nothing", []string{"list", "--select", "promts"}, 2, `the selection "promts" wants none of the`},
		{"a selection that does not apply", []string{"run", "--select", "tools.list-changed.sent", "--call-tools", "none", "--revision", "2025-11-25"}, 3, "no way to exercise"},
		{"an unknown flag", []string{"run", "--juint", "x"}, 2, "did you mean --junit?; see mcp-litmus run --help"},
		{"a time without unit", []string{"run", "--timeout", "10"}, 2, "--timeout 10 is no time; write 10s"},
		{"a time that is none", []string{"run", "--timeout", "soon"}, 2, "--timeout soon is no time; write for example 10s"},
		{"a folder that is not there", []string{"run", "--cwd", "nodir", "--", "node"}, 2, "the folder nodir (--cwd) does not exist"},
		{"a folder for a transcript", []string{"judge", "."}, 2, ". is a folder"},
		{"a role to explain", []string{"explain", "failing-tool"}, 0, "Well-known fixtures that play it: test_error_handling"},
		{"a role with a typing mistake", []string{"explain", "faling-tool"}, 2, "did you mean failing-tool?"},
		{"a selection with a typing mistake", []string{"run", "--select", "tools && lifecyle"}, 2, `did you mean "lifecycle"?`},
		{"a transport with a typing mistake", []string{"run", "--url", "http://127.0.0.1:1/", "--transport", "streamable-htp"}, 2, "did you mean \"streamable-http\"?"},
		{"a tour", []string{"tour", "--revision", "2025-06-18"}, 0, "mcp-litmus-reference 0.1.0 speaks 2025-06-18"},
		{"a tour without a handshake", []string{"tour", "--revision", "2026-07-28"}, 0, "The tool answers with text."},
		{"a tour to nowhere", []string{"tour", "--", "/nonexistent/server"}, 3, "cannot be started"},
		{"a tour to a URL where nobody listens", []string{"tour", "--url", "http://127.0.0.1:1/mcp"}, 3, "cannot be reached"},
		{"a tour at a revision that there is not", []string{"tour", "--revision", "2025"}, 2, "there is no revision"},
		{"a server of a host's file", []string{"run", "--config", host, "--server", "mine", "--select", "ping", "--revision", "2025-11-25"}, 0, "conforms"},
		{"a server that is not in the host's file", []string{"tour", "--config", host, "--server", "mime"}, 2, `there is no server "mime"; did you mean "mine"?`},
		{"a server without a file", []string{"run", "--server", "mine"}, 2, "is in no file: there is none of .mcp.json"},
		{"a server named twice", []string{"run", "--config", host, "--server", "mine", "--", "false"}, 2, "give one of them"},
		{"a litmus.yaml for nothing", []string{"init"}, 2, "name the server"},
		{"a litmus.yaml that is there", []string{"init", "--output", role, "--", "false"}, 2, "is there already"},
		{"a litmus.yaml for what is no server", []string{"init", "--output", "-", "--", "false"}, 3, "could not be surveyed"},
		{"the wire live", []string{"run", "-v", "--select", "ping", "--revision", "2025-11-25"}, 0, `→ {"jsonrpc":"2.0","id":1001,"method":"initialize"`},
		{"a watched folder that is not there", []string{"run", "--watch", "nodir"}, 2, "nodir cannot be watched"},
		{"nothing to explain", []string{"explain"}, 2, "name one requirement, role or fault"},
		{"a fault to explain", []string{"explain", "unknown-tool-is-a-result"}, 0, "Breaks tools.call.unknown-tool"},
		{"an argument too many", []string{"list", "extra"}, 2, `mcp-litmus list takes no argument such as "extra"`},
		{"what changes between revisions", []string{"revisions", "2025-11-25", "2026-07-28"}, 0, "came\n"},
		{"what extensions state is told apart", []string{"revisions", "2025-11-25", "2026-07-28"}, 0, "Extensions, which are optional and not counted: "},
		{"coverage tells extensions apart", []string{"list", "--coverage", "--revision", "2026-07-28"}, 0, "Extensions, which are not counted above:"},
		{"a fault of an extension does not decide", []string{"run", "--select", "extensions", "--revision", "2026-07-28", "--strict", "--", self, referenceCommand, "unknown-task-of-the-extension-is-not-found"}, 0, "conforms (1 requirement of an extension broken, not counted)"},
		{"a changed level, in Markdown", []string{"revisions", "2025-11-25", "2024-11-05", "--markdown"}, 0, " → "},
		{"changes from nowhere", []string{"revisions", "2025-11-25", "2025-11-26"}, 2, "there is no revision"},
		{"changes to nowhere", []string{"revisions", "2025-11-25"}, 2, "name two revisions"},
		{"the version", []string{"--version"}, 0, "mcp-litmus "},
		{"an unknown subcommand", []string{"rum"}, 2, "run"},
		{"a command before the dashes", []string{"run", "node", "server.js"}, 2, "after it: mcp-litmus run [flags] -- node server.js"},
		{"a URL that stands alone", []string{"run", "http://127.0.0.1:1/mcp"}, 2, "--url http://127.0.0.1:1/mcp"},
		{"a URL that is none", []string{"run", "--url", "127.0.0.1:3000"}, 2, "URL"},
		{"a transport that there is not", []string{"run", "--url", "http://127.0.0.1:1/", "--transport", "sse"}, 2, "one of auto, streamable-http, http+sse"},
		{"a transport without a URL", []string{"run", "--transport", "http+sse", "--", "false"}, 2, "about a URL"},
		{"HTTP+SSE where nobody listens", []string{"run", "--url", "http://127.0.0.1:1/sse", "--transport", "http+sse"}, 3, "cannot be reached"},
		{"a self-test over nothing", []string{"selftest", "--transport", "pigeon"}, 2, "stdio, streamable-http, http+sse"},
		{"a header without colon", []string{"run", "--header", "Authorization"}, 2, "NAME:VALUE"},
		{"a revision that does not exist", []string{"run", "--revision", "2025-01-01"}, 2, "there is no revision"},
		{"a selection that is none", []string{"run", "--select", "tools &&"}, 2, "label filter"},
		{"settings with a mistake", []string{"run", "--config", bad}, 2, "bad.yaml:1:1"},
		{"a role that there is not", []string{"run", "--config", role}, 2, `role.yaml:2:3: there is no role "faling-tool"; did you mean "failing-tool"?`},
		{"settings that are not there", []string{"run", "--config", bad + "x"}, 2, "cannot be read"},
		{"a report that cannot be written", []string{"run", "--junit", filepath.Join(bad, "x.xml")}, 2, "cannot be"},
		{"a folder of exchanges that is not there", []string{"run", "--exchanges", bad + "x"}, 2, "cannot be read"},
		{"a transcript that is none", []string{"judge", bad}, 2, "bad.yaml"},
		{"a JSON report for a transcript", []string{"judge", "../../reports/testdata/run/report.json"}, 2, "is a JSON report, from which nothing can be judged again"},
		{"no transcript", []string{"judge"}, 2, "judge FILE"},
		{"a requirement that does not exist", []string{"explain", "tools.call.unknown-tol"}, 2, "did you mean tools.call.unknown-tool?\n"},
		{"a command that cannot be started", []string{"run", "--", "/nonexistent/server"}, 3, "cannot be started"},
		{"a URL where nobody listens", []string{"run", "--url", "http://127.0.0.1:1/mcp"}, 3, "cannot be reached"},
		{"a program that is no server", []string{"run", "--", "false"}, 3, "exited with code 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := litmus(t, "", c.args...)
			if code != c.code {
				t.Errorf("exit code %d, not %d\n%s%s", code, c.code, stdout, stderr)
			}
			if !strings.Contains(stdout+stderr, c.says) {
				t.Errorf("it does not say %q:\n%s%s", c.says, stdout, stderr)
			}
			if strings.Contains(stderr, "goroutine ") {
				t.Errorf("a stack trace:\n%s", stderr)
			}
		})
	}
}

func TestReportsAndJudgingAgain(t *testing.T) {
	dir := t.TempDir()
	_, stderr, code := litmus(t, dir, "run", "--select", "lifecycle || tools", "--junit", "out/junit.xml", "--json", "out/report.json",
		"--html", "out/report.html", "--transcript", "out/run.jsonl")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var junit struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Tests int    `xml:"tests,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(read(t, dir, "out/junit.xml"), &junit); err != nil {
		t.Fatal(err)
	}
	if len(junit.Suites) != len(script.Revisions)+1 || junit.Suites[0].Tests == 0 {
		t.Errorf("the JUnit report has the suites %+v, not one for each revision and one for the run", junit.Suites)
	}
	var report struct {
		Verdicts []map[string]any `json:"verdicts"`
	}
	if err := json.Unmarshal(read(t, dir, "out/report.json"), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Verdicts) == 0 {
		t.Fatal("the JSON report has no verdicts")
	}
	for _, name := range []string{"requirement", "exchange", "level", "revision", "transport", "status", "reason"} {
		if _, ok := report.Verdicts[0][name]; !ok {
			t.Errorf("the verdicts lack %q", name)
		}
	}
	if _, stderr, code = litmus(t, dir, "judge", "out/run.jsonl", "--json", "out/again.json", "--html", "out/again.html"); code != 0 {
		t.Fatalf("judged again: exit code %d: %s", code, stderr)
	}
	if !bytes.Equal(read(t, dir, "out/report.json"), read(t, dir, "out/again.json")) {
		t.Error("judged again, the JSON report differs")
	}
	if page := read(t, dir, "out/report.html"); !bytes.HasPrefix(page, []byte("<!DOCTYPE html>")) || !bytes.Equal(page, read(t, dir, "out/again.html")) {
		t.Error("judged again, the HTML report differs, or it is none")
	}
}

func TestASecretIsNowhereInTheReports(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const secret = "hunter2-hunter2"
	stdout, stderr, _ := litmus(t, dir, "run", "-v", "--select", "lifecycle", "--env", "TOKEN="+secret, "--header", "X-Key: "+secret,
		"--junit", "junit.xml", "--json", "report.json", "--html", "report.html", "--transcript", "run.jsonl",
		"--", "sh", "-c", "echo $TOKEN >&2; exec "+self+" "+referenceCommand)
	if !strings.Contains(string(read(t, dir, "run.jsonl")), "[redacted]") {
		t.Error("the transcript shows nothing redacted: the test tests nothing")
	}
	all := stdout + stderr
	for _, name := range []string{"junit.xml", "report.json", "report.html", "run.jsonl"} {
		all += string(read(t, dir, name))
	}
	if strings.Contains(all, secret) {
		t.Error("the secret is shown")
	}
}

func TestSettingsOfAFolderAreUsed(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	settings := "target: {command: [" + self + ", " + referenceCommand + ", unknown-tool-is-a-result]}\n" +
		"revisions: [2025-11-25]\nselect: tools.call.unknown-tool\nstrict: true\n"
	write(t, dir, "litmus.yaml", settings)
	if out, _, code := litmus(t, dir, "run"); code != 1 || !strings.Contains(out, "tools.call.unknown-tool") {
		t.Fatalf("exit code %d, not 1:\n%s", code, out)
	}
	known := "baseline: [{requirement: tools.call.unknown-tool, reason: we know}]\n"
	write(t, dir, "litmus.yaml", settings+known)
	if out, stderr, code := litmus(t, dir, "run"); code != 0 {
		t.Errorf("with the failure in the baseline, the exit code is %d:\n%s%s", code, out, stderr)
	}
	write(t, dir, "litmus.yaml", strings.Replace(settings, ", unknown-tool-is-a-result", "", 1)+known)
	if out, _, code := litmus(t, dir, "run"); code != 1 || !strings.Contains(out, "litmus.yaml:5") {
		t.Errorf("with an entry of the baseline that is out of date, the exit code is %d, not 1:\n%s", code, out)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestARunThatNeverStartedIsToldInOneLine(t *testing.T) {
	for _, server := range []string{"/nonexistent/server", "false"} {
		stdout, stderr, code := litmus(t, "", "run", "--", server)
		if code != 3 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d\n%s%s", server, code, stdout, stderr)
		}
	}
}
