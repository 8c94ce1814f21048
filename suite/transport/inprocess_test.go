//go:build unix

package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

var quietLog = stdlog.New(io.Discard, "", 0)

func pipe(serve func(ctx context.Context, in io.Reader, out io.Writer) error) Target {
	p := Pipe(serve).(*inProcess)
	p.limits.Grace = quick.Grace
	return p
}

func TestPipe(t *testing.T) {
	settled(t)
	target := Pipe(func(_ context.Context, in io.Reader, out io.Writer) error {
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			fmt.Fprintf(out, "got %s\n", lines.Text())
		}
		fmt.Fprint(out, "bye")
		return nil
	})
	if target.Transport() != "in-memory" || target.Start(context.Background()) != nil {
		t.Error("not an in-memory target")
	}
	conn, l := open(t, target)
	send(t, conn, Outgoing{Data: []byte("a")})
	l.await(t, 1, transcript.Receive)
	conn.CloseInput()
	<-conn.Done()
	conn.Close()
	target.Stop()
	expect(t, l.all(), `send "a"`, `receive "got a"`, `closed`, `receive "bye" (no newline at the end)`, `eof`, `exit 0`)
}

func TestPipeServersThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(ctx context.Context, in io.Reader, out io.Writer) error
		want  []string
	}{
		"error": {func(context.Context, io.Reader, io.Writer) error { return errors.New("broken") }, []string{`eof (broken)`}},
		"panic": {func(context.Context, io.Reader, io.Writer) error { panic("oops") }, []string{`eof (panic: oops)`}},
		"flood": {func(_ context.Context, _ io.Reader, out io.Writer) error {
			_, err := io.WriteString(out, strings.Repeat("x\n", 3))
			return err
		}, []string{`receive "x"`, `receive "x"`, `receive "x"`, `eof`}},
	} {
		t.Run(name, func(t *testing.T) {
			settled(t)
			conn, l := open(t, pipe(c.serve))
			<-conn.Done()
			_, err := conn.Send(context.Background(), Outgoing{Data: make([]byte, 1<<20)})
			_ = err // whether the end was noticed already is a matter of luck
			conn.Close()
			var events []transcript.Event
			for _, e := range l.all() {
				if e.Kind == transcript.Receive || e.Kind == transcript.EOF || e.Kind == transcript.Failure {
					events = append(events, e)
				}
			}
			expect(t, events, c.want...)
		})
	}
}

func TestPipeServersThatDoNotEnd(t *testing.T) {
	settled(t)
	conn, l := open(t, pipe(func(ctx context.Context, _ io.Reader, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	}))
	send(t, conn, Outgoing{Data: []byte("never read")})
	conn.Close()
	expect(t, l.all(), `send "never read"`, `eof (context canceled)`, `exit 1`)

	free := make(chan struct{})
	conn, l = open(t, pipe(func(context.Context, io.Reader, io.Writer) error { <-free; return nil }))
	conn.Close()
	close(free)
	if n := len(only(l.all(), transcript.Failure)); n != 1 {
		t.Errorf("a server that was left behind is recorded as\n%s", show(l.all()))
	}
}

func TestHandler(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	target := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	_, err := target.Open(context.Background(), newLog())
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("call Start first")))
	g.Expect(target.Start(context.Background())).To(gomega.Succeed())
	g.Expect(target.Transport()).To(gomega.Equal("streamable-http"))
	g.Expect(target.String()).To(gomega.ContainSubstring("http://127.0.0.1:"))
	conn, l := open(t, target)
	send(t, conn, Outgoing{})
	l.await(t, 1, transcript.End)
	conn.Close()
	expect(t, l.all(), `send #1 POST`, `answer #1 200`, `receive #1 "/"`, `end #1`)
	target.Stop()
	target.Stop()
}

// freeAddress is one at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func servedHelper(t *testing.T, name, address string, ready time.Duration) Target {
	t.Helper()
	target, err := Served([]string{os.Args[0]}, CommandOptions{Limits: quick,
		Env: []string{helperVariable + "=" + name, "TRANSPORT_TEST_ADDRESS=" + address, "GORACE=atexit_sleep_ms=0"}},
		"http://"+address+"/mcp", URLOptions{}, ready)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Stop)
	return target
}

func TestServed(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	address := freeAddress(t)
	target := servedHelper(t, "http", address, time.Minute)
	g.Expect(target.(Process).Exit()).To(gomega.BeNil())
	g.Expect(target.Start(context.Background())).To(gomega.Succeed())
	g.Expect(target.String()).To(gomega.HavePrefix("http://" + address + "/mcp served by "))
	conn, l := open(t, target)
	send(t, conn, Outgoing{})
	l.await(t, 1, transcript.End)
	g.Expect(string(target.(Process).Stderr())).To(gomega.Equal("starting\n"))
	g.Expect(target.(Process).Exit()).To(gomega.BeNil())

	second := servedHelper(t, "http", address, time.Minute)
	g.Expect(second.Start(context.Background())).To(gomega.MatchError(gomega.ContainSubstring("something is listening at " + address)))

	send(t, conn, Outgoing{Path: "/die"})
	l.await(t, 1, transcript.Exit)
	l.await(t, 2, transcript.End)
	send(t, conn, Outgoing{}) // nobody is there any more, by the server's own doing
	l.await(t, 3, transcript.End)
	conn.Close()
	g.Expect(only(l.all(), transcript.End)).To(gomega.ContainElement(gomega.HaveField("Note", transcript.NeverReached)))

	late, after := open(t, target)
	expect(t, only(after.all(), transcript.Exit), `exit 5`) // told at once, before anything is sent
	late.Close()
	expect(t, only(l.all(), transcript.Exit), `exit 5`)
	expect(t, only(l.all(), transcript.Receive), `receive #1 "{\"ok\":true}"`)
	g.Expect(only(l.all(), transcript.Failure)).To(gomega.BeEmpty())
	g.Expect(target.(Process).Exit()).To(gomega.Equal(&transcript.ExitStatus{Code: 5}))
}

func TestServedIsStopped(t *testing.T) {
	settled(t)
	address := freeAddress(t)
	target := servedHelper(t, "http", address, time.Minute)
	if err := target.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	target.Stop()
	if exit := target.(Process).Exit(); exit == nil {
		t.Error("the process runs on")
	}
	if accepts(context.Background(), address) {
		t.Error("something still listens")
	}
}

func TestServedThatIsNeverReady(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	target := servedHelper(t, "fail", freeAddress(t), time.Minute)
	err := target.Start(context.Background())
	g.Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring("exit code 3"), gomega.ContainSubstring("boom"))))

	target = servedHelper(t, "deaf", freeAddress(t), 50*time.Millisecond)
	err = target.Start(context.Background())
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("within 50ms")))
	g.Expect(target.(Process).Exit()).NotTo(gomega.BeNil())

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	target = servedHelper(t, "deaf", freeAddress(t), time.Minute)
	g.Expect(target.Start(ctx)).To(gomega.MatchError(context.Canceled))

	_, err = Served(nil, CommandOptions{}, "http://127.0.0.1:1/", URLOptions{}, 0)
	g.Expect(err).To(gomega.HaveOccurred())
	_, err = Served([]string{"x"}, CommandOptions{}, "nowhere", URLOptions{}, 0)
	g.Expect(err).To(gomega.HaveOccurred())
}
