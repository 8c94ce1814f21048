// Package session holds one conversation with a target: it numbers requests, tells which reply belongs to
// which request, answers what the server asks of a client, and keeps the events. It judges nothing.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// firstID is the first id that a session gives out itself; exchanges that choose ids keep below it.
const firstID = 1000

// Answer is what a client says to a request of the server: a result, or an error when Err is set.
type Answer struct {
	Result any
	Err    *Error
}

// Error is the error member of a reply.
type Error struct {
	Code    int64
	Message string
}

// Options of a session.
type Options struct {
	Revision     string                                         // the revision to ask for
	Capabilities map[string]any                                 // the client capabilities to declare
	Answer       func(method string, params any) (Answer, bool) // nil or false: the defaults (ping, roots/list when declared, else -32601)
	Timeout      time.Duration                                  // of the handshake
	Epoch        time.Time                                      // events are timed from here; zero: from now
	Budget       *Budget                                        // shared by the sessions of a run; nil: one of its own
}

// Session is one conversation. Its methods are for one caller at a time; what the server does in between is
// recorded all the while.
type Session struct {
	opts Options
	conn transport.Conn

	opened chan struct{} // closed when conn is there, or will never be

	mu         sync.Mutex
	changed    chan struct{}      // closed and replaced whenever something was recorded
	events     []transcript.Event // since the last Take
	replies    map[string]int     // replies seen since the last Take, by wire.IDKey
	ended      map[int]bool       // HTTP requests whose answer is over
	refused    map[int]bool       // those that were answered with an error status, or could not be made
	carried    bool               // over HTTP+SSE: replies come on the stream transcript.Carrier
	step, item int
	gone       bool // the server closed its output or ended
	received   int
	overflow   error // why the suite does not listen any more
	next       int64
	barriers   int64
	negotiated string
}

// Open connects to the target without saying anything yet. The error is the transport's.
func Open(ctx context.Context, target transport.Target, opts Options) (*Session, error) {
	if opts.Epoch.IsZero() {
		opts.Epoch = time.Now()
	}
	s := &Session{
		opts: opts, changed: make(chan struct{}), next: firstID,
		replies: map[string]int{}, ended: map[int]bool{}, refused: map[int]bool{}, opened: make(chan struct{}),
	}
	if s.opts.Budget == nil {
		s.opts.Budget = &Budget{}
	}
	defer close(s.opened)
	conn, err := target.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	s.conn = conn
	_, s.carried = conn.(transport.Greeter)
	return s, nil
}

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

// Record takes in an event from the transport.
func (s *Session) Record(e transcript.Event) {
	if e.Kind == transcript.Receive && s.Overflow() != nil {
		return
	}
	var m wire.Message
	reads := e.Kind == transcript.Receive && len(e.Data) > 0
	if reads {
		m = wire.Read(e.Data)
	}
	s.mu.Lock()
	if !s.admit(e) {
		s.announce()
		s.mu.Unlock()
		return
	}
	e.Step, e.Item, e.At = s.step, s.item, time.Since(s.opts.Epoch)
	s.events = append(s.events, e)
	switch e.Kind {
	case transcript.End:
		s.ended[e.Stream] = true
	case transcript.Answer:
		s.refused[e.Stream] = e.HTTP.Status >= 400
	case transcript.Failure:
		s.refused[e.Stream] = true
	case transcript.EOF, transcript.Exit:
		s.gone = true
	case transcript.Receive:
		s.noteReplies(m)
	}
	s.announce()
	s.mu.Unlock()
	if reads && m.Kind == wire.KindRequest {
		go s.answer(m) // a sink must not call back into its connection
	}
}

// announce wakes who waits. It is called with the lock held.
func (s *Session) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Session) noteReplies(m wire.Message) {
	switch m.Kind {
	case wire.KindResult, wire.KindError, wire.KindBoth:
		id, has := m.ID()
		if has && id != nil {
			s.replies[wire.IDKey(id)]++
		}
		if result, ok := member(m.Value, "result").(map[string]any); ok && s.negotiated == "" {
			if v, ok := result["protocolVersion"].(string); ok {
				s.negotiated = v
			}
		}
	case wire.KindBatch:
		for _, item := range m.Value.([]any) {
			if o, ok := item.(map[string]any); ok && o["method"] == nil && o["id"] != nil {
				s.replies[wire.IDKey(o["id"])]++
			}
		}
	}
}

func member(v any, name string) any {
	o, _ := v.(map[string]any)
	return o[name]
}

// answer replies to a request of the server as the client that this session is.
func (s *Session) answer(m wire.Message) {
	id, _ := m.ID()
	if id == nil {
		return
	}
	a, ok := Answer{}, false
	if s.opts.Answer != nil {
		a, ok = s.opts.Answer(m.Method(), member(m.Value, "params"))
	}
	if !ok {
		switch {
		case m.Method() == "ping":
			a = Answer{Result: map[string]any{}}
		case m.Method() == "roots/list" && s.opts.Capabilities["roots"] != nil:
			a = Answer{Result: map[string]any{"roots": []any{}}}
		default:
			a = Answer{Err: &Error{-32601, "Method not found"}}
		}
	}
	data := wire.Result(id, a.Result)
	if a.Err != nil {
		data = wire.ErrorReply(id, a.Err.Code, a.Err.Message)
	}
	<-s.opened
	if s.conn != nil {
		_, _ = s.conn.Send(context.Background(), transport.Outgoing{Data: data, Note: transcript.Automatic})
	}
}

// At says which step (and repetition) the events that follow belong to, and records that the step began.
func (s *Session) At(step, item int) {
	s.mu.Lock()
	s.step, s.item = step, item
	s.mu.Unlock()
	if step > 0 {
		s.Record(transcript.Event{Kind: transcript.Step})
	}
}

// Take gives the events recorded since the last Take.
func (s *Session) Take() []transcript.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events, s.replies = nil, map[string]int{}
	s.step, s.item = 0, 0
	return events
}

// Events gives the events recorded since the last Take, without taking them.
func (s *Session) Events() []transcript.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[:len(s.events):len(s.events)]
}

// Negotiated is the revision that the server answered with, or "".
func (s *Session) Negotiated() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.negotiated
}

// Gone says whether the server ended the conversation: it closed its output, or its process ended.
func (s *Session) Gone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// NextID gives an id that was not used in this session.
func (s *Session) NextID() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

// Send hands a message to the server. stream is the number of its HTTP request, 0 on pipes.
func (s *Session) Send(ctx context.Context, out transport.Outgoing) (stream int, err error) {
	return s.conn.Send(ctx, out)
}

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
		Method: "GET", Hold: true, Header: map[string][]string{"Last-Event-ID": {last}, "Accept": {"text/event-stream"}, "Content-Type": nil},
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
	return s.wait(ctx, "an HTTP answer", func() bool {
		if s.ended[stream] {
			return true
		}
		for _, e := range s.events {
			if e.Kind == transcript.Answer && e.Stream == stream {
				return true
			}
		}
		return false
	})
}

// AwaitEvent waits until something came with an HTTP answer, or it is over.
func (s *Session) AwaitEvent(ctx context.Context, stream int) error {
	return s.wait(ctx, "an event", func() bool {
		if s.ended[stream] {
			return true
		}
		for _, e := range s.events {
			if e.Kind == transcript.Receive && e.Stream == stream {
				return true
			}
		}
		return false
	})
}

// AwaitExit waits until the server's process has ended, which may be some time after its output.
func (s *Session) AwaitExit(ctx context.Context) error {
	return s.await(ctx, "the end of the server's process", false, func() bool {
		return slices.ContainsFunc(s.events, func(e transcript.Event) bool { return e.Kind == transcript.Exit })
	})
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

// Barrier sends a ping and waits for its reply: the server has then read everything that was sent before.
func (s *Session) Barrier(ctx context.Context) error {
	s.mu.Lock()
	s.barriers++
	id := transcript.BarrierPrefix + strconv.FormatInt(s.barriers, 10)
	s.mu.Unlock()
	stream, err := s.Send(ctx, transport.Outgoing{Data: wire.Request(id, "ping", nil)})
	if err != nil {
		return err
	}
	return s.AwaitReply(ctx, id, stream)
}

// Initialize does the handshake of the legacy era: initialize, then notifications/initialized, and over HTTP
// sets the headers that later requests carry. It returns an error when the server did not answer with a
// result; that the server chose another revision is no error (see Negotiated).
func (s *Session) Initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	id := s.NextID()
	stream, err := s.Send(context.WithoutCancel(ctx), transport.Outgoing{Data: wire.Request(id, "initialize", InitializeParams(s.opts.Revision, s.opts.Capabilities))})
	if err != nil {
		return s.explain(err)
	}
	if err := s.AwaitReply(ctx, id, stream); err != nil {
		if errors.Is(err, ErrTimeout) {
			err = fmt.Errorf("no answer to initialize within %s (--start-timeout): %w", s.opts.Timeout, err)
		}
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

// InitializeParams are the params of an initialize request, as JSON values.
func InitializeParams(revision string, capabilities map[string]any) map[string]any {
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	return map[string]any{
		"protocolVersion": revision,
		"capabilities":    capabilities,
		"clientInfo":      map[string]any{"name": "mcp-litmus", "version": "1"},
	}
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
	for _, e := range s.Events() {
		switch e.Kind {
		case transcript.Exit:
			if e.Exit.Signal != "" {
				more = append(more, "it was ended by signal "+e.Exit.Signal)
			} else {
				more = append(more, fmt.Sprintf("it exited with code %d", e.Exit.Code))
			}
		case transcript.Answer:
			if e.HTTP.Status > 299 {
				more = append(more, fmt.Sprintf("HTTP status %d", e.HTTP.Status))
			}
		case transcript.Receive:
			if m := wire.Read(e.Data); m.Kind == wire.KindError {
				more = append(more, "it answered "+clip(string(e.Data), 200))
			}
		case transcript.Failure:
			return errors.New(e.Note) // it says more than what followed from it
		case transcript.Stderr:
			stderr = append(stderr, e.Data...)
		}
	}
	if tail := strings.TrimSpace(string(stderr)); tail != "" {
		more = append(more, "it wrote to stderr: "+clipTail(tail, 400))
	}
	if len(more) == 0 {
		return err
	}
	return fmt.Errorf("%w; %s", err, strings.Join(more, "; "))
}

// Carried says whether replies come on another stream than the answers to what asked for them, as over HTTP+SSE.
func (s *Session) Carried() bool { return s.carried }

// Conn is the connection beneath.
func (s *Session) Conn() transport.Conn { return s.conn }

// Close ends the conversation and waits until all of it is gone.
func (s *Session) Close() { s.conn.Close() }

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

func clipTail(s string, n int) string {
	if len(s) > n {
		return "…" + strings.ToValidUTF8(s[len(s)-n:], "")
	}
	return s
}
