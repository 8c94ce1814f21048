package sabotage

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"sync"
)

const eventStream = "text/event-stream"

var errClosed = errors.New("a fault has closed this connection")

// answer is the http.ResponseWriter that the server sees.
type answer struct {
	edge     *httpEdge
	session  *httpSession
	ctx      context.Context
	cancel   context.CancelFunc
	method   string
	uri      *url.URL
	request  any
	http     map[string]any
	revision string // of the request's header

	mu       sync.Mutex // guards what follows
	w        http.ResponseWriter
	first    *effect // of on-receive, carried out with the first thing sent
	status   int     // held back; 0: not said
	decided  bool    // whether it is an event stream
	stream   bool
	begun    bool   // status and headers are out
	buffered []byte // the body, or an event that is not whole yet
	held     []byte // by reorder
	discard  bool   // the answer is complete; nothing more goes out
	hung     bool
	aborted  bool
	keepOpen bool
	left     bool // the handler has returned
	later    []func()
}

func (a *answer) Header() http.Header { return a.w.Header() }

// Unwrap lets http.ResponseController reach deadlines and the like.
func (a *answer) Unwrap() http.ResponseWriter { return a.w }

func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if status < 200 && status != http.StatusSwitchingProtocols {
		a.w.WriteHeader(status)
		return
	}
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	defer a.runLater()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.left:
		return 0, http.ErrHandlerTimeout
	case a.aborted:
		return 0, errClosed
	case a.discard || a.hung:
		return len(p), nil
	}
	a.decide()
	a.buffered = append(a.buffered, p...)
	if !a.stream {
		return len(p), nil
	}
	for {
		block, rest := cutEvent(a.buffered)
		if block == nil {
			return len(p), nil
		}
		a.buffered = rest
		if err := a.event(block); err != nil {
			return 0, err
		}
	}
}

// Flush and FlushError send what an event stream has so far; an answer of another type is held to its end.
func (a *answer) Flush() { _ = a.FlushError() }

func (a *answer) FlushError() error {
	defer a.runLater()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left || a.discard || a.hung || a.aborted {
		return nil
	}
	a.decide()
	if !a.stream {
		return nil
	}
	if !a.begun {
		e := a.strike(nil, onAnswer)
		if err := a.carryOut(e, event{}, nil); err != nil || !a.begun {
			return err
		}
	}
	return http.NewResponseController(a.w).Flush()
}

func (a *answer) decide() {
	if a.decided {
		return
	}
	a.decided = true
	kind, _, _ := mime.ParseMediaType(a.w.Header().Get("Content-Type"))
	a.stream = kind == eventStream
	a.http["status"] = a.code()
}

func (a *answer) code() int {
	if a.status == 0 {
		return http.StatusOK
	}
	return a.status
}

// strike lets the faults at a message, or, without one, at what has none: the answer as a whole or an empty event.
func (a *answer) strike(message any, only kind) *effect {
	e := a.session.outgoing(a.edge.onMessage, message, a.session.transport, only, a.edge.problems, a.answers, a.extend)
	if first := a.first; first.struck {
		a.first = &effect{}
		e.absorb(first)
		e.before = append(first.before, e.before...)
		e.struck = true
	}
	return e
}

// event takes one whole event of the server's stream.
func (a *answer) event(block []byte) error {
	parsed := parseEvent(block)
	if parsed.comment && a.begun {
		_, err := a.w.Write(block)
		return err
	}
	only := onEvent
	if parsed.comment {
		only = 0
	}
	message, err := decodeJSON(parsed.data)
	if err != nil {
		message = nil
	}
	isEndpoint := parsed.name == "endpoint"
	if isEndpoint { // of HTTP+SSE: its address is what faults see as the message
		a.endpoint(string(parsed.data))
		message = string(parsed.data)
	}
	if isMessage(message) || isEndpoint {
		only |= onMessage
	}
	if !a.begun {
		only |= onAnswer
	}
	e := a.strike(message, only)
	return a.carryOut(e, parsed, block)
}

// carryOut sends an event (block, as the server wrote it; nil: none) as e wants it, and begins the answer if need be.
func (a *answer) carryOut(e *effect, parsed event, block []byte) error {
	if e.delay > 0 {
		wait(a.ctx, e.delay)
	}
	if e.hang {
		a.hung = true
		return nil
	}
	if e.close {
		a.abort()
		return errClosed
	}
	if !a.begun {
		if err := a.begin(e); err != nil || a.discard {
			return err
		}
	}
	if !e.struck {
		_, err := a.w.Write(append(block, a.takeHeld(block)...))
		return err
	}
	a.keepOpen = a.keepOpen || e.sse.keepOpen
	name := parsed.name
	if name == "endpoint" {
		name = "message" // of what a fault adds to it
	}
	var chunk []byte
	for _, message := range e.before {
		chunk = append(chunk, newEvent(name, message)...)
	}
	if block != nil && !e.drop {
		data := e.encoded(parsed.data)
		one := block
		if !bytes.Equal(data, parsed.data) || len(e.sse.fields) > 0 {
			one = parsed.rewritten(data, e.sse)
		}
		if !a.misdirect(e, parsed.name, data) {
			chunk = append(chunk, one...)
			if e.duplicate {
				chunk = append(chunk, one...)
			}
		}
	}
	for _, message := range e.after {
		chunk = append(chunk, newEvent(name, message)...)
	}
	if e.reorder {
		a.held = append(a.held, chunk...)
		return nil
	}
	if _, err := a.w.Write(append(chunk, a.takeHeld(chunk)...)); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}

// takeHeld is what reorder held back, once something else is being sent.
func (a *answer) takeHeld(sent []byte) []byte {
	if len(sent) == 0 {
		return nil
	}
	held := a.held
	a.held = nil
	return held
}

// misdirect arranges for the message to go out on another stream of the session, and says whether
// it must not go out on its own.
func (a *answer) misdirect(e *effect, name string, data []byte) bool {
	if e.stream == "" {
		return false
	}
	other := a.session.other(a)
	if a.session.transport == TransportSSE {
		other = a.edge.foreign(a)
	}
	if other == nil {
		return false
	}
	a.later = append(a.later, func() { other.inject(newEvent(name, data)) })
	return e.stream == "other"
}

// runLater does what needs another answer's lock, so it comes when our own is free.
func (a *answer) runLater() {
	a.mu.Lock()
	later := a.later
	a.later = nil
	a.mu.Unlock()
	for _, do := range later {
		do()
	}
}

func (a *answer) inject(block []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left || a.discard || a.hung || a.aborted {
		return
	}
	if _, err := a.w.Write(block); err == nil {
		_ = http.NewResponseController(a.w).Flush()
	}
}

// begin sends the status and the headers, and the whole body when e replaces it.
func (a *answer) begin(e *effect) error {
	a.begun = true
	header := a.w.Header()
	a.edge.register(header.Get(sessionHeader), a.session)
	if e.status != 0 {
		a.status = e.status
	}
	if e.isBody {
		header.Del("Content-Length")
	}
	for _, edit := range e.headers {
		// A nil list also keeps net/http from adding a header of its own.
		header[edit.name] = edit.values
	}
	a.edge.register(header.Get(sessionHeader), a.session)
	if a.status != 0 {
		a.w.WriteHeader(a.status)
	}
	if e.isBody {
		a.discard = true
		a.cancel()
		_, err := a.w.Write(e.body)
		return err
	}
	if a.stream {
		a.session.add(a)
	}
	return nil
}

func (a *answer) abort() {
	a.aborted = true
	a.cancel()
}

// finish is called when the server's handler has returned; client ends when the client goes away.
func (a *answer) finish(client context.Context) {
	a.mu.Lock()
	if !a.hung && !a.aborted && !a.discard {
		a.decide()
		if a.first.hang {
			a.hung = true
		} else if a.stream {
			a.finishStream()
		} else {
			a.finishBody()
		}
	}
	stay := a.hung || a.keepOpen && !a.aborted && !a.discard
	a.mu.Unlock()
	a.runLater()
	if stay {
		<-client.Done()
	}
	if a.aborted || a.hung {
		panic(http.ErrAbortHandler)
	}
}

func (a *answer) finishStream() {
	if !a.begun {
		if a.carryOut(a.strike(nil, onAnswer), event{}, nil) != nil || !a.begun || a.discard {
			return
		}
	}
	if rest := append(a.buffered, a.held...); len(rest) > 0 {
		_, _ = a.w.Write(rest)
	}
	if a.keepOpen {
		_ = http.NewResponseController(a.w).Flush()
	}
}

// finishBody sends an answer that is no event stream. When a fault makes more than one message of it, it becomes one.
func (a *answer) finishBody() {
	message, err := decodeJSON(a.buffered)
	only := onAnswer
	if err == nil && isMessage(message) {
		only = anyKind
	} else {
		message = nil
	}
	e := a.strike(message, only)
	if e.delay > 0 {
		wait(a.ctx, e.delay)
	}
	switch {
	case e.hang:
		a.hung = true
		return
	case e.close:
		a.abort()
		return
	case !e.struck || e.isBody:
		if a.begin(e) == nil && !e.isBody && len(a.buffered) > 0 {
			_, _ = a.w.Write(a.buffered)
		}
		return
	}
	messages := e.before
	if message != nil && !e.drop {
		data := e.encoded(a.buffered)
		if !a.misdirect(e, "message", data) {
			messages = append(messages, data)
			if e.duplicate {
				messages = append(messages, data)
			}
		}
	}
	messages = append(messages, e.after...)
	a.sendBody(e, messages, message != nil)
}

// sendBody chooses the form of the answer by how many messages there are.
func (a *answer) sendBody(e *effect, messages [][]byte, had bool) {
	header := a.w.Header()
	body := a.buffered
	switch {
	case len(messages) == 1:
		body = messages[0]
		if !had {
			header.Set("Content-Type", "application/json")
		}
	case len(messages) > 1:
		header.Set("Content-Type", eventStream)
		header.Set("X-Accel-Buffering", "no") // as a stream of the server has it
		body = nil
		for _, one := range messages {
			body = append(body, newEvent("message", one)...)
		}
	case had:
		body = nil
		header.Del("Content-Type")
		if a.code() == http.StatusOK {
			a.status = http.StatusAccepted
		}
	}
	if len(messages) > 0 && (a.status == http.StatusAccepted || a.status == http.StatusNoContent) {
		a.status = http.StatusOK
	}
	if !bytes.Equal(body, a.buffered) {
		header.Del("Content-Length")
	}
	if a.begin(e) == nil && len(body) > 0 {
		_, _ = a.w.Write(body)
	}
}

// leave makes sure that nobody writes to the answer any more.
func (a *answer) leave() {
	a.session.remove(a)
	a.mu.Lock()
	a.left = true
	a.mu.Unlock()
}

// isMessage is true of what can be a JSON-RPC message or a batch of them.
func isMessage(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
