package reports_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// smallRun judges a few requirements of the reference server with faults, over a pipe, at three revisions. What differs from run to run,
// or with every change of the catalogue, is made even, so that the golden files under testdata/run stay as they are.
func smallRun(t *testing.T, faultNames ...string) *verdict.Report {
	t.Helper()
	g := gomega.NewWithT(t)
	var faults []sabotage.Fault
	if len(faultNames) > 0 {
		var err error
		faults, err = sabotage.Find(faultNames...)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	server := reference.New(reference.WithFlags(sabotage.Flags(faults)))
	target := suite.Pipe(sabotage.Stdio(server.ServeStdio, faults, sabotage.Process{}))
	if len(faults) > 0 {
		target = lossy{target}
	}
	out, err := suite.Run(context.Background(), target, suite.Revisions("2025-06-18", "2025-11-25", "2026-07-28"), suite.Jobs(1),
		suite.Role("failing-tool", transcript.Role{Name: "echo", Arguments: map[string]any{"message": "fine"}}),
		suite.Select(strings.Join([]string{
			"lifecycle.version.same", "lifecycle.version.error-code", "ping.responds", "ping.empty", "completion.complete.responds",
			"tools.call.responds", "tools.call.unknown-tool", "tools.call.unknown-tool-code", "tools.call.missing-argument", "tools.call.is-error-boolean",
			"tools.call.execution-error", "tools.call.without-arguments", "extension.tasks.result-type.reserved",
		}, " || ")))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r := out.Report
	g.Expect(r.Complete).To(gomega.BeTrue(), "%v", r.Problems)
	g.Expect(r.Settled()).To(gomega.Equal(len(faults) == 0), "%v", r.Problems)
	r.Suite, r.Catalogue, r.Target = "1.2.3", "c0ffee00c0ffee00c0ffee00c0ffee00", "the reference server in a pipe"
	r.Started, r.Duration = time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC), 1500*time.Millisecond
	line, id := regexp.MustCompile(`:\d+:\d+$`), regexp.MustCompile(`"id":\d+`)
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		v.Duration = time.Millisecond
		if e := v.Evidence; e != nil {
			e.Position = line.ReplaceAllString(e.Position, "")
			for j := range e.Wire {
				e.Wire[j].At = time.Duration(j) * time.Millisecond
				e.Wire[j].Text = id.ReplaceAllString(e.Wire[j].Text, `"id":1`)
			}
		}
	}
	return r
}

// lossy is a way to the server on which requests for completions get lost, which is no fault of the server's.
type lossy struct{ suite.Target }

func (l lossy) Open(ctx context.Context, sink transport.Sink) (transport.Conn, error) {
	c, err := l.Target.Open(ctx, sink)
	return lossyConn{c}, err
}

type lossyConn struct{ transport.Conn }

func (l lossyConn) Send(ctx context.Context, out transport.Outgoing) (int, error) {
	if strings.Contains(string(out.Data), "completion/complete") {
		return 0, errors.New("the line is down")
	}
	return l.Conn.Send(ctx, out)
}

// faultyGolden is a run with faults, of which the baseline expects one and calls another flaky. Verdicts of all kinds are in it.
func faultyGolden(t *testing.T) *verdict.Report {
	t.Helper()
	r := smallRun(t, "unknown-tool-is-a-result", "call-result-without-content", "required-argument-not-checked", "is-error-is-a-string", "call-needs-arguments",
		"list-is-a-task")
	problems := config.Baseline{
		{Requirement: "tools.call.missing-argument", Revision: "2025-06-18", Reason: "issue 42: older clients do not look"},
		{Requirement: "tools.call.is-error-*", Flaky: true, Reason: "issue 43: now and then"},
	}.Apply(r)
	g := gomega.NewWithT(t)
	g.Expect(problems).To(gomega.BeEmpty())
	for _, s := range verdict.Statuses {
		g.Expect(r.Count()[s]).To(gomega.BeNumerically(">", 0), "verdicts that are %s", s)
	}
	g.Expect(r.Known()).To(gomega.BeNumerically(">", 0))
	g.Expect(r.Flaky()).To(gomega.BeNumerically(">", 0))
	g.Expect(r.BrokenBeside()).To(gomega.BeNumerically(">", 0))
	return r
}

// TestGoldenOfARun compares every format, made by a real run, with its example under testdata/run. Look at what -update changed before it is
// kept.
func TestGoldenOfARun(t *testing.T) {
	good, bad := smallRun(t), faultyGolden(t)
	c := verdict.Compare(good, bad)
	c.OldName, c.NewName = "old.json", "new.json"
	revisions := verdict.CompareRevisions(bad, "2025-06-18", "2025-11-25")
	for _, f := range []struct {
		file  string
		write func(io.Writer) error
	}{
		{"console.txt", func(w io.Writer) error { reports.Console(w, bad, reports.ConsoleOptions{Width: 100}); return nil }},
		{"junit.xml", func(w io.Writer) error { return reports.JUnit(w, bad, false) }},
		{"report.json", func(w io.Writer) error { return reports.JSON(w, bad) }},
		{"report.html", func(w io.Writer) error { return reports.HTML(w, bad, false) }},
		{"summary.md", func(w io.Writer) error { return reports.Markdown(w, bad, false) }},
		{"annotations.txt", func(w io.Writer) error { return reports.GitHub(w, bad, false) }},
		{"results.sarif", func(w io.Writer) error { return reports.SARIF(w, bad, reports.SARIFOptions{}) }},
		{"badge.json", func(w io.Writer) error { return reports.BadgeJSON(w, bad, false) }},
		{"badge.svg", func(w io.Writer) error { return reports.BadgeSVG(w, bad, false) }},
		{"compare.txt", func(w io.Writer) error { reports.CompareText(w, c, reports.ConsoleOptions{Width: 100}); return nil }},
		{"compare.md", func(w io.Writer) error { return reports.CompareMarkdown(w, c) }},
		{"compare.html", func(w io.Writer) error { return reports.CompareHTML(w, c) }},
		{"compare.json", func(w io.Writer) error { return reports.CompareJSON(w, c) }},
		{"revisions.txt", func(w io.Writer) error {
			reports.CompareText(w, revisions, reports.ConsoleOptions{Width: 100})
			return nil
		}},
	} {
		t.Run(f.file, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var got bytes.Buffer
			g.Expect(f.write(&got)).To(gomega.Succeed())
			path := filepath.Join("testdata", "run", f.file)
			if flag.Lookup("update").Value.String() == "true" {
				g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(gomega.Succeed())
				g.Expect(os.WriteFile(path, got.Bytes(), 0o644)).To(gomega.Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(got.String()).To(gomega.Equal(string(want)), "go test ./reports -update rewrites the golden files")
		})
	}
}
