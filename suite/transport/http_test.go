//go:build unix

package transport

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func target(t *testing.T, endpoint string, opts URLOptions) Target {
	t.Helper()
	u, err := URL(endpoint, opts)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPost(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch string(body) {
		case "quiet":
			w.WriteHeader(http.StatusAccepted)
		case "page":
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html>")
		case "away":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "%s %s", r.Method, body)
		}
	})
	conn, l := open(t, target(t, server.URL+"/mcp", URLOptions{}))
	for i, body := range []string{"hello", "quiet", "page", "away"} {
		if stream := send(t, conn, Outgoing{Data: []byte(body)}); stream != i+1 {
			t.Errorf("the stream is %d", stream)
		}
		l.await(t, i+1, transcript.End)
	}
	send(t, conn, Outgoing{Writes: [][]byte{[]byte("a"), []byte("b")}})
	l.await(t, 5, transcript.End)
	conn.Close()
	expect(t, l.all(),
		`send #1 "hello" POST`, `answer #1 200`, `receive #1 "POST hello"`, `end #1`,
		`send #2 "quiet" POST`, `answer #2 202`, `end #2`,
		`send #3 "page" POST`, `answer #3 502`, `receive #3 "<html>"`, `end #3`,
		`send #4 "away" POST`, `answer #4 307`, `end #4`,
		`send #5 "ab" POST`, `answer #5 200`, `receive #5 "POST ab"`, `end #5`)
	answer := only(l.all(), transcript.Answer)[3].HTTP
	g.Expect(answer.Headers["Location"]).To(gomega.Equal([]string{"/elsewhere"}))
	g.Expect(only(l.all(), transcript.Send)[0].HTTP).To(gomega.Equal(&transcript.HTTP{Method: "POST", URL: server.URL + "/mcp", Headers: map[string][]string{
		"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}, "User-Agent": {"mcp-litmus"}}}))
}

func TestHeadersAndPaths(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	var got *http.Request
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r })
	conn, l := open(t, target(t, server.URL+"/a/mcp?k=v", URLOptions{Header: map[string]string{"Authorization": "Bearer x"}}))
	ended := 0
	do := func(out Outgoing) *http.Request {
		t.Helper()
		send(t, conn, out)
		ended++
		l.await(t, ended, transcript.End)
		return got
	}
	conn.SetHeader("mcp-protocol-version", "2025-11-25")
	r := do(Outgoing{Data: []byte("{}")})
	g.Expect(r.URL.String()).To(gomega.Equal("/a/mcp?k=v"))
	g.Expect(r.Header).To(gomega.Equal(http.Header{"Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer x"},
		"Content-Type": {"application/json"}, "Content-Length": {"2"}, "Mcp-Protocol-Version": {"2025-11-25"}, "User-Agent": {"mcp-litmus"}}))

	r = do(Outgoing{Data: []byte("{}"), Header: map[string][]string{"x-two": {"1", "2"}, "accept": nil, "content-type": nil, "user-agent": nil, "mcp-protocol-version": nil}})
	g.Expect(r.Header).To(gomega.Equal(http.Header{"Authorization": {"Bearer x"}, "Content-Length": {"2"}, "X-Two": {"1", "2"}}))

	r = do(Outgoing{Data: []byte("{}"), Header: map[string][]string{"accept": {}, "authorization": nil, "user-agent": {},
		"content-type": {"text/plain"}, "MCP-Protocol-Version": {""}}})
	g.Expect(r.Header).To(gomega.Equal(http.Header{"Content-Type": {"text/plain"}, "Content-Length": {"2"}, "Mcp-Protocol-Version": {""}}))

	conn.SetHeader("MCP-Protocol-Version", "")
	r = do(Outgoing{Method: "GET", Path: "../.well-known/x?y=1", Host: "evil.example"})
	g.Expect(r.Method + " " + r.Host + " " + r.URL.String()).To(gomega.Equal("GET evil.example /.well-known/x?y=1"))
	g.Expect(r.Header).To(gomega.Equal(http.Header{"Accept": {"text/event-stream"}, "Authorization": {"Bearer x"}, "User-Agent": {"mcp-litmus"}}))
	sent := only(l.all(), transcript.Send)
	g.Expect(sent[len(sent)-1].HTTP.Headers["Host"]).To(gomega.Equal([]string{"evil.example"}))
	g.Expect(sent[2].HTTP.Headers).NotTo(gomega.HaveKey("User-Agent"))

	for _, bad := range []Outgoing{
		{Path: "http://127.0.0.2/"}, {Path: "//127.0.0.2/"}, {Path: "https://" + strings.TrimPrefix(server.URL, "http://")}, {Path: "%zz"},
		{Method: "BAD METHOD"}, {Header: map[string][]string{"a b": {"x"}}}, {Header: map[string][]string{"A": {"x\r\nB: y"}}}, {Host: "a b"},
	} {
		if stream, err := conn.Send(context.Background(), bad); err == nil || stream != 0 {
			t.Errorf("%+v was sent", bad)
		}
	}
	conn.Close()
	if n := len(only(l.all(), transcript.Failure)); n != 8 {
		t.Errorf("%d failures are recorded", n)
	}
	if n := len(only(l.all(), transcript.Send)); n != ended {
		t.Errorf("%d requests are recorded", n)
	}
	if _, err := conn.Send(context.Background(), Outgoing{}); err == nil {
		t.Error("a request was sent after Close")
	}
}

// stream answers with an event stream of parts that are flushed one by one; then it waits for hold.
func stream(w http.ResponseWriter, hold <-chan struct{}, parts ...string) {
	w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
	flusher := w.(http.Flusher)
	flusher.Flush()
	for _, part := range parts {
		_, _ = io.WriteString(w, part)
		flusher.Flush()
	}
	<-hold
}

func TestEventStreamOverHTTP(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	next := make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cut" {
			stream(w, closedChannel, "data: 1\n\ndata: 2")
			panic(http.ErrAbortHandler)
		}
		stream(w, next, ": hi\r\n\r", "\nid: 4\nevent: mes", "sage\nretry: 10\nda", "ta: {\"a\":\ndata: 1}\n", "\nid: 5\ndata:\n\n")
		_, _ = io.WriteString(w, "data: last\n\n")
	})
	conn, l := open(t, target(t, server.URL, URLOptions{}))
	send(t, conn, Outgoing{Method: "GET", Hold: true})
	received := l.await(t, 2, transcript.Receive)
	close(next)
	l.await(t, 1, transcript.End)
	send(t, conn, Outgoing{Method: "GET", Path: "/cut"})
	l.await(t, 2, transcript.End)
	conn.Close()
	id4, id5, retry := "4", "5", 10
	g.Expect(*received[0].SSE).To(gomega.Equal(transcript.SSE{Event: "message", ID: &id4, Retry: &retry, HasData: true}))
	g.Expect(*received[1].SSE).To(gomega.Equal(transcript.SSE{ID: &id5, HasData: true}))
	expect(t, l.all(), `send #1 GET`, `answer #1 200`, `receive #1 "{\"a\":\n1}"`, `receive #1`, `receive #1 "last"`, `end #1`,
		`send #2 GET`, `answer #2 200`, `receive #2 "1"`,
		`end #2 (the answer broke off: unexpected EOF; the stream ended inside an event, which a client drops (data: ""; then: "data: 2"))`)
}

var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func TestRequestsThatEndEarly(t *testing.T) {
	settled(t)
	asked := make(chan string)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		if r.URL.Path == "/stream" {
			stream(w, r.Context().Done(), "data: 1\n\n")
		}
		_, _ = io.Copy(io.Discard, r.Body) // lets the server notice the end of the connection
		<-r.Context().Done()
	})
	conn, l := open(t, target(t, server.URL, URLOptions{}))
	ctx, cancel := context.WithCancel(context.Background())
	send1 := func(out Outgoing) int {
		t.Helper()
		stream, err := conn.Send(ctx, out)
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		return stream
	}
	send1(Outgoing{Method: "GET", Path: "/stream"})
	l.await(t, 1, transcript.Receive)
	held := send1(Outgoing{Method: "GET", Path: "/stream", Hold: true})
	l.await(t, 2, transcript.Receive)
	cancel()
	expect(t, l.await(t, 1, transcript.End), `end #1 (ended early by the suite)`)

	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	send1(Outgoing{Path: "/mute"})
	expect(t, l.await(t, 2, transcript.End)[1:], `end #3 (ended early by the suite: its time was up)`)

	ctx = context.Background()
	mute := send1(Outgoing{Path: "/mute"})
	conn.Abort(mute)
	expect(t, l.await(t, 3, transcript.End)[2:], `end #4 (ended early by the suite)`)
	conn.Abort(held)
	conn.Abort(99)
	l.await(t, 4, transcript.End)
	send1(Outgoing{Path: "/mute"})
	conn.Close() // ends what is left
	select {
	case <-conn.Done():
	default:
		t.Error("not done after Close")
	}
	if n := len(only(l.all(), transcript.End)); n != 5 {
		t.Errorf("%d requests have ended:\n%s", n, show(l.all()))
	}
	if n := len(only(l.all(), transcript.Failure)); n != 0 {
		t.Errorf("%d failures:\n%s", n, show(l.all()))
	}
}

func TestServersThatBreakHTTP(t *testing.T) {
	settled(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	answers := []string{
		"", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Type: application/json\r\n\r\n{\"a\"",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\nX-Odd: caf\xe9\r\n\r\n",
	}
	go func() {
		for _, answer := range answers {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, answer)
			c.Close()
		}
	}()
	conn, l := open(t, target(t, "http://"+listener.Addr().String(), URLOptions{}))
	for i := range answers {
		send(t, conn, Outgoing{Data: []byte("{}"), Header: map[string][]string{"Connection": {"close"}}})
		l.await(t, i+1, transcript.End)
	}
	listener.Close()
	send(t, conn, Outgoing{})
	l.await(t, len(answers)+1, transcript.End)
	conn.Close()
	ends := only(l.all(), transcript.End)
	for i, want := range []string{"no answer: EOF", "no answer: ", "the answer broke off: unexpected EOF", "", "the server cannot be reached: "} {
		if !strings.HasPrefix(ends[i].Note, want) || (want == "") != (ends[i].Note == "") {
			t.Errorf("request %d ended with %q, want %q", i+1, ends[i].Note, want)
		}
	}
	expect(t, only(l.all(), transcript.Receive), `receive #3 "{\"a\"" (the body broke off)`)
	if failures := only(l.all(), transcript.Failure); len(failures) != 1 || failures[0].Stream != 5 {
		t.Errorf("the failures are\n%s", show(failures))
	}
}

func TestLargeBodiesAreCut(t *testing.T) {
	settled(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/body":
			_, _ = w.Write(make([]byte, 5000))
		case "/exact":
			_, _ = w.Write(make([]byte, 1000))
		case "/many":
			stream(w, closedChannel, strings.Repeat("data: x\n\n", 50))
		}
	})
	conn, l := open(t, target(t, server.URL, URLOptions{Limits: Limits{MaxMessage: 1000}}))
	for i, path := range []string{"/body", "/exact", "/many"} {
		send(t, conn, Outgoing{Path: path})
		l.await(t, i+1, transcript.End)
	}
	conn.Close()
	received := only(l.all(), transcript.Receive)
	if len(received) != 52 || len(received[0].Data) != 1000 || received[0].Size != 5000 || len(received[1].Data) != 1000 || received[1].Size != 0 {
		t.Errorf("received\n%s", show(received))
	}
}

func TestManyRequestsAtOnce(t *testing.T) {
	settled(t)
	const n = 100
	var here atomic.Int32
	all := make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if here.Add(1) == n {
			close(all)
		}
		<-all // every request has to be under way at the same time
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	conn, l := open(t, target(t, server.URL, URLOptions{}))
	var senders sync.WaitGroup
	bodies := make([]string, n+1)
	var mu sync.Mutex
	for i := range n {
		senders.Go(func() {
			body := fmt.Sprintf("body %d", i)
			stream, err := conn.Send(context.Background(), Outgoing{Data: []byte(body)})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			bodies[stream] = body
		})
	}
	senders.Wait()
	l.await(t, n, transcript.End)
	conn.Close()
	for _, e := range only(l.all(), transcript.Receive) {
		if string(e.Data) != bodies[e.Stream] {
			t.Errorf("request %d sent %q and got %q", e.Stream, bodies[e.Stream], e.Data)
		}
	}
	order := map[int]string{}
	for _, e := range l.all() {
		order[e.Stream] += string(e.Kind) + " "
	}
	for stream, kinds := range order {
		if kinds != "send answer receive end " {
			t.Errorf("request %d: %s", stream, kinds)
		}
	}
}

func TestCloseDeletesTheSession(t *testing.T) {
	settled(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		stream(w, r.Context().Done())
	})
	conn, l := open(t, target(t, server.URL, URLOptions{}))
	conn.SetHeader("Mcp-Session-Id", "abc")
	send(t, conn, Outgoing{Method: "GET", Hold: true})
	l.await(t, 1, transcript.Answer)
	conn.Close()
	expect(t, l.all(), `send #1 GET`, `answer #1 200`, `send #2 DELETE`, `answer #2 204`, `end #2`, `end #1 (ended early by the suite)`)
	if id := only(l.all(), transcript.Send)[1].HTTP.Headers["Mcp-Session-Id"]; len(id) != 1 || id[0] != "abc" {
		t.Errorf("the session to delete is %q", id)
	}

	conn, l = open(t, target(t, server.URL, URLOptions{}))
	conn.SetHeader("Mcp-Session-Id", "abc")
	conn.SetHeader("Mcp-Session-Id", "")
	conn.Close()
	if len(l.all()) != 0 {
		t.Errorf("a session that is not there was ended:\n%s", show(l.all()))
	}

	mute := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	conn, l = open(t, target(t, mute.URL, URLOptions{Limits: quick}))
	conn.SetHeader("Mcp-Session-Id", "abc")
	conn.Close() // does not wait for ever
	expect(t, l.all(), `send #1 DELETE`, `end #1 (ended early by the suite)`)
}

func TestCertificates(t *testing.T) {
	settled(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	server.Config.ErrorLog = quietLog
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	own := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for name, c := range map[string]struct {
		opts URLOptions
		want transcript.Kind
	}{
		"unknown": {URLOptions{}, transcript.Failure}, "insecure": {URLOptions{Insecure: true}, transcript.Receive},
		"trusted": {URLOptions{CACert: file}, transcript.Receive}, "own client": {URLOptions{Client: own}, transcript.Receive},
	} {
		conn, l := open(t, target(t, server.URL, c.opts))
		send(t, conn, Outgoing{})
		l.await(t, 1, transcript.End)
		conn.Close()
		if len(only(l.all(), c.want)) != 1 {
			t.Errorf("%s:\n%s", name, show(l.all()))
		}
	}
}

func TestBadURLs(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		endpoint string
		opts     URLOptions
		want     string
	}{
		{"", URLOptions{}, "is not one to talk to"},
		{"localhost:3000/mcp", URLOptions{}, "is not one to talk to"},
		{"ftp://u:hidden@h/", URLOptions{}, `"ftp://u:xxxxx@h/" is not one to talk to`},
		{"http:///mcp", URLOptions{}, "is not one to talk to"},
		{"http://u:hidden@h:port/", URLOptions{}, "cannot be read"},
		{"http://h/", URLOptions{Header: map[string]string{"a b": "c"}}, "cannot be the name of an HTTP header"},
		{"http://h/", URLOptions{Header: map[string]string{"a": "c\nd"}}, "the value of the header a cannot be sent"},
		{"http://h/", URLOptions{CACert: "no-such-file"}, "cannot be read"},
		{"http://h/", URLOptions{CACert: empty}, "holds no certificate"},
	} {
		u, err := URL(c.endpoint, c.opts)
		if err == nil || u != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("URL(%q): %v, want %q", c.endpoint, err, c.want)
		}
	}
	if s := target(t, "http://u:hidden@h/mcp", URLOptions{}).String(); strings.Contains(s, "hidden") {
		t.Errorf("the target is described as %s", s)
	}
}
