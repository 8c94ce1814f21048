package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// limits of what is shown of a piece of evidence; the JSON report and the transcript hold all of it.
type limits struct {
	text   int // bytes of a value or wire line
	source int // characters of a part's source; a longer part is left out
	parts  int
	wire   int // lines
}

var (
	shortEvidence = limits{text: 480, source: 60, parts: 12, wire: 12}
	longEvidence  = limits{text: 4000, source: math.MaxInt, parts: 60, wire: 60}
)

// core picks the verdicts about the core with a status.
func core(status verdict.Status) func(*verdict.Verdict) bool {
	return func(v *verdict.Verdict) bool { return v.Status == status && v.Extension == "" }
}

// findings tells every requirement of those that keep holds for once: its evidence in the first place, then the other
// places. more is added to their number.
func (c *console) findings(name, more string, keep func(*verdict.Verdict) bool) {
	fs := findings(c.r, func(v *verdict.Verdict) bool { return keep(v) && v.Known == "" && !unplayed(c.r, v) })
	if len(fs) == 0 {
		return
	}
	look := func(v *verdict.Verdict) (style, string) {
		if v.Extension != "" || v.Status == verdict.Warn && !c.o.Strict {
			return yellow, "! "
		}
		return red, "✗ "
	}
	st, _ := look(fs[0][0])
	c.title(name, st, " ("+inAll(fs)+more+")")
	for _, f := range fs {
		v := f[0]
		st, mark := look(v)
		fmt.Fprintln(c.w)
		c.text(mark, st, orNone(printable(v.Text), printable(v.Requirement)), bold)
		c.text("  ", "", printable(v.Level)+" "+printable(v.Requirement), "")
		if v.Spec != "" {
			fmt.Fprintln(c.w, "  "+c.paint(dim, printable(v.Spec))) // never broken: terminals make links of it
		}
		if v.Note != "" {
			c.text("  read as   ", dim, printable(v.Note), "")
		}
		c.judgement(v)
		c.others(f)
	}
}

// judgement tells why one verdict is what it is.
func (c *console) judgement(v *verdict.Verdict) {
	l := shortEvidence
	if c.o.Verbose {
		l = longEvidence
	}
	c.text("  where     ", dim, printable(place(v.Revision, v.Transport))+", exchange \""+printable(v.Exchange)+"\"", "")
	c.text("  why       ", dim, printable(v.Why()), "")
	for _, f := range facts(v.Evidence, l) {
		st := style("")
		switch f.label {
		case "":
			st = dim
		case sentMark:
			st = blue
		}
		c.text("  "+pad(f.label, 10), dim, f.text, st)
	}
}

// others lists the places of a finding after the first, with the reason where it is another one.
func (c *console) others(f finding) {
	if len(f) == 1 {
		return
	}
	if c.o.Verbose {
		for _, v := range f[1:] {
			fmt.Fprintln(c.w)
			c.judgement(v)
		}
		return
	}
	label := "  also in   "
	for _, v := range f[1:] {
		line := printable(place(v.Revision, v.Transport))
		if v.Exchange != f[0].Exchange {
			line += ", exchange \"" + printable(v.Exchange) + "\""
		}
		if v.Reason != f[0].Reason {
			line += ": " + printable(v.Reason)
		}
		c.text(label, dim, line, "")
		label = strings.Repeat(" ", len(label))
	}
}

// fact is one line of evidence. Its text is printable, without line feeds.
type fact struct{ label, text string }

const (
	sentMark     = "sent"
	receivedMark = "received"
)

// facts are the evidence as labelled lines, cut to l.
func facts(e *verdict.Evidence, l limits) []fact {
	if e == nil {
		return nil
	}
	var out []fact
	add := func(label, text string) { out = append(out, fact{label, excerpt(text, l.text)}) }
	if e.Expression != "" {
		add("check", e.Expression)
	}
	// The whole expression is on the line above, and that it does not hold is why this is told.
	parts := slices.DeleteFunc(slices.Clone(e.Parts), func(p verdict.Part) bool {
		return p.Source == e.Expression || utf8.RuneCountInString(p.Source) > l.source
	})
	for i, p := range parts {
		if i == l.parts {
			out = append(out, fact{"", fmt.Sprintf("… and %s", plural(len(parts)-i, "more part"))})
			break
		}
		label := ""
		if i == 0 && e.Expression == "" {
			label = "check"
		}
		if p.Err != "" {
			add(label, "  "+p.Source+" has no value: "+p.Err)
		} else {
			add(label, "  "+p.Source+" = "+p.Value)
		}
	}
	if e.Position != "" {
		add("", "  at "+e.Position)
	}
	if e.Item != "" {
		add("item", e.Item)
		if e.Problems > 1 {
			out = append(out, fact{"", fmt.Sprintf("  the first of %s that failed", plural(e.Problems, "item"))})
		}
	}
	return append(out, wireFacts(e.Wire, l)...)
}

func wireFacts(lines []verdict.Line, l limits) []fact {
	var out []fact
	timed := slices.ContainsFunc(lines, func(l verdict.Line) bool { return l.At > 0 }) // of what was watched no times are known
	for i, line := range lines {
		// The beginning shows what was asked, the end what went wrong.
		if len(lines) > l.wire && i >= l.wire/2 && i < len(lines)-l.wire/2 {
			if i == l.wire/2 {
				out = append(out, fact{"", fmt.Sprintf("… %s left out …", plural(len(lines)-l.wire/2*2, "line"))})
			}
			continue
		}
		label := "event"
		switch line.Direction {
		case "sent":
			label = sentMark
		case "received":
			label = receivedMark
		}
		text := excerpt(lineText(line), l.text)
		if timed {
			text = fmt.Sprintf("%.3fs %s", line.At.Seconds(), text)
		}
		out = append(out, fact{label, text})
	}
	return out
}

// lineText is the line with what it came as before it: "stderr: …", "event message: …".
func lineText(l verdict.Line) string {
	if l.About == "" {
		return l.Text
	}
	return l.About + ": " + l.Text
}

// Evidence writes what one verdict rests on, as plain text of several lines: the requirement, why, the check with
// the values of its parts, and what crossed the wire. It holds no control characters but line feeds.
func Evidence(w io.Writer, v verdict.Verdict) {
	_, _ = io.WriteString(w, evidenceText(&v, longEvidence))
}

// evidenceText is everything that is known of a verdict, as plain text of several lines.
func evidenceText(v *verdict.Verdict, l limits) string {
	var b strings.Builder
	put := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s%s\n", pad(printable(label), 10), printable(text))
		}
	}
	put(v.Level, v.Text)
	put("", v.Requirement)
	put("spec", v.Spec)
	put("read as", v.Note)
	put("why", v.Why())
	put("known", v.Known)
	for _, f := range facts(v.Evidence, l) {
		put(f.label, f.text)
	}
	return b.String()
}

func pad(s string, to int) string { return s + strings.Repeat(" ", max(to-columns(s), 1)) }
