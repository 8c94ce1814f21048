package observe

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/mcp-litmus/mcp-litmus/suite/schema"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Stretch is a part of a run that a watch exchange looks at: the opening and ending of a session, or a play.
type Stretch struct {
	Name       string // the exchange, or "" for a session's own events
	Session    int
	Negotiated string
	Carried    bool         // over HTTP+SSE: the answer to a POST brings no message
	Malformed  map[int]bool // the steps that broke the protocol on purpose
	Events     []transcript.Event
}

// Watch gathers everything that crossed the wire into lists for the checks of a watch exchange: messages,
// requests, lines, answers and sessions. Sessions in which another revision was negotiated are left out.
func Watch(revision script.Revision, stretches []Stretch) map[string]any {
	w := watch{sessions: map[int]map[string]any{}, asked: map[string]*request{}}
	w.definitions, _ = schema.For(string(revision)) // nil for a revision without: then no message has a definition
	var concerned []*Stretch
	for i := range stretches {
		if s := &stretches[i]; s.Negotiated == "" || s.Negotiated == string(revision) {
			concerned = append(concerned, s)
		}
	}
	made := make([]map[int]*request, len(concerned))
	for i, s := range concerned {
		made[i] = w.ask(s)
	}
	for i, s := range concerned {
		w.stretch(s, made[i])
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
	asked                                 map[string]*request // by conversation and id: for replies that come after the play
	definitions                           *schema.Set
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

// conversation is a key for one session: those that an exchange opens beside its own are told apart by name.
func (s *Stretch) conversation(in string) string {
	if in == "" {
		return fmt.Sprint(s.Session)
	}
	return s.Name + "\x00" + in
}

func (s *Stretch) place(e transcript.Event) map[string]any {
	return map[string]any{"exchange": s.Name, "step": int64(e.Step), "session": int64(s.Session), "connection": e.In}
}

// ask makes the documents of the requests in the stretch, by the index of the event that sent each.
func (w *watch) ask(s *Stretch) map[int]*request {
	made := map[int]*request{}
	gone := false
	for i, e := range s.Events {
		switch e.Kind {
		case transcript.EOF, transcript.Exit:
			gone = true
		case transcript.Send:
			m := wire.Read(e.Data)
			id, ok := m.ID()
			if !ok || m.Kind != wire.KindRequest {
				continue
			}
			doc := s.place(e)
			doc["message"], doc["method"], doc["malformed"], doc["gone"] = m.Value, m.Method(), s.Malformed[e.Step], gone
			made[i] = &request{doc: doc, key: e.In + "\x00" + wire.IDKey(id), stream: e.Stream}
			w.asked[s.conversation(e.In)+"\x00"+wire.IDKey(id)] = made[i]
		}
	}
	return made
}

func (w *watch) stretch(s *Stretch, made map[int]*request) {
	own := map[string]*request{} // requests of this stretch by id and connection
	posts := map[[2]any]transcript.Event{}
	resumed, carriers := map[[2]any]int{}, map[[2]any]int{} // streams that continue another; streams by event id
	statuses := map[[2]any]int{}
	resumes, seen := map[[2]any]bool{}, map[[2]any]bool{} // streams that were asked to resume; messages by their bytes
	lines := map[string][]map[string]any{}                // by connection
	for i, e := range s.Events {
		place := s.place(e)
		malformed := s.Malformed[e.Step]
		stream := [2]any{e.In, e.Stream}
		switch e.Kind {
		case transcript.Send:
			if e.Stream > 0 {
				posts[stream] = e
				if last := http.Header(e.HTTP.Headers).Get("Last-Event-Id"); last != "" {
					resumed[stream] = carriers[[2]any{e.In, last}]
					resumes[stream] = true
				}
			}
			if r := made[i]; r != nil {
				own[r.key] = r
				w.order = append(w.order, r)
			}
		case transcript.Receive:
			if origin := resumed[stream]; origin > 0 {
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
				line["malformed"] = malformed
				lines[e.In] = append(lines[e.In], line)
				w.lines = append(w.lines, line)
			} else if !claims(m, e, posts[stream], statuses[stream], s.Carried) {
				continue
			}
			// What a resumed stream brings again is the same message, not a second one.
			bytes := [2]any{e.In, string(e.Data)}
			if resumes[stream] && seen[bytes] {
				continue
			}
			seen[bytes] = true
			if status, ok := statuses[stream]; ok {
				place["status"] = int64(status)
			}
			w.message(s, place, e, m, own, malformed)
		case transcript.Answer:
			statuses[stream] = e.HTTP.Status
			doc := maps.Clone(place)
			maps.Copy(doc, HTTP(posts[stream], s.Events))
			sent := wire.Read(posts[stream].Data)
			doc["sent"], doc["sentKind"], doc["malformed"] = sent.Value, string(sent.Kind), malformed
			w.answers = append(w.answers, doc)
		case transcript.Exit:
			w.session(s.Session)["exit"] = map[string]any{"code": int64(e.Exit.Code), "signal": e.Exit.Signal}
		case transcript.Timeout:
			w.session(s.Session)["timeout"] = true
		}
	}
	for _, l := range lines {
		framing(l)
	}
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

func (w *watch) message(s *Stretch, place map[string]any, e transcript.Event, m wire.Message, own map[string]*request, malformed bool) {
	doc := maps.Clone(place)
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
		r := own[e.In+"\x00"+wire.IDKey(id)]
		if r == nil {
			r = w.asked[s.conversation(e.In)+"\x00"+wire.IDKey(id)]
		}
		if r != nil {
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
