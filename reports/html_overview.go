package reports

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// htmlMatrix is the table of areas by revisions and transports.
type htmlMatrix struct {
	Revisions  []htmlSpan
	Columns    []htmlColumn
	Rows       []htmlRow
	Negotiated []string // what the server answered where nothing was judged
}

type htmlSpan struct {
	Name string
	Span int
}

type htmlColumn struct {
	Revision, Transport string
	Hash                template.URL
}

type htmlRow struct {
	Parts []string // of the area's path
	Hash  template.URL
	Cells []htmlCell
	Total bool
}

// htmlCell is how the checks of an area came out in one run.
type htmlCell struct {
	Worst string // a status, or "" when there are no checks
	Label string // in words
	Hash  template.URL
	Parts []htmlCount
}

func htmlFilter(pairs ...string) template.URL {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+"="+strings.ReplaceAll(url.QueryEscape(pairs[i+1]), "+", "%20"))
		}
	}
	return template.URL("#" + strings.Join(parts, "&"))
}

func newHTMLMatrix(r *verdict.Report) htmlMatrix {
	type spot struct{ area, revision, transport string }
	counts := map[spot]map[string]int{}
	var areas []string
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if !slices.Contains(areas, v.Area) {
			areas = append(areas, v.Area)
		}
		for _, p := range []spot{{v.Area, v.Revision, v.Transport}, {"", v.Revision, v.Transport}} {
			if counts[p] == nil {
				counts[p] = map[string]int{}
			}
			counts[p][htmlShown(v)]++
		}
	}
	var m htmlMatrix
	columns := runs(r)
	for _, u := range columns {
		c := htmlColumn{printable(u.Revision), printable(u.Transport), htmlFilter("revision", u.Revision, "transport", u.Transport)}
		if n := len(m.Revisions); n > 0 && m.Revisions[n-1].Name == c.Revision {
			m.Revisions[n-1].Span++
		} else {
			m.Revisions = append(m.Revisions, htmlSpan{c.Revision, 1})
		}
		m.Columns = append(m.Columns, c)
		if u.Negotiated != "" {
			m.Negotiated = append(m.Negotiated, fmt.Sprintf("Asked for %s, the server answered with revision %s: nothing was judged there.",
				printable(place(u.Revision, u.Transport)), printable(u.Negotiated)))
		}
	}
	if len(areas) > 1 {
		areas = append(areas, "")
	}
	for _, area := range areas {
		row := htmlRow{Parts: strings.Split(printable(area), "/"), Hash: htmlFilter("area", area), Total: area == ""}
		for _, u := range columns {
			row.Cells = append(row.Cells, newHTMLCell(counts[spot{area, u.Revision, u.Transport}], area, u))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

func newHTMLCell(n map[string]int, area string, u verdict.Run) htmlCell {
	c := htmlCell{Hash: htmlFilter("area", area, "revision", u.Revision, "transport", u.Transport)}
	var words []string
	for _, s := range htmlStatuses {
		if n[s.Name] == 0 {
			continue
		}
		words = append(words, thousands(n[s.Name])+" "+s.Name)
		if s.Name == "skip" { // told in words only, unless there is nothing else
			continue
		}
		if c.Worst == "" {
			c.Worst = s.Name
		}
		c.Parts = append(c.Parts, htmlCount{htmlStatus: s, N: thousands(n[s.Name])})
	}
	if c.Worst == "" && n["skip"] > 0 {
		c.Worst = "skip"
		c.Parts = []htmlCount{{htmlStatus: htmlStatus{Name: "skip", Glyph: "–"}, N: thousands(n["skip"])}}
	}
	c.Label = printable(orNone(area, "in all") + ", " + place(u.Revision, u.Transport) + ": " + orNone(strings.Join(words, ", "), "nothing judged"))
	return c
}

// htmlGroup is a part of the overview: the requirements that came out alike.
type htmlGroup struct {
	Title, ID, About string
	Findings         []htmlFinding
}

type htmlFinding struct {
	htmlStatus
	Level, Text, Requirement, Reason, Known string
	Exchanges                               []htmlExchange
}

// htmlExchange are the places where a finding was made in one exchange, which has no name where it is the only one.
type htmlExchange struct {
	Name   string
	Places []htmlLink
}

type htmlLink struct{ Text, ID string }

// groups are what went wrong, worst first, and the notes.
func (l *htmlList) groups(r *verdict.Report) (wrong, notes []htmlGroup) {
	for _, g := range []struct{ status, title, about string }{
		{"fail", "Broken", "a MUST that does not hold"},
		{"warn", "Not as recommended", "a SHOULD that does not hold"},
		{"error", "Not carried out", "ours or the network’s fault; not counted against the server"},
		{"known", "Known failures", "from the baseline; not counted"},
		{htmlBeside, "Extensions", "broken of what is optional; not counted"},
		{"note", "Notes", "advice; never counted"},
	} {
		fs := findings(r, func(v *verdict.Verdict) bool { return htmlShown(v) == g.status && !unplayed(r, v) })
		if len(fs) == 0 {
			continue
		}
		group := htmlGroup{Title: g.title, ID: "overview-" + g.status, About: inAll(fs) + "; " + g.about}
		for _, f := range fs {
			group.Findings = append(group.Findings, l.finding(f, g.status))
		}
		if g.status == "note" {
			notes = append(notes, group)
		} else {
			wrong = append(wrong, group)
		}
	}
	return wrong, notes
}

func (l *htmlList) finding(f finding, status string) htmlFinding {
	v := f[0]
	out := htmlFinding{
		Level: printable(v.Level), Text: orNone(printable(v.Text), printable(v.Requirement)), Requirement: printable(v.Requirement),
		Reason: fit(printable(v.Reason), 240), Known: knownText(v),
	}
	for _, s := range htmlStatuses {
		if s.Name == status {
			out.htmlStatus = s
		}
	}
	for _, w := range f {
		i := slices.IndexFunc(out.Exchanges, func(e htmlExchange) bool { return e.Name == printable(w.Exchange) })
		if i < 0 {
			i = len(out.Exchanges)
			out.Exchanges = append(out.Exchanges, htmlExchange{Name: printable(w.Exchange)})
		}
		out.Exchanges[i].Places = append(out.Exchanges[i].Places, htmlLink{printable(place(w.Revision, w.Transport)), l.ids[w]})
	}
	if len(out.Exchanges) == 1 {
		out.Exchanges[0].Name = ""
	}
	return out
}

// htmlLack is one reason for which checks were not judged, and what to add to litmus.yaml so that they can be.
type htmlLack struct{ Reason, Add, About string }

// lacks are the reasons for which nothing was judged, and what to add against all of them together.
func (l *htmlList) lacks(r *verdict.Report) (out []htmlLack, paste string) {
	var all verdict.Additions
	several := 0
	for _, lack := range lacks(r, func(v *verdict.Verdict) bool { return v.Status == verdict.Untested || unplayed(r, v) }) {
		out = append(out, htmlLack{printable(orNone(lack.reason, "(no reason was given)")), printable(lack.add.String()), lack.about()})
		if len(lack.add) > 0 {
			all = append(all, lack.add...)
			several++
		}
	}
	if several > 1 {
		paste = printableLines(all.Block())
	}
	return out, paste
}
