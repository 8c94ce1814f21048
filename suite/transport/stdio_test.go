//go:build unix

package transport

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// alive tells whether a process is there and no zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for range 600 { // a killed process goes a moment later
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the process %d is left over", pid)
}

func TestTalk(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("echo", Limits{}))
	if stream := send(t, conn, Outgoing{Data: []byte("one\r")}); stream != 0 {
		t.Errorf("the stream is %d", stream)
	}
	l.await(t, 1, transcript.Receive)
	send(t, conn, Outgoing{Writes: [][]byte{[]byte("tw"), []byte("o\nthr")}})
	l.await(t, 2, transcript.Receive)
	conn.CloseInput()
	conn.CloseInput()
	<-conn.Done()
	l.await(t, 1, transcript.Exit)
	if _, err := conn.Send(context.Background(), Outgoing{Data: []byte("x")}); !errors.Is(err, ErrClosed) {
		t.Errorf("sending after the end: %v", err)
	}
	conn.Close()
	expect(t, l.all(),
		`send "one\r"`, `receive "true one\r"`, `send "two\nthr"`, `receive "true two"`, `closed`, `receive "false thr"`, `eof`, `exit 0`)
}

func TestCrash(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("crash", Limits{}))
	send(t, conn, Outgoing{Data: []byte("hello")})
	<-conn.Done()
	exit := l.await(t, 1, transcript.Exit)
	if exit[0].Exit.Code != 3 {
		t.Errorf("the exit code is %d", exit[0].Exit.Code)
	}
	// The pipe is broken; whether a write finds out or not, this neither fails the suite nor blocks.
	for range 10 {
		_, _ = conn.Send(context.Background(), Outgoing{Data: bytes.Repeat([]byte("x"), 1<<20)})
	}
	conn.Close()
	events := l.all()
	if len(only(events, transcript.Failure)) > 0 {
		t.Errorf("a crash of the server is no failure of the suite:\n%s", show(events))
	}
	expect(t, only(events, transcript.Receive), `receive "last words"`)
	expect(t, only(events, transcript.Stderr), `stderr "boom\n"`)
	if i, j := index(events, transcript.EOF), index(events, transcript.Exit); i < 0 || j < i || index(events, transcript.Stderr) > j {
		t.Errorf("the order is\n%s", show(events))
	}
}

func index(events []transcript.Event, kind transcript.Kind) int {
	for i, e := range events {
		if e.Kind == kind {
			return i
		}
	}
	return -1
}

func TestKilledByASignal(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("abort", Limits{}))
	<-conn.Done()
	conn.Close()
	expect(t, only(l.all(), transcript.Exit), `exit -1SIGKILL`)
}

func TestFlood(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("flood", Limits{MaxStderr: 1000}))
	// More than any pipe holds, to a server that writes before it reads.
	for range 50 {
		send(t, conn, Outgoing{Data: bytes.Repeat([]byte("x"), 1<<20)})
	}
	conn.CloseInput()
	<-conn.Done()
	conn.Close()
	events := l.all()
	received := only(events, transcript.Receive)
	if len(received) != 20_000 || string(received[19_999].Data) != "message 19999" {
		t.Errorf("%d messages came, the last: %s", len(received), received[len(received)-1].Data)
	}
	var size int
	for _, e := range only(events, transcript.Stderr) {
		size += len(e.Data)
	}
	if size != 1000 {
		t.Errorf("%d bytes of standard error are kept", size)
	}
	notes := show(only(events, transcript.Dropped))
	if want := "standard error: nothing is kept after the first 1000 bytes"; strings.Count(notes, want) != 1 {
		t.Errorf("the notes on what was dropped are\n%swant %q", notes, want)
	}
	if len(only(events, transcript.Closed)) != 1 {
		t.Error("not one event for the end of the input")
	}
}

func TestGarbage(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("garbage", Limits{}))
	<-conn.Done()
	conn.Close()
	events := l.all()
	expect(t, only(events, transcript.Receive),
		`receive "\x00\xff\xfe"`, `receive "\r"`, `receive`, `receive "Server ready\r"`, `receive "{\"half\"" (no newline at the end)`)
	if events[2].Data == nil {
		t.Error("an empty line has no data at all")
	}
}

func TestHugeLine(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("huge", Limits{MaxMessage: 1000}))
	<-conn.Done()
	conn.Close()
	received := only(l.all(), transcript.Receive)
	if len(received) != 2 || len(received[0].Data) != 1000 || received[0].Size != hugeLine || string(received[1].Data) != "after" || received[1].Size != 0 {
		t.Errorf("received\n%s", show(received))
	}
}

func TestServerThatReadsNothing(t *testing.T) {
	settled(t)
	limits := quick
	limits.MaxQueue = 1 << 20
	conn, l := open(t, helper("deaf", limits))
	pid, err := strconv.Atoi(string(l.await(t, 1, transcript.Receive)[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	// The first may be larger than the queue: nothing waits yet.
	send(t, conn, Outgoing{Data: make([]byte, 2<<20)})
	_, err = conn.Send(context.Background(), Outgoing{Data: []byte("more")})
	if err == nil || errors.Is(err, ErrClosed) {
		t.Errorf("sending more than fits: %v", err)
	}
	conn.CloseInput() // must not wait for what cannot be written
	conn.Close()
	conn.Close()
	awaitGone(t, pid)
	events := l.all()
	expect(t, only(events, transcript.Exit), `exit -1SIGKILL (killed by the suite)`)
	if len(only(events, transcript.Failure)) != 1 || len(only(events, transcript.Send)) != 1 || len(only(events, transcript.Closed)) != 0 {
		t.Errorf("the events are\n%s", show(events))
	}
}

func TestServerThatEndsWhenAsked(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("polite", Limits{Grace: time.Second}))
	l.await(t, 1, transcript.Receive)
	conn.Close()
	expect(t, l.all(), `receive "ready"`, `closed`, `eof`, `exit 0 (asked to end (SIGTERM) by the suite)`)
}

func TestServerThatClosesItsOutput(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("closes stdout", Limits{}))
	<-conn.Done()
	expect(t, l.all(), `eof`)
	conn.Close()
	expect(t, l.all(), `eof`, `closed`, `exit 0`)
}

func TestHeirsThatHoldTheOutput(t *testing.T) {
	for _, name := range []string{"fork", "away"} {
		t.Run(name, func(t *testing.T) {
			settled(t)
			conn, l := open(t, helper(name, quick))
			pid, err := strconv.Atoi(string(l.await(t, 1, transcript.Receive)[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			<-conn.Done() // the process is gone, its output is not at its end
			conn.Close()
			if name == "away" { // out of reach: the conversation ends without it
				if !alive(pid) {
					t.Error("a process outside the group was killed")
				}
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			awaitGone(t, pid)
			expect(t, only(l.all(), transcript.Exit), `exit 0`)
		})
	}
}

func TestNothingIsRecordedAfterClose(t *testing.T) {
	settled(t)
	conn, l := open(t, helper("echo", Limits{}))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				if _, err := conn.Send(context.Background(), Outgoing{Data: []byte("x")}); err != nil {
					return
				}
			}
		})
	}
	l.await(t, 10, transcript.Receive)
	conn.Close()
	count := len(l.all())
	all.Wait()
	if got := len(l.all()); got != count {
		t.Errorf("%d events came after Close", got-count)
	}
}

func TestEnvironmentAndDirectory(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	target := Command([]string{os.Args[0], "two words", "it's"}, CommandOptions{Dir: dir,
		Env: []string{helperVariable + "=env", "TRANSPORT_TEST_EXTRA=extra"}})
	g.Expect(target.String()).To(gomega.HaveSuffix(` 'two words' 'it'\''s'`))
	g.Expect(target.Transport()).To(gomega.Equal("stdio"))
	conn, l := open(t, target)
	<-conn.Done()
	g.Expect(string(l.await(t, 1, transcript.Receive)[0].Data)).To(gomega.Equal("extra true " + dir))
}

func TestCommandsThatCannotBeStarted(t *testing.T) {
	settled(t)
	for name, target := range map[string]Target{
		"no command":   Command(nil, CommandOptions{}),
		"no program":   Command([]string{"./no-such-program"}, CommandOptions{}),
		"no directory": Command([]string{os.Args[0]}, CommandOptions{Dir: "no-such-directory"}),
	} {
		if conn, err := target.Open(context.Background(), newLog()); err == nil || conn != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
