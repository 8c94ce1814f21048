package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// mute is a server that says nothing.
type mute struct{}

func (mute) Transport() string           { return transport.InMemory }
func (mute) Loopback() bool              { return true }
func (mute) String() string              { return "mute" }
func (mute) Start(context.Context) error { return nil }
func (mute) Stop()                       {}

func (mute) Open(context.Context, transport.Sink) (transport.Conn, error) { return nil, nil }

func open(t *testing.T) *Session {
	t.Helper()
	s, err := Open(t.Context(), mute{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func timeouts(s *Session) int {
	return len(slices.DeleteFunc(slices.Clone(s.Events()), func(e transcript.Event) bool { return e.Kind != transcript.Timeout }))
}

// Under load the deadline and the reply can be seen at the same time: then the reply came in time.
func TestWhatCameByTheDeadlineCounts(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	looked := 0
	err := s.wait(ctx, "a reply", func() bool {
		looked++
		<-ctx.Done()
		return looked > 1
	})
	if err != nil || timeouts(s) != 0 {
		t.Errorf("the wait ended with %v and %d timeouts", err, timeouts(s))
	}
}

func TestAWaitThatRunsOutIsRecordedOnce(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.AwaitReply(ctx, int64(1), 0); !errors.Is(err, ErrTimeout) || timeouts(s) != 1 {
		t.Errorf("the wait ended with %v and %d timeouts", err, timeouts(s))
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := s.AwaitReply(ctx, int64(1), 0); !errors.Is(err, context.Canceled) || timeouts(s) != 1 {
		t.Errorf("an interrupted wait ended with %v and %d timeouts", err, timeouts(s))
	}
}

func TestTheLastWordsOfAProcessThatGoesOnAreNoTimeout(t *testing.T) {
	s := open(t)
	s.Record(transcript.Event{Kind: transcript.EOF})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.AwaitLastWords(ctx)
	if n := timeouts(s); n != 0 {
		t.Errorf("%d timeouts are recorded", n)
	}
	go s.Record(transcript.Event{Kind: transcript.Exit, Exit: &transcript.ExitStatus{Code: 3}})
	s.AwaitLastWords(t.Context())
	if events := s.Events(); events[len(events)-1].Kind != transcript.Exit {
		t.Errorf("the exit is not there: %v", events)
	}
}

func TestTheExitMayComeAfterTheEndOfTheOutput(t *testing.T) {
	s := open(t)
	s.Record(transcript.Event{Kind: transcript.EOF})
	if err := s.AwaitReply(t.Context(), int64(1), 0); !errors.Is(err, ErrGone) {
		t.Errorf("a reply that cannot come any more: %v", err)
	}
	go s.Record(transcript.Event{Kind: transcript.Exit, Exit: &transcript.ExitStatus{}})
	if err := s.AwaitExit(t.Context()); err != nil {
		t.Error(err)
	}
}
