package reference

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	headerSession     = "Mcp-Session-Id"
	headerVersion     = "Mcp-Protocol-Version"
	headerLastEventID = "Last-Event-Id"
)

// httpSession is a session over Streamable HTTP.
type httpSession struct {
	*session
	id       string
	lastUsed time.Time // guarded by Server.mu

	streamsMu  sync.Mutex
	streams    []*stream // from the oldest to the newest, for resumption
	nextStream int
	listeners  []*stream // opened by GET and not terminated
	backlog    [][]byte  // messages for the next listener
}

// Handler is the Streamable HTTP endpoint: mount it at /mcp. It refuses what does not come from or go to a loopback
// host or one of WithAllowedHosts (403), and holds one session per initialize request; requests that stand alone need
// none. Every SSE event is one Write and one Flush.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, err := s.checkOrigin(r); err != nil {
			refuse(w, status, err)
			return
		}
		switch r.Method {
		case http.MethodPost:
			s.post(w, r)
		case http.MethodGet, http.MethodDelete:
			switch {
			case s.speaksModern(r):
				onlyPost(w, r)
			case r.Method == http.MethodGet:
				s.get(w, r)
			default:
				s.delete(w, r)
			}
		default:
			w.Header().Set("Allow", "GET, POST, DELETE")
			refuse(w, http.StatusMethodNotAllowed, errorf(codeInvalidRequest, "Method %s is not allowed: use POST, GET or DELETE", r.Method))
		}
	})
}

// refuse answers with a status and, as the body, an error response. It has no id, as the specification says for
// refusals at the level of HTTP.
func refuse(w http.ResponseWriter, status int, err *rpcError) {
	writeJSON(w, status, encodeError(nil, err, true))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}

// post takes one message, or in 2025-03-26 a batch.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, errorf(codeInvalidRequest, "Not acceptable: Accept must list application/json and text/event-stream"))
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
	var msg *incoming
	var refused *refusal
	if !isArray {
		msg, refused = parseMessage(body)
	}
	switch byHeader := s.speaksModern(r); {
	case msg != nil && (byHeader || !s.flags[FlagHandshakeOnly] && isModern(msg)):
		s.postModern(w, r, msg)
		return
	case byHeader && isArray:
		refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "Invalid request: batches exist only in revision %s", rev2025March))
		return
	case byHeader:
		writeJSON(w, http.StatusBadRequest, encodeError(refused.id, refused.err, true))
		return
	}
	hs, ok := s.lookUp(w, r)
	if !ok {
		return
	}
	switch {
	case isArray:
		s.postBatch(w, r, hs, body)
	case refused != nil:
		writeJSON(w, http.StatusBadRequest, encodeError(refused.id, refused.err, true))
	case hs == nil && msg.kind == kindRequest && msg.method == "initialize":
		s.open(w, msg)
	case hs == nil:
		refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "Bad request: no %s header; begin with initialize", headerSession))
	case msg.kind != kindRequest:
		hs.receive(msg)
		w.WriteHeader(http.StatusAccepted)
	case msg.method == "initialize" || msg.method == "ping" || msg.method == "tasks/get":
		// Nothing can come before these answers, so one JSON object is enough.
		if response := hs.answer(msg, hs); response != nil {
			writeJSON(w, http.StatusOK, response)
		} else {
			sessionNotFound(w)
		}
	default:
		s.stream(w, r, hs, []*incoming{msg}, nil)
	}
}

// readBody reads a posted body, which must be labelled as JSON. If ok is false, the request has been answered.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	if !isJSON(r) {
		refuse(w, http.StatusUnsupportedMediaType, errorf(codeInvalidRequest, "Unsupported media type: Content-Type must be application/json"))
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessageBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, errorf(codeInvalidRequest, "Invalid request: longer than %d bytes", maxMessageBytes))
	case err != nil:
		refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "The body could not be read"))
	}
	return body, err == nil
}

// open begins a session with its initialize request. A request that is refused leaves no session behind.
func (s *Server) open(w http.ResponseWriter, msg *incoming) {
	hs := &httpSession{}
	hs.session = newSession(s, context.Background(), hs)
	response := hs.answer(msg, hs)
	if hs.revision() == "" {
		hs.cancel()
		writeJSON(w, http.StatusOK, response)
		return
	}
	if !s.register(hs) {
		hs.cancel()
		shuttingDown(w)
		return
	}
	w.Header().Set(headerSession, hs.id)
	writeJSON(w, http.StatusOK, response)
}

func (s *Server) postBatch(w http.ResponseWriter, r *http.Request, hs *httpSession, body []byte) {
	if hs == nil {
		refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "Bad request: no %s header, and initialize must not be part of a batch", headerSession))
		return
	}
	messages, refused, err := hs.parseBatch(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	var requests []*incoming
	for _, msg := range messages {
		if msg.kind == kindRequest {
			requests = append(requests, msg)
		} else {
			hs.receive(msg)
		}
	}
	if len(requests) == 0 && len(refused) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.stream(w, r, hs, requests, refused)
}

// stream answers requests on an SSE stream of their own, which ends after the last answer. The requests go on when
// the connection is lost; the client may resume the stream.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, hs *httpSession, requests []*incoming, refused []*refusal) {
	if !s.begin() {
		shuttingDown(w)
		return
	}
	st := hs.newStream(false)
	var answers sync.WaitGroup
	for _, bad := range refused {
		st.send(hs.encodeRefusal(bad))
	}
	for _, msg := range requests {
		answers.Go(func() {
			if response := hs.answer(msg, st); response != nil {
				st.send(response)
			}
		})
	}
	go func() { answers.Wait(); st.end(); s.requests.Done() }()
	if !st.serve(w, r, firstConnection, 0) && s.flags[FlagDisconnectCancels] {
		for _, msg := range requests {
			hs.cancelRequest(encode(object{"requestId": msg.id}))
		}
	}
}

// get opens a stream for messages that belong to no request, or resumes the stream that Last-Event-ID points into.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	hs, ok := s.lookUp(w, r)
	if !ok {
		return
	}
	if !accepts(r, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, errorf(codeInvalidRequest, "Not acceptable: Accept must list text/event-stream"))
		return
	}
	if hs == nil {
		refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "Bad request: no %s header", headerSession))
		return
	}
	if !s.begin() {
		shuttingDown(w)
		return
	}
	s.requests.Done() // a stream of its own is nothing to wait for
	if last := r.Header.Get(headerLastEventID); last != "" {
		st, after, ok := hs.findEvent(last)
		if !ok {
			refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "Bad request: %s is not an event of this session that can still be resumed", headerLastEventID))
			return
		}
		mine := st.takeOver()
		if st.listener {
			hs.listen(st)
		}
		st.serve(w, r, mine, after)
		return
	}
	st := hs.newStream(true)
	hs.listen(st)
	st.serve(w, r, firstConnection, 0)
}

// delete ends the session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	hs, ok := s.lookUp(w, r)
	if !ok {
		return
	}
	if hs == nil {
		refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "Bad request: no %s header", headerSession))
		return
	}
	if !s.flags[FlagKeepDeletedSessions] {
		s.mu.Lock()
		delete(s.sessions, hs.id)
		s.mu.Unlock()
		hs.end()
	}
	w.WriteHeader(http.StatusNoContent)
}

// lookUp finds the session that the request names, nil if it names none, and checks the protocol version header. If
// ok is false, the request has been answered.
func (s *Server) lookUp(w http.ResponseWriter, r *http.Request) (hs *httpSession, ok bool) {
	if id := r.Header.Get(headerSession); id != "" {
		s.mu.Lock()
		if hs = s.sessions[id]; hs != nil {
			hs.lastUsed = time.Now()
		}
		s.mu.Unlock()
		if hs == nil {
			sessionNotFound(w)
			return nil, false
		}
	}
	// Sessions of a revision without this header may carry anything there.
	version := revision(r.Header.Get(headerVersion))
	if version != "" && !version.negotiable() && (hs == nil || hs.revision().hasVersionHeader()) {
		err := errorf(codeInvalidRequest, "Bad request: %s %q is not supported", headerVersion, version)
		err.Data = object{"supported": handshakeRevisions, "requested": version}
		refuse(w, http.StatusBadRequest, err)
		return nil, false
	}
	return hs, true
}

func sessionNotFound(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, errorf(codeInvalidRequest, "Session not found: begin a new one with initialize"))
}

func shuttingDown(w http.ResponseWriter) {
	refuse(w, http.StatusServiceUnavailable, errorf(codeInternalError, "The server is shutting down"))
}

// register gives the session an id and keeps it, unless the server is shutting down.
func (s *Server) register(hs *httpSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	if len(s.sessions) >= maxSessions {
		var oldest *httpSession
		for _, other := range s.sessions {
			if oldest == nil || other.lastUsed.Before(oldest.lastUsed) {
				oldest = other
			}
		}
		delete(s.sessions, oldest.id)
		oldest.end()
	}
	s.created++
	hs.id = rand.Text()
	if s.flags[FlagPredictableSessionIDs] {
		hs.id = strconv.Itoa(s.created)
	}
	hs.lastUsed = time.Now()
	s.sessions[hs.id] = hs
	return true
}
