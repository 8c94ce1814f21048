package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// junitText is how many bytes of text one test case may carry; CI systems refuse or truncate huge files.
const junitText = 64 << 10

// The types follow the schema that Jenkins publishes with its xUnit plugin, junit-10.xsd: testdata/schemas/junit.xsd says the same in our
// words. It knows no disabled= and no status=, and seconds have at most three decimals.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     junitSeconds `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       junitSeconds    `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string       `xml:"name,attr"`
		Classname string       `xml:"classname,attr"`
		Time      junitSeconds `xml:"time,attr"`
		Skipped   *junitResult `xml:"skipped"`
		Error     *junitResult `xml:"error"`
		Failure   *junitResult `xml:"failure"`
		SystemOut string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junitSeconds are written with three decimals, as Surefire does.
type junitSeconds time.Duration

// MarshalText writes the seconds.
func (s junitSeconds) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(s).Seconds()), nil
}

// UnmarshalText reads what MarshalText writes.
func (s *junitSeconds) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text) + "s")
	*s = junitSeconds(d)
	return err
}

// JUnit writes the report as JUnit XML: one suite for each revision and transport, and one beside it for what extensions state
// where they were judged, one test case for each verdict, named
// "requirement / exchange", its class the revision, the transport and the area: the same in every run, and different from every
// other one's, so that CI systems follow its history. A broken SHOULD is a failure only when strict.
// Untested, skipped and unplayed checks, failures that the baseline expects, and what is broken of an extension, which fails no
// build, are skipped with their reason. What would
// otherwise look green (nothing was judged, a run that broke off, a baseline that is out of date) are test cases
// of their own in a last suite, "run", which is always there. The error is that of writing to w.
func JUnit(w io.Writer, r *verdict.Report, strict bool) error {
	all := junitSuites{Name: "mcp-litmus", Time: junitSeconds(r.Duration)}
	for _, run := range runs(r) {
		all.Suites = append(all.Suites, junitOf(r, run, strict, false))
		if beside := junitOf(r, run, strict, true); len(beside.Cases) > 0 {
			all.Suites = append(all.Suites, beside)
		}
	}
	all.Suites = append(all.Suites, junitRun(r))
	for i := range all.Suites {
		s := &all.Suites[i]
		s.tally()
		all.Tests += s.Tests
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

// junitOf is the suite of a run: what the core states, or what extensions do.
func junitOf(r *verdict.Report, run verdict.Run, strict, extensions bool) junitSuite {
	name := place(run.Revision, run.Transport)
	if extensions {
		name += ", extensions"
	}
	s := newJUnitSuite(r, name)
	s.property("revision", run.Revision)
	s.property("transport", run.Transport)
	s.property("negotiated", run.Negotiated)
	if run.Negotiated != "" && !extensions {
		s.Cases = append(s.Cases, junitCase{
			Name: "negotiation", Classname: junitClass(run.Revision, run.Transport, "run"),
			Skipped: &junitResult{Message: "the server answered with revision " + printable(run.Negotiated) + ": nothing was judged"},
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
		c := junitOne(r, v, strict)
		// An exchange judges a requirement once; were it twice, the second must not take the first one's place.
		key := c.Classname + " " + c.Name
		if names[key]++; names[key] > 1 {
			c.Name = fmt.Sprintf("%s #%d", c.Name, names[key])
		}
		// The verdicts of an exchange share its time: counting it once keeps the sum true.
		if !exchanges[v.Exchange] {
			exchanges[v.Exchange] = true
			c.Time = junitSeconds(v.Duration)
			took += v.Duration
		}
		s.Cases = append(s.Cases, c)
	}
	s.Time = junitSeconds(took)
	return s
}

// junitClass is "2025-11-25.stdio.server.tools": CI systems show what is before the last dot as a package.
func junitClass(revision, transport, area string) string {
	class := orNone(strings.ReplaceAll(printable(area), "/", "."), "mcp-litmus")
	for _, before := range []string{transport, revision} {
		if before != "" {
			class = strings.ReplaceAll(printable(before), ".", "-") + "." + class
		}
	}
	return class
}

func newJUnitSuite(r *verdict.Report, name string) junitSuite {
	s := junitSuite{Name: "mcp-litmus: " + printable(name)}
	if !r.Started.IsZero() {
		s.Timestamp = r.Started.UTC().Format("2006-01-02T15:04:05")
	}
	for _, p := range [][2]string{
		{"suite", r.Suite}, {"catalogue", r.Catalogue}, {"target", r.Target}, {"server", r.Server}, {"select", r.Select}, {"shard", r.Shard},
	} {
		s.property(p[0], p[1])
	}
	return s
}

func (s *junitSuite) property(name, value string) {
	if value != "" {
		s.Properties = append(s.Properties, junitProperty{name, excerpt(value, 1000)})
	}
}

func junitOne(r *verdict.Report, v *verdict.Verdict, strict bool) junitCase {
	c := junitCase{
		Name:      printable(v.Requirement) + " / " + printable(v.Exchange),
		Classname: junitClass(v.Revision, v.Transport, v.Area),
	}
	message := excerpt(v.Why(), 1000)
	body := func() string {
		return printableLines(cutMiddle(evidenceText(v, longEvidence), junitText))
	}
	switch status := v.Status; {
	case v.Known != "":
		c.Skipped = &junitResult{Message: knownWord(v) + ": " + excerpt(v.Known, 1000)}
		c.SystemOut = body()
	case v.Extension != "" && (status == verdict.Fail || status == verdict.Warn || status == verdict.Error):
		c.Skipped = &junitResult{Message: "of the extension " + printable(v.Extension) + ", not counted: " + printable(v.Level) + " " + string(status) + ": " + message}
		c.SystemOut = body()
	case status == verdict.Fail, status == verdict.Warn && strict:
		c.Failure = &junitResult{Message: message, Type: printable(v.Level), Text: body()}
	case unplayed(r, v): // that the run broke off is told once, in the suite "run"
		c.Skipped = &junitResult{Message: message}
	case status == verdict.Error:
		c.Error = &junitResult{Message: message, Type: string(verdict.Error), Text: body()}
	case status == verdict.Skip:
		c.Skipped = &junitResult{Message: message}
	case status == verdict.Untested:
		c.Skipped = &junitResult{Message: "untested: " + message}
	case status == verdict.Warn, status == verdict.Note:
		c.SystemOut = body()
	}
	return c
}

// junitRun holds what concerns the run and no check, under names that stay: what was mended is seen to be.
func junitRun(r *verdict.Report) junitSuite {
	s := newJUnitSuite(r, "run")
	add := func(name string, wrong []string, failure bool) {
		c := junitCase{Name: name, Classname: "run"}
		if len(wrong) > 0 {
			for i := range wrong {
				wrong[i] = printable(wrong[i])
			}
			result := &junitResult{
				Message: excerpt(strings.Join(wrong, "; "), 1000), Type: name, Text: cutMiddle(strings.Join(wrong, "\n"), junitText),
			}
			if failure {
				c.Failure = result
			} else {
				c.Error = result
			}
		}
		s.Cases = append(s.Cases, c)
	}
	problems := append([]string{}, r.Problems...)
	if !r.Complete {
		problems = append(problems, "the run did not reach its end")
	}
	add("the run was carried out", problems, false)
	var nothing []string
	if r.Judged() == 0 {
		nothing = []string{"nothing was judged"}
	}
	add("something was judged", nothing, false)
	add("the baseline is up to date", append([]string{}, r.Baseline...), true)
	return s
}

func (s *junitSuite) tally() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
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
