package play

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/session"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// actor carries out one exchange.
type actor struct {
	player   *player
	ctx      context.Context
	c        *observe.Context
	ex       *script.Exchange
	sessions map[string]*opened // by name; "" is the exchange's own
	vars     map[string]any     // what the step sees that is carried out
	held     []held             // what is still open, oldest first
	begin    func()             // lets the time of the step run
}

// take collects the events of all sessions of the exchange and closes those that it opened beside its own.
func (a *actor) take() []transcript.Event {
	for _, h := range a.held {
		if h.step.Verb == script.Listen {
			a.sessions[h.step.In].Conn().Abort(h.stream)
		}
	}
	events := a.sessions[""].Take()
	for _, name := range slices.Sorted(maps.Keys(a.sessions)) {
		if name == "" {
			continue
		}
		o := a.sessions[name]
		if o.Session == nil {
			continue
		}
		for _, e := range o.Take() {
			e.In = name
			events = append(events, e)
		}
		a.player.close(o)
	}
	slices.SortStableFunc(events, func(x, y transcript.Event) int { return int(x.At - y.At) })
	return events
}

// carry carries out one step and gives its events. An error means that it could not be done at all: the rest is left.
func (a *actor) carry(st *script.Step, item int, vars map[string]any) (events []transcript.Event, err error) {
	if err := a.ctx.Err(); err != nil {
		return nil, err
	}
	a.vars = vars
	if st.Verb == script.Open {
		events, err = a.open(st)
	} else {
		events, err = a.step(st, item)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d:%d: %w", st.Pos.File, st.Pos.Line, st.Pos.Column, err)
	}
	return events, nil
}

func (a *actor) step(st *script.Step, item int) ([]transcript.Event, error) {
	s := a.sessions[st.In]
	if s == nil || s.Session == nil {
		return nil, fmt.Errorf("there is no session %q", st.In)
	}
	if err := s.Overflow(); err != nil {
		return nil, err
	}
	s.At(st.Number, item)
	ctx, begin, cancel := lateDeadline(a.ctx, a.bound(st, s))
	defer cancel()
	switch a.begin = begin; st.Verb {
	case script.Await, script.Quiet, script.Close: // nothing of the author's is put into bytes
		begin()
	}
	err := a.do(ctx, st, s)
	if errors.Is(err, session.ErrGone) && a.c.Transport == transport.Stdio { // else chance says whether the exit is told
		s.AwaitLastWords(a.ctx)
	}
	if over := s.Overflow(); over != nil && err != nil {
		err = over
	}
	switch {
	case err == nil, errors.Is(err, session.ErrTimeout), errors.Is(err, session.ErrGone), errors.Is(err, transport.ErrClosed):
		// These are findings; the events tell them.
	default:
		if a.ctx.Err() != nil {
			return nil, a.ctx.Err()
		}
		s.Record(transcript.Event{Kind: transcript.Failure, Note: err.Error()})
	}
	return s.Over(), nil
}

// lateDeadline is a context whose time runs from begin on: what the suite itself does before, such as making a message of
// a mebibyte on a busy machine, must not be taken off the server's time. Its cause is context.DeadlineExceeded.
func lateDeadline(parent context.Context, bound time.Duration) (ctx context.Context, begin, cancel func()) {
	ctx, end := context.WithCancelCause(parent)
	stop := func() bool { return true }
	begin = sync.OnceFunc(func() {
		stop = time.AfterFunc(bound, func() { end(context.DeadlineExceeded) }).Stop
	})
	return ctx, begin, func() { stop(); end(nil) }
}

// bound is how long a step may wait. Until a process that was started bare has said something it may still be
// coming up, so that the bound of a handshake holds, as it does in every other session.
func (a *actor) bound(st *script.Step, s *opened) time.Duration {
	if st.Timeout > 0 {
		return st.Timeout
	}
	bound := a.player.cfg.Options.Timeout
	said := func(e transcript.Event) bool { return e.Kind == transcript.Receive }
	if a.c.Transport != transport.Stdio || s.Negotiated() != "" || slices.ContainsFunc(s.Events(), said) {
		return bound
	}
	return max(bound, a.player.cfg.Opening)
}
