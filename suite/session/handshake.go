package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Greet waits, over a transport where the server speaks first, for what it says; elsewhere it returns at once. The
// error says what is missing.
// Source: 2024-11-05, Transports, "HTTP with SSE".
func (s *Session) Greet(ctx context.Context) error {
	g, ok := s.conn.(transport.Greeter)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	var unusable error
	err := s.wait(ctx, "the endpoint event", func() bool {
		greeted, err := g.Greeted()
		unusable = err
		return greeted
	})
	if err != nil {
		return s.explain(fmt.Errorf("the server did not send the endpoint event that opens a session: %w", err))
	}
	return unusable
}

// Begin does what begins a session of its era: Initialize, or from 2026-07-28 Discover.
func (s *Session) Begin(ctx context.Context) error {
	if s.opts.Revision >= wire.Modern {
		return s.discover(ctx)
	}
	return s.initialize(ctx)
}

// initialize does the handshake of the legacy era: initialize, then notifications/initialized, and over HTTP
// sets the headers that later requests carry. It returns an error when the server did not answer with a
// result; that the server chose another revision is no error (see Negotiated).
func (s *Session) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	method, params := wire.Opening(s.opts.Revision, s.opts.Capabilities)
	stream, err := s.first(ctx, method, params)
	if err != nil {
		return s.explain(err)
	}
	if s.Negotiated() == "" {
		return s.explain(errors.New("the server did not answer initialize with a result that names a protocolVersion"))
	}
	s.AdoptHeaders(stream)
	stream, err = s.Send(context.WithoutCancel(ctx), transport.Outgoing{Data: wire.Notification("notifications/initialized", nil)})
	if err != nil {
		return s.explain(err)
	}
	if err := s.AwaitEnd(ctx, stream); err != nil {
		return s.explain(err)
	}
	return nil
}

// first sends the request that begins a session and waits for its reply; stream is the number of its HTTP request.
func (s *Session) first(ctx context.Context, method string, params any) (stream int, err error) {
	id := s.NextID()
	stream, err = s.Send(context.WithoutCancel(ctx), transport.Outgoing{Data: s.Request(id, method, params, nil)})
	if err != nil {
		return 0, err
	}
	err = s.AwaitReply(ctx, id, stream)
	if errors.Is(err, ErrTimeout) {
		err = fmt.Errorf("no answer to %s within %s (--start-timeout): %w", method, s.opts.Timeout, err)
	}
	return stream, err
}

// AdoptHeaders takes the session id that the HTTP answer on stream assigned, and the negotiated revision, into
// the headers of later requests.
// Source: Streamable HTTP, "Session Management" and "Protocol Version Header".
func (s *Session) AdoptHeaders(stream int) {
	if stream == 0 {
		return
	}
	for _, e := range s.Events() {
		if e.Kind == transcript.Answer && e.Stream == stream {
			if id := e.HTTP.Headers["Mcp-Session-Id"]; len(id) > 0 && !s.carried {
				s.conn.SetHeader("Mcp-Session-Id", id[0])
			}
		}
	}
	if v := s.Negotiated(); v >= "2025-06-18" {
		s.conn.SetHeader("Mcp-Protocol-Version", v)
	}
}

// lastWords is how long a process whose output has ended may take to end, so that its exit can be told.
const lastWords = time.Second

// explain adds to a failed handshake what the server left behind: its exit, its HTTP status, its last words.
func (s *Session) explain(err error) error {
	if errors.Is(err, ErrGone) {
		ctx, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		_ = s.AwaitExit(ctx)
	}
	var more []string
	var stderr []byte
	refused := false // by the HTTP status of the newest answer
	for _, e := range s.Events() {
		switch e.Kind {
		case transcript.Exit:
			more = append(more, "it "+e.Exit.String())
		case transcript.Answer:
			if refused = e.HTTP.Status > 299; refused {
				more = append(more, fmt.Sprintf("HTTP status %d", e.HTTP.Status))
			}
		case transcript.Receive:
			if m := wire.Read(e.Data); m.Kind == wire.KindError || refused && e.SSE == nil && isPlain(e.Data) {
				more = append(more, "it answered "+clip(strings.TrimSpace(string(e.Data)), 200))
			}
		case transcript.Failure:
			return errors.New(e.Note) // it says more than what followed from it
		case transcript.Stderr:
			stderr = append(stderr, e.Data...)
		}
	}
	if tail := strings.TrimSpace(string(stderr)); tail != "" {
		more = append(more, "it wrote to stderr: "+Tail(tail))
	}
	if len(more) == 0 {
		return err
	}
	return fmt.Errorf("%w; %s", err, strings.Join(more, "; "))
}

// isPlain says whether the body of a refusal is a line for people, not a page.
func isPlain(body []byte) bool {
	text := strings.TrimSpace(string(body))
	return text != "" && utf8.ValidString(text) && !strings.ContainsAny(text, "<\n")
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// Tail is the end of what a server wrote, as much as fits into a message for people.
func Tail(s string) string {
	const n = 400
	if len(s) > n {
		return "…" + strings.ToValidUTF8(s[len(s)-n:], "")
	}
	return s
}
