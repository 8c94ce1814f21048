package reference

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// ServeStdio serves one stream, which carries at most one session and any number of requests that stand alone: it reads newline-delimited messages from in and writes its own to out, each one a
// single Write of one whole line. It returns when in ends, after the work in progress has been answered (work that
// takes longer than two seconds more is dropped): nil, or the first error of reading or writing. If ctx ends first, it
// returns ctx's error, after the lines that were already queued, and leaves a Read of in behind that returns only when in
// is closed.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	w := newLineWriter(out)
	sess := newSession(s, context.WithoutCancel(ctx), w)
	defer sess.cancel()
	defer w.close()
	var work sync.WaitGroup
	read := make(chan error, 1)
	go func() { read <- readLines(in, func(line []byte, tooLong bool) { sess.line(line, tooLong, w, &work) }) }()

	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		err = ctx.Err()
		sess.abandon()
	case <-w.failed:
		return w.error()
	}
	sess.hangUp()
	go func() { work.Wait(); w.close() }()
	drained := time.NewTimer(drainTime)
	defer drained.Stop()
	select {
	case <-w.done:
	case <-drained.C:
	}
	return errors.Join(err, w.error())
}

// line takes one line. Everything is carried out in the order in which it came, but for what takes time: tool calls,
// subscriptions and the wait for the result of a task run beside each other.
func (s *session) line(line []byte, tooLong bool, w *lineWriter, work *sync.WaitGroup) {
	if tooLong {
		w.send(s.encodeRefusal(&refusal{err: errorf(codeInvalidRequest, "Invalid request: longer than %d bytes", maxMessageBytes)}))
		return
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	isArray, err := parseText(line)
	if err != nil {
		w.send(s.encodeRefusal(&refusal{err: err}))
		return
	}
	if isArray {
		s.batchLine(line, w, work)
		return
	}
	msg, refused := parseMessage(line)
	switch {
	case refused != nil:
		w.send(s.encodeRefusal(refused))
	case msg.kind != kindRequest:
		s.receive(msg)
	case takesTime(msg.method):
		work.Go(func() { w.send(s.answer(msg, w)) })
	default:
		w.send(s.answer(msg, w))
	}
}

// batchLine answers a batch with one batch.
func (s *session) batchLine(line []byte, w sink, work *sync.WaitGroup) {
	messages, refused, err := s.parseBatch(line)
	if err != nil {
		w.send(s.encodeRefusal(&refusal{err: err}))
		return
	}
	var mu sync.Mutex
	var responses []json.RawMessage
	add := func(response []byte) {
		mu.Lock()
		defer mu.Unlock()
		if response != nil {
			responses = append(responses, response)
		}
	}
	for _, r := range refused {
		add(s.encodeRefusal(r))
	}
	var calls sync.WaitGroup
	for _, msg := range messages {
		switch {
		case msg.kind != kindRequest:
			s.receive(msg)
		case takesTime(msg.method):
			calls.Go(func() { add(s.answer(msg, w)) })
		default:
			add(s.answer(msg, w))
		}
	}
	work.Go(func() {
		calls.Wait()
		if len(responses) > 0 {
			w.send(encode(responses))
		}
	})
}

// readLines calls take for every line of in, the newline cut off; tooLong stands for a line beyond maxMessageBytes,
// which is skipped. It returns nil at the end of in.
func readLines(in io.Reader, take func(line []byte, tooLong bool)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxMessageBytes {
			tooLong, line = true, nil
		} else if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil || len(line) > 0 || tooLong {
			take(bytes.TrimSuffix(line, []byte("\n")), tooLong)
		}
		line, tooLong = nil, false
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// lineWriter writes lines from a queue, so that no one who sends waits for the client to read.
type lineWriter struct {
	done   chan struct{} // closed when the last line is written
	failed chan struct{} // closed when writing failed

	mu     sync.Mutex
	queue  [][]byte
	closed bool
	err    error
	wake   chan struct{}
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{done: make(chan struct{}), failed: make(chan struct{}), wake: make(chan struct{}, 1)}
	go w.write(out)
	return w
}

// send queues a message; nil is none.
func (w *lineWriter) send(message []byte) {
	if message == nil {
		return
	}
	line := make([]byte, 0, len(message)+1)
	line = append(append(line, message...), '\n')
	w.mu.Lock()
	if !w.closed && w.err == nil {
		w.queue = append(w.queue, line)
	}
	w.mu.Unlock()
	w.signal()
}

// close ends the writer after what is queued.
func (w *lineWriter) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
}

func (w *lineWriter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *lineWriter) error() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *lineWriter) write(out io.Writer) {
	defer close(w.done)
	for {
		w.mu.Lock()
		lines, closed := w.queue, w.closed
		w.queue = nil
		w.mu.Unlock()
		for _, line := range lines {
			if _, err := out.Write(line); err != nil {
				w.mu.Lock()
				w.err = err
				w.mu.Unlock()
				close(w.failed)
				return
			}
		}
		if len(lines) > 0 {
			continue
		}
		if closed {
			return
		}
		<-w.wake
	}
}
