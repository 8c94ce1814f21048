package reports

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func markdownOf(t *testing.T, r *verdict.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, r, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// outsideCode is Markdown without its fenced blocks and code spans: what a renderer takes for markup. A span ends at as many backticks as it
// began with, as CommonMark says.
func outsideCode(s string) string {
	s = regexp.MustCompile("(?s)\n *(```+)text\n.*?\n *```+\n").ReplaceAllString(s, "\n")
	run := regexp.MustCompile("\\\\`|`+")
	var out strings.Builder
	for {
		at := run.FindStringIndex(s)
		if at == nil {
			return out.String() + s
		}
		fence := s[at[0]:at[1]]
		out.WriteString(s[:at[0]])
		s = s[at[1]:]
		if fence[0] == '\\' {
			continue
		}
		end := regexp.MustCompile("(?:^|[^`])(" + fence + ")(?:$|[^`])").FindStringSubmatchIndex(s)
		if end == nil {
			continue
		}
		s = s[end[3]:]
	}
}

func TestMarkdownShowsTextFromTheServerAsText(t *testing.T) {
	g := gomega.NewWithT(t)
	const evil = "<img src=x> [a](https://evil.example) @someone #1 www.evil.example `x` ```\n## heading\n| a |\n</details> ![b](x) *b* \x1b[0m\u202e\xff"
	r := sample()
	r.Server, r.Target, r.Problems, r.Baseline, r.Select = evil, evil, []string{evil}, []string{evil}, evil
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		v.Requirement, v.Exchange, v.Reason, v.Text, v.Spec, v.Note = v.Requirement+evil, evil, v.Reason+evil, evil, "https://modelcontextprotocol.io/"+evil, evil
		if v.Known != "" {
			v.Known = evil
		}
		if v.Evidence != nil {
			v.Evidence.Item = evil
		}
	}
	got := markdownOf(t, r)
	g.Expect(utf8.ValidString(got)).To(gomega.BeTrue())
	g.Expect(got).NotTo(gomega.MatchRegexp("[\x00-\x09\x0b-\x1f\u202e]"))
	markup := outsideCode(got)
	g.Expect(markup).NotTo(gomega.MatchRegexp(`<img|@someone|[^\\]#1|https://|www\.evil|[^\\]\*b\*|[^\\]\[a\]`))
	g.Expect(regexp.MustCompile(`(?m)^ *#+ `).FindAllString(markup, -1)).To(gomega.HaveLen(6), "only our own headings")
	g.Expect(strings.Count(markup, "<details>")).To(gomega.Equal(strings.Count(markup, "</details>")))
	g.Expect(strings.Count(markup, "<details>")).To(gomega.BeNumerically(">", 3))
}

func TestMarkdownIsCutBeforeGitHubRefusesIt(t *testing.T) {
	g := gomega.NewWithT(t)
	r := sample()
	for i := range 3000 {
		v := unknownTool("x")
		v.Requirement += strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		v.Revision, v.Transport = "2025-11-25", "stdio"
		v.Evidence.Item = strings.Repeat("z", 1<<12)
		r.Verdicts = append(r.Verdicts, v)
	}
	got := markdownOf(t, r)
	g.Expect(len(got)).To(gomega.BeNumerically("<", 1<<20))
	g.Expect(got).To(gomega.MatchRegexp(`The evidence of [\d,]+ findings is left out here`))
	g.Expect(markdownOf(t, sample())).NotTo(gomega.ContainSubstring("left out here"))
}

func TestAnnotationsAreCommandsOfOneLine(t *testing.T) {
	g := gomega.NewWithT(t)
	r := sample()
	for i := range r.Verdicts {
		r.Verdicts[i].Reason += "\n::error::injected %0A"
	}
	r.Problems = []string{"a\n::stop-commands::x"}
	var b bytes.Buffer
	g.Expect(GitHub(&b, r, false)).To(gomega.Succeed())
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	g.Expect(lines).To(gomega.HaveLen(4), "a problem, two failures and a warning; what is known is not annotated")
	for _, l := range lines {
		g.Expect(l).To(gomega.MatchRegexp(`^::(error|warning) title=[^:,]+::[^:]`))
		g.Expect(strings.ReplaceAll(l, "%25", "")).To(gomega.MatchRegexp(`^([^%]|%0A|%3A|%2C)*$`))
	}
	for i := range 30 {
		r.Problems = append(r.Problems, strings.Repeat("p", i+1))
	}
	b.Reset()
	g.Expect(GitHub(&b, r, true)).To(gomega.Succeed())
	g.Expect(strings.Count(b.String(), "\n")).To(gomega.Equal(annotations))
	g.Expect(b.String()).To(gomega.ContainSubstring("::error title=mcp-litmus::and 25 more"))
}

func TestBadgePromisesNothingThatWasNotJudged(t *testing.T) {
	pass := verdict.Verdict{Requirement: "p", Status: verdict.Pass, Revision: "2025-11-25"}
	fail := verdict.Verdict{Requirement: "f", Status: verdict.Fail, Revision: "2025-11-25"}
	warn := verdict.Verdict{Requirement: "w", Status: verdict.Warn, Revision: "2024-11-05"}
	known := verdict.Verdict{Requirement: "k", Status: verdict.Fail, Known: "x", Revision: "2025-11-25"}
	beside := verdict.Verdict{Requirement: "e", Status: verdict.Fail, Extension: "x", Revision: "2025-11-25"}
	with := func(change func(*verdict.Report), vs ...verdict.Verdict) *verdict.Report {
		r := &verdict.Report{Complete: true, Verdicts: vs}
		if change != nil {
			change(r)
		}
		return r
	}
	for _, c := range []struct {
		r      *verdict.Report
		strict bool
		want   badge
	}{
		{with(nil), false, badge{"MCP", "nothing judged", "lightgrey"}},
		{with(nil, pass), false, badge{"MCP 2025-11-25", "conforms", "brightgreen"}},
		{with(nil, pass, warn), false, badge{"MCP 2024-11-05 … 2025-11-25", "conforms", "brightgreen"}},
		{with(nil, pass, warn), true, badge{"MCP 2024-11-05 … 2025-11-25", "1 SHOULD broken", "red"}},
		{with(nil, pass, fail), false, badge{"MCP 2025-11-25", "1 MUST broken", "red"}},
		{with(nil, pass, known), false, badge{"MCP 2025-11-25", "1 known failure", "yellow"}},
		{with(nil, pass, beside), false, badge{"MCP 2025-11-25", "conforms", "brightgreen"}},
		{with(func(r *verdict.Report) { r.Select = "tools" }, pass), false, badge{"MCP 2025-11-25", "conforms in part", "yellow"}},
		{with(func(r *verdict.Report) { r.Complete = false }, pass), false, badge{"MCP 2025-11-25", "not settled", "lightgrey"}},
		{with(func(r *verdict.Report) { r.Shard = "1/2" }, pass), false, badge{"MCP 2025-11-25", "not settled", "lightgrey"}},
		{with(func(r *verdict.Report) { r.Baseline = []string{"x"} }, pass), false, badge{"MCP 2025-11-25", "not settled", "lightgrey"}},
	} {
		g := gomega.NewWithT(t)
		g.Expect(badgeOf(c.r, c.strict)).To(gomega.Equal(c.want))
		var b bytes.Buffer
		g.Expect(BadgeSVG(&b, c.r, c.strict)).To(gomega.Succeed())
		g.Expect(b.String()).To(gomega.ContainSubstring("<title>" + c.want.label + ": " + c.want.message + "</title>"))
		g.Expect(b.String()).NotTo(gomega.ContainSubstring("%!"))
		g.Expect(xmlIsWellFormed(b.Bytes())).To(gomega.Succeed())
	}
}
