package observe_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

func sent(step int, data string) transcript.Event {
	return transcript.Event{Kind: transcript.Send, Step: step, Data: []byte(data)}
}

func received(step int, data string) transcript.Event {
	return transcript.Event{Kind: transcript.Receive, Step: step, Data: []byte(data)}
}

func posted(stream int, method, data string, headers map[string][]string) transcript.Event {
	return transcript.Event{Kind: transcript.Send, Step: 1, Stream: stream, Data: []byte(data), HTTP: &transcript.HTTP{Method: method, Headers: headers}}
}

func answered(stream, status int) transcript.Event {
	return transcript.Event{Kind: transcript.Answer, Step: 1, Stream: stream, HTTP: &transcript.HTTP{Status: status}}
}

func on(stream int, data string, sse *transcript.SSE) transcript.Event {
	return transcript.Event{Kind: transcript.Receive, Step: 1, Stream: stream, Data: []byte(data), SSE: sse}
}

func docs(t *testing.T, seen map[string]any, name string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, v := range seen[name].([]any) {
		out = append(out, v.(map[string]any))
	}
	return out
}

func TestWatchNamesDefinitions(t *testing.T) {
	g := gomega.NewWithT(t)
	seen := new(observe.Reader).Watch("2025-11-25", []observe.Stretch{{Name: "x", Session: 1, Events: []transcript.Event{
		sent(1, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`),
		received(1, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`),
		sent(1, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","task":{}}}`),
		received(1, `{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"t"}}}`),
		sent(1, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","task":{}}}`),
		received(1, `{"jsonrpc":"2.0","id":3,"result":{"content":[]}}`),
		sent(1, `{"jsonrpc":"2.0","id":4,"method":"litmus/unknown"}`),
		received(1, `{"jsonrpc":"2.0","id":4,"result":{}}`),
		received(1, `{"jsonrpc":"2.0","method":"notifications/message"}`),
		received(1, `{"jsonrpc":"2.0","method":"roots/list","id":0}`),
		received(1, `{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":""}}`),
	}}})
	var names []any
	for _, m := range docs(t, seen, "messages") {
		names = append(names, m["definition"])
	}
	g.Expect(names).To(gomega.Equal([]any{
		"ListToolsResult", "CreateTaskResult", "CallToolResult", nil, "LoggingMessageNotification", "ListRootsRequest", nil,
	}))
}

// later is an event that came after the play.
func later(e transcript.Event) transcript.Event {
	e.Step, e.At = 0, time.Second
	return e
}

func TestWatchCountsReplies(t *testing.T) {
	g := gomega.NewWithT(t)
	seen := new(observe.Reader).Watch("2025-11-25", []observe.Stretch{
		{Session: 1, Events: []transcript.Event{later(received(0, `{"jsonrpc":"2.0","id":"late","result":{}}`))}}, // how the session ended
		{Name: "x", Session: 1, Events: []transcript.Event{
			sent(1, `{"jsonrpc":"2.0","id":"late","method":"ping"}`),
			sent(1, `{"jsonrpc":"2.0","id":"twice","method":"ping"}`),
			received(1, `{"jsonrpc":"2.0","id":"twice","result":{}}`),
			received(1, `{"jsonrpc":"2.0","id":"twice","result":{}}`),
			sent(1, `{"jsonrpc":"2.0","id":1,"method":"ping"}`),
			received(1, `{"jsonrpc":"2.0","id":"1","result":{}}`),
			received(1, `{"jsonrpc":"2.0","id":1}`),
		}},
	})
	replies := map[any]any{}
	for _, r := range docs(t, seen, "requests") {
		replies[r["message"].(map[string]any)["id"]] = r["replies"]
	}
	g.Expect(replies).To(gomega.Equal(map[any]any{"late": int64(1), "twice": int64(2), int64(1): int64(0)}))
	g.Expect(docs(t, seen, "messages")[4]).To(gomega.HaveKeyWithValue("method", "ping"), "a reply after the play finds its request")
	g.Expect(docs(t, seen, "messages")[2]).NotTo(gomega.HaveKey("request"), "the string \"1\" is not the id 1")
}

// A session that an exchange opens has a number of its own, under which stands what came after the play.
func TestWatchFindsTheRequestOfALateReplyOnASecondSession(t *testing.T) {
	g := gomega.NewWithT(t)
	ask := sent(1, `{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	ask.In = "second"
	late := later(received(0, `{"jsonrpc":"2.0","id":7,"result":{}}`))
	seen := new(observe.Reader).Watch("2025-11-25", []observe.Stretch{
		{Session: 2, Of: "x", As: "second", Events: []transcript.Event{late}},
		{Name: "x", Session: 1, Events: []transcript.Event{ask}},
		{Name: "y", Session: 3, Events: []transcript.Event{ask}},
	})
	g.Expect(docs(t, seen, "messages")).To(gomega.HaveLen(1))
	g.Expect(docs(t, seen, "messages")[0]).To(gomega.HaveKeyWithValue("method", "ping"))
	var replies []any
	for _, r := range docs(t, seen, "requests") {
		replies = append(replies, r["exchange"], r["replies"])
	}
	g.Expect(replies).To(gomega.Equal([]any{"x", int64(1), "y", int64(0)}))
}

func TestWatchJoinsAnAnswerThatCameAfterThePlay(t *testing.T) {
	g := gomega.NewWithT(t)
	body := later(on(1, `{"jsonrpc":"2.0","id":1,"result":{}}`, nil))
	body.At++
	seen := new(observe.Reader).Watch("2025-11-25", []observe.Stretch{
		{Session: 1, Events: []transcript.Event{later(answered(1, 200)), body}},
		{Name: "x", Session: 1, Events: []transcript.Event{posted(1, "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil)}},
	})
	g.Expect(docs(t, seen, "answers")).To(gomega.HaveLen(1))
	answer := docs(t, seen, "answers")[0]
	g.Expect(answer).To(gomega.And(gomega.HaveKeyWithValue("method", "POST"), gomega.HaveKeyWithValue("sentKind", "request"), gomega.HaveKey("json")))
	g.Expect(docs(t, seen, "messages")[0]).To(gomega.HaveKeyWithValue("own", int64(1)))
}

func TestWatchTakesWhatClaimsToBeAMessage(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct {
		name   string
		events []transcript.Event
		want   int
	}{
		{"the body of a success", []transcript.Event{posted(1, "POST", ping, nil), answered(1, 200), on(1, `{"ok":true}`, nil)}, 1},
		{"the body of a refusal", []transcript.Event{posted(1, "POST", ping, nil), answered(1, 404), on(1, `{"error":"gone"}`, nil)}, 0},
		{"a refusal as JSON-RPC", []transcript.Event{posted(1, "POST", ping, nil), answered(1, 404), on(1, `{"jsonrpc":"2.0","error":{}}`, nil)}, 1},
		{"a body with 202", []transcript.Event{posted(1, "POST", ping, nil), answered(1, 202), on(1, `{"ok":true}`, nil)}, 0},
		{"the answer to DELETE", []transcript.Event{posted(1, "DELETE", "", nil), answered(1, 200), on(1, `{}`, nil)}, 0},
		{"a plain event", []transcript.Event{posted(1, "GET", "", nil), answered(1, 200), on(1, `{}`, &transcript.SSE{})}, 1},
		{"an event with a name of its own", []transcript.Event{posted(1, "GET", "", nil), answered(1, 200), on(1, `{}`, &transcript.SSE{Event: "heartbeat"})}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := new(observe.Reader).Watch("2025-11-25", []observe.Stretch{{Name: "x", Session: 1, Events: c.events}})
			gomega.NewWithT(t).Expect(docs(t, seen, "messages")).To(gomega.HaveLen(c.want))
		})
	}
}

func TestWatchKnowsRedelivery(t *testing.T) {
	g := gomega.NewWithT(t)
	id := "e1"
	reply := `{"jsonrpc":"2.0","id":1,"result":{}}`
	resume := map[string][]string{http.CanonicalHeaderKey("Last-Event-ID"): {"e0"}}
	seen := new(observe.Reader).Watch("2025-11-25", []observe.Stretch{{Name: "x", Session: 1, Events: []transcript.Event{
		posted(1, "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil), answered(1, 200),
		on(1, reply, &transcript.SSE{ID: &id}),
		posted(2, "GET", "", resume), answered(2, 200),
		on(2, reply, &transcript.SSE{ID: &id}),
		on(2, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, &transcript.SSE{}),
	}}})
	g.Expect(docs(t, seen, "messages")).To(gomega.HaveLen(2))
	g.Expect(docs(t, seen, "requests")[0]).To(gomega.HaveKeyWithValue("replies", int64(1)))
}

func TestWatchKnowsWhatALateAnswerIsTo(t *testing.T) {
	g := gomega.NewWithT(t)
	late := answered(1, 200)
	late.Step, late.At = 0, 1
	seen := new(observe.Reader).Watch("2025-11-25", []observe.Stretch{
		{Session: 1, Events: []transcript.Event{late}}, // how the session ended
		{Name: "x", Session: 1, Malformed: map[int]bool{1: true}, Events: []transcript.Event{
			posted(1, "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil),
		}},
	})
	answer := docs(t, seen, "answers")[0]
	g.Expect(answer).To(gomega.HaveKeyWithValue("method", "POST"))
	g.Expect(answer).To(gomega.HaveKeyWithValue("sentKind", "request"))
	g.Expect(answer).To(gomega.HaveKeyWithValue("malformed", true))
}

// A server of both eras may ask, log and tell of changes as the older one has it, once initialize has opened a session of it.
func TestWatchLeavesOutTheOlderEra(t *testing.T) {
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	const opened, refused = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":""}}`
	const log, ping = `{"jsonrpc":"2.0","method":"notifications/message"}`, `{"jsonrpc":"2.0","id":"s","method":"ping"}`
	for _, c := range []struct {
		name     string
		revision script.Revision
		events   []transcript.Event
		want     int
	}{
		{"over a pipe, for good", "2026-07-28", []transcript.Event{received(0, log), sent(1, initialize), received(1, log), received(1, opened), received(2, ping)}, 1},
		{"where initialize is refused, what follows", "2026-07-28", []transcript.Event{sent(1, initialize), received(1, refused), received(2, ping)}, 2},
		{"over HTTP, with the answer only", "2026-07-28", []transcript.Event{
			posted(1, "POST", initialize, nil), answered(1, 200), on(1, log, &transcript.SSE{}), on(1, opened, &transcript.SSE{}),
			posted(2, "POST", `{"jsonrpc":"2.0","id":2,"method":"server/discover"}`, nil), answered(2, 200), on(2, log, &transcript.SSE{}),
		}, 1},
		{"not at an older revision", "2025-11-25", []transcript.Event{sent(1, initialize), received(1, opened), received(2, ping)}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := new(observe.Reader).Watch(c.revision, []observe.Stretch{{Name: "x", Session: 1, Events: c.events}})
			gomega.NewWithT(t).Expect(docs(t, seen, "messages")).To(gomega.HaveLen(c.want))
		})
	}
}
