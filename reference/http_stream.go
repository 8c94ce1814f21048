package reference

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// retryMillis is how long a client is asked to wait before it resumes a stream whose connection the server closed.
const retryMillis = 200

// stream is one SSE stream: its events are kept, so that a client that lost the connection can resume it. At most one
// connection carries it at a time; a newer one takes it over.
type stream struct {
	session  *httpSession
	number   int
	listener bool // opened by GET, for messages that belong to no request

	mu         sync.Mutex
	events     []event
	ended      bool          // no event will follow
	connection int           // counts the connections; only the last one may write
	carried    bool          // a connection carries the stream now
	hangUpAt   int           // the connection hungUp closes when it has written this many events
	hungUp     int           // see hangUpAt
	changed    chan struct{} // closed and replaced at every change
}

// firstConnection is the number of the connection that a stream was made for.
const firstConnection = 1

// event is one SSE event; an empty message stands for one without data.
type event struct {
	message []byte
	retry   int // milliseconds, 0: not said
}

// newStream makes a stream with an id of its own in the session. Where the revision wants it, its first event only
// tells the client its place. It counts as carried by its first connection, which
// must serve it.
func (hs *httpSession) newStream(listener bool) *stream {
	hs.streamsMu.Lock()
	defer hs.streamsMu.Unlock()
	hs.nextStream++
	st := &stream{session: hs, number: hs.nextStream, listener: listener, connection: firstConnection, carried: true, changed: make(chan struct{})}
	if hs.revision().hasPrimingEvents() {
		st.events = []event{{}}
	}
	hs.streams = append(hs.streams, st)
	if len(hs.streams) > maxStreams {
		// The oldest that is over, or that nobody listens to, makes room.
		if at := slices.IndexFunc(hs.streams, (*stream).idle); at >= 0 {
			old := hs.streams[at]
			hs.streams = slices.Delete(hs.streams, at, at+1)
			hs.listeners = slices.DeleteFunc(hs.listeners, func(st *stream) bool { return st == old })
		}
	}
	return st
}

func (st *stream) idle() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return !st.carried && (st.ended || st.listener)
}

// change wakes the connection; the caller holds mu.
func (st *stream) change() {
	close(st.changed)
	st.changed = make(chan struct{})
}

func (st *stream) send(message []byte) { st.add(event{message: message}) }

func (st *stream) add(e event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.ended {
		st.events = append(st.events, e)
		st.change()
	}
}

// end terminates the stream: the connection closes once every event is written.
func (st *stream) end() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.ended {
		st.ended = true
		st.change()
	}
}

// hangUpForNow closes the connection but not the stream, after telling the client when to come back.
func (st *stream) hangUpForNow() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.events = append(st.events, event{retry: retryMillis})
	st.hungUp, st.hangUpAt = st.connection, len(st.events)
	st.change()
}

// eventID is unique in the session and names the stream and the place in it.
func (st *stream) eventID(at int) string { return fmt.Sprintf("%d-%d", st.number, at) }

// findEvent returns the stream that an event id belongs to, and how many of its events the client has seen.
func (hs *httpSession) findEvent(id string) (st *stream, seen int, ok bool) {
	first, second, found := strings.Cut(id, "-")
	number, err1 := strconv.Atoi(first)
	at, err2 := strconv.Atoi(second)
	if !found || err1 != nil || err2 != nil {
		return nil, 0, false
	}
	hs.streamsMu.Lock()
	defer hs.streamsMu.Unlock()
	i := slices.IndexFunc(hs.streams, func(st *stream) bool { return st.number == number })
	if i < 0 {
		return nil, 0, false
	}
	st = hs.streams[i]
	st.mu.Lock()
	defer st.mu.Unlock()
	return st, at + 1, at >= 0 && at < len(st.events) && st.eventID(at) == id
}

// takeOver makes the caller the stream's connection, with the number that is returned, and ends the one before.
func (st *stream) takeOver() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.connection++
	st.carried = true
	st.change()
	return st.connection
}

// serve carries the stream on the connection with number mine, from the event with number at, until it ends, the
// client goes, the session ends, or another connection takes over. It is complete if neither the client nor another
// connection cut it short.
func (st *stream) serve(w http.ResponseWriter, r *http.Request, mine, at int) (complete bool) {
	defer func() {
		st.mu.Lock()
		if st.connection == mine {
			st.carried = false
		}
		st.mu.Unlock()
	}()

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	if out.Flush() != nil {
		return false
	}
	if st.session.server.flags[FlagReplayForeignStreams] && at > 0 {
		st.session.replayOthers(w, st)
	}
	over := st.session.ctx.Done()
	for {
		st.mu.Lock()
		if st.connection != mine {
			st.mu.Unlock()
			return false
		}
		events := st.events[at:]
		last := st.ended || over == nil
		if st.hungUp == mine {
			events = events[:max(0, st.hangUpAt-at)]
			last = true
		}
		changed := st.changed
		st.mu.Unlock()
		for _, e := range events {
			if _, err := w.Write(e.encode(st.eventID(at))); err != nil || out.Flush() != nil {
				return false
			}
			at++
		}
		if last {
			return true
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return false
		case <-over:
			over = nil // what was sent before the session ended is still written
		}
	}
}

// encode is the event as it stands on the wire. A message holds no line break, so it takes one data line.
func (e event) encode(id string) []byte {
	var b bytes.Buffer
	if e.message != nil {
		b.WriteString("event: message\n")
	}
	fmt.Fprintf(&b, "id: %s\n", id)
	if e.retry > 0 {
		fmt.Fprintf(&b, "retry: %d\n", e.retry)
	}
	b.WriteString("data:")
	if e.message != nil {
		b.WriteByte(' ')
		b.Write(e.message)
	}
	b.WriteString("\n\n")
	return b.Bytes()
}

// replayOthers writes what other streams carried, which no server should do.
func (hs *httpSession) replayOthers(w http.ResponseWriter, but *stream) {
	hs.streamsMu.Lock()
	defer hs.streamsMu.Unlock()
	for _, st := range hs.streams {
		if st == but {
			continue
		}
		st.mu.Lock()
		for at, e := range st.events {
			_, _ = w.Write(e.encode(st.eventID(at)))
			_ = http.NewResponseController(w).Flush()
		}
		st.mu.Unlock()
	}
}

// listen makes st, which is about to be served, the stream for messages that belong to no request, and gives it those
// that are waiting.
func (hs *httpSession) listen(st *stream) {
	hs.streamsMu.Lock()
	defer hs.streamsMu.Unlock()
	if hs.ctx.Err() != nil {
		st.end()
		return
	}
	if !slices.Contains(hs.listeners, st) {
		hs.listeners = append(hs.listeners, st)
	}
	for _, message := range hs.backlog {
		st.send(message)
	}
	hs.backlog = nil
}

// send puts a message that belongs to no request on one stream: the newest that is connected. Without one it waits.
func (hs *httpSession) send(message []byte) {
	hs.streamsMu.Lock()
	defer hs.streamsMu.Unlock()
	for _, st := range slices.Backward(hs.listeners) {
		st.mu.Lock()
		usable := st.carried && !st.ended
		st.mu.Unlock()
		if usable {
			st.send(message)
			return
		}
	}
	if len(hs.backlog) < maxBacklog {
		hs.backlog = append(hs.backlog, message)
	}
}

// closeListeners terminates the streams that were opened by GET.
func (hs *httpSession) closeListeners() {
	hs.streamsMu.Lock()
	defer hs.streamsMu.Unlock()
	for _, st := range hs.listeners {
		st.end()
	}
	hs.listeners = nil
}

// end ends the session: what is in progress is cancelled and every stream closes.
func (hs *httpSession) end() {
	hs.cancel()
	hs.closeListeners()
}
