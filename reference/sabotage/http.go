package sabotage

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

const (
	sessionHeader  = "Mcp-Session-Id"
	revisionHeader = "Mcp-Protocol-Version"
	// maxBody is how much of a request's body is looked at; what is longer passes unread.
	maxBody = 16 << 20
)

// Handler wraps the handler of a server's HTTP transport. Without a fault for it, it returns next itself. An answer is
// held back until its first byte (its end, if it is not an event stream), then faults may change its status and headers; the bytes that
// no fault concerns go through as they are.
// What an action could not do is logged with package log.
func Handler(next http.Handler, faults []Fault) http.Handler {
	return newEdge(next, faults, TransportHTTP)
}

// SSEHandler wraps the handler of a server's HTTP+SSE transport, both of its endpoints, as Handler does with the other one.
func SSEHandler(next http.Handler, faults []Fault) http.Handler {
	return newEdge(next, faults, TransportSSE)
}

func newEdge(next http.Handler, faults []Fault, transport string) http.Handler {
	picked := concerning(faults, TransportHTTP, TransportSSE)
	if len(picked) == 0 {
		return next
	}
	edge := &httpEdge{
		next:      next,
		transport: transport,
		sessions:  map[string]*httpSession{},
		anyone:    newHTTPSession(transport),
		problems:  log.Writer(),
	}
	edge.anyone.shared = true
	for _, f := range picked {
		switch f.program.moment {
		case atMessage:
			edge.onMessage = append(edge.onMessage, f)
		case atReceive:
			edge.onReceive = append(edge.onReceive, f)
		}
	}
	return edge
}

type httpEdge struct {
	next                 http.Handler
	transport            string // of a session until an endpoint event tells
	onMessage, onReceive []*Fault
	problems             io.Writer

	mu       sync.Mutex
	sessions map[string]*httpSession // by session id, or by the address that an `endpoint` event gave
	anyone   *httpSession            // every request without a session
}

// httpSession is the state of one session and its open event streams.
type httpSession struct {
	*state
	transport string

	streamsMu sync.Mutex
	streams   []*answer
}

func newHTTPSession(transport string) *httpSession {
	return &httpSession{state: newState(false), transport: transport}
}

func (h *httpEdge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, message := readBody(r)
	session := h.session(r, message)
	if r.Method == http.MethodPost {
		session.receive(message)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	a := &answer{
		edge: h, session: session, w: w, ctx: ctx, cancel: cancel,
		method: r.Method, uri: r.URL, request: message, http: describe(r, body), revision: r.Header.Get(revisionHeader),
		first: &effect{},
	}
	defer a.leave()

	next := h.next
	if len(h.onReceive) > 0 {
		a.session.offer(a.first, h.onReceive, session.transport, anyKind, h.problems, message, func(names *scope) {
			a.extend(names)
			names.line = string(body)
		})
		if session.transport == TransportSSE && r.Method == http.MethodPost {
			session.say(a.first)
		}
		if a.first.swallow {
			next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
		}
	}
	if !a.first.hang {
		next.ServeHTTP(a, r.WithContext(ctx))
	}
	a.finish(r.Context())
}

// readBody reads the body and puts it back for the server; message is nil when it is not JSON.
func readBody(r *http.Request) (body []byte, message any) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	r.Body = &restoredBody{io.MultiReader(bytes.NewReader(body), &failing{err}, r.Body), r.Body}
	if message, err = decodeJSON(body); err != nil {
		return body, nil
	}
	return body, message
}

type restoredBody struct {
	io.Reader
	io.Closer
}

// failing hands on the error that reading ahead met, or is empty.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

func (h *httpEdge) session(r *http.Request, message any) *httpSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id := r.Header.Get(sessionHeader); id != "" {
		if session, ok := h.sessions[id]; ok {
			return session
		}
		return h.anyone
	}
	if session, ok := h.sessions[r.URL.RequestURI()]; ok {
		return session
	}
	if dig(message, "method") == "initialize" {
		return newHTTPSession(h.transport)
	}
	return h.anyone
}

func (h *httpEdge) register(key string, session *httpSession) {
	if key == "" || session == h.anyone {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[key] = session
}

// describe is what expressions see as `http`.
func describe(r *http.Request, body []byte) map[string]any {
	headers := map[string]any{"host": r.Host}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return map[string]any{
		"method": r.Method, "path": r.URL.Path, "query": r.URL.RawQuery,
		"headers": headers, "body": string(body), "status": 0,
	}
}

// extend adds to names what only HTTP knows.
func (a *answer) extend(names *scope) {
	names.http = a.http
	if names.revision == "" && slices.Contains(revisions, a.revision) {
		names.revision = a.revision
	}
}

// answers finds the client message that a message of the server belongs to: the one in this POST, or, for a reply on another stream,
// an earlier one of the session.
func (a *answer) answers(message any) any {
	reply, ok := message.(map[string]any)
	if !ok || !isResponse(reply) {
		return a.request
	}
	var found map[string]any
	id := string(encodeJSON(reply["id"]))
	each(a.request, func(one map[string]any) {
		if sent, ok := one["id"]; ok && string(encodeJSON(sent)) == id {
			found = one
		}
	})
	if earlier := a.session.answered(reply); found == nil && earlier != nil {
		return earlier
	}
	if found != nil {
		return found
	}
	return a.request
}

// endpoint makes a session of the two-endpoint transport known, whose POSTs go to the address in data.
func (a *answer) endpoint(data string) {
	address, err := url.Parse(data)
	if err != nil {
		return
	}
	session := newHTTPSession(TransportSSE)
	a.edge.register(a.uri.ResolveReference(address).RequestURI(), session)
	a.session.remove(a)
	session.add(a)
	a.session = session
}

func (s *httpSession) add(a *answer) {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	if !slices.Contains(s.streams, a) {
		s.streams = append(s.streams, a)
	}
}

func (s *httpSession) remove(a *answer) {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, func(open *answer) bool { return open == a })
}

// say sends on the session's stream what a fault says when a message comes in: over HTTP+SSE a POST brings no messages.
func (s *httpSession) say(e *effect) {
	s.streamsMu.Lock()
	streams := slices.Clone(s.streams)
	s.streamsMu.Unlock()
	for _, message := range e.before {
		for _, open := range streams[:min(1, len(streams))] {
			open.inject(newEvent("message", message))
		}
	}
	e.before = nil
}

// foreign is the stream of another session of HTTP+SSE whose client has the same name, or nil.
func (h *httpEdge) foreign(a *answer) *answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, session := range h.sessions {
		if session == a.session || session.transport != TransportSSE || session.name() != a.session.name() {
			continue
		}
		session.streamsMu.Lock()
		streams := slices.Clone(session.streams)
		session.streamsMu.Unlock()
		if len(streams) > 0 {
			return streams[0]
		}
	}
	return nil
}

// other is the stream to which a fault misdirects a message of a: for a POST the GET stream (in 2026-07-28 a subscription's),
// for a GET another GET stream or else that of a POST; the one opened last. It is nil when there is none.
func (s *httpSession) other(a *answer) *answer {
	s.streamsMu.Lock()
	defer s.streamsMu.Unlock()
	var best *answer
	rank := 0
	for _, open := range s.streams {
		r := 0
		switch {
		case open == a:
		case open.method == http.MethodGet:
			r = 3
		case dig(open.request, "method") == "subscriptions/listen":
			r = 2
		case a.method == http.MethodGet:
			r = 1
		}
		if r > 0 && r >= rank {
			best, rank = open, r
		}
	}
	return best
}
