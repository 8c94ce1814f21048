package sabotage

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
)

// With this variable set to a fault file the test binary is a server under those faults.
const childFaults = "SABOTAGE_TEST_FAULTS"

func TestMain(m *testing.M) {
	source, isChild := os.LookupEnv(childFaults)
	if !isChild {
		os.Exit(m.Run())
	}
	faults, err := Load(fstest.MapFS{"child.yaml": {Data: []byte(source)}})
	if err == nil {
		err = Stdio(serveLines, faults, Process{})(context.Background(), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

func child(t *testing.T, source string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, os.Args[0])
	command.Env = append(os.Environ(), childFaults+"="+source)
	return command
}

func TestChildProcessExits(t *testing.T) {
	for _, test := range []struct {
		fault, out, stderr string
		code               int
	}{
		{one("when: message.id == 2", "stderr: 'dying'", "exit: 3"), lines(echoReply, hello), "dying", 3},
		{one("on-receive: request.id == 2", "exit: 0"), lines(echoReply), "", 0},
		{one("at: start", "stdout: banner", "exit: 255"), "banner", "", 255},
		{one("at: eof", "exit: 4"), lines(echoReply, hello, chatReply), "", 4},
		{one("at: eof", "stderr: 'end'"), lines(echoReply, hello, chatReply), "end", 0},
	} {
		command := child(t, test.fault)
		command.Stdin = strings.NewReader(lines(echo, chatty))
		var out, stderr bytes.Buffer
		command.Stdout, command.Stderr = &out, &stderr
		if err := command.Run(); err != nil && command.ProcessState == nil {
			t.Fatal(err)
		}
		if code := command.ProcessState.ExitCode(); code != test.code || out.String() != test.out || stderr.String() != test.stderr {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %d, %q, %q", test.fault, code, out.String(), stderr.String(), test.code, test.out, test.stderr)
		}
	}
}

func TestChildProcessOutlivesItsInput(t *testing.T) {
	command := child(t, one("at: eof", "ignore-eof: true", `stderr: "closed\n"`))
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	if line, err := bufio.NewReader(stderr).ReadString('\n'); line != "closed\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	// The server has met the end of its input. Had the process ended by itself, it would not be a signal that ends it.
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(stdout); len(rest) > 0 || err != nil {
		t.Errorf("stdout %q, %v", rest, err)
	}
	_ = command.Wait()
	if command.ProcessState.Exited() {
		t.Errorf("the process ended by itself: %v", command.ProcessState)
	}
}
