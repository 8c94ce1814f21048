package sabotage

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/reference"
)

// The faults of these tests strike the reference server itself, whose messages are those of both eras.

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"1"}`

func modern(id, method, params string) string {
	if params != "" {
		params = "," + params
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + modernMeta + `}` + params + `}}`
}

const legacyInit = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"legacy","version":"1"}}}`

// conversation is a stdio stream with the reference server behind its faults: each line goes in when the reply to the
// one before has come.
func conversation(t *testing.T, source string) (say func(line string), hear func() map[string]any) {
	t.Helper()
	serverIn, clientOut := pipe(t)
	clientIn, serverOut := pipe(t)
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	t.Cleanup(cancel)
	t.Cleanup(func() { clientOut.Close() })
	go func() {
		_ = Stdio(reference.New().ServeStdio, load(t, source), Process{Stderr: io.Discard})(ctx, serverIn, serverOut)
		serverOut.Close()
	}()
	lines := bufio.NewReader(clientIn)
	say = func(line string) {
		t.Helper()
		if _, err := io.WriteString(clientOut, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	hear = func() map[string]any {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var message map[string]any
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		return message
	}
	return say, hear
}

// marks is a fault that writes into every message what it knows.
const marks = "- {fault: a, breaks: [], why: x, on: [stdio], when: 'true', do: [{set: {mark: '${revision} ${request == null ? \"-\" : string(request.method)} ${client == null ? \"-\" : string(client.clientInfo.name)}'}}]}"

func TestEachMessageOfAStreamHasItsOwnRevision(t *testing.T) {
	say, hear := conversation(t, marks)
	expect := func(want string) {
		t.Helper()
		if got := hear()["mark"]; got != want {
			t.Errorf("marked %q, want %q", got, want)
		}
	}
	say(modern("1", "server/discover", ""))
	expect("2026-07-28 server/discover modern")
	say(legacyInit)
	expect("2025-06-18 initialize legacy")
	say(modern("2", "tools/list", ""))
	expect("2026-07-28 tools/list modern")
	say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	expect("2025-06-18 tools/list legacy")
	say(modern(`"s"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
	expect("2026-07-28 subscriptions/listen modern")
	say(strings.Replace(modern("4", "tools/call", `"name":"test_tool_with_progress"`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1))
	for range 4 { // three reports and the reply
		expect("2026-07-28 tools/call modern")
	}
	say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"toggle_tool"}}`)
	expect("2025-06-18 - legacy")
	expect("2025-06-18 tools/call legacy")
}

func TestRevisionsOfAFaultBesideEachOther(t *testing.T) {
	source := "- {fault: a, breaks: [], why: x, revisions: [2026-07-28], when: response, do: [{set: {struck: new}}]}\n" +
		"- {fault: b, breaks: [], why: x, revisions: [2025-06-18], when: response, do: [{set: {struck: old}}]}\n"
	say, hear := conversation(t, source)
	for _, step := range []struct{ line, want string }{
		{modern("1", "tools/list", ""), "new"},
		{legacyInit, "old"},
		{`{"jsonrpc":"2.0","id":2,"method":"ping"}`, "old"},
		{modern("3", "ping", ""), "new"},
		{strings.Replace(modern("4", "tools/list", ""), "2026-07-28", "1999-01-01", 1), "new"},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}`, "new"},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/list"}`, "old"},
	} {
		say(step.line)
		if got := hear()["struck"]; got != step.want {
			t.Errorf("%s\nstruck by %v, want %v", step.line, got, step.want)
		}
	}
}

// post sends a modern request to the reference server over HTTP and returns the status and the whole body.
func post(t *testing.T, url, method, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range append([]string{"Content-Type: application/json", "Accept: application/json, text/event-stream",
		"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}, headers...) {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestModernRequestsOverHTTP(t *testing.T) {
	list := modern("1", "tools/list", "")
	for _, test := range []struct {
		name, fault string
		method      string
		body        string
		headers     []string
		status      int
		holds       string
	}{
		{"a header of the request", one(`when: http.headers["mcp-method"] == "tools/list" && revision == "2026-07-28"`, "status: 418"), "tools/list", list, nil, 418, `"resultType":"complete"`},
		{"a header that is not there", one(`when: '!("mcp-name" in http.headers)'`, "status: 418"), "tools/list", list, nil, 418, "tools"},
		{"a header that contradicts", one(`when: http.headers["mcp-method"] != request.method`, "status: 200", "set: {error.code: -32600}"), "other", list, nil, 200, `"code":-32600`},
		{"a mirrored argument", one(`when: http.headers["mcp-param-region"] == "a"`, "status: 418"), "tools/call",
			modern("1", "tools/call", `"name":"test_header_mirroring","arguments":{"region":"a"}`), []string{"Mcp-Name: test_header_mirroring", "Mcp-Param-Region: a"}, 418, "Received"},
		{"another revision", "- {fault: a, breaks: [], why: x, revisions: [2025-11-25], when: 'true', do: [{status: 418}]}", "tools/list", list, nil, 200, "tools"},
		{"this revision", "- {fault: a, breaks: [], why: x, revisions: [2026-07-28], when: 'true', do: [{status: 418}]}", "tools/list", list, nil, 418, "tools"},
		{"no _meta: the header counts", "- {fault: a, breaks: [], why: x, revisions: [2026-07-28], when: 'true', do: [{status: 418}]}", "tools/list",
			`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, 418, "-32602"},
		{"a session id does not hide it", "- {fault: a, breaks: [], why: x, revisions: [2026-07-28], when: 'true', do: [{status: 418}]}", "tools/list", list,
			[]string{"Mcp-Session-Id: made-up"}, 418, "tools"},
		{"what the client declares", one("when: has(client.capabilities.roots)", "status: 418"), "tools/list", list, nil, 418, "tools"},
		{"a notification of a stream has the request", one(`when: notification && request.method == "tools/call"`, "set: {params.progress: -1}"), "tools/call",
			strings.Replace(modern("1", "tools/call", `"name":"test_tool_with_progress"`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1),
			[]string{"Mcp-Name: test_tool_with_progress"}, 200, `"progress":-1`},
		{"headers of the answer", one(`when: request.method == "tools/call"`, "header: {X-Accel-Buffering: null}", "status: 202"), "tools/call",
			strings.Replace(modern("1", "tools/call", `"name":"test_tool_with_progress"`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1),
			[]string{"Mcp-Name: test_tool_with_progress"}, 202, "resultType"},
	} {
		t.Run(test.name, func(t *testing.T) {
			web := httptest.NewServer(Handler(reference.New().Handler(), load(t, test.fault)))
			defer web.Close()
			status, body := post(t, web.URL, test.method, test.body, test.headers...)
			if status != test.status || !strings.Contains(body, test.holds) {
				t.Errorf("answered %d, want %d with %s in\n%s", status, test.status, test.holds, body)
			}
		})
	}
}

func TestMisdirectedToASubscription(t *testing.T) {
	web := httptest.NewServer(Handler(reference.New().Handler(), load(t, one(`when: message.method == "notifications/progress"`, "stream: other"))))
	defer web.Close()
	ctx, cancel := context.WithTimeout(t.Context(), guard)
	defer cancel()
	listening := modern(`"s"`, "subscriptions/listen", `"notifications":{}`)
	r, err := http.NewRequestWithContext(ctx, "POST", web.URL, strings.NewReader(listening))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	next := events(t, resp.Body)
	if first := next(); !strings.Contains(first, "acknowledged") {
		t.Fatalf("first came %q", first)
	}
	_, own := post(t, web.URL, "tools/call", strings.Replace(modern("1", "tools/call", `"name":"test_tool_with_progress"`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1),
		"Mcp-Name: test_tool_with_progress")
	if strings.Contains(own, "notifications/progress") {
		t.Errorf("it stayed on its own stream: %s", own)
	}
	if strayed := next(); !strings.Contains(strayed, "notifications/progress") {
		t.Errorf("the subscription carried %q", strayed)
	}
}
