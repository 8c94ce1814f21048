package reference

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"path"
	"sync"
)

// sseSession is a session over HTTP+SSE: it lives as long as the stream that a client has opened with GET.
type sseSession struct {
	*session
	out  *eventQueue
	work sync.WaitGroup // tool calls in progress
}

// SSEHandler is the HTTP+SSE transport of 2024-11-05, which later revisions deprecate: mount it at /sse, for clients to
// open their stream with GET, and at /message in the same folder, for them to post their messages to. One handler serves both. It refuses
// foreign hosts and origins as [Server.Handler] does, speaks every revision with a handshake, and answers each POST
// with 202 whose message can be read. Every SSE event is one Write and one Flush.
func (s *Server) SSEHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, err := s.checkOrigin(r); err != nil {
			refuse(w, status, err)
			return
		}
		switch id := r.URL.Query().Get("sessionId"); {
		case s.flags[FlagModernOnly]:
			http.NotFound(w, r)
		case r.Method == http.MethodGet:
			s.openSSE(w, r)
		case r.Method == http.MethodPost && id != "":
			s.postSSE(w, r, id)
		default:
			w.Header().Set("Allow", http.MethodGet)
			refuse(w, http.StatusMethodNotAllowed, errorf(codeInvalidRequest, "Method %s is not allowed: open a stream with GET and post to the address that its endpoint event gives", r.Method))
		}
	})
}

// openSSE begins a session and carries its stream until the client goes or the server shuts down.
func (s *Server) openSSE(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, errorf(codeInvalidRequest, "Not acceptable: Accept must list text/event-stream"))
		return
	}
	id := rand.Text()
	out := &eventQueue{wake: make(chan struct{}, 1)}
	ss := &sseSession{session: newSession(s, r.Context(), out), out: out}
	ss.handshakeOnly = true
	defer ss.cancel()
	defer ss.hangUp()
	s.mu.Lock()
	closing := s.closing
	if !closing {
		s.sse[id] = ss
	}
	s.mu.Unlock()
	if closing {
		shuttingDown(w)
		return
	}
	defer func() {
		s.mu.Lock()
		delete(s.sse, id)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	address := path.Join(path.Dir(r.URL.Path), "message") + "?sessionId=" + url.QueryEscape(id)
	out.carry(w, ss.ctx.Done(), "event: endpoint\ndata: "+address+"\n\n")
}

// postSSE takes one message, or in 2025-03-26 a batch. What comes of it goes out on the session's stream. Everything is carried
// out in the order in which it came, but for tool calls: these run beside each other.
func (s *Server) postSSE(w http.ResponseWriter, r *http.Request, id string) {
	s.mu.Lock()
	ss := s.sse[id]
	s.mu.Unlock()
	if ss == nil {
		sessionNotFound(w)
		return
	}
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	isArray, parseErr := parseText(body)
	if parseErr != nil {
		refuse(w, http.StatusBadRequest, parseErr)
		return
	}
	if !s.begin() {
		shuttingDown(w)
		return
	}
	defer s.requests.Done()
	if isArray {
		ss.batchLine(body, ss.out, &ss.work)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	msg, refused := parseMessage(body)
	switch {
	case refused != nil:
		writeJSON(w, http.StatusBadRequest, encodeError(refused.id, refused.err, true))
		return
	case msg.kind != kindRequest:
		ss.receive(msg)
	case takesTime(msg.method):
		s.requests.Add(1) // not the first: this POST counts
		ss.work.Go(func() { defer s.requests.Done(); ss.out.send(ss.answer(msg, ss.out)) })
	default:
		ss.out.send(ss.answer(msg, ss.out))
	}
	w.WriteHeader(http.StatusAccepted)
}

// eventQueue holds the messages for a stream of HTTP+SSE, so that no one who sends waits for the client to read.
type eventQueue struct {
	wake chan struct{}

	mu       sync.Mutex
	messages [][]byte
}

// send queues a message; nil is none.
func (q *eventQueue) send(message []byte) {
	if message == nil {
		return
	}
	q.mu.Lock()
	q.messages = append(q.messages, message)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// carry writes the event first and then what is queued, until the client has gone or over is closed.
func (q *eventQueue) carry(w http.ResponseWriter, over <-chan struct{}, first string) {
	out := http.NewResponseController(w)
	write := func(event string) bool {
		_, err := w.Write([]byte(event))
		return err == nil && out.Flush() == nil
	}
	if !write(first) {
		return
	}
	for last := false; ; {
		q.mu.Lock()
		messages := q.messages
		q.messages = nil
		q.mu.Unlock()
		for _, message := range messages {
			if !write("event: message\ndata: " + string(message) + "\n\n") {
				return
			}
		}
		if last {
			return
		}
		select {
		case <-q.wake:
		case <-over:
			last = true // what was sent before the session ended is still written
		}
	}
}
