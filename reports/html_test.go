package reports

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func html(t *testing.T, r *verdict.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// data is the list that the page's script reads.
func htmlData(t *testing.T, page string) htmlList {
	t.Helper()
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page holds no data")
	}
	var l htmlList
	if err := json.Unmarshal([]byte(found[1]), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestHTMLShowsHostileTextAsData(t *testing.T) {
	g := gomega.NewWithT(t)
	r, _ := hostile()
	r.Verdicts[0].Evidence.Wire = append(r.Verdicts[0].Evidence.Wire, verdict.Line{
		About: "\x00</script>", HTTP: &verdict.HTTP{Method: "\u202e", URL: "\x1b", Headers: map[string]string{"\x9b": "</script>"}},
	})
	page := html(t, r)
	for _, c := range page {
		switch {
		case c == '\n':
		case c < 0x20, c >= 0x7f && c < 0xa0, c >= 0x200b && c <= 0x200f, c >= 0x2028 && c <= 0x202e, c == 0xfffd, c == 0xfffe:
			t.Fatalf("the page holds the character %U", c)
		}
	}
	g.Expect(strings.Count(page, "<script")).To(gomega.Equal(2))
	g.Expect(strings.Count(page, "</script>")).To(gomega.Equal(2))
	g.Expect(strings.Count(page, "<!--")).To(gomega.BeZero())
	g.Expect(htmlData(t, page).Verdicts).To(gomega.HaveLen(len(r.Verdicts)))
}

func TestHTMLAsksForNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	page := html(t, sample())
	g.Expect(page).To(gomega.ContainSubstring(`content="default-src &#39;none&#39;; style-src &#39;sha256-`))
	g.Expect(page).NotTo(gomega.MatchRegexp(`<(img|iframe|object|embed|form action|script src|base)\b|@import|url\(|fetch\(|XMLHttpRequest`))
	for _, link := range regexp.MustCompile(`<link[^>]*>`).FindAllString(page, -1) {
		g.Expect(link).To(gomega.ContainSubstring(`href="data:,"`))
	}
}

func TestHTMLHoldsOnceWhatIsTheSame(t *testing.T) {
	g := gomega.NewWithT(t)
	r := sample()
	v := unknownTool("call a tool that does not exist")
	v.Revision, v.Transport = "2025-11-25", "stdio"
	other := unknownTool("call a tool that does not exist")
	other.Evidence.Expression = "something else of the same step"
	other.Revision, other.Transport = "2025-11-25", "stdio"
	r.Verdicts = []verdict.Verdict{v, other, v}
	l := htmlData(t, html(t, r))
	g.Expect(l.Requirements).To(gomega.HaveLen(1))
	g.Expect(l.Evidence).To(gomega.HaveLen(2))
	g.Expect(l.Wires).To(gomega.HaveLen(1))
	ids := []string{l.Verdicts[0].ID, l.Verdicts[1].ID, l.Verdicts[2].ID}
	const id = "tools.call.unknown-tool/2025-11-25/stdio/call-a-tool-that-does-not-exist"
	g.Expect(ids).To(gomega.Equal([]string{id, id + "~2", id + "~3"}), "links are stable, and each leads to its own")
}

func TestHTMLPutsTheWorstFirst(t *testing.T) {
	g := gomega.NewWithT(t)
	var order []string
	for _, v := range htmlData(t, html(t, sample())).Verdicts {
		if len(order) == 0 || order[len(order)-1] != v.Status {
			order = append(order, v.Status)
		}
	}
	g.Expect(order).To(gomega.Equal([]string{"fail", "warn", "error", "known", "note", "untested", "skip", "pass"}))
}

func TestHTMLSaysWhatToAdd(t *testing.T) {
	g := gomega.NewWithT(t)
	page := html(t, sample())
	g.Expect(page).To(gomega.ContainSubstring(">roles: {failing-tool: {name: …, arguments: {…}}}</pre>"))
	g.Expect(page).To(gomega.ContainSubstring(">roles:\n  failing-tool: {name: …, arguments: {…}}\n  binary-resource: {uri: …}</pre>"))
	g.Expect(page).To(gomega.ContainSubstring("Asked for 2025-03-26 over stdio, the server answered with revision 2024-11-05: nothing was judged there."))
}

func TestHTMLOfAlmostNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	page := html(t, &verdict.Report{Problems: []string{"the server did not start"}})
	g.Expect(page).To(gomega.ContainSubstring("<li>the server did not start</li>"))
	g.Expect(page).To(gomega.ContainSubstring("The run did not reach its end."))
	g.Expect(htmlData(t, page).Verdicts).To(gomega.BeEmpty())
}

func TestHTMLOutcomeHasItsColour(t *testing.T) {
	for _, c := range []struct {
		tone   string
		strict bool
		report verdict.Report
	}{
		{"good", false, verdict.Report{Complete: true, Verdicts: []verdict.Verdict{{Status: verdict.Pass}}}},
		{"good", false, verdict.Report{Complete: true, Verdicts: []verdict.Verdict{{Status: verdict.Warn}}}},
		{"bad", true, verdict.Report{Complete: true, Verdicts: []verdict.Verdict{{Status: verdict.Warn}}}},
		{"bad", false, verdict.Report{Verdicts: []verdict.Verdict{{Status: verdict.Fail}}}},
		{"bad", false, verdict.Report{Complete: true, Baseline: []string{"stale"}, Verdicts: []verdict.Verdict{{Status: verdict.Pass}}}},
		{"unsure", false, verdict.Report{Verdicts: []verdict.Verdict{{Status: verdict.Pass}}}},
		{"unsure", false, verdict.Report{Complete: true, Verdicts: []verdict.Verdict{{Status: verdict.Error}}}},
	} {
		if got := htmlTone(&c.report, c.strict); got != c.tone {
			t.Errorf("%+v, strict %t: %s, not %s", c.report, c.strict, got, c.tone)
		}
	}
}
