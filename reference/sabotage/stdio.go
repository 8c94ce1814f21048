package sabotage

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Process is what actions on the process itself need. The zero value is the real process.
type Process struct {
	Exit   func(code int) // default os.Exit; when it returns, the stream behaves as if the process had ended
	Stderr io.Writer      // default os.Stderr; also takes the complaints about actions that could not be carried out
}

// Stdio wraps a function that serves one stdio stream: serve reads the client's lines from in and writes each message as one line to out.
// The result does the same with the faults applied. Without a fault for stdio it is serve itself.
// Its errors are serve's own; after the action `exit` it returns nil, and with `ignore-eof` it returns only when ctx ends.
func Stdio(serve func(ctx context.Context, in io.Reader, out io.Writer) error, faults []Fault, proc Process) func(ctx context.Context, in io.Reader, out io.Writer) error {
	picked := concerning(faults, TransportStdio)
	if len(picked) == 0 {
		return serve
	}
	if proc.Exit == nil {
		proc.Exit = os.Exit
	}
	if proc.Stderr == nil {
		proc.Stderr = os.Stderr
	}
	proc.Stderr = &lockedWriter{w: proc.Stderr}
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		edge := &stdioEdge{
			ctx: inner, cancel: cancel, proc: proc,
			in: bufio.NewReader(in), out: out, state: newState(true),
		}
		for _, f := range picked {
			switch f.program.moment {
			case atMessage:
				edge.onMessage = append(edge.onMessage, f)
			case atReceive:
				edge.onReceive = append(edge.onReceive, f)
			case atStart:
				edge.onStart = append(edge.onStart, f)
			case atEOF:
				edge.onEOF = append(edge.onEOF, f)
			}
		}
		edge.incoming(edge.onStart, nil, "")
		err := serve(inner, (*stdioReader)(edge), (*stdioWriter)(edge))
		return edge.end(ctx, err)
	}
}

// stdioEdge stands between the client's streams and the server.
type stdioEdge struct {
	ctx    context.Context
	cancel context.CancelFunc
	proc   Process
	state  *state

	onMessage, onReceive, onStart, onEOF []*Fault

	exited atomic.Bool

	in      *bufio.Reader // read by one goroutine only
	pending []byte        // of a line that the server has not read to its end
	inErr   error

	mu        sync.Mutex // guards what follows
	out       io.Writer
	partial   []byte
	held      []byte // by reorder
	hung      bool
	ignoreEOF bool
}

// stdioReader is what the server reads: the client's lines, but for those that a fault swallows.
type stdioReader stdioEdge

func (r *stdioReader) Read(p []byte) (int, error) {
	s := (*stdioEdge)(r)
	for len(s.pending) == 0 {
		if s.exited.Load() {
			return 0, io.EOF
		}
		if s.inErr != nil {
			return 0, s.inErr
		}
		line, err := s.in.ReadBytes('\n')
		if s.exited.Load() {
			err = io.EOF
			line = nil
		}
		if len(line) > 0 && !s.receive(line) {
			s.pending = line
		}
		if err != nil {
			s.inErr = err
			if err == io.EOF && !s.exited.Load() {
				s.incoming(s.onEOF, nil, "")
			}
		}
	}
	n := copy(p, s.pending)
	s.pending = s.pending[n:]
	return n, nil
}

// receive takes one line of the client and says whether it is kept from the server.
func (s *stdioEdge) receive(line []byte) (swallowed bool) {
	text := bytes.TrimRight(line, "\r\n")
	message, err := decodeJSON(text)
	if err != nil {
		message = nil
	}
	s.state.receive(message)
	return s.incoming(s.onReceive, message, string(text))
}

// incoming lets faults strike that wait for no outgoing message.
func (s *stdioEdge) incoming(faults []*Fault, request any, line string) (swallowed bool) {
	if len(faults) == 0 {
		return false
	}
	e := &effect{}
	s.state.offer(e, faults, TransportStdio, anyKind, s.proc.Stderr, request, func(names *scope) { names.line = line })
	if !e.struck {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carryOut(e, nil)
	return e.swallow || s.exited.Load()
}

// stdioWriter is what the server writes to.
type stdioWriter stdioEdge

func (w *stdioWriter) Write(p []byte) (int, error) {
	s := (*stdioEdge)(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exited.Load() {
		return 0, io.ErrClosedPipe
	}
	rest := p
	if len(s.partial) > 0 {
		s.partial = append(s.partial, p...)
		rest, s.partial = s.partial, nil
	}
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			s.partial = bytes.Clone(rest)
			break
		}
		if err := s.send(rest[:end+1]); err != nil {
			return 0, err
		}
		rest = rest[end+1:]
	}
	return len(p), nil
}

// send takes one line of the server, its newline included.
func (s *stdioEdge) send(line []byte) error {
	text := line[:len(line)-1]
	message, err := decodeJSON(text)
	if err != nil {
		return s.write(line)
	}
	e := s.state.outgoing(s.onMessage, message, TransportStdio, anyKind, s.proc.Stderr, s.state.related, nil)
	if !e.struck {
		return s.write(line)
	}
	return s.carryOut(e, text)
}

// carryOut does what e asks for; text is the server's line, nil when none is being sent. s.mu is held.
func (s *stdioEdge) carryOut(e *effect, text []byte) error {
	if e.delay > 0 {
		wait(s.ctx, e.delay)
	}
	if len(e.stderr) > 0 {
		s.proc.Stderr.Write(e.stderr)
	}
	s.ignoreEOF = s.ignoreEOF || e.ignoreEOF

	chunk := bytes.Clone(e.stdout)
	for _, message := range e.before {
		chunk = append(append(chunk, message...), '\n')
	}
	ends := e.exit != nil || e.hang
	if text != nil && !e.drop && !ends {
		data := e.encoded(text)
		if e.split {
			data = splitLine(data)
		}
		one := append(append(bytes.Clone(e.prefix), data...), e.suffix...)
		if !e.join {
			one = append(one, '\n')
		}
		chunk = append(chunk, one...)
		if e.duplicate {
			chunk = append(chunk, one...)
		}
	}
	if !ends {
		for _, message := range e.after {
			chunk = append(append(chunk, message...), '\n')
		}
	}
	if e.reorder && !ends {
		s.held = append(s.held, chunk...)
		return nil
	}
	err := s.write(chunk)
	if e.hang {
		s.hung = true
	}
	if e.exit != nil && !s.exited.Load() {
		s.proc.Exit(*e.exit)
		s.exited.Store(true)
		s.cancel()
	}
	return err
}

// write sends chunk in one piece, and what reorder held back behind it.
func (s *stdioEdge) write(chunk []byte) error {
	if len(chunk) == 0 || s.hung || s.exited.Load() {
		return nil
	}
	if len(s.held) > 0 {
		chunk = append(bytes.Clone(chunk), s.held...)
		s.held = nil
	}
	_, err := s.out.Write(chunk)
	return err
}

// end is called when the server has returned err.
func (s *stdioEdge) end(ctx context.Context, err error) error {
	s.mu.Lock()
	last := append(s.partial, s.held...)
	s.partial, s.held = nil, nil
	s.write(last)
	exited, ignore := s.exited.Load(), s.ignoreEOF
	s.mu.Unlock()
	switch {
	case exited:
		return nil
	case ignore && err == nil:
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// wait is a pause that the end of ctx cuts short.
func wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lockedWriter lets both directions of a stream write.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
