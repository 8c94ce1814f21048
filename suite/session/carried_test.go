package session_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/session"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// guard bounds what would hang; it decides nothing about a pass.
const guard = time.Minute

// openSSE opens a session over HTTP+SSE with a server whose stream brings what is put into say, and which answers
// every POST with status.
func openSSE(t *testing.T, status int) (s *session.Session, say chan string) {
	t.Helper()
	say = make(chan string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
		for {
			w.(http.Flusher).Flush()
			select {
			case text, ok := <-say:
				if !ok {
					return
				}
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	target, err := transport.URL(server.URL+"/sse", transport.URLOptions{Transport: transport.HTTPSSE})
	if err != nil {
		t.Fatal(err)
	}
	s, err = session.Open(t.Context(), target, session.Options{Revision: "2024-11-05", Timeout: guard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Greet(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, say
}

func pingOver(t *testing.T, s *session.Session, id int) (stream int) {
	t.Helper()
	stream, err := s.Send(t.Context(), transport.Outgoing{Data: wire.Request(int64(id), "ping", nil)})
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func replied(s *session.Session) bool {
	return slices.ContainsFunc(s.Events(), func(e transcript.Event) bool {
		return e.Kind == transcript.Receive && e.Stream == transcript.Carrier && e.SSE.Event == "message"
	})
}

func TestAReplyOutlastsTheAnswerToItsPost(t *testing.T) {
	g := gomega.NewWithT(t)
	s, say := openSSE(t, http.StatusAccepted)
	ctx, cancel := context.WithTimeout(t.Context(), guard)
	defer cancel()
	stream := pingOver(t, s, 7)
	g.Expect(s.AwaitEnd(ctx, stream)).To(gomega.Succeed())
	short, stop := context.WithTimeout(ctx, time.Millisecond)
	defer stop()
	g.Expect(s.AwaitReply(short, int64(7), stream)).To(gomega.MatchError(session.ErrTimeout), "the end of the POST's answer is not the reply")
	go func() { say <- `{"jsonrpc":"2.0","id":7,"result":{}}` }()
	g.Expect(s.AwaitReply(ctx, int64(7), stream)).To(gomega.Succeed())
	g.Expect(replied(s)).To(gomega.BeTrue())
	g.Expect(s.Carried()).To(gomega.BeTrue())
}

func TestNoReplyToARefusedPostIsAwaited(t *testing.T) {
	g := gomega.NewWithT(t)
	s, _ := openSSE(t, http.StatusBadRequest)
	stream := pingOver(t, s, 7)
	g.Expect(s.AwaitReply(t.Context(), int64(7), stream)).To(gomega.Succeed())
	g.Expect(s.AwaitReplies(t.Context(), []any{int64(7)}, []int{stream})).To(gomega.Succeed())
	g.Expect(replied(s)).To(gomega.BeFalse())
}

func TestTheEndOfTheStreamEndsTheSession(t *testing.T) {
	g := gomega.NewWithT(t)
	s, say := openSSE(t, http.StatusAccepted)
	stream := pingOver(t, s, 7)
	close(say)
	g.Expect(s.AwaitReply(t.Context(), int64(7), stream)).To(gomega.MatchError(session.ErrGone))
	g.Expect(s.Gone()).To(gomega.BeTrue())
}
