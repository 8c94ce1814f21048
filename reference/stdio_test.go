package reference

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/onsi/gomega"
)

func TestEveryMessageIsOneWriteOfOneLine(t *testing.T) {
	g := gomega.NewWithT(t)
	const calls = 1000
	var in bytes.Buffer
	fmt.Fprintf(&in, "%s\n", encode(object{"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": initializeParams(rev2025November, object{})}))
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"message":"line\nbreak"}}}`+"\r\n", i)
	}
	var out writes
	g.Expect(New().ServeStdio(t.Context(), &in, &out)).To(gomega.Succeed())
	g.Expect(out.all).To(gomega.HaveLen(calls + 1))
	ids := map[any]bool{}
	for _, w := range out.all {
		g.Expect(strings.Count(w, "\n")).To(gomega.Equal(1))
		g.Expect(w).To(gomega.HaveSuffix("\n"))
		ids[parse(t, []byte(w))["id"]] = true
	}
	g.Expect(ids).To(gomega.HaveLen(calls + 1))
}

func TestEndOfInputFinishesTheWorkAndReturns(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{"sampling": object{}})
	slow := c.send("tools/call", object{"name": "slow", "arguments": object{"duration": 100}})
	asking := c.send("tools/call", object{"name": "test_sampling", "arguments": object{"prompt": "p"}})
	g.Expect(c.read()["method"]).To(gomega.Equal("sampling/createMessage"))
	g.Expect(c.in.Close()).To(gomega.Succeed())
	replies := map[any]message{}
	for line := range c.lines {
		m := parse(t, line)
		replies[m["id"]] = m
	}
	g.Expect(<-c.served).To(gomega.Succeed())
	g.Expect(replies).To(gomega.HaveLen(2))
	g.Expect(replies[float64(slow)].firstText()).To(gomega.Equal("That took 100 ms."))
	g.Expect(replies[float64(asking)].result()).To(gomega.HaveKeyWithValue("isError", true), "nobody can answer it")
}

func TestLastLineNeedsNoNewline(t *testing.T) {
	g := gomega.NewWithT(t)
	var out writes
	g.Expect(New().ServeStdio(t.Context(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), &out)).To(gomega.Succeed())
	g.Expect(out.all).To(gomega.HaveLen(1))
}

func TestContextEndsTheSession(t *testing.T) {
	g := gomega.NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := pipe(t)
	served := make(chan error, 1)
	go func() { served <- New().ServeStdio(ctx, in, io.Discard) }()
	cancel()
	g.Expect(<-served).To(gomega.MatchError(context.Canceled))
}

func TestBrokenOutputEndsTheSession(t *testing.T) {
	g := gomega.NewWithT(t)
	clientIn, serverOut := pipe(t)
	serverIn, clientOut := pipe(t)
	g.Expect(clientIn.Close()).To(gomega.Succeed())
	_, err := clientOut.WriteString(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(New().ServeStdio(t.Context(), serverIn, serverOut)).To(gomega.MatchError(syscall.EPIPE))
}

// build makes the program once for all tests of it.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "mcp-reference")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/mcp-reference").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

func TestProgram(t *testing.T) {
	program := build(t)
	start := func(t *testing.T, args ...string) (*exec.Cmd, io.WriteCloser, chan []byte, chan []byte) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		errs, err3 := cmd.StderrPipe()
		if err := errors.Join(err1, err2, err3, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		lines, complaints := make(chan []byte, 64), make(chan []byte, 64)
		go readAll(out, lines)
		go readAll(errs, complaints)
		return cmd, in, lines, complaints
	}
	t.Run("ends with its input", func(t *testing.T) {
		g := gomega.NewWithT(t)
		cmd, in, lines, complaints := start(t)
		_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(<-lines)).To(gomega.Equal(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		g.Expect(in.Close()).To(gomega.Succeed())
		_, open := <-lines
		g.Expect(open).To(gomega.BeFalse(), "nothing else on stdout")
		_, open = <-complaints
		g.Expect(open).To(gomega.BeFalse(), "nothing on stderr")
		g.Expect(cmd.Wait()).To(gomega.Succeed())
	})
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run("stdio ends on "+sig.String(), func(t *testing.T) {
			g := gomega.NewWithT(t)
			cmd, in, lines, _ := start(t)
			_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			<-lines
			g.Expect(cmd.Process.Signal(sig)).To(gomega.Succeed())
			_, open := <-lines
			g.Expect(open).To(gomega.BeFalse())
			g.Expect(cmd.Wait()).To(gomega.Succeed())
		})
	}
	t.Run("http ends on SIGTERM with a stream open", func(t *testing.T) {
		g := gomega.NewWithT(t)
		cmd, _, _, complaints := start(t, "--http", "127.0.0.1:0")
		_, url, found := strings.Cut(string(<-complaints), "listening on ")
		g.Expect(found).To(gomega.BeTrue())
		c := (&httpClient{t: t, url: url}).open(rev2025November, object{})
		stream := c.get("")
		_, ok := stream.next()
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(cmd.Process.Signal(syscall.SIGTERM)).To(gomega.Succeed())
		_, ok = stream.next()
		g.Expect(ok).To(gomega.BeFalse())
		g.Expect(cmd.Wait()).To(gomega.Succeed())
	})
}
