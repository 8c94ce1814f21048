package transport

import (
	"fmt"
	"sync"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// recorder stands before the sink of one conversation and keeps to the limits.
type recorder struct {
	sink   Sink
	limits Limits

	mu     sync.Mutex
	stderr int64 // bytes of standard error kept
	cut    bool  // a Dropped event said that standard error is not kept any more
	sealed bool  // Close has returned, or is about to
}

func (r *recorder) record(event transcript.Event) {
	r.mu.Lock()
	sealed := r.sealed
	r.mu.Unlock()
	if !sealed {
		r.sink.Record(event)
	}
}

// failure records what the suite could not do, and returns it as an error.
func (r *recorder) failure(err error) error {
	r.record(transcript.Event{Kind: transcript.Failure, Note: err.Error()})
	return err
}

// keptOfLong is how much is kept of a message that is longer than Limits.MaxMessage: nobody can read it, so its beginning
// will do.
const keptOfLong = 64 << 10

// receive records a message.
func (r *recorder) receive(event transcript.Event) {
	if event.Size > 0 && len(event.Data) > keptOfLong {
		event.Data = append([]byte(nil), event.Data[:keptOfLong]...)
	}
	r.record(event)
}

// complain records a piece of standard error, if there is room for it.
func (r *recorder) complain(data []byte) {
	r.mu.Lock()
	room := r.limits.MaxStderr - r.stderr
	kept := data[:min(int64(len(data)), room)]
	r.stderr += int64(len(kept))
	cut := len(kept) < len(data) && !r.cut
	r.cut = r.cut || cut
	r.mu.Unlock()
	if len(kept) > 0 {
		r.record(transcript.Event{Kind: transcript.Stderr, Data: kept})
	}
	if cut {
		r.record(transcript.Event{Kind: transcript.Dropped,
			Note: fmt.Sprintf("standard error: nothing is kept after the first %d bytes", r.limits.MaxStderr)})
	}
}

func (r *recorder) seal() {
	r.mu.Lock()
	r.sealed = true
	r.mu.Unlock()
}
