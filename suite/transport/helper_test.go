//go:build unix

package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// helperVariable makes this test binary behave as a server: one of the helpers.
const helperVariable = "TRANSPORT_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVariable); name != "" {
		helpers[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const hugeLine = 100 << 20

// helpers are servers. All but the deaf end when their input does.
var helpers map[string]func()

func init() {
	helpers = map[string]func(){
		"echo": func() {
			_ = readLines(os.Stdin, 1<<30, func(line []byte, _ int64, newline bool) {
				fmt.Printf("%v %s\n", newline, line)
			})
		},
		"crash": func() {
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
			fmt.Println("last words")
			fmt.Fprintln(os.Stderr, "boom")
			os.Exit(3)
		},
		"fail": func() {
			fmt.Fprintln(os.Stderr, "boom")
			os.Exit(3)
		},
		"abort": func() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		},
		"flood": func() {
			out, log := bufio.NewWriter(os.Stdout), bufio.NewWriter(os.Stderr)
			for i := range 20_000 {
				fmt.Fprintf(out, "message %d\n", i)
				fmt.Fprintf(log, "a line of standard error, number %d\n", i)
			}
			out.Flush()
			log.Flush()
			_, _ = io.Copy(io.Discard, os.Stdin)
		},
		"garbage": func() {
			_, _ = os.Stdout.WriteString("\x00\xff\xfe\n\r\n\nServer ready\r\n{\"half\"")
		},
		"huge": func() {
			chunk := []byte(strings.Repeat("x", 1<<20))
			for range hugeLine >> 20 {
				_, _ = os.Stdout.Write(chunk)
			}
			fmt.Print("\nafter\n")
		},
		"deaf": func() {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			fmt.Println(os.Getpid())
			select {}
		},
		"polite": func() {
			c := make(chan os.Signal, 1)
			signal.Notify(c, syscall.SIGTERM)
			fmt.Println("ready")
			<-c
		},
		"closes stdout": func() {
			os.Stdout.Close()
			_, _ = io.Copy(io.Discard, os.Stdin)
		},
		"fork": func() { heir(false) },
		"away": func() { heir(true) },
		"env": func() {
			dir, _ := os.Getwd()
			fmt.Println(os.Getenv("TRANSPORT_TEST_EXTRA"), os.Getenv("PATH") != "", dir)
		},
		"http": func() {
			fmt.Fprintln(os.Stderr, "starting")
			listener, err := net.Listen("tcp", os.Getenv("TRANSPORT_TEST_ADDRESS"))
			if err != nil {
				os.Exit(4)
			}
			_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/die" {
					os.Exit(5)
				}
				fmt.Fprint(w, `{"ok":true}`)
			}))
		},
	}
}

// heir leaves a process behind that holds the standard output and hears no signal.
func heir(away bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"=deaf")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if away {
		leaveGroup(cmd)
	}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
	}
}

func helper(name string, limits Limits, env ...string) Target {
	return Command([]string{os.Args[0]}, CommandOptions{Env: append(env, helperVariable+"="+name, "GORACE=atexit_sleep_ms=0"), Limits: limits})
}

// quick are limits for servers that have to be ended by force.
var quick = Limits{Grace: 100 * time.Millisecond}

// log is a sink that can be waited on.
type log struct {
	mu      sync.Mutex
	events  []transcript.Event
	changed chan struct{}
}

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) Record(event transcript.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *log) all() []transcript.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// await returns the events once there are n of a kind. The bound only turns a hang into a failure.
func (l *log) await(t *testing.T, n int, kind transcript.Kind) []transcript.Event {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		l.mu.Lock()
		events, changed := slices.Clone(l.events), l.changed
		l.mu.Unlock()
		if found := only(events, kind); len(found) >= n {
			return found
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("%d events of kind %s did not come; there are:\n%s", n, kind, show(events))
		}
	}
}

func only(events []transcript.Event, kind transcript.Kind) []transcript.Event {
	var found []transcript.Event
	for _, e := range events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// show gives one line for each event: the kind, the data, the note and what else matters.
func show(events []transcript.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s", e.Kind)
		if e.Stream > 0 {
			fmt.Fprintf(&b, " #%d", e.Stream)
		}
		if len(e.Data) > 0 {
			fmt.Fprintf(&b, " %.200q", e.Data)
		}
		if e.Size > 0 {
			fmt.Fprintf(&b, " of %d", e.Size)
		}
		if e.HTTP != nil {
			if e.HTTP.Status > 0 {
				fmt.Fprintf(&b, " %d", e.HTTP.Status)
			} else {
				fmt.Fprintf(&b, " %s", e.HTTP.Method)
			}
		}
		if e.Exit != nil {
			fmt.Fprintf(&b, " %d%s", e.Exit.Code, e.Exit.Signal)
		}
		if e.Note != "" {
			fmt.Fprintf(&b, " (%s)", e.Note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func open(t *testing.T, target Target) (Conn, *log) {
	t.Helper()
	l := newLog()
	conn, err := target.Open(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn, l
}

func send(t *testing.T, conn Conn, out Outgoing) int {
	t.Helper()
	stream, err := conn.Send(context.Background(), out)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// expect compares the events with lines as show gives them.
func expect(t *testing.T, events []transcript.Event, lines ...string) {
	t.Helper()
	if got, want := show(events), strings.Join(lines, "\n")+"\n"; got != want {
		t.Errorf("the events are\n%swant\n%s", got, want)
	}
}

// settled fails the test when goroutines are left over from it; call it first.
func settled(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 600 { // goroutines end a moment after what they were waited for
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	})
}
