// Package session holds one conversation with a target: it numbers requests, tells which reply belongs to
// which request, answers what the server asks of a client, and keeps the events. It judges nothing.
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// firstID is the first id that a session gives out itself; exchanges that choose ids keep below it.
const firstID = 1000

// Answer is what a client says to a request of the server: a result, an error when Err is set, or nothing when Silent is.
type Answer struct {
	Result any
	Err    *Error
	Silent bool
}

// Error is the error member of a reply.
type Error struct {
	Code    int64
	Message string
}

// Answerer makes up the answer to a request of the server; false leaves it to the defaults: to ping and, as far as the
// capability was declared, no roots, no sampling and no elicitation, else -32601.
type Answerer func(method string, params any) (Answer, bool)

// Options of a session.
type Options struct {
	Revision     string         // the revision to ask for
	Capabilities map[string]any // the client capabilities to declare
	Answer       Answerer       // nil: the defaults; see AnswerWith
	Timeout      time.Duration  // of the handshake
	Epoch        time.Time      // events are timed from here; zero: from now
	Budget       *Budget        // shared by the sessions of a run; nil: one of its own
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
	from       int  // the index of the first event of the step that runs, or is to come
	between    bool // a step (or all that was before) is over, and none has begun: what comes is the next one's
	gone       bool // the server closed its output or ended
	received   int
	overflow   error // why the suite does not listen any more
	next       int64
	barriers   int64
	negotiated string
	tools      []any // that the server offers, see Mirror
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
	if opts.Revision >= wire.Modern {
		conn.SetHeader("Mcp-Protocol-Version", opts.Revision)
	}
	return s, nil
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
	if reads && m.Kind == wire.KindRequest && s.opts.Revision < wire.Modern { // a modern client sends no replies
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
		if s.negotiated == "" {
			s.negotiated = s.agreed(m.Value)
		}
	case wire.KindBatch:
		for _, item := range m.Value.([]any) {
			if o, ok := item.(map[string]any); ok && o["method"] == nil && o["id"] != nil {
				s.replies[wire.IDKey(o["id"])]++
			}
		}
	}
}

// agreed is the revision that a reply leaves, as the handshake of the session's era does, or "".
func (s *Session) agreed(reply any) string {
	if s.opts.Revision >= wire.Modern {
		return discovered(s.opts.Revision, reply)
	}
	v, _ := member(member(reply, "result"), "protocolVersion").(string)
	return v
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
	s.mu.Lock()
	answerer := s.opts.Answer
	s.mu.Unlock()
	a, ok := Answer{}, false
	if answerer != nil {
		a, ok = answerer(m.Method(), member(m.Value, "params"))
	}
	if !ok {
		switch declared := s.opts.Capabilities; {
		case m.Method() == "ping":
			a = Answer{Result: map[string]any{}}
		case m.Method() == "roots/list" && declared["roots"] != nil:
			a = Answer{Result: map[string]any{"roots": []any{}}}
		case m.Method() == "sampling/createMessage" && declared["sampling"] != nil:
			a = Answer{Err: &Error{-1, "User rejected sampling request"}}
		case m.Method() == "elicitation/create" && declared["elicitation"] != nil:
			a = Answer{Result: map[string]any{"action": "cancel"}}
		default:
			a = Answer{Err: &Error{-32601, "Method not found"}}
		}
	}
	if a.Silent {
		return
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

// AnswerWith says how the server's requests are answered from now on; nil: by the defaults.
func (s *Session) AnswerWith(a Answerer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Answer = a
}

// At begins a step (or a repetition of it), and records that. What came since the one before was over belongs to it, too.
func (s *Session) At(step, item int) {
	s.mu.Lock()
	s.step, s.item = step, item
	if !s.between {
		s.from = len(s.events)
	}
	for i := s.from; i < len(s.events); i++ {
		s.events[i].Step, s.events[i].Item = step, item
	}
	s.between = false
	s.mu.Unlock()
	s.Record(transcript.Event{Kind: transcript.Step})
}

// Over ends the step and gives its events: they are all that its observation is made of, whatever comes a moment later.
func (s *Session) Over() []transcript.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events[s.from:len(s.events):len(s.events)]
	s.from, s.between, s.step, s.item = len(s.events), true, 0, 0
	return events
}

// Take gives the events recorded since the last Take. What comes from now on belongs to the next step, or to the next Take.
func (s *Session) Take() []transcript.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events, s.replies = nil, map[string]int{}
	s.from, s.between, s.step, s.item = 0, true, 0, 0
	return events
}

// Events gives the events recorded since the last Take, without taking them.
func (s *Session) Events() []transcript.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[:len(s.events):len(s.events)]
}

// Negotiated is the revision that the server answered with, in the modern era one that it supports, or "".
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
	return s.conn.Send(ctx, s.mirrored(out))
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
