package observe

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/mcp-litmus/mcp-litmus/suite/schema"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Stretch is a part of a run that a watch exchange looks at: the opening and ending of a session, or a play.
type Stretch struct {
	Name       string // the exchange, or "" for a session's own events
	Session    int
	Of, As     string // of a session that an exchange opened beside its own: the exchange, and the name it gave the session
	Negotiated string
	Carried    bool         // over HTTP+SSE: the answer to a POST brings no message
	Malformed  map[int]bool // the steps that broke the protocol on purpose
	Events     []transcript.Event
}

// Watch gathers everything that crossed the wire into lists for the checks of a watch exchange: messages,
// requests, lines, answers and sessions. Sessions in which another revision was negotiated are left out. So is, from
// 2026-07-28, what a server says as one of the older era: over a pipe all that comes after an initialize that it does not refuse,
// over HTTP what comes with the answer.
// Source: 2026-07-28, Versioning and Compatibility, "Backward Compatibility with Initialization-Based Versions".
//
// What belongs together may stand in several stretches: an answer that comes after its play is an event of the session.
// So each conversation is gone through as a whole, in the order of time.
func (r *Reader) Watch(revision script.Revision, stretches []Stretch) map[string]any {
	w := watch{modern: revision >= wire.Modern, sessions: map[int]map[string]any{}, reader: r}
	w.definitions, _ = schema.For(string(revision)) // nil for a revision without: then no message has a definition
	var names []string
	conversations := map[string][]moment{}
	for i := range stretches {
		s := &stretches[i]
		if s.Negotiated != "" && s.Negotiated != string(revision) {
			continue
		}
		for _, e := range s.Events {
			if s.As != "" {
				e.In = s.As
			}
			name := s.conversation(e.In)
			if conversations[name] == nil {
				names = append(names, name)
			}
			conversations[name] = append(conversations[name], moment{e, s})
		}
	}
	for _, name := range names {
		moments := conversations[name]
		slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.At, b.At) })
		w.conversation(moments)
	}
	return map[string]any{
		"messages": orEmpty(w.messages), "requests": w.requestDocs(), "lines": orEmpty(w.lines),
		"answers": orEmpty(w.answers), "sessions": orEmpty(w.sessionDocs),
	}
}

// moment is an event and the stretch in which it stands.
type moment struct {
	transcript.Event
	in *Stretch
}

type watch struct {
	modern                                bool // the revision has no handshake
	messages, lines, answers, sessionDocs []any
	order                                 []*request
	sessions                              map[int]map[string]any
	definitions                           *schema.Set
	reader                                *Reader
}

// request is one message of ours that has an id, and what became of it.
type request struct {
	doc     map[string]any
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

// conversation is a key for one session: those that an exchange opens beside its own are told apart by name.
func (s *Stretch) conversation(in string) string {
	if in == "" {
		return fmt.Sprint(s.Session)
	}
	return cmp.Or(s.Of, s.Name) + "\x00" + in
}

func (m moment) place() map[string]any {
	return map[string]any{"exchange": m.in.Name, "step": int64(m.Step), "session": int64(m.in.Session), "connection": m.In}
}

// conversation goes through the events of one conversation.
func (w *watch) conversation(moments []moment) {
	asked := map[string]*request{} // the newest request, by id
	streams := map[int][]transcript.Event{}
	for _, m := range moments {
		streams[m.Stream] = append(streams[m.Stream], m.Event)
	}
	posts, statuses := map[int]transcript.Event{}, map[int]int{}
	broken := map[int]bool{}                             // streams whose request broke the protocol on purpose
	resumed, carriers := map[int]int{}, map[string]int{} // streams that continue another; streams by event id
	resumes, seen := map[int]bool{}, map[string]bool{}   // streams that were asked to resume; messages by their bytes
	var lines []map[string]any
	gone := false
	older := map[int]string{} // streams that are those of the older era, by the id of an initialize that was not refused
	for _, m := range moments {
		e, place := m.Event, m.place()
		malformed := m.in.Malformed[e.Step]
		switch e.Kind {
		case transcript.EOF:
			gone = true
		case transcript.Send:
			if e.Stream > 0 {
				posts[e.Stream], broken[e.Stream] = e, malformed
				if last := http.Header(e.HTTP.Headers).Get("Last-Event-Id"); last != "" {
					resumed[e.Stream] = carriers[last]
					resumes[e.Stream] = true
				}
			}
			sent := w.reader.read(e.Data)
			if id, ok := sent.ID(); ok && sent.Kind == wire.KindRequest {
				place["message"], place["method"], place["malformed"], place["gone"] = sent.Value, sent.Method(), malformed, gone
				r := &request{doc: place, stream: e.Stream}
				asked[wire.IDKey(id)] = r
				w.order = append(w.order, r)
				if w.modern && sent.Method() == "initialize" {
					older[e.Stream] = wire.IDKey(id)
				}
			}
		case transcript.Receive:
			stream := e.Stream
			if origin := resumed[stream]; origin > 0 {
				e.Stream = origin
			}
			if e.SSE != nil && e.SSE.ID != nil {
				carriers[*e.SSE.ID] = e.Stream
			}
			if len(e.Data) == 0 {
				continue
			}
			got := w.reader.read(e.Data)
			if e.Stream == 0 {
				line := maps.Clone(place)
				maps.Copy(line, lineDoc(message{got, e}))
				line["malformed"] = malformed
				lines = append(lines, line)
				w.lines = append(w.lines, line)
			} else if !claims(got, e, posts[stream], statuses[stream], m.in.Carried) {
				continue
			}
			// What a resumed stream brings again is the same message, not a second one.
			if resumes[stream] && seen[string(e.Data)] {
				continue
			}
			seen[string(e.Data)] = true
			if id, ok := got.ID(); ok && got.Kind == wire.KindError && older[stream] == wire.IDKey(id) {
				delete(older, stream) // refused
			}
			if older[stream] != "" {
				continue
			}
			if status, ok := statuses[stream]; ok {
				place["status"] = int64(status)
			}
			w.message(place, e, got, asked, malformed)
		case transcript.Answer:
			statuses[e.Stream] = e.HTTP.Status
			doc := place
			maps.Copy(doc, httpDoc(posts[e.Stream], streams[e.Stream]))
			sent := w.reader.read(posts[e.Stream].Data)
			doc["sent"], doc["sentKind"], doc["malformed"] = sent.Value, string(sent.Kind), malformed || broken[e.Stream]
			w.answers = append(w.answers, doc)
		case transcript.Exit:
			gone = true
			w.session(m.in.Session)["exit"] = map[string]any{"code": int64(e.Exit.Code), "signal": e.Exit.Signal}
		case transcript.Timeout:
			w.session(m.in.Session)["timeout"] = true
		}
	}
	framing(lines)
}

// claims says whether what came over HTTP is to be taken for a JSON-RPC message: an event without a name of its own, and
// the body with which a POST succeeds. Other events, the bodies of refusals and the answers to GET and DELETE may hold
// any JSON, and count only where it says itself that it is JSON-RPC; so does every body over HTTP+SSE.
func claims(m wire.Message, e, sent transcript.Event, status int, carried bool) bool {
	if o, ok := m.Value.(map[string]any); ok {
		if _, ok := o["jsonrpc"]; ok {
			return true
		}
	}
	if e.SSE != nil {
		return e.SSE.Event == "" || e.SSE.Event == "message"
	}
	return !carried && m.Kind != wire.KindNotJSON && status == http.StatusOK && sent.HTTP != nil && sent.HTTP.Method == http.MethodPost
}

func (w *watch) message(place map[string]any, e transcript.Event, m wire.Message, asked map[string]*request, malformed bool) {
	doc := place
	doc["message"], doc["text"], doc["kind"] = m.Value, string(m.Raw), string(m.Kind)
	doc["oddities"], doc["stream"], doc["malformed"] = texts(m.Oddities), int64(e.Stream), malformed
	doc["cut"] = e.Size > 0
	if e.SSE != nil {
		doc["event"] = e.SSE.Event
	}
	if m.Kind == wire.KindRequest || m.Kind == wire.KindNotification {
		doc["method"] = m.Method()
	}
	if id, ok := m.ID(); ok && id != nil && (message{m, e}).reply() {
		if r := asked[wire.IDKey(id)]; r != nil {
			r.replies++
			doc["request"], doc["method"] = r.doc["message"], r.doc["method"]
			doc["own"] = int64(r.stream)
			doc["malformed"] = r.doc["malformed"]
		}
	}
	if name := w.definition(m, doc); name != "" {
		doc["definition"] = name
	}
	w.messages = append(w.messages, doc)
}

// definition names the schema's definition of the message: of a result, or of a whole request or notification. It is
// "" where the revision defines none.
func (w *watch) definition(m wire.Message, doc map[string]any) string {
	method, _ := doc["method"].(string)
	if w.definitions == nil {
		return ""
	}
	switch m.Kind {
	case wire.KindRequest:
		return w.definitions.RequestOf(method)
	case wire.KindNotification:
		return w.definitions.NotificationOf(method)
	case wire.KindResult:
		asked, _ := doc["request"].(map[string]any)
		params, _ := asked["params"].(map[string]any)
		if _, ok := params["task"]; ok { // either a task or, from a server that ignores it, the plain result
			o, _ := m.Value.(map[string]any)
			result, _ := o["result"].(map[string]any)
			if _, ok := result["task"]; ok && w.definitions.Has("CreateTaskResult") {
				return "CreateTaskResult"
			}
		}
		return w.definitions.ResultOf(method)
	}
	return ""
}
