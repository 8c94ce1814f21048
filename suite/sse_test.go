package suite_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// hosted is the reference server on a socket: Streamable HTTP at /mcp, HTTP+SSE at /sse and /message.
func hosted(t *testing.T) (origin string, posts *atomic.Int64) {
	t.Helper()
	server, posts := reference.New(), &atomic.Int64{}
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.Handler())
	mux.Handle("/sse", server.SSEHandler())
	mux.HandleFunc("/message", func(w http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		server.SSEHandler().ServeHTTP(w, r)
	})
	return host(t, mux), posts
}

func host(t *testing.T, h http.Handler) (origin string) {
	t.Helper()
	listener := httptest.NewServer(h)
	t.Cleanup(listener.Close)
	t.Cleanup(listener.CloseClientConnections)
	return listener.URL
}

func at(t *testing.T, target suite.Target, err error) suite.Target {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestTheReferenceServerConformsOverHTTPWithSSE(t *testing.T) {
	g := gomega.NewWithT(t)
	origin, _ := hosted(t)
	target, err := suite.URL(origin + "/sse")
	o := run(t, at(t, target, err))
	for _, v := range o.Report.Verdicts {
		switch v.Status {
		case verdict.Fail, verdict.Warn, verdict.Note, verdict.Error, verdict.Untested:
			t.Errorf("%s at %s in %q: %s: %s", v.Requirement, v.Revision, v.Exchange, v.Status, v.Reason)
		}
		g.Expect(v.Transport).To(gomega.Equal("http+sse"))
		if strings.HasPrefix(v.Requirement, "sse.") && v.Revision != "2024-11-05" {
			t.Errorf("%s was judged at %s, when the transport was none of the revision's", v.Requirement, v.Revision)
		}
	}
	g.Expect(o.Report.Runs).To(gomega.HaveLen(len(script.Revisions) - 1))
	g.Expect(o.Report.Problems).To(gomega.BeEmpty())
	g.Expect(o.Conforms()).To(gomega.BeTrue())
}

func TestAURLIsSpokenToAsItWantsToBe(t *testing.T) {
	g := gomega.NewWithT(t)
	origin, posts := hosted(t)
	quick := []suite.Option{suite.Select("ping"), suite.Revisions("2024-11-05", "2025-11-25")}
	over := func(target suite.Target, err error) []string {
		t.Helper()
		var names []string
		for _, r := range run(t, at(t, target, err), quick...).Report.Runs {
			names = append(names, r.Transport)
		}
		return names
	}
	g.Expect(over(suite.URL(origin + "/mcp"))).To(gomega.Equal([]string{"streamable-http", "streamable-http"}))
	g.Expect(posts.Load()).To(gomega.BeZero())
	g.Expect(over(suite.URL(origin + "/sse"))).To(gomega.Equal([]string{"http+sse", "http+sse"}))
	g.Expect(over(suite.SSE(origin + "/sse"))).To(gomega.Equal([]string{"http+sse", "http+sse"}))
	g.Expect(over(suite.SSEHandler(reference.New().SSEHandler()), nil)).To(gomega.Equal([]string{"http+sse", "http+sse"}))
}

// Servers that cannot be driven over HTTP+SSE are a verdict or a reason, never a hang.
func TestBrokenServersOverHTTPWithSSE(t *testing.T) {
	sse := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	for _, c := range []struct {
		name     string
		answer   func(w http.ResponseWriter, r *http.Request)
		problem  string
		verdicts map[string]verdict.Status
	}{
		{"nothing is there", http.NotFound, "HTTP status 404", nil},
		{"an endpoint elsewhere", func(w http.ResponseWriter, r *http.Request) {
			sse(w, "event: endpoint\ndata: http://127.0.0.2/x\n\n")
			<-r.Context().Done()
		}, "away from", map[string]verdict.Status{"sse.endpoint.sent": verdict.Pass}},
		{"an endpoint without an address", func(w http.ResponseWriter, r *http.Request) {
			sse(w, "event: endpoint\ndata:\n\n")
			<-r.Context().Done()
		}, "no address", map[string]verdict.Status{"sse.endpoint.sent": verdict.Pass}},
		{"no endpoint event", func(w http.ResponseWriter, r *http.Request) {
			sse(w, "event: hello\ndata: you\n\n")
		}, "endpoint event", map[string]verdict.Status{"sse.endpoint.sent": verdict.Fail, "sse.stream.opened": verdict.Pass}},
		{"a page", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "<html>")
		}, "endpoint event", map[string]verdict.Status{"sse.stream.opened": verdict.Fail}},
		{"a stream that ends at the first message", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				sse(w, "event: endpoint\ndata: /x\n\n")
			}
		}, "ended the conversation", map[string]verdict.Status{"sse.endpoint.sent": verdict.Pass}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target, err := suite.SSE(host(t, http.HandlerFunc(c.answer)) + "/sse")
			o := run(t, at(t, target, err), suite.Revisions("2024-11-05"), suite.Timeout(2*time.Second), suite.StartTimeout(10*time.Second))
			if problems := strings.Join(o.Report.Problems, "; "); !strings.Contains(problems, c.problem) {
				t.Errorf("the problems are %q, which does not tell of %q", problems, c.problem)
			}
			judged := 0
			for _, v := range o.Report.Verdicts {
				if want, ok := c.verdicts[v.Requirement]; ok && strings.HasPrefix(v.Exchange, "every stream") {
					judged++
					if v.Status != want {
						t.Errorf("%s: %s (%s)", v.Requirement, v.Status, v.Reason)
					}
				}
				if v.Status == verdict.Error {
					t.Errorf("%s is held to be the suite's own fault: %s", v.Requirement, v.Reason)
				}
			}
			if judged != len(c.verdicts) {
				t.Errorf("%d of %d requirements were judged", judged, len(c.verdicts))
			}
			if o.Conforms() && len(o.Report.Problems) == 0 {
				t.Error("it conforms")
			}
		})
	}
}

// A URL that refuses initialize, and whose GET says nothing of an endpoint, stays one of Streamable HTTP.
func TestARefusalIsNotTakenForHTTPWithSSE(t *testing.T) {
	g := gomega.NewWithT(t)
	target, err := suite.URL(host(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no", http.StatusNotFound)
	})))
	o := run(t, at(t, target, err), suite.Revisions("2025-11-25"))
	g.Expect(strings.Join(o.Report.Problems, "; ")).To(gomega.And(gomega.ContainSubstring("HTTP status 404"), gomega.Not(gomega.ContainSubstring("endpoint event"))))
	g.Expect(target.Transport()).To(gomega.Equal("streamable-http"))
}
