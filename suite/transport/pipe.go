package transport

import (
	"context"
	"fmt"
	"io"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Pipe is a server inside this process. serve is called for each conversation and speaks in lines, as a server on
// stdio does; its return is the end of the output, and its error or panic the note on that. Its context is
// cancelled when it goes on for Limits.Grace (the default) after the end of in. A serve that ignores even this is left behind.
func Pipe(serve func(ctx context.Context, in io.Reader, out io.Writer) error) Target {
	return &inProcess{serve: serve, limits: Limits{}.withDefaults()}
}

type inProcess struct {
	serve  func(ctx context.Context, in io.Reader, out io.Writer) error
	limits Limits
}

func (*inProcess) Transport() string           { return InMemory }
func (*inProcess) Loopback() bool              { return true }
func (*inProcess) String() string              { return "a server in this process" }
func (*inProcess) Start(context.Context) error { return nil }
func (*inProcess) Stop()                       {}

func (t *inProcess) Open(ctx context.Context, sink Sink) (Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the server was not started: %w", err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &memoryConn{
		pipeConn: newPipeConn(&recorder{sink: sink, limits: t.limits}, inW),
		inR:      inR, outW: outW, cancel: cancel, gone: make(chan struct{}),
	}
	note := make(chan string, 1)
	go func() {
		defer close(c.gone)
		err := guard(func() error { return t.serve(serving, inR, outW) })
		if err != nil {
			note <- err.Error()
		}
		inR.Close()
		outW.Close()
		<-c.outEnded
		status := &transcript.ExitStatus{} // what stands for the end of a process: the server has returned
		if err != nil {
			status.Code = 1
		}
		c.rec.record(transcript.Event{Kind: transcript.Exit, Exit: status})
	}()
	go c.readOutput(outR, func() string {
		select {
		case text := <-note:
			return text
		default:
			return ""
		}
	})
	return c, nil
}

func guard(serve func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return serve()
}

type memoryConn struct {
	pipeConn
	inR    *io.PipeReader
	outW   *io.PipeWriter
	cancel context.CancelFunc
	gone   chan struct{} // serve has returned
}

func (c *memoryConn) Close() {
	c.once.Do(func() {
		grace := c.rec.limits.Grace
		c.in.close()
		ended := within(grace, c.gone)
		c.cancel()
		if !ended && !within(grace, c.gone) {
			c.rec.record(transcript.Event{Kind: transcript.Failure, Note: "the server in this process does not end: it was left behind"})
			c.inR.Close()
			c.outW.Close()
		}
		<-c.outEnded
		within(grace, c.gone)
		c.in.abandon()
		c.rec.seal()
		c.markDone()
	})
}
