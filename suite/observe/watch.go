package observe

import (
	"maps"
	"net/http"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Stretch is a part of a run that a watch exchange looks at: the opening and ending of a session, or a play.
type Stretch struct {
	Name       string // the exchange, or "" for a session's own events
	Session    int
	Negotiated string
	Malformed  map[int]bool // the steps that broke the protocol on purpose
	Events     []transcript.Event
}

// Watch gathers everything that crossed the wire into lists for the checks of a watch exchange: messages,
// requests, lines, answers and sessions. Sessions in which another revision was negotiated are left out.
func Watch(revision script.Revision, stretches []Stretch) map[string]any {
	w := watch{sessions: map[int]map[string]any{}}
	for i := range stretches {
		s := &stretches[i]
		if s.Negotiated != "" && s.Negotiated != string(revision) {
			continue
		}
		w.stretch(s)
	}
	return map[string]any{
		"messages": orEmpty(w.messages), "requests": w.requestDocs(), "lines": orEmpty(w.lines),
		"answers": orEmpty(w.answers), "sessions": orEmpty(w.sessionDocs),
	}
}

type watch struct {
	messages, lines, answers, sessionDocs []any
	order                                 []*request
	sessions                              map[int]map[string]any
}

// request is one message of ours that has an id, and what became of it.
type request struct {
	doc     map[string]any
	key     string
	stream  int
	replies int64
}

func (w *watch) requestDocs() []any {
	out := make([]any, 0, len(w.order))
	for _, r := range w.order {
		r.doc["replies"] = r.replies
		out = append(out, r.doc)
	}
	return out
}

// session is the document of a session, made when it is first seen.
func (w *watch) session(n int) map[string]any {
	if d, ok := w.sessions[n]; ok {
		return d
	}
	d := map[string]any{"number": int64(n)}
	w.sessions[n] = d
	w.sessionDocs = append(w.sessionDocs, d)
	return d
}

func (w *watch) stretch(s *Stretch) {
	own := map[string]*request{} // requests of this stretch by id and connection
	posts := map[[2]any]transcript.Event{}
	resumed, carriers := map[[2]any]int{}, map[[2]any]int{} // streams that continue another; streams by event id
	gone := false
	for _, e := range s.Events {
		place := map[string]any{"exchange": s.Name, "step": int64(e.Step), "session": int64(s.Session)}
		malformed := s.Malformed[e.Step]
		switch e.Kind {
		case transcript.Send:
			if e.Stream > 0 {
				posts[[2]any{e.In, e.Stream}] = e
				if last := http.Header(e.HTTP.Headers).Get("Last-Event-Id"); last != "" {
					resumed[[2]any{e.In, e.Stream}] = carriers[[2]any{e.In, last}]
				}
			}
			m := wire.Read(e.Data)
			if id, ok := m.ID(); ok && m.Kind == wire.KindRequest {
				doc := maps.Clone(place)
				doc["message"], doc["method"], doc["malformed"], doc["gone"] = m.Value, m.Method(), malformed, gone
				r := &request{doc: doc, key: e.In + "\x00" + wire.IDKey(id), stream: e.Stream}
				own[r.key] = r
				w.order = append(w.order, r)
			}
		case transcript.Receive:
			if origin := resumed[[2]any{e.In, e.Stream}]; origin > 0 {
				e.Stream = origin
			}
			if e.SSE != nil && e.SSE.ID != nil {
				carriers[[2]any{e.In, *e.SSE.ID}] = e.Stream
			}
			if len(e.Data) == 0 {
				continue
			}
			m := wire.Read(e.Data)
			if e.Stream == 0 {
				line := maps.Clone(place)
				maps.Copy(line, lineDoc(message{m, e}))
				w.lines = append(w.lines, line)
			} else if e.SSE == nil && m.Kind == wire.KindNotJSON {
				continue
			}
			w.message(place, e, m, own, malformed)
		case transcript.Answer:
			doc := maps.Clone(place)
			maps.Copy(doc, HTTP(posts[[2]any{e.In, e.Stream}], s.Events))
			sent := wire.Read(posts[[2]any{e.In, e.Stream}].Data)
			doc["sent"], doc["sentKind"], doc["malformed"] = sent.Value, string(sent.Kind), malformed
			w.answers = append(w.answers, doc)
		case transcript.EOF:
			gone = true
		case transcript.Exit:
			gone = true
			w.session(s.Session)["exit"] = map[string]any{"code": int64(e.Exit.Code), "signal": e.Exit.Signal}
		case transcript.Timeout:
			w.session(s.Session)["timeout"] = true
		}
	}

}

func (w *watch) message(place map[string]any, e transcript.Event, m wire.Message, own map[string]*request, malformed bool) {
	doc := maps.Clone(place)
	doc["message"], doc["text"], doc["kind"] = m.Value, string(m.Raw), string(m.Kind)
	doc["oddities"], doc["stream"], doc["malformed"] = texts(m.Oddities), int64(e.Stream), malformed
	doc["cut"] = e.Size > 0
	if m.Kind == wire.KindRequest || m.Kind == wire.KindNotification {
		doc["method"] = m.Method()
	}
	if id, ok := m.ID(); ok && id != nil && m.Kind != wire.KindRequest {
		if r := own[e.In+"\x00"+wire.IDKey(id)]; r != nil {
			r.replies++
			doc["request"], doc["method"] = r.doc["message"], r.doc["method"]
			doc["own"] = int64(r.stream)
			doc["malformed"] = r.doc["malformed"]
		}
	}
	w.messages = append(w.messages, doc)
}
