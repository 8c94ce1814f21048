package reports

import (
	"bufio"
	"fmt"
	"io"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// CompareText writes a comparison for people at a terminal: what was compared, what differs by kind with the evidence of what broke, and
// the conclusion in one line. Color: with ANSI colours; Width: columns to wrap at, 0: none; the other options are not used. Nothing from
// a server reaches w as a control character.
func CompareText(w io.Writer, c *verdict.Comparison, o ConsoleOptions) {
	t := &console{w: bufio.NewWriter(w), r: c.New, o: o}
	defer t.w.Flush()
	for _, s := range sides(c) {
		t.text(pad(s.Title, 8), dim, s.Name+": "+s.Server+", "+s.Target, "")
		t.text("        ", "", "mcp-litmus "+s.Suite+", catalogue "+s.Catalogue+": "+s.Summary, dim)
	}
	t.list("To know before", yellow, c.Notes)
	for _, k := range verdict.ChangeKinds {
		groups := grouped(c, k)
		if len(groups) == 0 {
			continue
		}
		st := bold
		switch k {
		case verdict.Regression:
			st = red
		case verdict.Fix, verdict.AdviceTaken:
			st = green
		case verdict.NewEvidence, verdict.BrokenInBoth:
			st = yellow
		}
		t.title(changeTitle(c, k), st, " ("+tallyOf(groups)+")")
		if brief(k) {
			for _, line := range briefly(c, groups) {
				t.text("  - ", "", line[0]+": "+line[1], "")
			}
			continue
		}
		for _, g := range groups {
			t.change(c, g)
		}
	}
	fmt.Fprintf(t.w, "\n%s; %s the same\n", t.paint(bold, conclusion(c)), plural(c.Same, "check"))
}

func (c *console) change(of *verdict.Comparison, g changeGroup) {
	v := g.verdict()
	fmt.Fprintln(c.w)
	c.text("  - ", "", orNone(printable(v.Text), printable(v.Requirement)), bold)
	c.text("    ", "", printable(v.Level)+" "+printable(v.Requirement)+": "+g.words(), "")
	c.text("    ", "", printable(g.places(of.Revisions))+", "+g.exchanges(), dim)
	if why := g.expected(); why != "" {
		c.text("    ", "", why, dim)
	}
	was, is := g.reasons()
	if was != "" {
		c.text("    was   ", dim, was, "")
	}
	if is != "" {
		c.text("    now   ", dim, is, "")
	}
	if g[0].Kind == verdict.Regression {
		for _, f := range facts(v.Evidence, shortEvidence) {
			c.text("    "+pad(f.label, 10), dim, f.text, "")
		}
	}
}
