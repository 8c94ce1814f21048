package reference

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

const pingBody = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestWhatHTTPRefuses(t *testing.T) {
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			t.Parallel()
			c := dialHTTP(t).open(rev, object{})
			for _, tc := range []struct {
				name, method, body string
				header             map[string]string
				status             int
			}{
				{"all is well", "POST", pingBody, nil, 200},
				{"foreign origin", "POST", pingBody, map[string]string{"Origin": "https://evil.example"}, 403},
				{"opaque origin", "POST", pingBody, map[string]string{"Origin": "null"}, 403},
				{"foreign origin that looks local", "POST", pingBody, map[string]string{"Origin": "http://localhost.evil.example"}, 403},
				{"foreign origin, GET", "GET", "", map[string]string{"Origin": "https://evil.example"}, 403},
				{"foreign origin, DELETE", "DELETE", "", map[string]string{"Origin": "https://evil.example"}, 403},
				{"foreign host", "POST", pingBody, map[string]string{"Host": "evil.example"}, 403},
				{"local origin", "POST", pingBody, map[string]string{"Origin": "http://localhost:1234"}, 200},
				{"loopback origin", "POST", pingBody, map[string]string{"Origin": "http://[::1]"}, 200},
				{"local host name", "POST", pingBody, map[string]string{"Host": "localhost"}, 200},
				{"no session", "POST", pingBody, map[string]string{headerSession: ""}, 400},
				{"no session, GET", "GET", "", map[string]string{headerSession: ""}, 400},
				{"no session, DELETE", "DELETE", "", map[string]string{headerSession: ""}, 400},
				{"unknown session", "POST", pingBody, map[string]string{headerSession: "no-such"}, 404},
				{"unknown session, GET", "GET", "", map[string]string{headerSession: "no-such"}, 404},
				{"unknown session, DELETE", "DELETE", "", map[string]string{headerSession: "no-such"}, 404},
				{"no Accept", "POST", pingBody, map[string]string{"Accept": "text/html"}, 406},
				{"half an Accept", "POST", pingBody, map[string]string{"Accept": "application/json"}, 406},
				{"the other half", "POST", pingBody, map[string]string{"Accept": "text/event-stream"}, 406},
				{"refused by quality", "POST", pingBody, map[string]string{"Accept": "*/*, text/event-stream;q=0"}, 406},
				{"wildcard", "POST", pingBody, map[string]string{"Accept": "*/*"}, 200},
				{"GET without SSE", "GET", "", map[string]string{"Accept": "application/json"}, 406},
				{"text", "POST", pingBody, map[string]string{"Content-Type": "text/plain"}, 415},
				{"no type", "POST", pingBody, map[string]string{"Content-Type": ""}, 415},
				{"type with charset", "POST", pingBody, map[string]string{"Content-Type": "application/json; charset=utf-8"}, 200},
				{"too long", "POST", strings.Repeat(" ", maxMessageBytes+1), nil, 413},
				{"no JSON", "POST", "{", nil, 400},
				{"no message", "POST", "{}", nil, 400},
				{"resume what never was", "GET", "", map[string]string{headerLastEventID: "no-such"}, 400},
				{"PUT", "PUT", pingBody, nil, 405},
				{"notification", "POST", `{"jsonrpc":"2.0","method":"notifications/no-such"}`, nil, 202},
				{"response", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202},
			} {
				g := gomega.NewWithT(t)
				resp := c.do(tc.method, tc.body, tc.header)
				body := c.body(resp)
				g.Expect(resp.StatusCode).To(gomega.Equal(tc.status), tc.name)
				switch {
				case tc.status == 202:
					g.Expect(body).To(gomega.BeEmpty(), tc.name)
				case tc.status >= 400:
					m := parse(t, []byte(body))
					g.Expect(m).To(gomega.HaveKey("error"), tc.name)
					g.Expect(m).NotTo(gomega.HaveKey("id"), tc.name)
				}
			}
		})
	}
}

func TestVersionHeader(t *testing.T) {
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialHTTP(t).open(rev, object{})
			want := 200
			if rev >= rev2025June {
				want = 400
			}
			for _, bad := range []string{"1999-01-01", "nonsense", "2026-07-28"} {
				g.Expect(c.do("POST", pingBody, map[string]string{headerVersion: bad}).StatusCode).To(gomega.Equal(want), bad)
				if want == 400 {
					g.Expect(c.do("GET", "", map[string]string{headerVersion: bad}).StatusCode).To(gomega.Equal(want), bad)
					g.Expect(c.do("DELETE", "", map[string]string{headerVersion: bad}).StatusCode).To(gomega.Equal(want), bad)
				}
			}
			g.Expect(c.do("POST", pingBody, map[string]string{headerVersion: ""}).StatusCode).To(gomega.Equal(200), "absent")
		})
	}
}

func TestSessionsEndWithDelete(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t).open(rev2025November, object{})
	g.Expect(c.session).To(gomega.MatchRegexp(`^[\x21-\x7E]{20,}$`))
	listening := c.get("")
	running := c.post("tools/call", object{"name": "slow", "arguments": object{"duration": 60000}})
	g.Expect(c.do("DELETE", "", nil).StatusCode).To(gomega.Equal(204))
	g.Expect(listening.messages()).To(gomega.BeEmpty())
	g.Expect(running.messages()).To(gomega.BeEmpty())
	for _, method := range []string{"POST", "GET", "DELETE"} {
		g.Expect(c.do(method, map[string]string{"POST": pingBody}[method], nil).StatusCode).To(gomega.Equal(404), method)
	}
	first := c.session
	g.Expect(c.clear().open(rev2025November, object{}).session).NotTo(gomega.Equal(first))
}

// clear forgets the session.
func (c *httpClient) clear() *httpClient {
	c.session, c.rev = "", ""
	return c
}

func TestRefusedInitializeLeavesNoSession(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t)
	resp := c.do("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, nil)
	g.Expect(parse(t, []byte(c.body(resp))).code()).To(gomega.Equal(codeInvalidParams))
	g.Expect(resp.Header).NotTo(gomega.HaveKey(headerSession))
	g.Expect(c.server.sessions).To(gomega.BeEmpty())
	g.Expect(c.do("POST", `[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]`, nil).StatusCode).To(gomega.Equal(400))
}

func TestSessionsShareNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	a := dialHTTP(t).open(rev2025November, object{})
	b := &httpClient{t: t, server: a.server, url: a.url}
	b.open(rev2024November, object{})
	a.call("toggle_tool", object{})
	g.Expect(a.call("extra_tool", object{}).firstText()).To(gomega.Equal("I am here."))
	g.Expect(b.call("extra_tool", object{}).code()).To(gomega.Equal(codeInvalidParams))
	g.Expect(a.call("add", object{"a": 1, "b": 1}).result()).To(gomega.HaveKey("structuredContent"))
	g.Expect(b.call("add", object{"a": 1, "b": 1}).result()).NotTo(gomega.HaveKey("structuredContent"))
}

func TestBatchOverHTTP(t *testing.T) {
	batch := `[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"tools/list"},{"jsonrpc":"2.0","method":"notifications/x"}]`
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialHTTP(t).open(rev, object{})
			resp := c.do("POST", batch, nil)
			if rev != rev2025March {
				g.Expect(resp.StatusCode).To(gomega.Equal(400))
				return
			}
			replies := c.events(resp).messages()
			g.Expect(replies).To(gomega.HaveLen(2))
			g.Expect([]any{replies[0]["id"], replies[1]["id"]}).To(gomega.ConsistOf("a", "b"))
			g.Expect(c.do("POST", `[{"jsonrpc":"2.0","method":"notifications/x"}]`, nil).StatusCode).To(gomega.Equal(202))
			g.Expect(c.do("POST", `[]`, nil).StatusCode).To(gomega.Equal(400))
		})
	}
}

func TestStreamsBeginWithAnEmptyEventFromNovember2025(t *testing.T) {
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialHTTP(t).open(rev, object{})
			first, ok := c.post("tools/list", object{}).next()
			g.Expect(ok).To(gomega.BeTrue())
			g.Expect(first.id).NotTo(gomega.BeEmpty())
			g.Expect(first.data == "").To(gomega.Equal(rev >= rev2025November))
		})
	}
}

func TestMessagesStayOnTheStreamOfTheirRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t).open(rev2025November, object{"sampling": object{}})
	listening := c.get("")
	const calls = 5
	var streams [calls]*sseReader
	for i := range streams {
		streams[i] = c.post("tools/call", object{"name": "test_sampling", "arguments": object{"prompt": fmt.Sprint(i)}})
	}
	ids := map[string]bool{}
	for i, s := range streams {
		e, asked := s.message()
		g.Expect(ids).NotTo(gomega.HaveKey(e.id))
		ids[e.id] = true
		prompt := asked["params"].(map[string]any)["messages"].([]any)[0].(map[string]any)["content"].(map[string]any)["text"]
		g.Expect(prompt).To(gomega.Equal(fmt.Sprint(i)))
		answer := encode(object{"jsonrpc": "2.0", "id": asked["id"], "result": object{"role": "assistant", "model": "m",
			"content": object{"type": "text", "text": fmt.Sprintf("answer %d", i)}}})
		g.Expect(c.do("POST", string(answer), nil).StatusCode).To(gomega.Equal(202))
		rest := s.messages()
		g.Expect(rest).To(gomega.HaveLen(1), "the stream ends after the reply")
		g.Expect(rest[0].firstText()).To(gomega.Equal(fmt.Sprintf("LLM response: answer %d", i)))
	}
	c.do("DELETE", "", nil)
	g.Expect(listening.messages()).To(gomega.BeEmpty())
}

func TestUnrelatedMessagesGoToOneListener(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t).open(rev2025November, object{})
	c.call("toggle_tool", object{}) // nobody listens yet: it waits
	first := c.get("")
	_, m := first.message()
	g.Expect(m["method"]).To(gomega.Equal("notifications/tools/list_changed"))
	second := c.get("")
	if _, ok := second.next(); !ok { // now it is connected
		t.Fatal("no priming event")
	}
	posted := c.post("tools/call", object{"name": "toggle_prompt"}).messages()
	g.Expect(posted).To(gomega.HaveLen(1), "only the reply")
	_, m = second.message()
	g.Expect(m["method"]).To(gomega.Equal("notifications/prompts/list_changed"))
	c.do("DELETE", "", nil)
	g.Expect(first.messages()).To(gomega.BeEmpty())
	g.Expect(second.messages()).To(gomega.BeEmpty())
}

func TestLostConnectionCancelsNothingAndCanBeResumed(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t).open(rev2025November, object{"sampling": object{}})
	other := c.post("tools/list", object{})
	other.messages()
	s := c.post("tools/call", object{"name": "test_sampling", "arguments": object{"prompt": "p"}})
	primed, _ := s.next()
	g.Expect(primed.data).To(gomega.BeEmpty())
	e, asked := s.message()
	g.Expect(s.body.Close()).To(gomega.Succeed())
	answer := encode(object{"jsonrpc": "2.0", "id": asked["id"], "result": object{"content": textBlock("late")}})
	g.Expect(c.do("POST", string(answer), nil).StatusCode).To(gomega.Equal(202))

	rest := c.get(e.id).messages()
	g.Expect(rest).To(gomega.HaveLen(1), "what was missed, and nothing of other streams")
	g.Expect(rest[0].firstText()).To(gomega.Equal("LLM response: late"))
	again := c.get(primed.id).messages()
	g.Expect(again).To(gomega.Equal([]message{asked, rest[0]}), "from the start")
}

func TestServerHangsUpAndTheClientComesBack(t *testing.T) {
	for _, rev := range []revision{rev2025June, rev2025November} {
		t.Run(string(rev), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialHTTP(t).open(rev, object{})
			s := c.post("tools/call", object{"name": "test_reconnection"})
			if rev < rev2025November {
				g.Expect(s.messages()).To(gomega.HaveLen(1), "before, a stream is not closed early")
				return
			}
			var last sseEvent
			for e, ok := s.next(); ok; e, ok = s.next() {
				g.Expect(e.data).To(gomega.BeEmpty())
				last = e
			}
			g.Expect(last.retry).NotTo(gomega.BeEmpty())
			rest := c.get(last.id).messages()
			g.Expect(rest).To(gomega.HaveLen(1))
			g.Expect(rest[0].firstText()).To(gomega.ContainSubstring("successfully"))
		})
	}
}

func TestListenerIsResumed(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t).open(rev2025November, object{})
	s := c.get("")
	primed, _ := s.next()
	c.call("toggle_tool", object{})
	_, m := s.message()
	taken := c.get(primed.id) // takes the stream over
	_, again := taken.message()
	g.Expect(again).To(gomega.Equal(m))
	_, open := s.next()
	g.Expect(open).To(gomega.BeFalse(), "one connection per stream")
	c.call("toggle_prompt", object{})
	_, m = taken.message()
	g.Expect(m["method"]).To(gomega.Equal("notifications/prompts/list_changed"))
}

// flushes is a ResponseWriter that records Writes and Flushes.
type flushes struct {
	*httptest.ResponseRecorder
	writes
}

func (f *flushes) Write(p []byte) (int, error) { return f.writes.Write(p) }

func (f *flushes) Flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, "flush")
}

func TestEveryEventIsOneWriteAndOneFlush(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t).open(rev2025November, object{})
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"test_tool_with_logging"}}`))
	for name, value := range map[string]string{"Accept": "*/*", "Content-Type": "application/json", headerSession: c.session} {
		r.Header.Set(name, value)
	}
	w := &flushes{ResponseRecorder: httptest.NewRecorder()}
	c.server.Handler().ServeHTTP(w, r)
	g.Expect(w.all).To(gomega.HaveLen(1 + 5*2))
	g.Expect(w.all[0]).To(gomega.Equal("flush"), "the headers")
	for i, entry := range w.all[1:] {
		if i%2 == 1 {
			g.Expect(entry).To(gomega.Equal("flush"))
			continue
		}
		g.Expect(entry).To(gomega.HaveSuffix("\n\n"))
		g.Expect(strings.Count(entry, "\n\n")).To(gomega.Equal(1))
		g.Expect(entry).To(gomega.ContainSubstring("id: "))
	}
}

func TestOldStreamsMakeRoom(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t).open(rev2025November, object{})
	first, _ := c.post("tools/list", object{}).next()
	for range maxStreams + 1 {
		c.request("prompts/list", object{})
	}
	g.Expect(c.do("GET", "", map[string]string{headerLastEventID: first.id}).StatusCode).To(gomega.Equal(http.StatusBadRequest))
	last, _ := c.post("tools/list", object{}).next()
	g.Expect(c.get(last.id).messages()).To(gomega.HaveLen(1))
}

func TestFlags(t *testing.T) {
	with := func(flag string) Option { return WithFlags(map[string]bool{flag: true}) }
	t.Run("http", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dialHTTP(t, with(FlagNoOriginCheck)).open(rev2025November, object{})
		g.Expect(c.do("POST", pingBody, map[string]string{"Origin": "https://evil.example"}).StatusCode).To(gomega.Equal(200))
		c = dialHTTP(t, with(FlagNoHostCheck)).open(rev2025November, object{})
		g.Expect(c.do("POST", pingBody, map[string]string{"Host": "evil.example"}).StatusCode).To(gomega.Equal(200))
		c = dialHTTP(t, with(FlagKeepDeletedSessions)).open(rev2025November, object{})
		g.Expect(c.do("DELETE", "", nil).StatusCode).To(gomega.Equal(204))
		g.Expect(c.do("POST", pingBody, nil).StatusCode).To(gomega.Equal(200))
		c = dialHTTP(t, with(FlagPredictableSessionIDs)).open(rev2025November, object{})
		g.Expect(c.session).To(gomega.Equal("1"))
		c = dialHTTP(t, with(FlagReplayForeignStreams)).open(rev2025November, object{})
		c.request("tools/list", object{})
		s := c.post("prompts/list", object{})
		primed, _ := s.next()
		s.messages()
		g.Expect(c.get(primed.id).messages()).To(gomega.HaveLen(2))
	})
	t.Run("no-input-validation", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dialStdio(t, with(FlagNoInputValidation)).open(rev2025November, object{})
		g.Expect(c.call("echo", object{}).result()).NotTo(gomega.HaveKey("isError"))
	})
	t.Run("no-log-filter", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dialStdio(t, with(FlagNoLogFilter)).open(rev2025November, object{})
		c.request("logging/setLevel", object{"level": "emergency"})
		c.call("test_log_levels", object{})
		g.Expect(c.during).To(gomega.HaveLen(len(logLevels)))
	})
	t.Run("ignore-cancellation", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dialStdio(t, with(FlagIgnoreCancellation)).open(rev2025November, object{})
		id := c.send("tools/call", object{"name": "slow", "arguments": object{"duration": 100}})
		c.notify("notifications/cancelled", object{"requestId": id})
		g.Expect(c.await(id)).To(gomega.HaveKey("result"))
	})
	t.Run("disconnect-cancels", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dialHTTP(t, with(FlagDisconnectCancels)).open(rev2025November, object{"sampling": object{}})
		s := c.post("tools/call", object{"name": "test_sampling", "arguments": object{"prompt": "p"}})
		e, _ := s.message()
		g.Expect(s.body.Close()).To(gomega.Succeed())
		rest := c.get(e.id).messages()
		g.Expect(rest).To(gomega.HaveLen(1))
		g.Expect(rest[0]["method"]).To(gomega.Equal("notifications/cancelled"), "and no reply")
	})
}
