package session

import (
	"fmt"
	"sync/atomic"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// What is kept of a server that does not stop talking. An ordinary run over all exchanges takes some 3,000 messages
// and 3 MB; everything that is kept is judged, so that these bound the time and memory of judging, too.
const (
	mostMessages     = 10_000    // in one session
	mostMessagesRun  = 50_000    // in all sessions of a run
	mostBytesRun     = 128 << 20 // of messages, in all sessions of a run
	mostStderrRun    = 16 << 20  // bytes of standard error, in all sessions of a run
	mostBytesRunText = "128 MiB"
)

// Budget counts what the sessions of a run have kept together. The zero value is ready to use.
type Budget struct{ messages, bytes, stderr atomic.Int64 }

// Spent says why no further session should be opened, or nil.
func (b *Budget) Spent() error {
	switch {
	case b.messages.Load() > mostMessagesRun:
		return fmt.Errorf("the server sent more than %d messages in this run: the suite stops listening", mostMessagesRun)
	case b.bytes.Load() > mostBytesRun:
		return fmt.Errorf("the server sent messages of more than %s in this run: the suite stops listening", mostBytesRunText)
	}
	return nil
}

// admit says whether an event is kept. When the server has sent more than can be, it ends the session. It is called
// with the lock held.
func (s *Session) admit(e transcript.Event) bool {
	switch e.Kind {
	case transcript.Stderr:
		return s.opts.Budget.stderr.Add(int64(len(e.Data))) <= mostStderrRun
	case transcript.Receive:
	default:
		return true
	}
	if s.overflow != nil {
		return false
	}
	s.received++
	s.opts.Budget.messages.Add(1)
	s.opts.Budget.bytes.Add(int64(len(e.Data)))
	switch spent := s.opts.Budget.Spent(); {
	case e.Size > 0:
		s.overflow = fmt.Errorf("the server sent a message of %d bytes, more than the suite reads of one", e.Size)
	case s.received > mostMessages:
		s.overflow = fmt.Errorf("the server sent more than %d messages in one session: the suite stops listening", mostMessages)
	case spent != nil:
		s.overflow = spent
	default:
		return true
	}
	go func() { // not from here: a sink must not call back into its connection
		<-s.opened
		if s.conn != nil {
			s.conn.Close()
		}
	}()
	return e.Size > 0 // its beginning is evidence
}

// Overflow says why the suite has ended the conversation: the server sent more than can be kept. Nil: it has not.
// What is missing from then on is nothing that the server could be blamed for.
func (s *Session) Overflow() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overflow
}
