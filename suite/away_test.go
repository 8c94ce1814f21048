package suite_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// What refuses every client by an HTTP status, before it looks at a message, is no server that breaks the protocol: the address is
// wrong, or somebody else answers. The run says what came, and judges nothing.
func TestServersThatTurnEverybodyAway(t *testing.T) {
	for _, c := range []struct {
		name, body, problem string
		status              int
		judged              bool
	}{
		{"a wrong path", "404 page not found", "is this the address of the endpoint?", http.StatusNotFound, false},
		{"a wrong method", "", "HTTP status 405", http.StatusMethodNotAllowed, false},
		{"a guard of host names", "Access is only allowed at localhost:1", "it answered Access is only allowed at localhost:1", http.StatusForbidden, false},
		{"another guard", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Invalid Host"},"id":null}`, "does it serve another host name", http.StatusForbidden, false},
		{"a gateway that numbers what it refuses", `{"id":"7f3a","message":"Forbidden"}`, "does it serve another host name", http.StatusForbidden, false},
		{"a gateway", "<html>", "HTTP status 502", http.StatusBadGateway, false},
		{"a server that fails", "", "HTTP status 500", http.StatusInternalServerError, true},
		{"a server that answers the request", `{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":1001}`, "HTTP status 404", http.StatusNotFound, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			target, err := suite.URL(host(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})))
			o := run(t, at(t, target, err), suite.Revisions("2025-11-25"))
			g.Expect(strings.Join(o.Report.Problems, "; ")).To(gomega.ContainSubstring(c.problem))
			g.Expect(o.Report.Judged() > 0).To(gomega.Equal(c.judged))
		})
	}
}

// stateless is a server without sessions that has POST alone, knows its one revision and its own pages, and counts what it was asked
// by DELETE.
func stateless(revision string, deletes *atomic.Int64) http.Handler {
	refuse := func(w http.ResponseWriter, status int) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":null}`)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		switch version := r.Header.Get("Mcp-Protocol-Version"); {
		case r.Method != http.MethodPost:
			if r.Method == http.MethodDelete {
				deletes.Add(1)
			}
			http.NotFound(w, r)
			return
		case r.Header.Get("Origin") != "":
			refuse(w, http.StatusForbidden)
			return
		case version != "" && version != revision, json.NewDecoder(r.Body).Decode(&m) != nil:
			refuse(w, http.StatusBadRequest)
			return
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		result := `{}`
		if m.Method == "initialize" {
			result = `{"protocolVersion":"` + revision + `","capabilities":{},"serverInfo":{"name":"stateless","version":"1"}}`
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	})
}

// A server without sessions is not asked to end one, and what it says to methods of HTTP that it does not offer is held against it where
// these methods are the matter, and nowhere else.
func TestNothingIsEndedOfAServerWithoutSessions(t *testing.T) {
	g := gomega.NewWithT(t)
	var deletes atomic.Int64
	target, err := suite.URL(host(t, stateless("2025-11-25", &deletes)))
	o := run(t, at(t, target, err), suite.Revisions("2025-11-25"))
	g.Expect(deletes.Load()).To(gomega.BeZero())
	status := map[string]verdict.Status{}
	for _, v := range o.Report.Verdicts {
		if was, ok := status[v.Requirement]; !ok || was == verdict.Pass || was == verdict.Skip || was == verdict.Untested {
			status[v.Requirement] = v.Status
		}
	}
	g.Expect(status).To(gomega.And(
		gomega.HaveKeyWithValue("http.origin.forbidden", verdict.Pass),
		gomega.HaveKeyWithValue("http.version.unsupported", verdict.Pass),
		gomega.HaveKeyWithValue("http.get.stream-or-405", verdict.Fail),
	))
	g.Expect(status["http.session.required"]).To(gomega.BeElementOf(verdict.Skip, verdict.Untested))
}
