package suite_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// opening is what every era has at its beginning.
const opening = "lifecycle.initialize.responds || discover.responds || versioning.initialize.names-versions"

func ofEra(flags ...string) *reference.Server {
	on := map[string]bool{}
	for _, f := range flags {
		on[f] = true
	}
	return reference.New(reference.WithFlags(on))
}

var asksForEra = []byte(`"server/discover"`)

// filtered serves a server of the older era, but what asks for its era is given to meet, which says whether to go on.
func filtered(meet func() error) func(ctx context.Context, in io.Reader, out io.Writer) error {
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		through, lines := io.Pipe()
		go func() {
			r := bufio.NewReader(in)
			for {
				line, err := r.ReadBytes('\n')
				if err == nil && bytes.Contains(line, asksForEra) {
					if err = meet(); err == nil {
						continue
					}
				}
				if err == nil {
					_, err = lines.Write(line)
				}
				if err != nil {
					_ = lines.CloseWithError(io.EOF)
					return
				}
			}
		}()
		return ofEra(reference.FlagHandshakeOnly).ServeStdio(ctx, through, out)
	}
}

// filteredWeb is filtered over HTTP.
func filteredWeb(meet http.HandlerFunc) http.Handler {
	legacy := ofEra(reference.FlagHandshakeOnly).Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if bytes.Contains(body, asksForEra) {
			meet(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		legacy.ServeHTTP(w, r)
	})
}

// Nobody says which era a server is of: each is judged at the revisions that it speaks, and there is nothing to complain about.
func TestTheEraOfAServerIsFoundOut(t *testing.T) {
	legacy, modern := script.Revisions[:4], script.Revisions[4:]
	for name, c := range map[string]struct {
		target suite.Target
		want   []script.Revision
	}{
		"both, in memory":   {suite.Pipe(ofEra().ServeStdio), script.Revisions},
		"both, HTTP":        {suite.Handler(ofEra().Handler()), script.Revisions},
		"modern, in memory": {suite.Pipe(ofEra(reference.FlagModernOnly).ServeStdio), modern},
		"modern, HTTP":      {suite.Handler(ofEra(reference.FlagModernOnly).Handler()), modern},
		"legacy, in memory": {suite.Pipe(ofEra(reference.FlagHandshakeOnly).ServeStdio), legacy},
		"legacy, HTTP":      {suite.Handler(ofEra(reference.FlagHandshakeOnly).Handler()), legacy},
		"legacy, silent to server/discover, in memory": {suite.Pipe(filtered(func() error { return nil })), legacy},
		"legacy, silent to server/discover, HTTP": {suite.Handler(filteredWeb(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		})), legacy},
		"legacy, ends at server/discover, in memory": {suite.Pipe(filtered(func() error { return io.EOF })), legacy},
		"legacy, hangs up at server/discover, HTTP": {suite.Handler(filteredWeb(func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		})), legacy},
		"legacy, server/discover not found, HTTP": {suite.Handler(filteredWeb(http.NotFound)), legacy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			o := run(t, c.target, suite.Select(opening))
			var judged []script.Revision
			for _, r := range o.Report.Runs {
				judged = append(judged, script.Revision(r.Revision))
			}
			g.Expect(judged).To(gomega.ConsistOf(c.want))
			g.Expect(o.Report.Problems).To(gomega.BeEmpty())
			g.Expect(o.Undriven()).To(gomega.BeFalse())
			g.Expect(o.Conforms()).To(gomega.BeTrue())
			passed := map[string]bool{}
			for _, v := range o.Report.Verdicts {
				g.Expect(v.Status).To(gomega.BeElementOf(verdict.Pass, verdict.Skip), "%s at %s: %s", v.Requirement, v.Revision, v.Reason)
				passed[v.Revision] = passed[v.Revision] || v.Status == verdict.Pass
			}
			g.Expect(passed).To(gomega.HaveLen(len(c.want)))
			for r, ok := range passed {
				g.Expect(ok).To(gomega.BeTrue(), "nothing passed at %s", r)
			}
		})
	}
}

// Who asks for a revision of the other era is told that the server does not speak it.
func TestARevisionOfTheOtherEraIsAProblem(t *testing.T) {
	for revision, flag := range map[string]string{"2026-07-28": reference.FlagHandshakeOnly, "2025-11-25": reference.FlagModernOnly} {
		g := gomega.NewWithT(t)
		o := run(t, suite.Handler(ofEra(flag).Handler()), suite.Select("MUST"), suite.Revisions(revision))
		g.Expect(o.Report.Problems).To(gomega.ContainElement(gomega.ContainSubstring(revision)))
		g.Expect(o.Undriven()).To(gomega.BeTrue())
	}
}
