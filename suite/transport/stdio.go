package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// CommandOptions say how to start a command.
type CommandOptions struct {
	Env []string // NAME=value, added to the environment of this process, which the command inherits
	Dir string   // where to start it; "": the current directory
	Limits
}

// Command is a server that is started anew for each conversation and spoken to over its standard input and output.
// Messages are lines that end in \n; a \r before it stays with the message.
func Command(argv []string, opts CommandOptions) Target {
	opts.Limits = opts.withDefaults()
	return &command{argv: argv, opts: opts}
}

type command struct {
	argv []string
	opts CommandOptions
}

func (*command) Transport() string           { return Stdio }
func (*command) Loopback() bool              { return true }
func (t *command) String() string            { return commandLine(t.argv) }
func (*command) Start(context.Context) error { return nil }
func (*command) Stop()                       {}

func (t *command) Open(ctx context.Context, sink Sink) (Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the command was not started: %w", err)
	}
	cmd, err := newCommand(t.argv, t.opts)
	if err != nil {
		return nil, err
	}
	// Pipes of our own, not those of exec.Cmd: its Wait must neither wait for heirs of the pipes nor close our ends.
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				files = append(files, r, w)
			}
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	var p *process
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
		p, err = startProcess(cmd)
	}
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return nil, err
	}
	for _, f := range []*os.File{inR, outW, errW} {
		f.Close()
	}

	rec := &recorder{sink: sink, limits: t.opts.Limits}
	c := &stdioConn{
		pipeConn: newPipeConn(rec, inW),
		process:  p,
		stdout:   outR,
		stderr:   errR,
		errEnded: make(chan struct{}),
		exited:   make(chan struct{}),
	}
	go c.readOutput(outR, func() string { return "" })
	go c.readStderr()
	go c.watch()
	return c, nil
}

// pipeConn is what conversations over pipes have in common, with a process at the other end or not.
type pipeConn struct {
	rec      *recorder
	in       *input
	outEnded chan struct{} // everything of the output was read
	done     chan struct{}
	markDone func()
	once     sync.Once
}

func newPipeConn(rec *recorder, w io.WriteCloser) pipeConn {
	done := make(chan struct{})
	return pipeConn{rec: rec, in: newInput(w, rec), outEnded: make(chan struct{}), done: done,
		markDone: sync.OnceFunc(func() { close(done) })}
}

func (c *pipeConn) Send(_ context.Context, out Outgoing) (int, error) {
	event := transcript.Event{Kind: transcript.Send, Data: out.Data, Note: out.Note}
	if out.Writes == nil {
		line := append(append(make([]byte, 0, len(out.Data)+1), out.Data...), '\n')
		return 0, c.in.send(event, line)
	}
	event.Data = join(out.Writes)
	return 0, c.in.send(event, out.Writes...)
}

func (c *pipeConn) SetHeader(string, string) {}
func (c *pipeConn) Abort(int)                {}
func (c *pipeConn) CloseInput()              { c.in.close() }
func (c *pipeConn) Done() <-chan struct{}    { return c.done }

// readOutput records the lines of the output, then its end with the note that why gives.
func (c *pipeConn) readOutput(r io.Reader, why func() string) {
	defer close(c.outEnded)
	err := readLines(r, c.rec.limits.MaxMessage, func(line []byte, size int64, newline bool) {
		event := transcript.Event{Kind: transcript.Receive, Data: line}
		if size > int64(len(line)) {
			event.Size = size
		}
		if !newline {
			event.Note = "no newline at the end"
		}
		c.rec.receive(event)
	})
	if errors.Is(err, os.ErrClosed) { // we closed it: something else still holds the other end
		return
	}
	c.rec.record(transcript.Event{Kind: transcript.EOF, Note: why()})
	c.markDone()
}

type stdioConn struct {
	pipeConn
	process  *process
	stdout   *os.File
	stderr   *os.File
	errEnded chan struct{}
	exited   chan struct{} // the Exit event is recorded
}

// readStderr records standard error in whole lines where it can, so that no word is torn apart between two events.
func (c *stdioConn) readStderr() {
	defer close(c.errEnded)
	const most = 32 << 10
	buffer := make([]byte, most)
	var held []byte
	for {
		n, err := c.stderr.Read(buffer)
		held = append(held, buffer[:n]...)
		whole := bytes.LastIndexByte(held, '\n') + 1
		if err != nil || len(held)-whole > most {
			whole = len(held)
		}
		if whole > 0 {
			c.rec.complain(held[:whole:whole])
			held = append([]byte(nil), held[whole:]...)
		}
		if err != nil {
			return
		}
	}
}

// watch records the end of the process after what it wrote before. Where something else holds its pipes open, that wait
// is cut short.
func (c *stdioConn) watch() {
	defer close(c.exited)
	<-c.process.gone
	patience := time.After(c.rec.limits.Grace)
	for _, ended := range []chan struct{}{c.outEnded, c.errEnded} {
		select {
		case <-ended:
		case <-patience:
			patience = time.After(0)
		}
	}
	c.rec.record(transcript.Event{Kind: transcript.Exit, Exit: c.process.status, Note: c.process.why()})
	c.markDone()
}

func (c *stdioConn) Close() {
	c.once.Do(func() {
		grace := c.rec.limits.Grace
		c.in.close()
		if !within(grace, c.process.gone) {
			c.process.end(grace)
		}
		c.process.killGroup()
		// A process that left the group may hold the pipes for ever.
		if !within(grace, c.outEnded) {
			c.stdout.Close()
		}
		if !within(grace, c.errEnded) {
			c.stderr.Close()
		}
		c.in.abandon()
		<-c.outEnded
		<-c.errEnded
		if within(grace, c.process.gone) { // not so for a process that the kernel cannot end
			<-c.exited
		}
		c.stdout.Close()
		c.stderr.Close()
		c.rec.seal()
		c.markDone()
	})
}

func newCommand(argv []string, opts CommandOptions) (*exec.Cmd, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("no command to start: name the server's program")
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = opts.Dir
	cmd.Env = append(os.Environ(), opts.Env...)
	return cmd, nil
}

func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\$`*?<>|&;()") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func join(parts [][]byte) []byte {
	all := []byte{}
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// within waits for a channel to be closed, at most for d.
func within(d time.Duration, c <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}
