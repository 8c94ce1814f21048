// Package trace shows what crosses the wire while it does: it listens between a target and whoever talks to it, and writes
// events for people.
package trace

import (
	"context"
	"sync/atomic"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// Target is t with a listener: told is called with every event of every conversation, as it happens and before anybody else
// sees it, from several goroutines. conversation counts from 1 in the order in which they were opened.
func Target(t transport.Target, told func(conversation int, e transcript.Event)) transport.Target {
	return &target{Target: t, told: told}
}

type target struct {
	transport.Target
	told   func(int, transcript.Event)
	opened atomic.Int64
}

func (t *target) Open(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	n := int(t.opened.Add(1))
	return t.Target.Open(ctx, tap{sink, func(e transcript.Event) { t.told(n, e) }})
}

// Switch hands on; see transport.Switcher.
func (t *target) Switch(name string) bool {
	s, ok := t.Target.(transport.Switcher)
	return ok && s.Switch(name)
}

// Authorize hands on; see transport.Authorizer.
func (t *target) Authorize(value string) {
	if a, ok := t.Target.(transport.Authorizer); ok {
		a.Authorize(value)
	}
}

// tap stands before a sink.
type tap struct {
	sink transport.Sink
	told func(transcript.Event)
}

func (t tap) Record(e transcript.Event) {
	t.told(e)
	t.sink.Record(e)
}
