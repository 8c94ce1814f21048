//go:build unix

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// sseServer opens a stream with what greeting says ({own} is its origin) and repeats on it, as message events, what is
// posted, until that is "end".
func sseServer(t *testing.T, greeting string) (endpoint string) {
	t.Helper()
	posted := make(chan string, 10)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			posted <- r.URL.String() + " " + string(body)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.ReplaceAll(greeting, "{own}", "http://"+r.Host))
		for {
			w.(http.Flusher).Flush()
			select {
			case text := <-posted:
				if strings.HasSuffix(text, " end") {
					return
				}
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			case <-r.Context().Done():
				return
			}
		}
	})
	return server.URL + "/mcp/sse?key=1"
}

func TestHTTPWithSSE(t *testing.T) {
	settled(t)
	g := gomega.NewWithT(t)
	for address, posted := range map[string]string{
		"/messages?id=7": "/messages?id=7", "messages?id=7": "/mcp/messages?id=7", "?id=7": "/mcp/sse?id=7", "{own}/x": "/x",
	} {
		sse := target(t, sseServer(t, "event: endpoint\ndata: "+address+"\n\n"), URLOptions{Transport: HTTPSSE})
		g.Expect(sse.Transport()).To(gomega.Equal("http+sse"))
		conn, l := open(t, sse)
		l.await(t, 1, transcript.Receive)
		ok, err := conn.(Greeter).Greeted()
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(send(t, conn, Outgoing{Data: []byte("hello")})).To(gomega.Equal(2))
		message := l.await(t, 2, transcript.Receive)[1]
		g.Expect(message.Stream).To(gomega.Equal(transcript.Carrier))
		g.Expect(message.SSE.Event).To(gomega.Equal("message"))
		g.Expect(string(message.Data)).To(gomega.Equal(posted+" hello"), address)
		g.Expect(only(l.all(), transcript.Send)[1].HTTP.Headers["Accept"]).To(gomega.Equal([]string{"*/*"}))
		send(t, conn, Outgoing{Data: []byte("end")})
		l.await(t, 1, transcript.EOF)
		<-conn.Done()
		l.await(t, 3, transcript.End)
		conn.Close()
	}
}

func TestEndpointsThatNothingIsSentTo(t *testing.T) {
	settled(t)
	for greeting, want := range map[string]string{
		"event: message\ndata: /x\n\n":                                               "has not sent the endpoint event",
		"event: endpoint\ndata:\n\n":                                                 "holds no address",
		"event: endpoint\ndata: http://[\n\n":                                        "no URI",
		"event: endpoint\ndata: http://127.0.0.2/x\n\n":                              "away from",
		"event: endpoint\ndata: //user@127.0.0.2/x\n\nevent: endpoint\ndata: /x\n\n": "away from",
	} {
		conn, l := open(t, target(t, sseServer(t, greeting), URLOptions{Transport: HTTPSSE, Header: map[string]string{"Authorization": "Bearer x"}}))
		l.await(t, strings.Count(greeting, "event:"), transcript.Receive)
		stream, err := conn.Send(context.Background(), Outgoing{Data: []byte("hello")})
		if err == nil || stream != 0 || !strings.Contains(err.Error(), want) || errors.Is(err, ErrClosed) {
			t.Errorf("%q: stream %d, error %v", greeting, stream, err)
		}
		if n := len(only(l.all(), transcript.Send)); n != 1 {
			t.Errorf("%q: %d requests were made", greeting, n)
		}
		conn.Close()
	}
}

func TestClosingHTTPWithSSE(t *testing.T) {
	settled(t)
	conn, l := open(t, target(t, sseServer(t, "event: endpoint\ndata: /x\n\n"), URLOptions{Transport: HTTPSSE}))
	l.await(t, 1, transcript.Receive)
	conn.SetHeader("Mcp-Protocol-Version", "2025-11-25")
	conn.Close()
	<-conn.Done()
	expect(t, l.all(), `send #1 GET`, `answer #1 200`, `receive #1 "/x"`, `end #1 (ended early by the suite)`)
}

func TestSwitch(t *testing.T) {
	free := target(t, "http://127.0.0.1:1/", URLOptions{})
	if s := free.(Switcher); !s.Switch(HTTPSSE) || free.Transport() != HTTPSSE || !s.Switch(StreamableHTTP) || free.Transport() != StreamableHTTP {
		t.Error("a URL of which nobody said what it speaks is bound to one transport")
	}
	for _, bound := range []string{HTTPSSE, StreamableHTTP} {
		u := target(t, "http://127.0.0.1:1/", URLOptions{Transport: bound})
		if s := u.(Switcher); s.Switch(HTTPSSE) || s.Switch(StreamableHTTP) || u.Transport() != bound {
			t.Errorf("%s can be switched", bound)
		}
	}
	if _, err := URL("http://127.0.0.1:1/", URLOptions{Transport: "auto"}); err == nil {
		t.Error("an unknown transport is accepted")
	}
}
