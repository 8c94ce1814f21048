package reference

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait: it only ends tests that would hang.
const patience = 20 * time.Second

// message is a message of the server, decoded without keeping numbers exact.
type message map[string]any

func (m message) result() message { r, _ := m["result"].(map[string]any); return r }

func (m message) code() int {
	e, _ := m["error"].(map[string]any)
	code, _ := e["code"].(float64)
	return int(code)
}

// firstText returns the text of a tool result's first block.
func (m message) firstText() string {
	blocks, _ := m.result()["content"].([]any)
	if len(blocks) == 0 {
		return ""
	}
	text, _ := blocks[0].(map[string]any)["text"].(string)
	return text
}

func parse(t *testing.T, raw []byte) message {
	t.Helper()
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("not a message: %v\n%s", err, raw)
	}
	return m
}

func initializeParams(rev revision, capabilities object) object {
	return object{"protocolVersion": string(rev), "capabilities": capabilities, "clientInfo": object{"name": "test", "version": "1"}}
}

// stdioClient talks to a server over pipes of the operating system.
type stdioClient struct {
	t      *testing.T
	in     *os.File
	lines  chan []byte // closed at the end of the server's output
	served chan error  // what ServeStdio returned
	nextID int
	during []message // what came while the last request waited for its answer
	answer func(message) object
}

func dialStdio(t *testing.T, opts ...Option) *stdioClient {
	t.Helper()
	serverIn, clientOut := pipe(t)
	clientIn, serverOut := pipe(t)
	c := &stdioClient{t: t, in: clientOut, lines: make(chan []byte, 4096), served: make(chan error, 1)}
	go func() {
		c.served <- New(opts...).ServeStdio(t.Context(), serverIn, serverOut)
		serverOut.Close()
	}()
	go readAll(clientIn, c.lines)
	t.Cleanup(func() { clientOut.Close() })
	return c
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

func readAll(r io.Reader, lines chan<- []byte) {
	defer close(lines)
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxMessageBytes*2)
	for scanner.Scan() {
		lines <- bytes.Clone(scanner.Bytes())
	}
}

func (c *stdioClient) write(line string) {
	c.t.Helper()
	if _, err := c.in.WriteString(line + "\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *stdioClient) read() message {
	c.t.Helper()
	return parse(c.t, c.readLine())
}

func (c *stdioClient) readLine() []byte {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server's output ended")
		}
		return line
	case <-time.After(patience):
		c.t.Fatal("the server sent nothing")
	}
	return nil
}

func (c *stdioClient) send(method string, params any) (id int) {
	c.t.Helper()
	c.nextID++
	c.write(string(encode(object{"jsonrpc": "2.0", "id": c.nextID, "method": method, "params": params})))
	return c.nextID
}

func (c *stdioClient) notify(method string, params any) {
	c.t.Helper()
	c.write(string(encode(object{"jsonrpc": "2.0", "method": method, "params": params})))
}

// await reads until the reply to id comes. Requests of the server are answered with what c.answer returns.
func (c *stdioClient) await(id int) message {
	c.t.Helper()
	c.during = nil
	for {
		m := c.read()
		if m["method"] == nil && m["id"] == float64(id) {
			return m
		}
		c.during = append(c.during, m)
		if m["method"] != nil && m["id"] != nil && c.answer != nil {
			reply := c.answer(m)
			reply["jsonrpc"], reply["id"] = "2.0", m["id"]
			c.write(string(encode(reply)))
		}
	}
}

func (c *stdioClient) request(method string, params any) message {
	c.t.Helper()
	return c.await(c.send(method, params))
}

func (c *stdioClient) call(tool string, args object) message {
	c.t.Helper()
	return c.request("tools/call", object{"name": tool, "arguments": args})
}

// open does the handshake.
func (c *stdioClient) open(rev revision, capabilities object) *stdioClient {
	c.t.Helper()
	if got := c.request("initialize", initializeParams(rev, capabilities)).result()["protocolVersion"]; got != string(rev) {
		c.t.Fatalf("negotiated %v, want %s", got, rev)
	}
	c.notify("notifications/initialized", object{})
	return c
}

// httpClient talks to a server over a socket.
type httpClient struct {
	t       *testing.T
	server  *Server
	url     string
	session string
	rev     revision
	nextID  int
}

func dialHTTP(t *testing.T, opts ...Option) *httpClient {
	t.Helper()
	server := New(opts...)
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	return &httpClient{t: t, server: server, url: web.URL}
}

// do sends a request; header values override the usual ones, an empty value drops one.
func (c *httpClient) do(method, body string, header map[string]string) *http.Response {
	c.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url, content)
	if err != nil {
		c.t.Fatal(err)
	}
	usual := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		headerSession: c.session}
	if c.rev.hasVersionHeader() {
		usual[headerVersion] = string(c.rev)
	}
	for name, value := range header {
		usual[name] = value
	}
	for name, value := range usual {
		switch {
		case name == "Host":
			r.Host = value
		case value != "":
			r.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (c *httpClient) body(resp *http.Response) string {
	c.t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}

func (c *httpClient) open(rev revision, capabilities object) *httpClient {
	c.t.Helper()
	c.nextID++
	resp := c.do(http.MethodPost, string(encode(object{"jsonrpc": "2.0", "id": c.nextID, "method": "initialize",
		"params": initializeParams(rev, capabilities)})), nil)
	if got := parse(c.t, []byte(c.body(resp))).result()["protocolVersion"]; got != string(rev) {
		c.t.Fatalf("negotiated %v, want %s", got, rev)
	}
	c.session, c.rev = resp.Header.Get(headerSession), rev
	if got := c.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil); got.StatusCode != http.StatusAccepted {
		c.t.Fatalf("initialized: HTTP %d", got.StatusCode)
	}
	return c
}

// post sends a request and returns the open SSE stream with its answer.
func (c *httpClient) post(method string, params any) *sseReader {
	c.t.Helper()
	c.nextID++
	return c.events(c.do(http.MethodPost, string(encode(object{"jsonrpc": "2.0", "id": c.nextID, "method": method, "params": params})), nil))
}

func (c *httpClient) get(lastEventID string) *sseReader {
	c.t.Helper()
	return c.events(c.do(http.MethodGet, "", map[string]string{headerLastEventID: lastEventID, "Content-Type": ""}))
}

func (c *httpClient) events(resp *http.Response) *sseReader {
	c.t.Helper()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		c.t.Fatalf("HTTP %d, %s: %s", resp.StatusCode, resp.Header.Get("Content-Type"), c.body(resp))
	}
	return &sseReader{t: c.t, lines: bufio.NewReader(resp.Body), body: resp.Body}
}

// request sends a request and reads its stream to the end: the last message is the answer.
func (c *httpClient) request(method string, params any) message {
	c.t.Helper()
	if method == "tasks/get" { // whose answer is one JSON object
		c.nextID++
		return parse(c.t, []byte(c.body(c.do(http.MethodPost, string(encode(object{"jsonrpc": "2.0", "id": c.nextID, "method": method, "params": params})), nil))))
	}
	messages := c.post(method, params).messages()
	if len(messages) == 0 {
		c.t.Fatalf("%s: the stream ended without a message", method)
	}
	return messages[len(messages)-1]
}

func (c *httpClient) call(tool string, args object) message {
	c.t.Helper()
	return c.request("tools/call", object{"name": tool, "arguments": args})
}

type sseReader struct {
	t     *testing.T
	lines *bufio.Reader
	body  io.Closer
}

type sseEvent struct {
	id, data, retry string
}

// next returns the next event; ok is false at the end of the stream.
func (r *sseReader) next() (e sseEvent, ok bool) {
	r.t.Helper()
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			if line != "" || e != (sseEvent{}) {
				r.t.Fatalf("the stream ended within an event: %v", err)
			}
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			return e, true
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "retry":
			e.retry = value
		}
	}
}

// message returns the next event that carries a message.
func (r *sseReader) message() (sseEvent, message) {
	r.t.Helper()
	for {
		e, ok := r.next()
		if !ok {
			r.t.Fatal("the stream ended")
		}
		if e.data != "" {
			return e, parse(r.t, []byte(e.data))
		}
	}
}

func (r *sseReader) messages() []message {
	r.t.Helper()
	var all []message
	for e, ok := r.next(); ok; e, ok = r.next() {
		if e.data != "" {
			all = append(all, parse(r.t, []byte(e.data)))
		}
	}
	return all
}

// client is what both transports can do.
type client interface {
	request(method string, params any) message
	call(tool string, args object) message
}

// everywhere runs a test in a session of every revision over every transport.
func everywhere(t *testing.T, test func(t *testing.T, rev revision, c client)) {
	for _, rev := range handshakeRevisions {
		t.Run(fmt.Sprintf("%s/stdio", rev), func(t *testing.T) {
			t.Parallel()
			test(t, rev, dialStdio(t).open(rev, object{}))
		})
		t.Run(fmt.Sprintf("%s/http", rev), func(t *testing.T) {
			t.Parallel()
			test(t, rev, dialHTTP(t).open(rev, object{}))
		})
	}
}

// writes records every Write.
type writes struct {
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(p))
	return len(p), nil
}
