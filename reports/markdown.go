package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// markdownText is how many bytes of evidence one Markdown report carries: GitHub refuses a step's summary of more than 1 MiB, and a
// comment of more than 64 KiB.
const markdownText = 48 << 10

// Markdown writes the report for a pull request or a step's summary: the outcome, counts by revision, what is broken with its
// evidence folded away, and what was not exercised. Text from the server cannot become markup, a link or a mention. Evidence beyond some
// 48 KiB is left out, and that is said. The error is that of writing to w.
func Markdown(w io.Writer, r *verdict.Report, strict bool) error {
	b := bufio.NewWriter(w)
	m := &markdown{w: b, room: markdownText}
	m.head(r, strict)
	m.counts(r)
	m.problems("What kept the run from being carried out", r.Problems)
	m.problems("The baseline is out of date", r.Baseline)
	fresh := func(s verdict.Status) func(*verdict.Verdict) bool {
		return func(v *verdict.Verdict) bool { return v.Status == s && v.Known == "" && !unplayed(r, v) }
	}
	m.findings("❌ Failures", findings(r, fresh(verdict.Fail)))
	warnings := "⚠️ Warnings"
	if strict {
		warnings = "❌ Broken SHOULD, which count here"
	}
	m.findings(warnings, findings(r, fresh(verdict.Warn)))
	m.findings("🔧 Errors: the suite could not carry these out", findings(r, fresh(verdict.Error)))
	m.known(findings(r, func(v *verdict.Verdict) bool { return v.Known != "" }))
	m.untested(r)
	if m.left > 0 {
		fmt.Fprintf(b, "\nThe evidence of %s is left out here; the JSON and HTML reports hold it.\n", plural(m.left, "finding"))
	}
	return b.Flush()
}

type markdown struct {
	w    *bufio.Writer
	room int // bytes of evidence that may still be written
	left int // findings without evidence for want of room
}

func (m *markdown) head(r *verdict.Report, strict bool) {
	fmt.Fprintf(m.w, "## %s %s: %s\n\n", markdownMark(r, strict), mdText(orNone(r.Server, orNone(r.Target, "a server"))), mdText(r.Summary(strict)))
	fmt.Fprintf(m.w, "Target %s, judged by mcp-litmus %s with catalogue %s", mdCode(orNone(r.Target, "(none)")), mdText(r.Suite), mdCode(shortDigest(r.Catalogue)))
	if r.Select != "" {
		fmt.Fprintf(m.w, ", narrowed to %s", mdCode(r.Select))
	}
	if r.Shard != "" {
		fmt.Fprintf(m.w, ", shard %s", mdText(r.Shard))
	}
	fmt.Fprint(m.w, ".\n")
}

func markdownMark(r *verdict.Report, strict bool) string {
	switch htmlTone(r, strict) {
	case "bad":
		return "❌"
	case "unsure":
		return "❔"
	}
	return "✅"
}

func (m *markdown) counts(r *verdict.Report) {
	names, under := "| |", "| --- |"
	for _, s := range tableColumns {
		names, under = names+" "+string(s)+" |", under+" --: |"
	}
	fmt.Fprintf(m.w, "\n%s known |\n%s --: |\n", names, under)
	for _, run := range runs(r) {
		if run.Negotiated != "" {
			fmt.Fprintf(m.w, "| %s | the server answered with %s | | | | | | | |\n", mdText(place(run.Revision, run.Transport)), mdText(run.Negotiated))
			continue
		}
		n := map[verdict.Status]int{}
		known := 0
		for _, v := range r.Verdicts {
			switch {
			case v.Revision != run.Revision || v.Transport != run.Transport:
			case v.Known != "":
				known++
			default:
				n[v.Status]++
			}
		}
		fmt.Fprintf(m.w, "| %s ", mdText(place(run.Revision, run.Transport)))
		for _, s := range tableColumns {
			if bad := s == verdict.Fail || s == verdict.Error; bad && n[s] > 0 {
				fmt.Fprintf(m.w, "| **%s** ", thousands(n[s]))
			} else {
				fmt.Fprintf(m.w, "| %s ", thousands(n[s]))
			}
		}
		fmt.Fprintf(m.w, "| %s |\n", thousands(known))
	}
}

func (m *markdown) problems(title string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(m.w, "\n### %s\n\n", title)
	for _, p := range list {
		fmt.Fprintf(m.w, "- %s\n", mdText(excerpt(p, 1000)))
	}
}

func (m *markdown) findings(title string, fs []finding) {
	if len(fs) == 0 {
		return
	}
	fmt.Fprintf(m.w, "\n### %s (%s)\n\n", title, inAll(fs))
	for _, f := range fs {
		m.finding(f)
	}
}

func (m *markdown) finding(f finding) {
	v := f[0]
	fmt.Fprintf(m.w, "- **%s** %s%s  \n  %s  \n  %s\n", mdText(v.Level), mdText(v.Text), mdExtension(v), mdReference(v), mdText(places(f)))
	why := "\n  <details><summary>" + mdHTML(excerpt(v.Reason, 300)) + "</summary>\n\n"
	if v.Reason == "" {
		why = "\n  <details><summary>evidence</summary>\n\n"
	}
	evidence := printableLines(cutMiddle(evidenceText(v, shortEvidence), junitText))
	if m.room -= len(evidence) + len(why); m.room < 0 {
		m.left++
		fmt.Fprintf(m.w, "  %s\n", mdText(excerpt(v.Reason, 300)))
		return
	}
	fmt.Fprint(m.w, why)
	fence := mdFence(evidence)
	fmt.Fprintf(m.w, "  %stext\n", fence)
	for line := range strings.Lines(evidence) {
		fmt.Fprint(m.w, "  ", line)
	}
	fmt.Fprintf(m.w, "  %s\n\n  </details>\n\n", fence)
}

func mdExtension(v *verdict.Verdict) string {
	if v.Extension == "" {
		return ""
	}
	return " (of the extension " + mdCode(v.Extension) + ", not counted)"
}

// mdReference is the requirement's id, as a link where the specification has an address.
func mdReference(v *verdict.Verdict) string {
	const site = "https://modelcontextprotocol.io/"
	if !strings.HasPrefix(v.Spec, site) || strings.ContainsAny(v.Spec, " ()<>\"\\`") || printable(v.Spec) != v.Spec {
		return mdCode(v.Requirement)
	}
	return "[" + mdCode(v.Requirement) + "](" + v.Spec + ")"
}

func (m *markdown) known(fs []finding) {
	if len(fs) == 0 {
		return
	}
	fmt.Fprintf(m.w, "\n<details><summary>Failures that the baseline expects: %s</summary>\n\n", inAll(fs))
	for _, f := range fs {
		fmt.Fprintf(m.w, "- %s: %s (%s)\n", mdReference(f[0]), mdText(knownText(f[0])), mdText(places(f)))
	}
	fmt.Fprint(m.w, "\n</details>\n")
}

func (m *markdown) untested(r *verdict.Report) {
	ls := lacks(r, func(v *verdict.Verdict) bool { return v.Status == verdict.Untested })
	if len(ls) == 0 {
		return
	}
	fmt.Fprintf(m.w, "\n<details><summary>Not exercised: %s</summary>\n\n", plural(checksOf(ls), "check"))
	for _, l := range ls {
		fmt.Fprintf(m.w, "- %s %s\n", mdText(excerpt(l.reason, 400)), mdText(l.about()))
		if len(l.add) > 0 {
			fmt.Fprintf(m.w, "  add to litmus.yaml: %s\n", mdCode(l.add.String()))
		}
	}
	fmt.Fprint(m.w, "\n</details>\n")
}

// mdText is s as text of one line: nothing in it is markup, a link, a mention or an issue's number.
func mdText(s string) string { return mdEscaper.Replace(printable(s)) }

var mdEscaper = func() *strings.Replacer {
	// A comment keeps what GitHub would link apart, and nothing is seen of it. Of pairs that match, the first one counts.
	pairs := []string{
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@<!-- -->", "#", "\\#<!-- -->",
		"://", ":<!-- -->//", "www.", "www<!-- -->.", "WWW.", "WWW<!-- -->.",
	}
	for _, c := range "\\`*_[]|~$" {
		pairs = append(pairs, string(c), "\\"+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// mdHTML is s as text within an HTML element, where not every renderer leaves Markdown alone.
func mdHTML(s string) string { return mdHTMLEscaper.Replace(printable(s)) }

var mdHTMLEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@<!-- -->", "#", "#<!-- -->", "://", ":<!-- -->//",
	"www.", "www<!-- -->.", "WWW.", "WWW<!-- -->.", "`", "&#96;", "*", "&#42;", "[", "&#91;", "$", "&#36;")

// mdCode is s as code within a line.
func mdCode(s string) string {
	s = printable(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if s == "" || strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// mdCell is s as code within a cell of a table.
func mdCell(s string) string { return strings.ReplaceAll(mdCode(s), "|", "\\|") }

// mdFence is longer than any run of backticks in s.
func mdFence(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence
}
