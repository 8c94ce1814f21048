package reports

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

var (
	compareStyle    = htmlAsset("style.css") + htmlAsset("compare.css")
	compareTemplate = template.Must(template.New("compare.gohtml").ParseFS(htmlFiles, "html/compare.gohtml"))
)

// comparePage is what the template shows. Its texts are printable.
type comparePage struct {
	Style                template.CSS
	Policy               string
	Title, Summary, Tone string
	Sides                [2]side
	Notes                []string
	Groups               []compareGroup
	Areas                []areaCount
	Same                 string
}

type compareGroup struct {
	ID, Title, Count string
	Brief            bool
	Changes          []compareChange
}

type compareChange struct {
	Tone, Level, Text, Requirement, Spec, From, To, Places, Exchanges, Expected, Was, Is, Evidence string
}

// CompareHTML writes a comparison as one page for a browser, without scripts: it works from disk and asks for nothing from anywhere. The
// error is that of writing to w.
func CompareHTML(w io.Writer, c *verdict.Comparison) error {
	p := comparePage{
		Style:  template.CSS(compareStyle),
		Policy: "default-src 'none'; style-src " + htmlHash(compareStyle) + "; img-src data:; base-uri 'none'; form-action 'none'",
		Title:  orNone(printable(c.New.Server), orNone(printable(c.New.Target), "a server")), Summary: conclusion(c), Tone: "good",
		Sides: sides(c), Areas: areaCounts(c), Same: plural(c.Same, "check"),
	}
	switch {
	case c.Revisions:
		p.Tone = "unsure"
	case len(c.Regressions()) > 0:
		p.Tone = "bad"
	case c.Incomplete:
		p.Tone = "unsure"
	}
	for _, n := range c.Notes {
		p.Notes = append(p.Notes, printable(n))
	}
	for _, k := range verdict.ChangeKinds {
		groups := grouped(c, k)
		if len(groups) == 0 {
			continue
		}
		g := compareGroup{ID: "kind-" + string(k), Title: changeTitle(c, k), Count: tallyOf(groups), Brief: brief(k)}
		for _, of := range groups {
			g.Changes = append(g.Changes, compareChangeOf(c, of))
		}
		p.Groups = append(p.Groups, g)
	}
	var out bytes.Buffer
	if err := compareTemplate.Execute(&out, p); err != nil {
		return fmt.Errorf("the page of the comparison cannot be made: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func compareChangeOf(c *verdict.Comparison, g changeGroup) compareChange {
	v := g.verdict()
	out := compareChange{
		Tone: "pass", Level: printable(v.Level), Text: orNone(printable(v.Text), printable(v.Requirement)), Requirement: printable(v.Requirement),
		From: compareStatus(g[0].Old), To: compareStatus(g[0].New), Places: printable(g.places(c.Revisions)), Exchanges: g.exchanges(), Expected: g.expected(),
	}
	if strings.HasPrefix(v.Spec, "https://") {
		out.Spec = v.Spec
	}
	out.Was, out.Is = g.reasons()
	if g[0].New != nil {
		out.Tone = string(g[0].New.Status)
	}
	if g[0].Kind == verdict.Regression {
		out.Evidence = printableLines(cutMiddle(evidenceText(v, longEvidence), junitText))
	}
	return out
}

func compareStatus(v *verdict.Verdict) string {
	if v == nil {
		return "absent"
	}
	return string(v.Status)
}
