// Package observe turns the events of a step into the one JSON document that checks and templates see. It is
// pure, and used by the player (for ${...} in later steps) and the judge alike, so that both see the same.
package observe

import (
	"net/http"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// ListKey names the member of a list result that holds its items, by method.
var ListKey = map[string]string{
	"tools/list":               "tools",
	"resources/list":           "resources",
	"resources/templates/list": "resourceTemplates",
	"prompts/list":             "prompts",
	"tasks/list":               "tasks",
}

// message is one received message with the event that brought it.
type message struct {
	wire.Message
	event transcript.Event
}

func (m message) reply() bool {
	return m.Kind == wire.KindResult || m.Kind == wire.KindError || m.Kind == wire.KindBoth
}

// barrier says whether an id is one of the session's own barrier pings.
func barrier(id any) bool {
	s, ok := id.(string)
	return ok && strings.HasPrefix(s, transcript.BarrierPrefix)
}

// Step is the observation of one step: its events (and no others) in, a document out. The members that it may
// have are described in docs/expressions.md; what was not observed is absent. gone is the exit status of a
// process that ended in this step or before, or nil.
func Step(st *script.Step, events []transcript.Event, gone *transcript.ExitStatus) map[string]any {
	return (*Reader)(nil).step(st, events, gone)
}

func (r *Reader) step(st *script.Step, events []transcript.Event, gone *transcript.ExitStatus) map[string]any {
	sent, received := r.split(events)
	doc := map[string]any{"timeout": false}
	var arrived []any
	var lines []map[string]any
	for _, m := range received {
		if m.Kind != wire.KindNotJSON {
			arrived = append(arrived, m.Value)
		}
		if m.event.Stream == 0 {
			lines = append(lines, lineDoc(m))
		}
	}
	framing(lines)
	doc["arrived"] = orEmpty(arrived)
	doc["lines"] = objects(lines)
	var stderr strings.Builder
	for _, e := range events {
		switch e.Kind {
		case transcript.Timeout:
			doc["timeout"] = true
		case transcript.Stderr:
			stderr.Write(e.Data)
		case transcript.Exit:
			gone = e.Exit
		}
	}
	doc["stderr"] = stderr.String()
	if gone != nil {
		doc["exit"] = map[string]any{"code": int64(gone.Code), "signal": gone.Signal}
	}
	if len(sent) > 0 {
		first := sent[0]
		if first.Value != nil {
			doc["sent"] = first.Value
		} else {
			doc["sent"] = string(first.Raw)
		}
		if first.event.Stream > 0 {
			doc["http"] = httpDoc(first.event, events)
			doc["stream"] = int64(first.event.Stream)
		}
	}
	switch st.Verb {
	case script.Pages:
		pages(doc, sent, received)
	case script.Parallel:
		doc["replies"] = repliesTo(sent, received)
	case script.Raw:
		reply(doc, sent, rawReply(sent, received), received)
	case script.Listen:
	case script.Request:
		if st.Poll != nil && len(sent) > 0 { // what came last counts
			doc["replies"] = repliesTo(sent, received)
			sent = sent[len(sent)-1:]
		}
		reply(doc, sent, ownReply(sent, received), received)
	default:
		reply(doc, sent, ownReply(sent, received), received)
	}
	return doc
}

// opens says whether the event is the request that opens a session over HTTP+SSE.
func opens(e transcript.Event) bool {
	return e.Step == 0 && e.Stream == transcript.Carrier && e.HTTP != nil && e.HTTP.Method == http.MethodGet
}

// split parts the events into what the suite sent (without barriers and answers to the server) and what it
// received (without the replies to barriers).
func (r *Reader) split(events []transcript.Event) (sent, received []message) {
	for _, e := range events {
		switch e.Kind {
		case transcript.Send:
			if opens(e) {
				continue
			}
			m := message{r.read(e.Data), e}
			if id, ok := m.ID(); ok && barrier(id) || e.Note == transcript.Automatic {
				continue
			}
			sent = append(sent, m)
		case transcript.Receive:
			if len(e.Data) == 0 {
				continue
			}
			m := message{r.read(e.Data), e}
			if id, ok := m.ID(); ok && m.reply() && barrier(id) || aside(m) {
				continue
			}
			received = append(received, m)
		}
	}
	return sent, received
}

// aside says whether the body of an HTTP answer is JSON that nobody would take for a message, such as {"ok": true}.
func aside(m message) bool {
	if m.event.Stream == 0 || m.event.SSE != nil {
		return false
	}
	switch v := m.Value.(type) {
	case []any:
		return false
	case map[string]any:
		for _, name := range []string{"jsonrpc", "id", "method", "result", "error"} {
			if _, ok := v[name]; ok {
				return false
			}
		}
	}
	return true
}

// ownReply is the reply to the first message sent: by its id, or on HTTP, for what has no id, whatever reply
// came on its own stream.
func ownReply(sent, received []message) *message {
	if len(sent) == 0 {
		return nil
	}
	if id, ok := sent[0].ID(); ok && id != nil && sent[0].Kind == wire.KindRequest {
		return find(received, id)
	}
	for i, m := range received {
		if m.reply() && sent[0].event.Stream > 0 && m.event.Stream == sent[0].event.Stream {
			return &received[i]
		}
	}
	return nil
}

// rawReply is the reply to text that may hold no readable id: by id if it has one, else the first reply.
func rawReply(sent, received []message) *message {
	if len(sent) > 0 {
		if id, ok := sent[0].ID(); ok && id != nil && sent[0].Kind == wire.KindRequest {
			if m := find(received, id); m != nil {
				return m
			}
		}
	}
	for i, m := range received {
		if m.reply() {
			return &received[i]
		}
	}
	return nil
}

func find(received []message, id any) *message {
	key := wire.IDKey(id)
	for i, m := range received {
		if !m.reply() {
			continue
		}
		if got, ok := m.ID(); ok && got != nil && wire.IDKey(got) == key {
			return &received[i]
		}
	}
	return nil
}

// repliesByID is what find finds, for many ids.
func repliesByID(received []message) map[string]*message {
	out := map[string]*message{}
	for i, m := range received {
		if id, ok := m.ID(); ok && id != nil && m.reply() && out[wire.IDKey(id)] == nil {
			out[wire.IDKey(id)] = &received[i]
		}
	}
	return out
}

// repliesTo are the replies to the requests among sent, in their order; nil where none came.
func repliesTo(sent, received []message) []any {
	replies, to := make([]any, 0, len(sent)), repliesByID(received)
	for _, m := range sent {
		if id, ok := m.ID(); ok && m.Kind == wire.KindRequest {
			replies = append(replies, valueOf(to[wire.IDKey(id)]))
		}
	}
	return replies
}

func valueOf(m *message) any {
	if m == nil {
		return nil
	}
	return m.Value
}

// reply puts the reply's members, what came during the request, and how long it took into doc.
func reply(doc map[string]any, sent []message, r *message, received []message) {
	during := []any{}
	for i := range received {
		if r != nil && &received[i] == r {
			break
		}
		if received[i].Kind == wire.KindRequest || received[i].Kind == wire.KindNotification {
			during = append(during, received[i].Value)
		}
	}
	doc["during"] = during
	if r == nil {
		return
	}
	o, _ := r.Value.(map[string]any)
	doc["reply"] = o
	for _, name := range []string{"id", "result", "error"} {
		if v, ok := o[name]; ok {
			doc[name] = v
		}
	}
	doc["replyStream"] = int64(r.event.Stream)
	if len(sent) > 0 {
		doc["elapsed"] = (r.event.At - sent[0].event.At).Seconds()
	}
}

// pages gathers the results of a list that was walked page by page.
func pages(doc map[string]any, sent, received []message) {
	list, items, cursors := []any{}, []any{}, []any{}
	seen, repeated, to := map[string]bool{}, false, repliesByID(received)
	for _, m := range sent {
		id, ok := m.ID()
		if !ok {
			continue
		}
		r := to[wire.IDKey(id)]
		doc["complete"] = false
		if r == nil {
			continue
		}
		o, _ := r.Value.(map[string]any)
		for _, name := range []string{"result", "error"} {
			delete(doc, name)
			if v, ok := o[name]; ok {
				doc[name] = v
			}
		}
		doc["reply"] = o
		result, ok := o["result"].(map[string]any)
		if !ok {
			continue
		}
		list = append(list, result)
		if more, ok := result[ListKey[m.Method()]].([]any); ok {
			items = append(items, more...)
		}
		switch c := result["nextCursor"].(type) {
		case nil:
			doc["complete"] = true
		case string:
			cursors = append(cursors, c)
			repeated = repeated || seen[c]
			seen[c] = true
		}
	}
	doc["pages"], doc["items"], doc["cursors"], doc["repeats"] = list, items, cursors, repeated
}

// httpDoc is the document of one HTTP request and its answer; send is the event that made the request.
func httpDoc(send transcript.Event, events []transcript.Event) map[string]any {
	doc := map[string]any{"stream": int64(send.Stream), "ended": false, "events": []any{}}
	if send.HTTP != nil {
		doc["method"] = send.HTTP.Method
		doc["request"] = headers(send.HTTP.Headers)
		doc["url"] = send.HTTP.URL
	}
	sse := []any{}
	for _, e := range events {
		if e.Stream != send.Stream || e.In != send.In {
			continue
		}
		switch e.Kind {
		case transcript.Answer:
			doc["status"] = int64(e.HTTP.Status)
			h := headers(e.HTTP.Headers)
			doc["headers"] = h
			ct, _ := h["content-type"].(string)
			doc["type"] = wire.MediaType(ct)
		case transcript.Receive:
			if e.SSE == nil {
				doc["body"] = string(e.Data)
				if v, _, err := wire.Decode(e.Data); err == nil {
					doc["json"] = v
				}
				continue
			}
			sse = append(sse, sseDoc(e))
		case transcript.End:
			doc["ended"] = true
			if e.Note != "" {
				doc["broken"] = e.Note
			}
		}
	}
	if _, ok := doc["status"]; ok {
		if _, ok := doc["body"]; !ok {
			doc["body"] = ""
		}
	}
	doc["events"] = sse
	return doc
}

func sseDoc(e transcript.Event) map[string]any {
	d := map[string]any{"event": e.SSE.Event, "data": string(e.Data)}
	if e.SSE.ID != nil {
		d["id"] = *e.SSE.ID
	}
	if e.SSE.Retry != nil {
		d["retry"] = int64(*e.SSE.Retry)
	}
	if v, _, err := wire.Decode(e.Data); err == nil && len(e.Data) > 0 {
		d["message"] = v
	}
	return d
}

func headers(h map[string][]string) map[string]any {
	out := make(map[string]any, len(h))
	for name, values := range http.Header(h) {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

func texts(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = s
	}
	return out
}

func objects(in []map[string]any) []any {
	out := make([]any, len(in))
	for i, o := range in {
		out[i] = o
	}
	return out
}

func orEmpty(l []any) []any {
	if l == nil {
		return []any{}
	}
	return l
}

// IsStream says whether the HTTP answer on the stream is a stream of server-sent events.
func IsStream(events []transcript.Event, stream int) bool {
	for _, e := range events {
		if e.Kind == transcript.Answer && e.Stream == stream {
			return wire.MediaType(http.Header(e.HTTP.Headers).Get("Content-Type")) == wire.EventStream
		}
	}
	return false
}

// ResultOf is the result in the reply to the request with the id, or nil.
func ResultOf(events []transcript.Event, id any) map[string]any {
	_, received := (*Reader)(nil).split(events)
	if m := find(received, id); m != nil {
		o, _ := m.Value.(map[string]any)
		result, _ := o["result"].(map[string]any)
		return result
	}
	return nil
}
