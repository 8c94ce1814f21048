package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"
)

// sink is a place on the wire that takes outgoing messages, each one JSON text without a newline: the output of a
// stdio session, or one SSE stream. It never blocks.
type sink interface {
	send(message []byte)
}

// session is one conversation: what was negotiated, and what the client changed since. Transports own it: they read
// the client's messages and hand each to receive or answer.
type session struct {
	server *Server
	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	// handshakeOnly says that the transport carries no revision without sessions.
	handshakeOnly bool
	// unrelated takes the messages that belong to no request in progress.
	unrelated sink

	mu         sync.Mutex
	rev        revision // empty before initialize
	clientCaps object
	logLevel   int
	subscribed map[string]bool
	tasks      taskList
	extras     map[string]bool // what tools changed: "tool", "resource" and "prompt" were added, "page" was visited
	watched    int             // how often the watched resource changed
	inFlight   map[string]*inFlight
	calls      int // how many of those are tool calls
	pending    map[string]chan reply
	nextID     int64
	deaf       bool          // no reply from the client can come any more
	gone       chan struct{} // closed when the client will send nothing any more
}

// inFlight is a client's request that is being answered.
type inFlight struct {
	cancel    context.CancelFunc
	cancelled bool
	ends      bool // by itself, with an answer, when the client has gone
}

// reply is the client's answer to a request of the server.
type reply struct {
	result object
	err    *rpcError
}

func newSession(server *Server, parent context.Context, unrelated sink) *session {
	ctx, cancel := context.WithCancel(parent)
	return &session{
		server: server, ctx: ctx, cancel: cancel, unrelated: unrelated,
		clientCaps: object{}, logLevel: levelInfo,
		subscribed: map[string]bool{}, extras: map[string]bool{},
		inFlight: map[string]*inFlight{}, pending: map[string]chan reply{}, gone: make(chan struct{}),
	}
}

func (s *session) revision() revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev
}

// encodeRefusal is the error response to something that is no message. Without a session it is of no known revision,
// and the newest one has no null there.
func (s *session) encodeRefusal(r *refusal) []byte {
	rev := s.revision()
	return encodeError(r.id, r.err, rev == "" || rev.errorsMayLackID())
}

// receive takes a notification or a response. Neither is ever answered.
func (s *session) receive(msg *incoming) {
	switch {
	case msg.kind == kindResponse:
		s.settle(msg)
	case msg.method == "notifications/cancelled":
		s.cancelRequest(msg.params)
	}
	// notifications/initialized changes nothing here, since requests are answered before it too;
	// notifications/roots/list_changed neither, since roots are asked for anew each time; unknown ones are ignored.
}

func (s *session) cancelRequest(rawParams json.RawMessage) {
	var params map[string]json.RawMessage
	if json.Unmarshal(rawParams, &params) != nil {
		return
	}
	id, ok := readID(params["requestId"])
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.inFlight[idKey(id)]; f != nil && (f.ends || !s.server.flags[FlagIgnoreCancellation]) {
		f.cancelled = true
		f.cancel()
	}
}

// answer carries a request out and returns the encoded response, or nil if the client cancelled the request.
// Messages that relate to the request go to out.
func (s *session) answer(msg *incoming, out sink) []byte {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	if msg.method != "initialize" || s.takesModern(msg) { // which cannot be cancelled
		f := &inFlight{cancel: cancel, ends: msg.method == "subscriptions/listen"}
		key := idKey(msg.id)
		if err := s.begin(key, msg.method, f); err != nil {
			return encodeError(msg.id, err, false)
		}
		response := s.run(ctx, msg, out)
		if s.finish(key, msg.method, f); f.cancelled || s.ctx.Err() != nil {
			return nil
		}
		return response
	}
	return s.run(ctx, msg, out)
}

func (s *session) begin(key, method string, f *inFlight) *rpcError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight[key] != nil {
		return errorf(codeInvalidRequest, "Invalid request: a request with this id is still in progress")
	}
	if method == "tools/call" {
		if s.calls >= maxCalls {
			return errorf(codeInternalError, "Too many tool calls in progress (%d): wait for some to end", s.calls)
		}
		s.calls++
	}
	s.inFlight[key] = f
	return nil
}

func (s *session) finish(key, method string, f *inFlight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.inFlight, key)
	if method == "tools/call" {
		s.calls--
	}
}

// run dispatches the request and encodes what comes of it.
func (s *session) run(ctx context.Context, msg *incoming, out sink) (response []byte) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("reference: %s panicked: %v", msg.method, p)
			response = encodeError(msg.id, errorf(codeInternalError, "Internal error"), false)
		}
	}()
	if s.takesModern(msg) {
		return s.answerModern(ctx, msg, out)
	}
	result, err := s.dispatch(ctx, msg, out)
	if err != nil {
		var rpcErr *rpcError
		if !errors.As(err, &rpcErr) {
			rpcErr = errorf(codeInternalError, "Internal error: %v", err)
		}
		return encodeError(msg.id, rpcErr, false)
	}
	return encodeResult(msg.id, result)
}

// request asks the client something and waits for its answer. A request that takes too long, or whose own cause was
// cancelled, is cancelled.
func (s *session) request(ctx context.Context, out sink, method string, params object) (object, error) {
	answered := make(chan reply, 1)
	s.mu.Lock()
	if s.deaf {
		s.mu.Unlock()
		return nil, fmt.Errorf("the client cannot answer %s any more", method)
	}
	s.nextID++
	id := s.nextID
	key := fmt.Sprint(id)
	s.pending[key] = answered
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.pending, key)
		s.mu.Unlock()
	}()
	out.send(encodeRequest(id, method, params))
	timeout := time.NewTimer(clientTimeout)
	defer timeout.Stop()
	giveUp := func(why string) error {
		out.send(encodeNotification("notifications/cancelled", object{"requestId": id, "reason": why}))
		return fmt.Errorf("%s was given up: %s", method, why)
	}
	select {
	case r := <-answered:
		if r.err != nil {
			return nil, fmt.Errorf("the client answered %s with an error: %w", method, clientError{r.err})
		}
		return r.result, nil
	case <-timeout.C:
		return nil, giveUp("no answer within " + clientTimeout.String())
	case <-ctx.Done():
		return nil, giveUp("the request that needed it was cancelled")
	}
}

// clientError is an error that the client sent. It is no rpcError, so that it is not passed on as the server's own.
type clientError struct{ err *rpcError }

func (e clientError) Error() string { return e.err.Error() }

// settle hands a response to the request that waits for it. One that nobody waits for is ignored.
func (s *session) settle(msg *incoming) {
	r := reply{}
	if msg.error != nil {
		var members map[string]json.RawMessage
		_ = json.Unmarshal(msg.error, &members)
		r.err = errorf(codeInternalError, "malformed error")
		if text, ok := asString(members["message"]); ok {
			r.err.Message = text
		}
		_ = json.Unmarshal(members["code"], &r.err.Code)
	} else {
		v, _ := decode(msg.result)
		result, ok := v.(object)
		if !ok {
			r.err = errorf(codeInternalError, "the result is not an object")
		}
		r.result = result
	}
	s.mu.Lock()
	waiting := s.pending[idKey(msg.id)]
	delete(s.pending, idKey(msg.id))
	s.mu.Unlock()
	if waiting != nil {
		waiting <- r
	}
}

// hangUp fails every request that waits for the client: it will send nothing any more.
func (s *session) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.deaf {
		close(s.gone)
	}
	s.deaf = true
	for key, waiting := range s.pending {
		delete(s.pending, key)
		waiting <- reply{err: errorf(codeInternalError, "the client has gone")}
	}
}

// abandon cancels what is in progress, but for what ends by itself.
func (s *session) abandon() {
	s.hangUp()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.inFlight {
		if !f.ends {
			f.cancelled = true
			f.cancel()
		}
	}
}

// parseBatch splits a batch, which only one revision knows, into its messages. Entries that are no messages come back
// as refusals; an initialize request is one of them, since a batch must not hold it.
func (s *session) parseBatch(raw []byte) ([]*incoming, []*refusal, *rpcError) {
	if !s.revision().hasBatches() {
		return nil, nil, errorf(codeInvalidRequest, "Invalid request: batches exist only in revision %s", rev2025March)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil || len(entries) == 0 {
		return nil, nil, errorf(codeInvalidRequest, "Invalid request: the batch is empty")
	}
	var messages []*incoming
	var refused []*refusal
	for _, entry := range entries {
		msg, bad := parseMessage(entry)
		switch {
		case bad != nil:
			refused = append(refused, bad)
		case isModern(msg):
			refused = append(refused, &refusal{id: msg.id,
				err: errorf(codeInvalidRequest, "Invalid request: a batch belongs to revision %s, its messages to another", rev2025March)})
		case msg.kind == kindRequest && msg.method == "initialize":
			refused = append(refused, &refusal{id: msg.id,
				err: errorf(codeInvalidRequest, "Invalid request: initialize must not be part of a batch")})
		default:
			messages = append(messages, msg)
		}
	}
	return messages, refused, nil
}
