package transport

import (
	"fmt"
	"io"
	"sync"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// input writes to a pipe whose reader may be slow, or not read at all, without making the sender wait.
type input struct {
	w   io.WriteCloser
	rec *recorder
	max int64 // bytes that may wait

	mu      sync.Mutex
	wake    *sync.Cond
	queue   [][]byte
	waiting int64         // bytes in the queue and in the write under way
	closing bool          // close when the queue is empty
	broken  bool          // the reader is gone
	ended   chan struct{} // the writer has ended and closed the pipe
}

func newInput(w io.WriteCloser, rec *recorder) *input {
	in := &input{w: w, rec: rec, max: rec.limits.MaxQueue, ended: make(chan struct{})}
	in.wake = sync.NewCond(&in.mu)
	go in.run()
	return in
}

// send queues writes that belong together and records event before the first of them.
func (in *input) send(event transcript.Event, writes ...[]byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closing || in.broken {
		return fmt.Errorf("cannot send: %w", ErrClosed)
	}
	var size int64
	for _, data := range writes {
		size += int64(len(data))
	}
	if in.waiting > 0 && in.waiting+size > in.max {
		return in.rec.failure(fmt.Errorf("cannot send: the server does not read its standard input, and %d bytes wait already", in.waiting))
	}
	in.rec.record(event)
	in.queue = append(in.queue, writes...)
	in.waiting += size
	in.wake.Signal()
	return nil
}

// close lets the writer close the pipe once the queue is empty. It waits for that when there is nothing to write.
func (in *input) close() {
	in.mu.Lock()
	in.closing = true
	idle := in.waiting == 0 && len(in.queue) == 0
	in.wake.Signal()
	in.mu.Unlock()
	if idle {
		<-in.ended
	}
}

// abandon closes the pipe at once and waits for the writer.
func (in *input) abandon() {
	in.mu.Lock()
	in.closing, in.broken = true, true
	in.wake.Signal()
	in.mu.Unlock()
	in.w.Close()
	<-in.ended
}

func (in *input) run() {
	defer close(in.ended)
	for {
		in.mu.Lock()
		for len(in.queue) == 0 && !in.closing {
			in.wake.Wait()
		}
		if in.broken || len(in.queue) == 0 {
			broken := in.broken
			in.mu.Unlock()
			if !broken { // first, so that what the server does about it comes after
				in.rec.record(transcript.Event{Kind: transcript.Closed})
			}
			in.w.Close()
			return
		}
		data := in.queue[0]
		in.queue = in.queue[1:]
		in.mu.Unlock()

		_, err := in.w.Write(data)

		in.mu.Lock()
		in.waiting -= int64(len(data))
		if err != nil { // the end of the output or of the process tells it
			in.closing, in.broken = true, true
			in.queue, in.waiting = nil, 0
		}
		in.mu.Unlock()
	}
}
