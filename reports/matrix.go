package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// matrix writes one table for a transport over which several revisions were driven: areas by revisions, each cell with
// how many checks passed of those judged.
func (c *console) matrix(transport string, revisions []string) {
	c.title(printable("over "+transport), bold, " (passed of judged)")
	type cell struct{ passed, judged, fail, warn, note int }
	var areas, beside []string
	cells := map[[2]string]*cell{}
	at := func(area, revision string) *cell {
		key := [2]string{area, revision}
		if cells[key] == nil {
			cells[key] = &cell{}
		}
		return cells[key]
	}
	const total = "total"
	for _, v := range c.r.Verdicts {
		if v.Transport != transport {
			continue
		}
		in := []string{v.Area, total}
		switch {
		case v.Extension == "":
			if !slices.Contains(areas, v.Area) {
				areas = append(areas, v.Area)
			}
		case v.Status == verdict.Skip && !c.o.Verbose: // the server has no such extension
			continue
		default:
			if in = in[:1]; !slices.Contains(beside, v.Area) {
				beside = append(beside, v.Area)
			}
		}
		for _, area := range in {
			n := at(area, v.Revision)
			switch v.Status {
			case verdict.Pass:
				n.passed++
			case verdict.Fail:
				n.fail++
			case verdict.Warn:
				n.warn++
			case verdict.Note:
				n.note++
			default:
				continue
			}
			n.judged++
		}
	}
	slices.Sort(areas) // as in the catalogue, whichever revision they appeared at first
	slices.Sort(beside)
	name := columns("area")
	for _, a := range slices.Concat(areas, beside) {
		name = max(name, columns(printable(a)))
	}
	wide := 12 // of a revision and the space before it
	if c.o.Width > 0 {
		if 2+name+wide*len(revisions) > c.o.Width {
			wide = 11
		}
		name = min(name, max(c.o.Width-2-wide*len(revisions), 16))
	}
	row := func(label string, text func(revision string) (string, style)) {
		label = fitArea(printable(label), name)
		fmt.Fprint(c.w, "  ", label, strings.Repeat(" ", name-columns(label)))
		for _, r := range revisions {
			s, st := text(r)
			fmt.Fprint(c.w, strings.Repeat(" ", max(wide-columns(s), 1)), c.paint(st, s))
		}
		fmt.Fprintln(c.w)
	}
	row("area", func(r string) (string, style) { return printable(r), dim })
	tell := func(area string) {
		row(area, func(r string) (string, style) {
			n := at(area, r)
			text := fmt.Sprintf("%d/%d", n.passed, n.judged)
			switch {
			case n.judged == 0:
				return "·", dim
			case n.fail > 0:
				return text, red
			case n.warn > 0:
				return text, yellow
			case n.note > 0:
				return text, blue
			}
			return text, green
		})
	}
	for _, area := range areas {
		tell(area)
	}
	if len(areas) > 0 {
		tell(total)
	}
	if len(beside) > 0 {
		c.text("  ", "", besideTitle, dim)
	}
	for _, area := range beside {
		tell(area)
	}
}

// uneven lists the requirements that hold at one revision and are broken at another.
func (c *console) uneven() {
	broken, held := map[string][]*verdict.Verdict{}, map[string][]*verdict.Verdict{}
	var ids []string
	for i := range c.r.Verdicts {
		v := &c.r.Verdicts[i]
		if v.Extension != "" {
			continue
		}
		switch v.Status {
		case verdict.Fail, verdict.Warn:
			if broken[v.Requirement] == nil {
				ids = append(ids, v.Requirement)
			}
			broken[v.Requirement] = append(broken[v.Requirement], v)
		case verdict.Pass:
			held[v.Requirement] = append(held[v.Requirement], v)
		}
	}
	told := false
	for _, id := range ids {
		var rest []*verdict.Verdict // where it holds and is broken nowhere
		for _, v := range held[id] {
			if !slices.ContainsFunc(broken[id], func(b *verdict.Verdict) bool { return b.Revision == v.Revision }) {
				rest = append(rest, v)
			}
		}
		if len(rest) == 0 {
			continue
		}
		if !told {
			c.title("Not the same at every revision", bold, "")
			told = true
		}
		c.text("  - ", "", printable(id), "")
		c.text("    ", "", "broken at "+printable(places(broken[id]))+"; holds at "+printable(places(rest)), dim)
	}
}

// tables writes the counts: one table for each transport with several revisions, and one for each run where there is but
// one, or with Verbose.
func (c *console) tables() {
	all := runs(c.r)
	var transports []string
	revisions := map[string][]string{}
	for _, run := range all {
		if run.Negotiated != "" {
			continue
		}
		if !slices.Contains(transports, run.Transport) {
			transports = append(transports, run.Transport)
		}
		revisions[run.Transport] = append(revisions[run.Transport], run.Revision)
	}
	for _, transport := range transports {
		if len(revisions[transport]) > 1 {
			c.matrix(transport, revisions[transport])
		}
	}
	for _, run := range all {
		if run.Negotiated != "" || len(revisions[run.Transport]) < 2 || c.o.Verbose {
			c.table(run)
		}
	}
}
