package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// junitText is how many bytes of text one test case may carry; CI systems refuse or truncate huge files.
const junitText = 64 << 10

// JUnit writes the report as JUnit XML: one suite for each revision and transport, and one beside it for what extensions state where
// they were judged, one test case for each verdict,
// named "requirement / exchange" with the area as its class. A broken SHOULD is a failure only when strict.
// Untested, skipped and unplayed checks, failures that the baseline expects, and what is broken of an extension, which fails no
// build, are skipped with their reason. What would
// otherwise look green (nothing was judged, a run that broke off, a baseline that is out of date) is a test case
// of its own in a last suite, "run". The error is that of writing to w.
func JUnit(w io.Writer, r *verdict.Report, strict bool) error {
	all := reporters.JUnitTestSuites{Time: r.Duration.Seconds()}
	for _, run := range runs(r) {
		all.TestSuites = append(all.TestSuites, junitSuite(r, run, strict, false))
		if beside := junitSuite(r, run, strict, true); len(beside.TestCases) > 0 {
			all.TestSuites = append(all.TestSuites, beside)
		}
	}
	if s := junitRun(r); len(s.TestCases) > 0 {
		all.TestSuites = append(all.TestSuites, s)
	}
	for i := range all.TestSuites {
		s := &all.TestSuites[i]
		tally(s)
		all.Tests += s.Tests
		all.Disabled += s.Skipped
		all.Errors += s.Errors
		all.Failures += s.Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitSuite is the suite of a run: what the core states, or what extensions do.
func junitSuite(r *verdict.Report, run verdict.Run, strict, extensions bool) reporters.JUnitTestSuite {
	name := place(run.Revision, run.Transport)
	if extensions {
		name += ", extensions"
	}
	s := newSuite(r, name)
	s.Properties.Properties = append(s.Properties.Properties,
		reporters.JUnitProperty{Name: "revision", Value: printable(run.Revision)},
		reporters.JUnitProperty{Name: "transport", Value: printable(run.Transport)})
	if run.Negotiated != "" && !extensions {
		s.Properties.Properties = append(s.Properties.Properties,
			reporters.JUnitProperty{Name: "negotiated", Value: printable(run.Negotiated)})
		s.TestCases = append(s.TestCases, reporters.JUnitTestCase{
			Name: "negotiation", Classname: "run", Status: string(verdict.Skip),
			Skipped: &reporters.JUnitSkipped{Message: "the server answered with revision " + printable(run.Negotiated) + ": nothing was judged"},
		})
	}
	names := map[string]int{}
	exchanges := map[string]bool{}
	var took time.Duration
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Revision != run.Revision || v.Transport != run.Transport || (v.Extension != "") != extensions {
			continue
		}
		c := junitCase(r, v, strict)
		// An exchange judges a requirement once; were it twice, the second must not take the first one's place.
		key := c.Classname + " " + c.Name
		if names[key]++; names[key] > 1 {
			c.Name = fmt.Sprintf("%s #%d", c.Name, names[key])
		}
		// The verdicts of an exchange share its time: counting it once keeps the sum true.
		if !exchanges[v.Exchange] {
			exchanges[v.Exchange] = true
			c.Time = v.Duration.Seconds()
			took += v.Duration
		}
		s.TestCases = append(s.TestCases, c)
	}
	s.Time = took.Seconds()
	return s
}

func newSuite(r *verdict.Report, name string) reporters.JUnitTestSuite {
	s := reporters.JUnitTestSuite{
		Name:    "mcp-litmus: " + printable(name),
		Package: "mcp-litmus",
	}
	if !r.Started.IsZero() {
		s.Timestamp = r.Started.UTC().Format("2006-01-02T15:04:05")
	}
	for _, p := range [][2]string{
		{"suite", r.Suite}, {"catalogue", r.Catalogue}, {"target", r.Target}, {"server", r.Server}, {"select", r.Select},
	} {
		if p[1] != "" {
			s.Properties.Properties = append(s.Properties.Properties, reporters.JUnitProperty{Name: p[0], Value: excerpt(p[1], 1000)})
		}
	}
	return s
}

func junitCase(r *verdict.Report, v *verdict.Verdict, strict bool) reporters.JUnitTestCase {
	c := reporters.JUnitTestCase{
		Name:      printable(v.Requirement) + " / " + printable(v.Exchange),
		Classname: strings.ReplaceAll(printable(v.Area), "/", "."),
		Status:    string(v.Status),
	}
	message := excerpt(v.Reason, 1000)
	body := func() string {
		return printableLines(cutMiddle(evidenceText(v, longEvidence), junitText))
	}
	switch status := v.Status; {
	case v.Known != "":
		c.Skipped = &reporters.JUnitSkipped{Message: "known: " + excerpt(v.Known, 1000)}
		c.SystemOut = body()
	case v.Extension != "" && (status == verdict.Fail || status == verdict.Warn || status == verdict.Error):
		c.Skipped = &reporters.JUnitSkipped{Message: "of the extension " + printable(v.Extension) + ", not counted: " + printable(v.Level) + " " + string(status) + ": " + message}
		c.SystemOut = body()
	case status == verdict.Fail, status == verdict.Warn && strict:
		c.Failure = &reporters.JUnitFailure{Message: message, Type: printable(v.Level), Description: body()}
	case unplayed(r, v): // that the run broke off is told once, in the suite "run"
		c.Skipped = &reporters.JUnitSkipped{Message: message}
	case status == verdict.Error:
		c.Error = &reporters.JUnitError{Message: message, Type: string(verdict.Error), Description: body()}
	case status == verdict.Skip:
		c.Skipped = &reporters.JUnitSkipped{Message: message}
	case status == verdict.Untested:
		c.Skipped = &reporters.JUnitSkipped{Message: "untested: " + message}
	case status == verdict.Warn, status == verdict.Note:
		c.SystemOut = body()
	}
	return c
}

// junitRun holds what concerns the run and no check. It is empty when all is well.
func junitRun(r *verdict.Report) reporters.JUnitTestSuite {
	s := newSuite(r, "run")
	fault := func(name, message string) {
		s.TestCases = append(s.TestCases, reporters.JUnitTestCase{
			Name: name, Classname: "run", Status: string(verdict.Error),
			Error: &reporters.JUnitError{Message: message, Type: string(verdict.Error), Description: message},
		})
	}
	for i, p := range r.Problems {
		fault(fmt.Sprintf("problem %d", i+1), printable(p))
	}
	if !r.Complete {
		fault("complete", "the run did not reach its end")
	}
	if r.Judged() == 0 {
		fault("judged", "nothing was judged")
	}
	for i, p := range r.Baseline {
		s.TestCases = append(s.TestCases, reporters.JUnitTestCase{
			Name: fmt.Sprintf("baseline %d", i+1), Classname: "run", Status: string(verdict.Fail),
			Failure: &reporters.JUnitFailure{Message: printable(p), Type: "baseline", Description: printable(p)},
		})
	}
	return s
}

func tally(s *reporters.JUnitTestSuite) {
	s.Tests = len(s.TestCases)
	for _, c := range s.TestCases {
		switch {
		case c.Skipped != nil:
			s.Skipped++
		case c.Error != nil:
			s.Errors++
		case c.Failure != nil:
			s.Failures++
		}
	}
}
