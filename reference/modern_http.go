package reference

import (
	"bytes"
	"context"
	"log"
	"net/http"
	"sync"
)

// postModern answers one message of a revision without sessions. Headers of sessions and of resumption have no meaning here
// and are not looked at.
func (s *Server) postModern(w http.ResponseWriter, r *http.Request, msg *incoming) {
	switch msg.kind {
	case kindNotification: // none is defined, and none does any harm
		w.WriteHeader(http.StatusAccepted)
		return
	case kindResponse:
		refuse(w, http.StatusBadRequest, errorf(codeInvalidRequest, "Invalid request: clients send no responses, since the server sends no requests"))
		return
	}
	if !s.begin() {
		shuttingDown(w)
		return
	}
	defer s.requests.Done()
	request := &modernRequest{headers: &headers{r.Header}, principal: principal(r), end: s.all.ending}
	handle, refused := request.admit(msg, s.flags[FlagModernOnly])
	if refused != nil {
		status := http.StatusBadRequest
		if refused.Code == codeMethodNotFound {
			status = http.StatusNotFound
		}
		writeJSON(w, status, encodeError(msg.id, refused, true))
		return
	}
	// A lost connection cancels the request, and so does the end of the server.
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.all.base, cancel)()
	answer := &modernAnswer{w: w, stop: cancel}
	result, err := s.serveSafely(ctx, request, handle, answer)
	if r.Context().Err() != nil {
		return
	}
	if err != nil {
		rpcErr := asRPC(err)
		answer.finish(encodeError(msg.id, rpcErr, true), statusOf(rpcErr))
		return
	}
	answer.finish(encodeResult(msg.id, result), http.StatusOK)
}

// principal tells who asks, as far as the request's credentials say so.
func principal(r *http.Request) string { return r.Header.Get("Authorization") }

// serveSafely answers with an error where the server itself breaks down.
func (s *Server) serveSafely(ctx context.Context, r *modernRequest, handle handler, out sink) (result object, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("reference: %s panicked: %v", r.method, p)
			err = errorf(codeInternalError, "Internal error")
		}
	}()
	return s.serve(ctx, r, handle, out)
}

// statusOf is the HTTP status of an error response to a request that was well-formed in itself.
func statusOf(err *rpcError) int {
	switch err.Code {
	case codeHeaderMismatch, codeMissingCapability, codeUnsupported:
		return http.StatusBadRequest
	case codeMethodNotFound:
		return http.StatusNotFound
	}
	return http.StatusOK
}

// modernAnswer is the answer to a POST: one JSON object, or, once a message comes before the response, an event stream.
// Its events have no ids: nothing can be resumed.
type modernAnswer struct {
	w    http.ResponseWriter
	stop context.CancelFunc // called when the client has gone

	mu     sync.Mutex
	stream bool
	done   bool
}

// open begins the event stream, for what takes a while.
func (a *modernAnswer) open() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
}

func (a *modernAnswer) begin() {
	if a.stream || a.done {
		return
	}
	a.stream = true
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.Header().Set("Cache-Control", "no-cache, no-transform")
	a.w.Header().Set("X-Accel-Buffering", "no")
	a.w.WriteHeader(http.StatusOK)
	a.flush()
}

func (a *modernAnswer) flush() {
	if http.NewResponseController(a.w).Flush() != nil {
		a.stop()
	}
}

func (a *modernAnswer) send(message []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return
	}
	a.begin()
	a.write(message)
}

func (a *modernAnswer) write(message []byte) {
	var b bytes.Buffer
	b.WriteString("event: message\ndata: ")
	b.Write(message)
	b.WriteString("\n\n")
	a.writeRaw(b.Bytes())
}

func (a *modernAnswer) writeRaw(text []byte) {
	if _, err := a.w.Write(text); err != nil {
		a.stop()
		return
	}
	a.flush()
}

// keepAlive writes a comment, which keeps an idle connection from being closed.
func (a *modernAnswer) keepAlive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stream && !a.done {
		a.writeRaw([]byte(": keep-alive\n\n"))
	}
}

// finish sends the response. The status counts only if no stream has begun.
func (a *modernAnswer) finish(response []byte, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return
	}
	if a.stream {
		a.write(response)
	} else {
		writeJSON(a.w, status, response)
	}
	a.done = true
}

// speaksModern tells the era of a request without a body, or with one that does not say: by its version header, unless
// it names a session that is there, whose own revision counts.
func (s *Server) speaksModern(r *http.Request) bool {
	if s.flags[FlagModernOnly] {
		return true
	}
	if s.flags[FlagHandshakeOnly] || !revision(r.Header.Get(headerVersion)).perRequest() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[r.Header.Get(headerSession)] == nil
}

// onlyPost refuses GET and DELETE, which exist for sessions.
func onlyPost(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", http.MethodPost)
	refuse(w, http.StatusMethodNotAllowed, errorf(codeInvalidRequest, "Method %s is not allowed: use POST", r.Method))
}
