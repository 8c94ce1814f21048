package sabotage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// web is a test server behind its faults, on loopback.
type web struct {
	*httpServer
	url    string
	client *http.Client
	ctx    context.Context
}

func startWeb(t *testing.T, source string) *web {
	t.Helper()
	server := newHTTPServer()
	listener := httptest.NewServer(Handler(server, load(t, source)))
	t.Cleanup(listener.Close)
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	t.Cleanup(cancel)
	return &web{server, listener.URL, listener.Client(), ctx}
}

// do sends one request; headers are "Name: value".
func (w *web) do(t *testing.T, method, body string, headers ...string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(w.ctx, method, w.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	return w.client.Do(request)
}

// get opens an event stream and hands out its events, one by one.
func (w *web) get(t *testing.T, headers ...string) (next func() string, end func()) {
	t.Helper()
	response, err := w.do(t, http.MethodGet, "", headers...)
	if err != nil {
		t.Fatal(err)
	}
	return events(t, response.Body), func() { response.Body.Close() }
}

// events reads an event at a time; "" is the end.
func events(t *testing.T, body io.Reader) func() string {
	reader := bufio.NewReader(body)
	return func() string {
		var text strings.Builder
		for {
			line, err := reader.ReadString('\n')
			text.WriteString(line)
			if errors.Is(err, io.EOF) || line == "\n" {
				return text.String()
			}
			if err != nil {
				t.Errorf("reading an event: %v", err)
				return text.String()
			}
		}
	}
}

const (
	streamed     = "X-Stream: 1"
	primer       = "id: p0\ndata: \n\n"
	helloEvent   = "event: message\nid: p1\ndata: " + hello + "\n\n"
	chatEvent    = "event: message\nid: p1\ndata: " + chatReply + "\n\n"
	jsonType     = "application/json"
	unknInternal = `{"error":{"code":-32603,"message":"no such method"},"id":3,"jsonrpc":"2.0"}`
)

func TestHTTPActions(t *testing.T) {
	for _, test := range []struct {
		name    string
		fault   string
		method  string
		body    string
		headers []string
		status  int
		kind    string // Content-Type
		out     string
	}{
		{"nothing strikes", one(`when: request.method == "other"`, "drop: true"), "POST", echo, nil, 200, jsonType, echoReply},
		{"nothing strikes: stream", one(`when: request.method == "other"`, "drop: true"), "POST", chatty, []string{streamed}, 200, eventStream, primer + helloEvent + chatEvent},
		{"nothing strikes: no body", one(`when: request.method == "other"`, "drop: true"), "POST", note, nil, 202, "", ""},
		{"nothing strikes: refusal", one(`when: request.method == "other"`, "drop: true"), "POST", note, []string{"Origin: http://evil.example"}, 403, "text/plain; charset=utf-8", "foreign origin\n"},
		{"set", one("when: has(message.error)", "set: {error.code: -32603}"), "POST", unknown, nil, 200, jsonType, unknInternal},
		{"set in an event", one("when: response", "set: {id: 9}"), "POST", chatty, []string{streamed}, 200, eventStream,
			primer + helloEvent + "event: message\nid: p1\ndata: " + `{"id":9,"jsonrpc":"2.0","result":{}}` + "\n\n"},
		{"an element of a batch", one(`when: request.method == "nope"`, "set: {error.code: -32603}"), "POST", "[" + chatty + "," + unknown + "]", nil, 200, jsonType,
			"[" + `{"id":2,"jsonrpc":"2.0","result":{}}` + "," + unknInternal + "]"},
		{"an unknown revision in the header is none", "- {fault: a, breaks: [], why: x, when: 'true', do: [{raw: '<${revision}>'}]}", "POST", echo, []string{"MCP-Protocol-Version: 1999-01-01"}, 200, jsonType, "<>"},
		{"drop", one("when: response", "drop: true"), "POST", echo, nil, 202, "", ""},
		{"drop an event", one("when: response", "drop: true"), "POST", chatty, []string{streamed}, 200, eventStream, primer + helloEvent},
		{"duplicate makes a stream", one("when: response", "duplicate: true"), "POST", echo, nil, 200, eventStream,
			strings.Repeat("event: message\ndata: "+echoReply+"\n\n", 2)},
		{"duplicate an event", one("when: notification", "duplicate: true"), "POST", chatty, []string{streamed}, 200, eventStream, primer + helloEvent + helloEvent + chatEvent},
		{"reorder", one("when: notification", "reorder: true"), "POST", chatty, []string{streamed}, 200, eventStream, primer + chatEvent + helloEvent},
		{"reorder the last", one("when: response", "reorder: true"), "POST", chatty, []string{streamed}, 200, eventStream, primer + helloEvent + chatEvent},
		{"emit makes a stream", one("when: response", "emit: {before: [{a: 1}], after: [{b: 2}]}"), "POST", echo, nil, 200, eventStream,
			"event: message\ndata: {\"a\":1}\n\nevent: message\ndata: " + echoReply + "\n\nevent: message\ndata: {\"b\":2}\n\n"},
		{"emit events", one("when: response", "emit: {before: [{a: 1}], after: [{b: 2}]}"), "POST", chatty, []string{streamed}, 200, eventStream,
			primer + helloEvent + "event: message\ndata: {\"a\":1}\n\n" + chatEvent + "event: message\ndata: {\"b\":2}\n\n"},
		{"raw", one("when: response", "raw: nonsense"), "POST", echo, nil, 200, jsonType, "nonsense"},
		{"raw in an event, over two lines", one("when: response", `raw: "a\nb"`), "POST", chatty, []string{streamed}, 200, eventStream,
			primer + helloEvent + "event: message\nid: p1\ndata: a\ndata: b\n\n"},
		{"text", one("when: response", `text: {replace: '"2\.0"', with: '"1.0"'}`), "POST", unknown, nil, 200, jsonType, strings.Replace(unknReply, "2.0", "1.0", 1)},
		{"delay", one("when: 'true'", "delay: 1ms"), "POST", note, nil, 202, "", ""},
		{"status", one(`when: request.method == "notifications/x" && http.status == 202`, "status: 200"), "POST", note, nil, 200, "", ""},
		{"status with a body", one("when: has(message.error)", "status: 404"), "POST", unknown, nil, 404, jsonType, unknReply},
		{"status of a stream that is begun stays", one("when: response", "status: 404"), "POST", chatty, []string{streamed}, 200, eventStream, primer + helloEvent + chatEvent},
		{"status of a stream", one(`when: request.method == "chatty"`, "status: 404"), "POST", chatty, []string{streamed}, 404, eventStream, primer + helloEvent + chatEvent},
		{"content-type", one("when: response", "content-type: text/html"), "POST", unknown, nil, 200, "text/html", unknReply},
		{"content-type dropped", one("when: response", "content-type: null"), "POST", unknown, nil, 200, "", unknReply},
		{"content-type of a stream", one(`when: http.method == "POST"`, "content-type: text/plain"), "POST", chatty, []string{streamed}, 200, "text/plain", primer + helloEvent + chatEvent},
		{"body", one(`when: http.status == 403`, "body: '<${http.headers.origin}>'", "status: 200"), "POST", note, []string{"Origin: http://evil.example"}, 200, "text/plain; charset=utf-8", "<http://evil.example>"},
		{"body as JSON", one(`when: http.path == "/mcp"`, "body: {a: ['${http.query}']}"), "POST", echo, nil, 200, jsonType, `{"a":[""]}`},
		{"body instead of a stream", one(`when: http.method == "POST"`, "body: gone"), "POST", chatty, []string{streamed}, 200, eventStream, "gone"},
		{"sse event, id", one("when: response", "sse: {event: other, id: 'x${count}'}"), "POST", chatty, []string{streamed}, 200, eventStream,
			primer + helloEvent + "event: other\nid: x0\ndata: " + chatReply + "\n\n"},
		{"sse fields dropped, also of an empty event", one(`when: http.method == "POST"`, "sse: {event: null, id: null}"), "POST", chatty, []string{streamed}, 200, eventStream,
			"data: \n\ndata: " + hello + "\n\ndata: " + chatReply + "\n\n"},
		{"sse retry", one(`when: message == null`, "sse: {retry: '5', id: null}"), "POST", chatty, []string{streamed}, 200, eventStream, "retry: 5\ndata: \n\n" + helloEvent + chatEvent},
		{"sse field added", one("when: message == null", "sse: {event: primer}"), "POST", chatty, []string{streamed}, 200, eventStream, "id: p0\nevent: primer\ndata: \n\n" + helloEvent + chatEvent},
		{"stream other without another one", one("when: response", "stream: other"), "POST", echo, nil, 200, jsonType, echoReply},
		{"on-receive: reply to a notification", one("on-receive: '!has(request.id)'", "reply: {a: 1}"), "POST", note, nil, 200, jsonType, `{"a":1}`},
		{"on-receive: reply ahead of the server's", one(`on-receive: line.contains("echo")`, "reply: {a: 1}"), "POST", echo, nil, 200, eventStream,
			"event: message\ndata: {\"a\":1}\n\nevent: message\ndata: " + echoReply + "\n\n"},
		{"on-receive: emit on a stream", one(`on-receive: 'true'`, "emit: {before: [{a: 1}]}"), "POST", chatty, []string{streamed}, 200, eventStream,
			"data: {\"a\":1}\n\n" + primer + helloEvent + chatEvent},
		{"on-receive: swallow", one(`on-receive: request.method == "echo"`, "swallow: true"), "POST", echo, nil, 202, "", ""},
		{"on-receive: swallow and reply", one(`on-receive: request.method == "echo"`, "swallow: true", "reply: {a: 1}", "status: 201"), "POST", echo, nil, 201, jsonType, `{"a":1}`},
		{"on-receive: status", one(`on-receive: http.method == "DELETE"`, "status: 405"), "DELETE", "", nil, 405, "", ""},
		{"on-receive: not JSON", one(`on-receive: request == null && line == "junk"`, "body: ok", "status: 200"), "POST", "junk", nil, 200, "text/plain; charset=utf-8", "ok"},
		{"revision of the header", "- {fault: a, breaks: [], why: x, revisions: [2025-06-18], when: 'true', do: [{status: 500}]}", "POST", echo, []string{"MCP-Protocol-Version: 2025-06-18"}, 500, jsonType, echoReply},
		{"another revision", "- {fault: a, breaks: [], why: x, revisions: [2025-06-18], when: 'true', do: [{status: 500}]}", "POST", echo, []string{"MCP-Protocol-Version: 2025-11-25"}, 200, jsonType, echoReply},
		{"stdio only beside HTTP", one("when: response", "set: {id: 4}", "line: {prefix: x}"), "POST", `{"id":1,"method":"chatty"}`, nil, 200, jsonType, `{"id":4,"jsonrpc":"2.0","result":{}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := startWeb(t, test.fault)
			response, err := w.do(t, test.method, test.body, test.headers...)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			kind := response.Header.Get("Content-Type")
			if response.StatusCode != test.status || kind != test.kind {
				t.Errorf("answered %d %q, want %d %q", response.StatusCode, kind, test.status, test.kind)
			}
			if string(body) != test.out {
				t.Errorf("body\n got %q\nwant %q", body, test.out)
			}
		})
	}
}

func TestHTTPWithoutFaultIsTheHandlerItself(t *testing.T) {
	server := newHTTPServer()
	if got := Handler(server, load(t, one("when: response", "exit: 1"))); got != http.Handler(server) {
		t.Errorf("got %T, want the handler that was given", got)
	}
}

func TestHeaders(t *testing.T) {
	w := startWeb(t, one(`when: request.method == "initialize"`, "header: {mcp-session-id: null, X-Two: [a, 'b${count}'], Date: null}"))
	response, err := w.do(t, "POST", initialize)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	h := response.Header
	if h.Get("Mcp-Session-Id") != "" || h.Get("Date") != "" || strings.Join(h.Values("X-Two"), ",") != "a,b0" {
		t.Errorf("headers %v", h)
	}
}

func TestSessionKeepsItsState(t *testing.T) {
	w := startWeb(t, "- {fault: a, breaks: [], why: x, revisions: [2025-11-25], when: 'request.method == \"echo\"', do: [{raw: '${revision} ${count} ${received}'}]}")
	open := func(id string) string {
		response, err := w.do(t, "POST", strings.Replace(initialize, `"id":0`, `"id":`+id, 1))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.Header.Get("Mcp-Session-Id")
	}
	call := func(session string) string {
		response, err := w.do(t, "POST", echo, "Mcp-Session-Id: "+session)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return string(body)
	}
	first, second := open("1"), open("2")
	if first == second {
		t.Fatal("the sessions share an id")
	}
	got := []string{call(first), call(first), call(second), call("unknown")}
	want := []string{"2025-11-25 0 2", "2025-11-25 1 3", "2025-11-25 0 2", echoReply}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("call %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

func TestStreamMisdirected(t *testing.T) {
	for _, test := range []struct {
		action, header, own, other string
	}{
		{"stream: other", "", "", "data: " + chatReply + "\n\n"},
		{"stream: both", "", chatReply, "data: " + chatReply + "\n\n"},
		{"stream: other", streamed, primer + helloEvent, "event: message\ndata: " + chatReply + "\n\n"},
		{"stream: both", streamed, primer + helloEvent + chatEvent, "event: message\ndata: " + chatReply + "\n\n"},
	} {
		t.Run(test.action+" "+test.header, func(t *testing.T) {
			w := startWeb(t, one(`when: response && request.method == "chatty"`, test.action))
			response, err := w.do(t, "POST", initialize)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			session := "Mcp-Session-Id: " + response.Header.Get("Mcp-Session-Id")
			next, end := w.get(t, session)
			defer end()
			w.poke <- "1" // the stream is known to be open
			if got := next(); got != "id: g1\ndata: 1\n\n" {
				t.Fatalf("poked %q", got)
			}
			headers := []string{session}
			if test.header != "" {
				headers = append(headers, test.header)
			}
			response, err = w.do(t, "POST", chatty, headers...)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			own, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if string(own) != test.own {
				t.Errorf("own stream\n got %q\nwant %q", own, test.own)
			}
			want := test.other
			if test.header == "" {
				want = "event: message\n" + want
			}
			if got := next(); got != want {
				t.Errorf("other stream\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestMessageOfTheGetStreamOnAnother(t *testing.T) {
	w := startWeb(t, one(`when: http.method == "GET" && message.n == 2`, "stream: both"))
	response, err := w.do(t, "POST", initialize)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	session := "Mcp-Session-Id: " + response.Header.Get("Mcp-Session-Id")
	first, endFirst := w.get(t, session)
	defer endFirst()
	second, endSecond := w.get(t, session)
	defer endSecond()
	w.poke <- `{"n":2}`
	// Which of the two streams the server chose is chance; the other one has no id.
	a, b := first(), second()
	if strings.HasPrefix(b, "id:") {
		a, b = b, a
	}
	if a != "id: g1\ndata: {\"n\":2}\n\n" || b != "data: {\"n\":2}\n\n" {
		t.Errorf("got %q and %q", a, b)
	}
}

// outlasting tells whether the handler is still at work when the client goes away.
func outlasting(next http.Handler) (http.Handler, <-chan bool) {
	outlasted := make(chan bool, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { outlasted <- r.Context().Err() != nil }()
		next.ServeHTTP(w, r)
	}), outlasted
}

func TestKeepOpen(t *testing.T) {
	handler, outlasted := outlasting(Handler(newHTTPServer(), load(t, one("when: response", "sse: {keep-open: true}"))))
	listener := httptest.NewServer(handler)
	defer listener.Close()
	request, err := http.NewRequest("POST", listener.URL, strings.NewReader(chatty))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Stream", "1")
	response, err := listener.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	next := events(t, response.Body)
	if got := next() + next() + next(); got != primer+helloEvent+chatEvent {
		t.Fatalf("got %q", got)
	}
	response.Body.Close()
	if !<-outlasted {
		t.Error("the stream was closed while the client was still there")
	}
}

func TestHang(t *testing.T) {
	for _, fault := range []string{one("when: response", "hang: true"), one("on-receive: 'true'", "hang: true")} {
		handler, outlasted := outlasting(Handler(newHTTPServer(), load(t, fault)))
		ctx, leave := context.WithCancel(context.Background())
		listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer time.AfterFunc(20*time.Millisecond, leave).Stop() // the client loses patience
			handler.ServeHTTP(w, r)
		}))
		request, err := http.NewRequestWithContext(ctx, "POST", listener.URL, strings.NewReader(echo))
		if err != nil {
			t.Fatal(err)
		}
		response, err := listener.Client().Do(request)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, %v, want no answer", fault, response, err)
		}
		if !<-outlasted {
			t.Errorf("%s: the handler returned while the client was still there", fault)
		}
		leave()
		listener.Close()
	}
}

func TestClose(t *testing.T) {
	for _, test := range []struct {
		name, fault, method, body string
		headers                   []string
		begins                    string // what comes before; "": not even an answer
	}{
		{"close", one("when: response", "close: true"), "POST", echo, nil, ""},
		{"close without a message", one(`when: http.method == "DELETE"`, "close: true"), "DELETE", "", nil, ""},
		{"close a stream in the middle", one("when: response", "close: true"), "POST", chatty, []string{streamed}, primer + helloEvent},
		{"close a GET stream at once", one(`when: http.method == "GET"`, "close: true"), "GET", "", nil, ""},
		{"on-receive: close", one(`on-receive: 'true'`, "close: true"), "POST", note, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := startWeb(t, test.fault)
			response, err := w.do(t, test.method, test.body, test.headers...)
			if test.begins == "" {
				if err == nil {
					response.Body.Close()
					t.Errorf("answered %d, want a dropped connection", response.StatusCode)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if string(body) != test.begins || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("read %q, %v", body, err)
			}
		})
	}
}

func TestClientDisconnectReachesTheServer(t *testing.T) {
	w := startWeb(t, one(`when: http.method == "GET"`, "header: {X-Seen: 'yes'}"))
	response, err := w.do(t, "GET", "")
	if err != nil {
		t.Fatal(err)
	}
	if response.Header.Get("X-Seen") != "yes" {
		t.Errorf("the headers went out before any event without the fault: %v", response.Header)
	}
	response.Body.Close()
	select {
	case <-w.cancelled:
	case <-w.ctx.Done():
		t.Error("the handler never learned that its client is gone")
	}
}

// The two-endpoint transport of 2024-11-05: replies come on the GET stream.
func TestTwoEndpointTransport(t *testing.T) {
	replies := make(chan string, 1)
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			message, _ := decodeJSON(body)
			_, reply := answerTo(message.(map[string]any))
			w.WriteHeader(http.StatusAccepted)
			replies <- string(reply)
			return
		}
		w.Header().Set("Content-Type", eventStream)
		io.WriteString(w, "event: endpoint\ndata: /messages?session=7\n\n")
		w.(http.Flusher).Flush()
		io.WriteString(w, "event: message\ndata: "+<-replies+"\n\n")
	})
	listener := httptest.NewServer(Handler(server, load(t, "- {fault: a, breaks: [], why: x, on: [http+sse], when: 'request.method == \"nope\" && response', do: [{set: {error.code: '${received}'}}]}")))
	defer listener.Close()
	stream, err := listener.Client().Get(listener.URL + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	next := events(t, stream.Body)
	if got := next(); got != "event: endpoint\ndata: /messages?session=7\n\n" {
		t.Fatalf("got %q", got)
	}
	response, err := listener.Client().Post(listener.URL+"/messages?session=7", jsonType, strings.NewReader(unknown))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	want := "event: message\ndata: " + `{"error":{"code":1,"message":"no such method"},"id":3,"jsonrpc":"2.0"}` + "\n\n"
	if got := next(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProblemsOverHTTPAreLogged(t *testing.T) {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(before)
	w := startWeb(t, one("when: response", "set: {id.x: 1}"))
	response, err := w.do(t, "POST", echo)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if string(body) != echoReply {
		t.Errorf("body %q", body)
	}
	if want := "fault under-test (test.yaml:1:3): set: `x` would go into 1; the action has no effect\n"; logged.String() != want {
		t.Errorf("logged %q, want %q", logged.String(), want)
	}
}

// startSSE is a small server of HTTP+SSE with two sessions open: each has its events and the address to post to.
func startSSE(t *testing.T, source string) (post func(session int, body string) *http.Response, next []func() string) {
	t.Helper()
	var mu sync.Mutex
	queues := map[string]chan string{}
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("session")
		mu.Lock()
		queue := queues[id]
		if r.Method == http.MethodGet {
			id = fmt.Sprint(len(queues) + 1)
			queue = make(chan string, 10)
			queues[id] = queue
		}
		mu.Unlock()
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			message, _ := decodeJSON(body)
			_, reply := answerTo(message.(map[string]any))
			queue <- string(reply)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", eventStream)
		io.WriteString(w, "event: endpoint\ndata: /messages?session="+id+"\n\n")
		for {
			w.(http.Flusher).Flush()
			select {
			case reply := <-queue:
				io.WriteString(w, "event: message\ndata: "+reply+"\n\n")
			case <-r.Context().Done():
				return
			}
		}
	})
	listener := httptest.NewServer(SSEHandler(server, load(t, source)))
	t.Cleanup(listener.Close)
	t.Cleanup(listener.CloseClientConnections)
	for range 2 {
		stream, err := listener.Client().Get(listener.URL + "/sse")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stream.Body.Close() })
		next = append(next, events(t, stream.Body))
	}
	return func(session int, body string) *http.Response {
		t.Helper()
		response, err := listener.Client().Post(fmt.Sprintf("%s/messages?session=%d", listener.URL, session), jsonType, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response
	}, next
}

func TestFaultsOverHTTPWithSSE(t *testing.T) {
	const endpoint = "event: endpoint\ndata: /messages?session=1\n\n"
	const reply = "event: message\ndata: " + echoReply + "\n\n"
	for _, test := range []struct {
		name, fault string
		status      int // of the POST
		events      []string
	}{
		{"nothing strikes", one("when: response && transport == 'stdio'", "drop: true"), 202, []string{endpoint, reply}},
		{"the endpoint event under another name", one(`when: message.startsWith("/messages")`, "sse: {event: other}"), 202,
			[]string{"event: other\ndata: /messages?session=1\n\n", reply}},
		{"another address", one(`when: message.startsWith("/messages")`, `text: {replace: "^/", with: "//evil.example/"}`), 202,
			[]string{"event: endpoint\ndata: //evil.example/messages?session=1\n\n", reply}},
		{"a message before the endpoint", one(`when: message.startsWith("/messages")`, "emit: {before: [{a: 1}]}"), 202,
			[]string{"event: message\ndata: {\"a\":1}\n\n", endpoint, reply}},
		{"no endpoint", one(`when: message.startsWith("/messages")`, "drop: true"), 202, []string{reply}},
		{"on-receive: a reply comes on the stream", one(`on-receive: request.method == "echo"`, "swallow: true", "reply: {a: 1}"), 202,
			[]string{endpoint, "event: message\ndata: {\"a\":1}\n\n"}},
		{"status of the POST", one(`when: http.method == "POST" && transport == "http+sse"`, "status: 404"), 404, []string{endpoint, reply}},
	} {
		t.Run(test.name, func(t *testing.T) {
			post, next := startSSE(t, test.fault)
			if got := post(1, echo).StatusCode; got != test.status {
				t.Errorf("the POST is answered with %d", got)
			}
			for i, want := range test.events {
				if got := next[0](); got != want {
					t.Errorf("event %d is %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

func TestMessageToAnotherClient(t *testing.T) {
	post, next := startSSE(t, one("when: response && request.method == 'echo'", "stream: both"))
	hello := strings.Replace(echo, `"echo"`, `"initialize"`, 1)
	for i := range 2 {
		next[i]()
		post(i+1, hello)
		next[i]()
	}
	post(1, echo)
	for i := range 2 {
		if got, want := next[i](), "event: message\ndata: "+echoReply+"\n\n"; got != want {
			t.Errorf("client %d got %q", i+1, got)
		}
	}
}
