package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// ConsoleOptions say how Console writes.
type ConsoleOptions struct {
	Color   bool // with ANSI colours
	Width   int  // columns to wrap at; 0: lines are as long as they are (logs, pipes)
	Verbose bool // passes and skips too, the evidence of every place, longer wire lines
	Quiet   bool // only what went wrong, and the verdict in words
	Strict  bool // a broken SHOULD counts as a failure
}

// Console writes the report for people: where it ran, counts by area, then everything that is wrong with its
// evidence, and last the verdict in words. Nothing from the server reaches w as a control character.
func Console(w io.Writer, r *verdict.Report, o ConsoleOptions) {
	c := &console{w: bufio.NewWriter(w), r: r, o: o}
	defer c.w.Flush() // whoever gave w knows whether writing to it failed
	if !o.Quiet {
		c.header()
		c.tables()
	}
	c.list("Problems of the run", red, r.Problems)
	c.findings("Failures", "", core(verdict.Fail))
	if !o.Quiet || o.Strict {
		c.findings("Warnings", "", core(verdict.Warn))
	}
	if !o.Quiet {
		c.uneven()
	}
	c.findings("Errors: the suite could not carry these out", "", core(verdict.Error))
	if !o.Quiet {
		c.extensions()
	}
	c.unplayed()
	if !o.Quiet {
		c.known()
	}
	c.list("The baseline is out of date", red, r.Baseline)
	if !o.Quiet {
		c.notes()
		if o.Verbose {
			c.short("Skipped", verdict.Skip)
			c.short("Passed", verdict.Pass)
		}
		c.untested()
		c.counts()
	}
	c.summary()
}

type console struct {
	w *bufio.Writer
	r *verdict.Report
	o ConsoleOptions

	told bool // a title was written
}

func (c *console) paint(st style, s string) string { return paint(c.o.Color, st, s) }

// text writes s behind a label, wrapped and aligned below its own beginning. s must be printable.
func (c *console) text(label string, labelStyle style, s string, st style) {
	trimmed := strings.TrimLeft(s, " ")
	label, s = label+s[:len(s)-len(trimmed)], trimmed
	margin := columns(label)
	for i, line := range wrap(s, c.room(margin)) {
		if i == 0 {
			fmt.Fprint(c.w, c.paint(labelStyle, label))
		} else {
			fmt.Fprint(c.w, strings.Repeat(" ", margin))
		}
		fmt.Fprintln(c.w, c.paint(st, line))
	}
}

// room is how many columns are left beside a margin; 0: no limit.
func (c *console) room(margin int) int {
	if c.o.Width <= 0 {
		return 0
	}
	return max(c.o.Width-margin, 20)
}

func (c *console) title(name string, st style, more string) {
	c.told = true
	fmt.Fprintf(c.w, "\n%s%s\n", c.paint(st, name), more)
}

func (c *console) header() {
	r := c.r
	c.text("mcp-litmus  ", bold, orNone(r.Suite, "(unknown version)")+", catalogue "+shortDigest(r.Catalogue), "")
	c.text("target      ", dim, orNone(printable(r.Target), "(none)"), "")
	c.text("server      ", dim, orNone(printable(r.Server), "(it gave no name)"), "")
	if r.Select != "" {
		c.text("selected    ", dim, printable(r.Select), "")
	}
	if !r.Started.IsZero() {
		c.text("started     ", dim, r.Started.UTC().Format("2006-01-02 15:04:05 UTC")+", took "+duration(r.Duration), "")
	}
	var vs []*verdict.Verdict
	for _, u := range runs(r) {
		if u.Negotiated == "" {
			vs = append(vs, &verdict.Verdict{Revision: u.Revision, Transport: u.Transport})
		}
	}
	c.text("runs        ", dim, orNone(printable(places(vs)), "(none)"), "")
}

// tableColumns are the statuses as columns of a table: the passes first, of which there are most.
var tableColumns = append([]verdict.Status{verdict.Pass}, verdict.Statuses[:len(verdict.Statuses)-1]...)

// statusStyles are those of a count that is not zero.
var statusStyles = map[verdict.Status]style{
	verdict.Fail: red, verdict.Warn: yellow, verdict.Error: red, verdict.Note: blue, verdict.Untested: purple, verdict.Skip: dim, verdict.Pass: green,
}

func (c *console) table(run verdict.Run) {
	c.title(printable(place(run.Revision, run.Transport)), bold, "")
	if run.Negotiated != "" {
		c.text("  ", "", "the server answered with revision "+printable(run.Negotiated)+" instead: nothing was judged here", yellow)
	}
	var core, beside []string
	counts := map[string]map[verdict.Status]int{}
	total := map[verdict.Status]int{}
	for _, v := range c.r.Verdicts {
		if v.Revision != run.Revision || v.Transport != run.Transport {
			continue
		}
		areas := &core
		if v.Extension != "" {
			if areas = &beside; v.Status == verdict.Skip && !c.o.Verbose {
				continue // the server has no such extension
			}
		} else {
			total[v.Status]++
		}
		if counts[v.Area] == nil {
			counts[v.Area] = map[verdict.Status]int{}
			*areas = append(*areas, v.Area)
		}
		counts[v.Area][v.Status]++
	}
	areas := slices.Concat(core, beside)
	if len(areas) == 0 {
		if run.Negotiated == "" {
			c.text("  ", "", "nothing was judged here", yellow)
		}
		return
	}
	name := columns("area")
	for _, a := range areas {
		name = max(name, columns(printable(a)))
	}
	if c.o.Width > 0 {
		name = min(name, max(c.o.Width-47, 16))
	}
	row := func(label string, cell func(verdict.Status) string, st func(verdict.Status, style) style) {
		label = fitArea(label, name)
		fmt.Fprint(c.w, "  ", label, strings.Repeat(" ", name-columns(label)))
		for _, status := range tableColumns {
			text := cell(status)
			pad := max(len(status), 5) - columns(text)
			fmt.Fprint(c.w, " ", strings.Repeat(" ", max(pad, 0)), c.paint(st(status, statusStyles[status]), text))
		}
		fmt.Fprintln(c.w)
	}
	row("area", func(s verdict.Status) string { return string(s) }, func(verdict.Status, style) style { return dim })
	number := func(of map[verdict.Status]int) (func(verdict.Status) string, func(verdict.Status, style) style) {
		return func(s verdict.Status) string {
				if of[s] == 0 {
					return "·"
				}
				return fmt.Sprint(of[s])
			}, func(s verdict.Status, st style) style {
				if of[s] == 0 {
					return dim
				}
				return st
			}
	}
	for _, a := range core {
		cell, st := number(counts[a])
		row(printable(a), cell, st)
	}
	if len(core) > 1 {
		cell, st := number(total)
		row("total", cell, st)
	}
	if len(beside) > 0 {
		c.text("  ", "", besideTitle, dim)
	}
	for _, a := range beside {
		cell, st := number(counts[a])
		row(printable(a), cell, st)
	}
}

// besideTitle stands above what a table says of extensions, below its total.
const besideTitle = "extensions, not counted"

// extensions tells what is broken of extensions, which does not decide whether the server conforms.
func (c *console) extensions() {
	var names []string
	for _, v := range c.r.Verdicts {
		if v.Extension != "" && !slices.Contains(names, v.Extension) {
			names = append(names, v.Extension)
		}
	}
	for _, name := range names {
		c.findings("Extension "+printable(name), ", not counted", func(v *verdict.Verdict) bool {
			return v.Extension == name && (v.Status == verdict.Fail || v.Status == verdict.Warn || v.Status == verdict.Error)
		})
	}
}

func (c *console) list(name string, st style, lines []string) {
	if len(lines) == 0 {
		return
	}
	c.title(name, st, "")
	for _, l := range lines {
		c.text("  - ", "", printable(l), "")
	}
}

// known lists the failures that the baseline expects, one line each.
func (c *console) known() {
	fs := findings(c.r, func(v *verdict.Verdict) bool { return v.Known != "" })
	if len(fs) == 0 {
		return
	}
	c.title("Known failures", yellow, fmt.Sprintf(" (%s, from the baseline; not counted)", plural(len(fs), "requirement")))
	for _, f := range fs {
		c.text("  - ", "", printable(f[0].Requirement)+": "+knownText(f[0]), "")
		c.text("    ", "", printable(places(f)), dim)
	}
}

// notes tells of advice in words; with Verbose also why.
func (c *console) notes() {
	fs := findings(c.r, func(v *verdict.Verdict) bool { return v.Status == verdict.Note })
	if len(fs) == 0 {
		return
	}
	c.title("Notes", blue, " (advice, never counted; "+inAll(fs)+")")
	for _, f := range fs {
		c.text("  - ", "", orNone(printable(f[0].Text), printable(f[0].Requirement)), "")
		line := printable(f[0].Requirement)
		if len(f) > 1 {
			line += ", in " + plural(len(f), "check")
		}
		c.text("    ", "", line, dim)
		if c.o.Verbose {
			c.text("    ", "", printable(f[0].Reason), dim)
			if f[0].Evidence != nil && f[0].Evidence.Expression != "" {
				c.text("    ", "", "check: "+printable(f[0].Evidence.Expression), dim)
			}
		}
	}
}

// short lists verdicts of a status, one line each, with their places where these are not everywhere.
func (c *console) short(name string, status verdict.Status) {
	fs := findings(c.r, func(v *verdict.Verdict) bool { return v.Status == status })
	if len(fs) == 0 {
		return
	}
	var all []*verdict.Verdict
	for _, u := range c.r.Runs {
		if u.Negotiated == "" {
			all = append(all, &verdict.Verdict{Revision: u.Revision, Transport: u.Transport})
		}
	}
	everywhere := places(all)
	c.title(name, bold, " ("+inAll(fs)+")")
	for _, f := range fs {
		line := printable(f[0].Requirement)
		if f[0].Reason != "" {
			line += ": " + printable(f[0].Reason)
		}
		c.text("  - ", "", line, "")
		if where := places(f); where != everywhere {
			c.text("    ", "", printable(where), dim)
		}
	}
}

// untested tells what to add so that more can be judged: what can be added first, and without Verbose only the first of it, so that
// what is broken stays in sight.
func (c *console) untested() {
	const most = 8
	ls := lacks(c.r, func(v *verdict.Verdict) bool { return v.Status == verdict.Untested })
	if len(ls) == 0 {
		return
	}
	c.title("Untested", purple, fmt.Sprintf(" (%s: this server gave no way to exercise them)",
		plural(c.r.Count()[verdict.Untested], "check")))
	slices.SortStableFunc(ls, func(a, b lack) int { return cmp.Compare(min(len(b.add), 1), min(len(a.add), 1)) })
	if c.o.Verbose || len(ls) <= most {
		c.reasons(ls)
		return
	}
	c.reasons(ls[:most])
	c.text("  ", "", fmt.Sprintf("… and %s for %s: -v lists them all; mcp-litmus init writes a litmus.yaml to fill in",
		plural(len(ls)-most, "further reason"), plural(checksOf(ls[most:]), "check")), dim)
}

// unplayed tells of the checks that the run never came to, by reason.
func (c *console) unplayed() {
	ls := lacks(c.r, func(v *verdict.Verdict) bool { return unplayed(c.r, v) })
	if len(ls) == 0 {
		return
	}
	c.title("Not played", red, " ("+plural(checksOf(ls), "check")+")")
	c.reasons(ls)
}

func (c *console) reasons(ls []lack) {
	for _, l := range ls {
		// What to paste stands on a line of its own.
		c.text("  - ", "", orNone(printable(l.reason), "(no reason was given)"), "")
		if len(l.add) > 0 {
			c.text("    ", "", "add to litmus.yaml: "+printable(l.add.String()), "")
		}
		c.text("    ", "", l.about(), dim)
	}
}

func (c *console) counts() {
	line := func(label string, n map[verdict.Status]int) {
		c.text(label, "", fmt.Sprintf("%s passed, %s untested, %s skipped as not applicable",
			plural(n[verdict.Pass], "check"), thousands(n[verdict.Untested]), thousands(n[verdict.Skip])), "")
	}
	fmt.Fprintln(c.w)
	core, beside := c.r.CountOf(false), c.r.CountOf(true)
	if len(core) > 0 || len(beside) == 0 {
		line("", core)
	}
	if beside[verdict.Pass]+beside[verdict.Untested] > 0 { // the server has an extension, and what is broken of it was told
		line("extensions: ", beside)
	}
}

func (c *console) summary() {
	if c.o.Quiet && c.told {
		fmt.Fprintln(c.w)
	}
	st := green
	switch {
	case !c.r.Conforms(c.o.Strict) || len(c.r.Baseline) > 0:
		st = red
	case !c.r.Settled():
		st = yellow
	}
	c.text("", "", c.r.Summary(c.o.Strict), st)
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

func shortDigest(s string) string {
	if s == "" {
		return "(unknown)"
	}
	return fit(printable(s), 20)
}

// duration is d for people: "85 ms", "1.2 s", "2m5s".
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
