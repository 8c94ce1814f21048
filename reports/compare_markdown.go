package reports

import (
	"bufio"
	"fmt"
	"io"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// CompareMarkdown writes a comparison for a pull request. Text from a server cannot become markup, a link or a mention. The error is that
// of writing to w.
func CompareMarkdown(w io.Writer, c *verdict.Comparison) error {
	b := bufio.NewWriter(w)
	mark := "✅"
	if len(c.Regressions()) > 0 && !c.Revisions {
		mark = "❌"
	} else if c.Incomplete {
		mark = "❔"
	}
	if c.Revisions {
		mark = "↔️"
	}
	fmt.Fprintf(b, "## %s %s\n\n| | server | target | mcp-litmus | catalogue | outcome |\n| --- | --- | --- | --- | --- | --- |\n", mark, mdText(conclusion(c)))
	for _, s := range sides(c) {
		fmt.Fprintf(b, "| %s: %s | %s | %s | %s | %s | %s |\n", s.Title, mdText(s.Name), mdText(s.Server), mdCell(s.Target), mdText(s.Suite), mdCell(s.Catalogue), mdText(s.Summary))
	}
	for i, n := range c.Notes {
		if i == 0 {
			fmt.Fprint(b, "\n> [!NOTE]\n")
		}
		fmt.Fprintf(b, "> - %s\n", mdText(n))
	}
	m := &markdown{w: b, room: markdownText}
	for _, k := range verdict.ChangeKinds {
		groups := grouped(c, k)
		if len(groups) == 0 {
			continue
		}
		title := mdText(changeTitle(c, k)) + " (" + tallyOf(groups) + ")"
		if brief(k) {
			fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", title)
		} else {
			fmt.Fprintf(b, "\n### %s\n\n", title)
		}
		if brief(k) {
			for _, line := range briefly(c, groups) {
				fmt.Fprintf(b, "- %s: %s\n", mdText(line[0]), mdText(line[1]))
			}
			fmt.Fprint(b, "\n</details>\n")
			continue
		}
		for _, g := range groups {
			m.change(c, g)
		}
	}
	fmt.Fprintf(b, "\n| area | %s | %s |\n| --- | --: | --: |\n", mdText(c.OldName), mdText(c.NewName))
	for _, a := range areaCounts(c) {
		fmt.Fprintf(b, "| %s | %d/%d | %d/%d |\n", mdText(a.Area), a.OldPass, a.OldAll, a.NewPass, a.NewAll)
	}
	fmt.Fprintf(b, "\nChecks that hold, of those judged. %s came out the same.\n", plural(c.Same, "check"))
	return b.Flush()
}

func (m *markdown) change(of *verdict.Comparison, g changeGroup) {
	v := g.verdict()
	where := mdText(g.places(of.Revisions))
	fmt.Fprintf(m.w, "- **%s** %s  \n  %s: %s, %s, %s\n", mdText(v.Level), mdText(v.Text), mdReference(v), g.words(), where, mdText(g.exchanges()))
	if why := g.expected(); why != "" {
		fmt.Fprintf(m.w, "  - %s\n", mdText(why))
	}
	was, is := g.reasons()
	if was != "" {
		fmt.Fprintf(m.w, "  - was: %s\n", mdText(was))
	}
	if is != "" {
		fmt.Fprintf(m.w, "  - now: %s\n", mdText(is))
	}
}
