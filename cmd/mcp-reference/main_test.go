package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
)

// With this variable set the test binary is the program itself, so that it can be started as a child process.
const asProgram = "MCP_REFERENCE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, os.Args[0], args...)
	command.Env = append(os.Environ(), asProgram+"=1")
	return command
}

const conversation = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"no such tool","arguments":{}}}
`

func TestFaultOverStdio(t *testing.T) {
	for _, test := range []struct {
		args []string
		code string
	}{
		{nil, `"code":-32602`},
		{[]string{"--fault", "unknown-tool-is-internal-error"}, `"code":-32603`},
	} {
		command := program(t, test.args...)
		command.Stdin = strings.NewReader(conversation)
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		replies := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(replies) != 2 || !strings.Contains(replies[1], test.code) {
			t.Errorf("%v: got %q, want a second reply with %s", test.args, replies, test.code)
		}
	}
}

func TestFaultOverHTTP(t *testing.T) {
	command := program(t, "--http", "127.0.0.1:0", "--fault", "unknown-tool-is-internal-error")
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	greeting, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://\S+`).FindString(greeting)
	session := ""
	var last string
	for line := range strings.Lines(conversation) {
		request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			request.Header.Set("Mcp-Session-Id", session)
			request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if session == "" {
			session = response.Header.Get("Mcp-Session-Id")
		}
		last = string(body)
	}
	if !strings.Contains(last, `"code":-32603`) {
		t.Errorf("got %q, want the error that the fault makes", last)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

func TestUnknownFaultIsRefused(t *testing.T) {
	command := program(t, "--fault", "unknown-tool-is-internal-eror")
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `did you mean "unknown-tool-is-internal-error"?`) {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestFaultFilesKnowTheFlagsOfTheServer(t *testing.T) {
	var known []string
	for name := range sabotage.KnownFlags {
		known = append(known, name)
	}
	slices.Sort(known)
	if !slices.Equal(known, reference.Flags()) {
		t.Errorf("sabotage.KnownFlags names %v, reference.Flags() %v", known, reference.Flags())
	}
}
