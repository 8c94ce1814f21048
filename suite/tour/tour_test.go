package tour_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/tour"
	"github.com/mcp-litmus/mcp-litmus/suite/trace"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

func walk(t *testing.T, target suite.Target, opts ...suite.Option) (entries []tour.Entry, text string, err error) {
	t.Helper()
	var out strings.Builder
	write := tour.Text(&out, trace.Style{}, 80)
	err = suite.Tour(t.Context(), target, func(e tour.Entry) {
		entries = append(entries, e)
		write(e)
	}, opts...)
	return entries, out.String(), err
}

// methods are the messages of the client, in order.
func methods(entries []tour.Entry) []string {
	var out []string
	for _, e := range entries {
		if e.Event != nil && e.Event.Kind == transcript.Send && len(e.Event.Data) > 0 {
			out = append(out, wire.Read(e.Event.Data).Method())
		}
	}
	return out
}

func TestTheTourOfEachEra(t *testing.T) {
	rest := []string{"tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get"}
	for _, c := range []struct {
		name, revision string
		target         suite.Target
		begins         []string
	}{
		{"lines", "2024-11-05", suite.Pipe(reference.New().ServeStdio), []string{"initialize", "notifications/initialized"}},
		{"HTTP", "2025-11-25", suite.Handler(reference.New().Handler()), []string{"initialize", "notifications/initialized"}},
		{"HTTP+SSE", "2024-11-05", suite.SSEHandler(reference.New().SSEHandler()), []string{"initialize", "notifications/initialized"}},
		{"lines without a handshake", "2026-07-28", suite.Pipe(reference.New().ServeStdio), []string{"server/discover"}},
		{"HTTP without a handshake", "2026-07-28", suite.Handler(reference.New().Handler()), []string{"server/discover"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			entries, text, err := walk(t, c.target, suite.Revisions(c.revision))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(methods(entries)).To(gomega.Equal(append(c.begins, rest...)))
			g.Expect(text).To(gomega.ContainSubstring("speaks " + c.revision))
			g.Expect(text).To(gomega.ContainSubstring("The tool answers with text."))
			replies := 0
			for _, e := range entries {
				if e.Event == nil || e.Event.Kind != transcript.Receive || len(e.Event.Data) == 0 {
					continue
				}
				g.Expect(e.Says).NotTo(gomega.BeEmpty(), string(e.Event.Data))
				g.Expect(e.Says).NotTo(gomega.ContainSubstring("\n"))
				if wire.Read(e.Event.Data).Kind == wire.KindResult {
					replies++
				}
			}
			g.Expect(replies).To(gomega.Equal(7))
			for line := range strings.Lines(text) {
				g.Expect(len([]rune(strings.TrimSpace(line)))).To(gomega.BeNumerically("<=", 80), line)
			}
		})
	}
}

func TestTheTourTellsWhatWentWrong(t *testing.T) {
	g := gomega.NewWithT(t)
	_, _, err := walk(t, suite.Command("/nonexistent/server"))
	g.Expect(errors.Is(err, tour.ErrEnded)).To(gomega.BeTrue())
	g.Expect(err.Error()).To(gomega.ContainSubstring("cannot be started"))

	_, _, err = walk(t, suite.Command("sh", "-c", "echo hunter2-hunter2 >&2; exit 3"), suite.Secrets("hunter2-hunter2"))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("exited with code 3")))
	g.Expect(err.Error()).NotTo(gomega.ContainSubstring("hunter2"))

	_, text, err := walk(t, suite.Pipe(reference.New().ServeStdio), suite.CallTools("none"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(text).To(gomega.ContainSubstring("No tool is called: --call-tools none."))
	g.Expect(text).NotTo(gomega.ContainSubstring("tools/call"))
}
