package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// ErrTimeout is why a wait ended without what was awaited.
var ErrTimeout = errors.New("nothing came in time")

// ErrGone is why a wait ended early: the server ended the conversation.
var ErrGone = errors.New("the server ended the conversation")

// wait waits until done holds (called with the lock held), the server is gone or ctx is over. A deadline of
// ctx is recorded as a Timeout event with what was awaited; ErrTimeout, ErrGone or ctx's own error come back.
func (s *Session) wait(ctx context.Context, what string, done func() bool) error {
	return s.await(ctx, what, true, done)
}

// await is wait; untilGone says whether the end of the conversation ends it.
func (s *Session) await(ctx context.Context, what string, untilGone bool, done func() bool) error {
	for {
		over := context.Cause(ctx) // before done: what came by the deadline counts, however late it is looked at
		s.mu.Lock()
		ok, gone, overflow, changed := done(), s.gone, s.overflow, s.changed
		s.mu.Unlock()
		switch {
		case overflow != nil: // first: that the suite hung up can look like what was awaited
			return overflow
		case ok:
			return nil
		case gone && untilGone:
			return ErrGone
		case errors.Is(over, context.DeadlineExceeded):
			s.Record(transcript.Event{Kind: transcript.Timeout, Note: what})
			return ErrTimeout
		case over != nil:
			return over
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// over says whether no reply to what the HTTP request asked can come any more, and settled whether a reply that has
// come is all that was to come. Over HTTP+SSE the reply does not come with the answer to the request, and may come before it.
// Both are called with the lock held.
func (s *Session) over(stream int) bool {
	return stream > 0 && s.ended[stream] && (!s.carried || s.refused[stream])
}

func (s *Session) settled(key string, stream int) bool {
	return s.replies[key] > 0 && (!s.carried || s.ended[stream])
}

// AwaitReply waits for the reply with the id. stream is the HTTP request that asked (0 on pipes): when its answer
// is over without the reply, the session resumes the stream where the server gave it an event id to resume from;
// otherwise the wait is over, too.
func (s *Session) AwaitReply(ctx context.Context, id any, stream int) error {
	key := wire.IDKey(id)
	for at := stream; ; {
		err := s.wait(ctx, fmt.Sprintf("the reply to request %s", compact(id)), func() bool {
			return s.settled(key, at) || s.over(at)
		})
		if err != nil || at == 0 || s.carried {
			return err
		}
		s.mu.Lock()
		arrived := s.replies[key] > 0
		s.mu.Unlock()
		if arrived {
			if at != stream {
				s.conn.Abort(at) // it was opened for this reply alone
			}
			return nil
		}
		next, err := s.resume(ctx, at)
		if err != nil || next == 0 {
			return err
		}
		at = next
	}
}

// resume opens the continuation of a stream that the server closed, after the time that it asked for; 0 when
// it gave no event id to resume from.
// Source: 2025-11-25, Streamable HTTP, "Resumability and Redelivery".
func (s *Session) resume(ctx context.Context, stream int) (int, error) {
	if s.opts.Revision >= wire.Modern { // no stream can be resumed any more
		return 0, nil
	}
	last, pause := "", time.Duration(0)
	for _, e := range s.Events() {
		if e.Stream != stream || e.Kind != transcript.Receive || e.SSE == nil {
			continue
		}
		if e.SSE.ID != nil {
			last = *e.SSE.ID
		}
		if e.SSE.Retry != nil {
			pause = time.Duration(*e.SSE.Retry) * time.Millisecond
		}
	}
	if last == "" {
		return 0, nil
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			s.Record(transcript.Event{Kind: transcript.Timeout, Note: "the time to resume a stream"})
			return 0, ErrTimeout
		}
		return 0, context.Cause(ctx)
	}
	return s.Send(context.WithoutCancel(ctx), transport.Outgoing{
		Method: "GET", Hold: true, Header: map[string][]string{"Last-Event-ID": {last}, "Accept": {wire.EventStream}, "Content-Type": nil},
	})
}

// AwaitReplies waits until each of the ids has its reply (or its HTTP request is over).
func (s *Session) AwaitReplies(ctx context.Context, ids []any, streams []int) error {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = wire.IDKey(id)
	}
	from := 0 // replies mostly come in order: what was seen need not be looked at again
	return s.wait(ctx, fmt.Sprintf("the replies to %d requests", len(ids)), func() bool {
		for ; from < len(keys); from++ {
			if !s.settled(keys[from], streams[from]) && !s.over(streams[from]) {
				return false
			}
		}
		return true
	})
}

// AwaitEnd waits until the answer to an HTTP request is over. On pipes it returns at once.
func (s *Session) AwaitEnd(ctx context.Context, stream int) error {
	if stream == 0 {
		return nil
	}
	return s.wait(ctx, "the end of the HTTP answer", func() bool { return s.ended[stream] })
}

// AwaitAnswer waits until an HTTP answer began (its status is known) or is over.
func (s *Session) AwaitAnswer(ctx context.Context, stream int) error {
	return s.awaitOn(ctx, stream, "an HTTP answer", transcript.Answer)
}

// AwaitEvent waits until something came with an HTTP answer, or it is over.
func (s *Session) AwaitEvent(ctx context.Context, stream int) error {
	return s.awaitOn(ctx, stream, "an event", transcript.Receive)
}

// awaitOn waits until an event of the kind belongs to an HTTP request, or its answer is over.
func (s *Session) awaitOn(ctx context.Context, stream int, what string, kind transcript.Kind) error {
	return s.wait(ctx, what, func() bool {
		return s.ended[stream] || slices.ContainsFunc(s.events, func(e transcript.Event) bool { return e.Kind == kind && e.Stream == stream })
	})
}

// AwaitExit waits until the server's process has ended, which may be some time after its output.
func (s *Session) AwaitExit(ctx context.Context) error {
	return s.await(ctx, "the end of the server's process", false, func() bool {
		return slices.ContainsFunc(s.events, func(e transcript.Event) bool { return e.Kind == transcript.Exit })
	})
}

// AwaitLastWords waits, a second at most, for a process whose output has ended to end, too, so that its exit belongs to the step that
// brought it about. When it goes on, that is no timeout.
func (s *Session) AwaitLastWords(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, lastWords, ErrGone)
	defer cancel()
	_ = s.AwaitExit(ctx)
}

// AwaitMessage waits until one of the messages of this play holds. holds is called once for each message.
func (s *Session) AwaitMessage(ctx context.Context, what string, holds func(m wire.Message) bool) error {
	seen := 0
	return s.wait(ctx, what, func() bool {
		for ; seen < len(s.events); seen++ {
			e := s.events[seen]
			if e.Kind == transcript.Receive && len(e.Data) > 0 && holds(wire.Read(e.Data)) {
				seen++
				return true
			}
		}
		return false
	})
}

// Barrier sends a ping, from 2026-07-28 a server/discover, and waits for its reply: the server has then read everything
// that was sent before.
func (s *Session) Barrier(ctx context.Context) error {
	s.mu.Lock()
	s.barriers++
	id := transcript.BarrierPrefix + strconv.FormatInt(s.barriers, 10)
	s.mu.Unlock()
	stream, err := s.Send(ctx, transport.Outgoing{Data: s.Request(id, wire.Ping(s.opts.Revision), nil, nil)})
	if err != nil {
		return err
	}
	return s.AwaitReply(ctx, id, stream)
}
