package reports

import (
	"bytes"
	"encoding/xml"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func junit(t *testing.T, r *verdict.Report, strict bool) (junitSuites, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, r, strict); err != nil {
		t.Fatal(err)
	}
	var out junitSuites
	if err := xml.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out, b.Bytes()
}

// outcome is how a CI system sees a test case.
func outcome(c junitCase) string {
	switch {
	case c.Failure != nil:
		return "failure: " + c.Failure.Message
	case c.Error != nil:
		return "error: " + c.Error.Message
	case c.Skipped != nil:
		return "skipped: " + c.Skipped.Message
	}
	return "passed"
}

func TestJUnitOutcomes(t *testing.T) {
	for _, c := range []struct {
		status verdict.Status
		known  string
		strict bool
		want   string
		output bool
	}{
		{verdict.Pass, "", false, "passed", false},
		{verdict.Fail, "", false, "failure: why", false},
		{verdict.Fail, "issue 1", true, "skipped: known: issue 1", true},
		{verdict.Warn, "", false, "passed", true},
		{verdict.Warn, "", true, "failure: why", false},
		{verdict.Note, "", true, "passed", true},
		{verdict.Untested, "", false, "skipped: untested: why", false},
		{verdict.Skip, "", false, "skipped: why", false},
		{verdict.Error, "", false, "error: why", false},
	} {
		g := gomega.NewWithT(t)
		r := &verdict.Report{Complete: true, Verdicts: []verdict.Verdict{
			{Requirement: "first", Revision: "2025-11-25", Transport: "stdio", Status: verdict.Pass},
			{Requirement: "a.b", Exchange: "x", Area: "server/utilities/logging", Revision: "2025-11-25", Transport: "stdio", Status: c.status, Known: c.known, Reason: "why"},
		}}
		all, _ := junit(t, r, c.strict)
		g.Expect(all.Suites).To(gomega.HaveLen(2), "and that of the run itself")
		tc := all.Suites[0].Cases[1]
		g.Expect(tc.Name).To(gomega.Equal("a.b / x"))
		g.Expect(tc.Classname).To(gomega.Equal("2025-11-25.stdio.server.utilities.logging"))
		g.Expect(outcome(tc)).To(gomega.Equal(c.want), "%s strict=%v", c.status, c.strict)
		g.Expect(tc.SystemOut != "").To(gomega.Equal(c.output), "%s: system-out %q", c.status, tc.SystemOut)
	}
}

func TestJUnitCounts(t *testing.T) {
	g := gomega.NewWithT(t)
	all, _ := junit(t, sample(), false)
	g.Expect(all.Suites).To(gomega.HaveLen(5))
	everywhere := map[string]bool{} // Jenkins and GitLab know a test by its class and name, whatever suite it is in
	tests, skipped, failures, errors := 0, 0, 0, 0
	for _, s := range all.Suites {
		g.Expect(s.Tests).To(gomega.Equal(len(s.Cases)))
		for _, c := range s.Cases {
			g.Expect(everywhere[c.Classname+c.Name]).To(gomega.BeFalse(), c.Name)
			everywhere[c.Classname+c.Name] = true
		}
		tests, skipped, failures, errors = tests+s.Tests, skipped+s.Skipped, failures+s.Failures, errors+s.Errors
	}
	g.Expect([]int{all.Tests, all.Failures, all.Errors}).To(gomega.Equal([]int{tests, failures, errors}))
	g.Expect([]int{tests, skipped, failures, errors}).To(gomega.Equal([]int{36, 13, 5, 1}))
	s := all.Suites[3]
	for name, want := range map[string]string{
		"suite": "v0.1.0", "catalogue": "sha256:3f9a1c5e77b0d2aa41c6", "target": "node server.js",
		"server": "everything 1.2.0", "revision": "2025-11-25", "transport": "streamable-http",
	} {
		g.Expect(s.Properties).To(gomega.ContainElement(junitProperty{name, want}))
	}
}

func TestJUnitIsNotGreenWhenNothingWasJudged(t *testing.T) {
	g := gomega.NewWithT(t)
	all, _ := junit(t, &verdict.Report{Problems: []string{"the command was not found"}, Baseline: []string{"entry 1 matches nothing"}}, false)
	g.Expect(all.Errors).To(gomega.Equal(2))
	g.Expect(all.Failures).To(gomega.Equal(1))
}

func TestJUnitHoldsHostileText(t *testing.T) {
	g := gomega.NewWithT(t)
	r, _ := hostile()
	r.Verdicts[1].Evidence.Item = strings.Repeat("漢\x00", 1<<20)
	r.Verdicts[1].Reason = strings.Repeat("x", 1<<20)
	all, raw := junit(t, r, true)
	g.Expect(utf8.Valid(raw)).To(gomega.BeTrue())
	g.Expect(len(raw)).To(gomega.BeNumerically("<", 1<<18))
	g.Expect(string(raw)).NotTo(gomega.ContainSubstring("\ufffd"), "the XML encoder had to drop something")
	g.Expect(all.Suites[0].Cases).To(gomega.HaveLen(len(r.Verdicts) + 1))
	failure := all.Suites[0].Cases[2].Failure
	g.Expect(failure.Text).To(gomega.ContainSubstring("‹FF›]]></failure><!-- & \" ' ␍␊‹U+FFFE›"))
	g.Expect(failure.Text).To(gomega.ContainSubstring("bytes cut"))

	t.Run("xmllint", func(t *testing.T) {
		path, err := exec.LookPath("xmllint")
		if err != nil {
			t.Skip("xmllint is not installed")
		}
		cmd := exec.Command(path, "--noout", "-")
		cmd.Stdin = bytes.NewReader(raw)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
}

func TestJUnitSkipsWhatWasNotPlayed(t *testing.T) {
	g := gomega.NewWithT(t)
	var b bytes.Buffer
	g.Expect(JUnit(&b, interrupted(), false)).To(gomega.Succeed())
	g.Expect(strings.Count(b.String(), `<skipped message="the run was interrupted"`)).To(gomega.Equal(4))
	g.Expect(strings.Count(b.String(), "<error ")).To(gomega.Equal(1), "the run itself")
}
