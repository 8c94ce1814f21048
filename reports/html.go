package reports

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

//go:embed html/*.gohtml html/*.css html/*.js
var htmlFiles embed.FS

// The scripts of the page, in the order in which they are joined to one.
var htmlScripts = []string{"state.js", "text.js", "sequence.js", "verdict.js", "list.js", "main.js"}

var (
	htmlStyle    = htmlAsset("style.css") + htmlAsset("verdict.css")
	htmlScript   = htmlJoin(htmlScripts)
	htmlTemplate = template.Must(template.New("page.gohtml").ParseFS(htmlFiles, "html/page.gohtml"))
)

func htmlAsset(name string) string {
	data, err := htmlFiles.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

func htmlJoin(names []string) string {
	var b strings.Builder
	b.WriteString("'use strict';\n")
	for _, name := range names {
		b.WriteString(htmlAsset(name))
	}
	return b.String()
}

// HTML writes the whole report as one page for a browser. The page holds all that it needs: it works from disk, asks
// for nothing from anywhere, and its content security policy forbids it to. With strict, a broken SHOULD does not
// conform, either. The error is that of writing to w.
func HTML(w io.Writer, r *verdict.Report, strict bool) error {
	list := newHTMLList(r)
	data, err := list.encode()
	if err != nil {
		return err
	}
	p := htmlPage{
		Style: template.CSS(htmlStyle), Script: template.JS(htmlScript), Data: template.JS(data),
		Policy: "default-src 'none'; style-src " + htmlHash(htmlStyle) + "; script-src " + htmlHash(htmlScript) +
			"; img-src data:; base-uri 'none'; form-action 'none'",
		Summary: printable(r.Summary(strict)), Tone: htmlTone(r, strict),
		Server: printable(r.Server), Target: printable(r.Target), Suite: printable(r.Suite),
		Catalogue: shortDigest(r.Catalogue), CatalogueWhole: printable(r.Catalogue), Select: printable(r.Select),
		Took: duration(r.Duration), Complete: r.Complete, Verdicts: thousands(len(r.Verdicts)),
		Requirements: thousands(len(requirements(list.order))),
		Matrix:       newHTMLMatrix(r),
	}
	p.Title = orNone(p.Server, orNone(p.Target, "a server"))
	if !r.Started.IsZero() {
		p.Started, p.StartedISO = r.Started.UTC().Format("2 January 2006, 15:04 UTC"), r.Started.UTC().Format(time.RFC3339)
	}
	for _, s := range r.Problems {
		p.Problems = append(p.Problems, printable(s))
	}
	for _, s := range r.Baseline {
		p.Baseline = append(p.Baseline, printable(s))
	}
	p.Counts = htmlCounts(r)
	p.Groups, p.Notes = list.groups(r)
	p.Lacks, p.Paste = list.lacks(r)
	var out bytes.Buffer
	if err := htmlTemplate.Execute(&out, p); err != nil {
		return fmt.Errorf("the HTML report cannot be made: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// htmlPage is what the template shows. Its texts are printable.
type htmlPage struct {
	Style        template.CSS
	Script, Data template.JS
	Policy       string

	Title, Summary, Tone          string
	Server, Target, Suite, Select string
	Catalogue, CatalogueWhole     string
	Started, StartedISO, Took     string
	Complete                      bool
	Verdicts, Requirements        string
	Problems, Baseline            []string
	Counts                        []htmlCount
	Matrix                        htmlMatrix
	Groups, Notes                 []htmlGroup
	Lacks                         []htmlLack
	Paste                         string // the additions of all lacks together, where there are several
}

// htmlHash is a source of the content security policy: exactly this text.
func htmlHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// htmlTone is how the outcome is coloured: bad, unsure or good.
func htmlTone(r *verdict.Report, strict bool) string {
	switch {
	case r.Judged() > 0 && !r.Conforms(strict) || len(r.Baseline) > 0:
		return "bad"
	case !r.Settled():
		return "unsure"
	}
	return "good"
}

// htmlBeside is the status under which what is broken of an extension is shown.
const htmlBeside = "extension"

// htmlStatus is how a status is shown. A failure that the baseline expects has one of its own, and so has one of an extension.
type htmlStatus struct{ Name, Glyph, Words string }

// htmlStatuses are those of verdicts in their order, and behind what is wrong those two: the list of verdicts is in this order.
var htmlStatuses = func() (out []htmlStatus) {
	glyphs := map[verdict.Status]string{
		verdict.Fail: "✗", verdict.Warn: "!", verdict.Error: "⚠", verdict.Note: "i", verdict.Untested: "?", verdict.Skip: "–", verdict.Pass: "✓",
	}
	for _, s := range verdict.Statuses {
		out = append(out, htmlStatus{string(s), glyphs[s], s.Description()})
		if s == verdict.Error {
			out = append(out, htmlStatus{"known", "≈", "a failure that the baseline expects"},
				htmlStatus{htmlBeside, "+", "broken of an extension; not counted"})
		}
	}
	return out
}()

// htmlShown is the status under which a verdict is shown.
func htmlShown(v *verdict.Verdict) string {
	if v.Known != "" {
		return "known"
	}
	if v.Extension != "" && (v.Status == verdict.Fail || v.Status == verdict.Warn || v.Status == verdict.Error) {
		return htmlBeside
	}
	return string(v.Status)
}

// htmlCount is one status with its number of verdicts, and its stretch of the bar in thousandths.
type htmlCount struct {
	htmlStatus
	N, Text string
	X, W    int
	Zero    bool
}

func htmlCounts(r *verdict.Report) []htmlCount {
	n := map[string]int{}
	for i := range r.Verdicts {
		n[htmlShown(&r.Verdicts[i])]++
	}
	var out []htmlCount
	x, before := 0, 0
	for _, s := range htmlStatuses {
		if s.Name == htmlBeside && n[s.Name] == 0 {
			continue // few servers have any
		}
		c := htmlCount{htmlStatus: s, N: thousands(n[s.Name]), Text: plural(n[s.Name], "check"), X: x, Zero: n[s.Name] == 0}
		if before += n[s.Name]; len(r.Verdicts) > 0 {
			x = before * 1000 / len(r.Verdicts)
		}
		c.W = x - c.X
		if !c.Zero && c.W < 4 { // a single failure among thousands is seen
			c.W = 4
			x = c.X + 4
		}
		out = append(out, c)
	}
	return out
}
