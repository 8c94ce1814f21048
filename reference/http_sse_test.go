package reference

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// sseClient talks HTTP+SSE to a server over sockets.
type sseClient struct {
	*httpClient
	stream *sseReader
	post   string // the address that the endpoint event gave
	close  func()
}

func dialSSE(t *testing.T, opts ...Option) *sseClient {
	t.Helper()
	server := New(opts...)
	mux := http.NewServeMux()
	mux.Handle("/sse", server.SSEHandler())
	mux.Handle("/message", server.SSEHandler())
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	return (&sseClient{httpClient: &httpClient{t: t, server: server, url: web.URL}}).connect()
}

// connect opens a further session with the same server.
func (c *sseClient) connect() *sseClient {
	c.t.Helper()
	resp := c.at("/sse").do(http.MethodGet, "", map[string]string{"Content-Type": ""})
	other := &sseClient{httpClient: c.httpClient, stream: c.events(resp), close: func() { resp.Body.Close() }}
	first, ok := other.stream.next()
	if !ok || !strings.HasPrefix(first.data, "/message?sessionId=") {
		c.t.Fatalf("the first event is %+v", first)
	}
	other.post = first.data
	return other
}

func (c *sseClient) at(path string) *httpClient {
	out := *c.httpClient
	out.url += path
	return &out
}

func (c *sseClient) send(body string) *http.Response {
	c.t.Helper()
	return c.at(c.post).do(http.MethodPost, body, nil)
}

// ask posts a request and returns what comes on the stream until its answer.
func (c *sseClient) ask(method string, params object) (during []message, reply message) {
	c.t.Helper()
	c.nextID++
	id := c.nextID
	resp := c.send(string(encode(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})))
	if body := c.body(resp); resp.StatusCode != http.StatusAccepted || body != "" {
		c.t.Fatalf("%s: HTTP %d %q", method, resp.StatusCode, body)
	}
	for {
		_, m := c.stream.message()
		if m["method"] == nil {
			if m["id"] != float64(id) {
				c.t.Fatalf("%s: a reply to something else: %v", method, m)
			}
			return during, m
		}
		during = append(during, m)
		if m["id"] != nil {
			c.send(string(encode(object{"jsonrpc": "2.0", "id": m["id"], "result": object{"roots": []any{}}})))
		}
	}
}

func TestHTTPWithSSE(t *testing.T) {
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			c := dialSSE(t)
			_, reply := c.ask("initialize", initializeParams(rev, object{"roots": object{}}))
			g.Expect(reply.result()["protocolVersion"]).To(gomega.Equal(string(rev)))
			g.Expect(c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).StatusCode).To(gomega.Equal(202))
			during, reply := c.ask("tools/call", object{"name": "test_tool_with_progress", "arguments": object{}, "_meta": object{"progressToken": 7}})
			g.Expect(reply.result()).To(gomega.HaveKey("content"))
			g.Expect(during).NotTo(gomega.BeEmpty())
			during, reply = c.ask("tools/call", object{"name": "test_list_roots", "arguments": object{}})
			g.Expect(during).To(gomega.HaveLen(1))
			g.Expect(reply.result()).To(gomega.HaveKey("content"))
			if rev == rev2025March {
				g.Expect(c.send(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]`).StatusCode).To(gomega.Equal(202))
				e, _ := c.stream.next()
				g.Expect(e.data).To(gomega.And(gomega.HavePrefix("["), gomega.ContainSubstring(`"a"`), gomega.ContainSubstring(`"b"`)))
			}
		})
	}
}

func TestWhatHTTPWithSSERefuses(t *testing.T) {
	c := dialSSE(t)
	for _, tc := range []struct {
		name, method, path, body string
		header                   map[string]string
		status                   int
	}{
		{"all is well", "POST", c.post, pingBody, nil, 202},
		{"POST to the stream's address", "POST", "/sse", pingBody, nil, 405},
		{"PUT", "PUT", c.post, pingBody, nil, 405},
		{"unknown session", "POST", "/message?sessionId=none", pingBody, nil, 404},
		{"foreign origin", "POST", c.post, pingBody, map[string]string{"Origin": "https://evil.example"}, 403},
		{"foreign origin, GET", "GET", "/sse", "", map[string]string{"Origin": "https://evil.example"}, 403},
		{"foreign host", "POST", c.post, pingBody, map[string]string{"Host": "evil.example"}, 403},
		{"local origin", "POST", c.post, pingBody, map[string]string{"Origin": "http://localhost:1"}, 202},
		{"GET without SSE", "GET", "/sse", "", map[string]string{"Accept": "application/json"}, 406},
		{"text", "POST", c.post, pingBody, map[string]string{"Content-Type": "text/plain"}, 415},
		{"too long", "POST", c.post, strings.Repeat(" ", maxMessageBytes+1), nil, 413},
		{"no JSON", "POST", c.post, "{", nil, 400},
		{"no message", "POST", c.post, "{}", nil, 400},
	} {
		gomega.NewWithT(t).Expect(c.at(tc.path).do(tc.method, tc.body, tc.header).StatusCode).To(gomega.Equal(tc.status), tc.name)
	}
}

func TestSessionsOfHTTPWithSSEAreApart(t *testing.T) {
	g := gomega.NewWithT(t)
	first := dialSSE(t)
	second := first.connect()
	g.Expect(second.post).NotTo(gomega.Equal(first.post))
	first.ask("initialize", initializeParams(rev2024November, object{}))
	second.ask("initialize", initializeParams(rev2024November, object{}))
	first.ask("ping", object{})
	second.ask("ping", object{}) // fails when the first one's replies came here
	first.close()
	_, reply := second.ask("ping", object{})
	g.Expect(reply).To(gomega.HaveKey("result"))
}

func TestShutdownEndsStreamsOfHTTPWithSSE(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialSSE(t)
	c.ask("initialize", initializeParams(rev2025November, object{}))
	g.Expect(c.server.Shutdown(context.Background())).To(gomega.Succeed())
	rest, err := io.ReadAll(bufio.NewReader(c.stream.lines))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(rest).To(gomega.BeEmpty())
	g.Expect(c.at("/sse").do(http.MethodGet, "", nil).StatusCode).To(gomega.Equal(503))
}
