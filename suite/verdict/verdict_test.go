package verdict

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func report(complete bool, vs ...Verdict) *Report { return &Report{Complete: complete, Verdicts: vs} }

func TestOutcome(t *testing.T) {
	pass := Verdict{Requirement: "p", Status: Pass}
	fail := Verdict{Requirement: "f", Status: Fail}
	again := Verdict{Requirement: "f", Exchange: "other", Status: Fail}
	known := Verdict{Requirement: "k", Status: Fail, Known: "issue 1"}
	warn := Verdict{Requirement: "w", Status: Warn}
	fault := Verdict{Requirement: "e", Status: Error}
	skip := Verdict{Requirement: "s", Status: Skip}
	note := Verdict{Requirement: "n", Status: Note}
	untested := Verdict{Requirement: "u", Status: Untested}
	stale := report(true, pass)
	stale.Baseline = []string{"entry 1 matches nothing"}
	for _, c := range []struct {
		name                      string
		report                    *Report
		conforms, strict, settled bool
		summary                   string
	}{
		{"empty", report(true), false, false, false, "nothing was judged"},
		{"only untested", report(true, untested, skip), false, false, false, "nothing was judged: this server gave no way to exercise what was asked for"},
		{"only skipped", report(true, skip), false, false, false, "nothing was judged: nothing that was asked for applies to this server"},
		{"skipped, and broken off", report(false, skip), false, false, false, "nothing was judged (the run did not reach its end)"},
		{"advice that is not followed is a verdict", report(true, note), true, true, true, "conforms"},
		{"only errors", report(true, fault), false, false, false, "nothing was judged (1 check could not be carried out)"},
		{"passes", report(true, pass, untested), true, true, true, "conforms"},
		{"warns", report(true, pass, warn), true, false, true, "conforms (1 SHOULD broken)"},
		{"a requirement that fails twice is one", report(true, pass, fail, again), false, false, true, "does not conform: 1 MUST broken"},
		{"known", report(true, pass, known), true, true, true, "conforms (1 known failure)"},
		{"known does not hide another", report(true, known, fail, warn), false, false, true, "does not conform: 1 MUST broken, 1 SHOULD broken (1 known failure)"},
		{"an error stays visible", report(true, pass, fault), true, true, false, "conforms (1 check could not be carried out)"},
		{"interrupted", report(false, pass), true, true, false, "not settled: nothing is broken in what was judged (the run did not reach its end)"},
		{"stale baseline", stale, true, true, true, "conforms (the baseline is out of date)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(c.report.Conforms(false)).To(gomega.Equal(c.conforms), "conforms")
			g.Expect(c.report.Conforms(true)).To(gomega.Equal(c.strict), "strict")
			g.Expect(c.report.Settled()).To(gomega.Equal(c.settled), "settled")
			g.Expect(c.report.Summary(false)).To(gomega.Equal(c.summary))
		})
	}
	g := gomega.NewWithT(t)
	g.Expect(report(true, pass, warn).Summary(true)).To(gomega.Equal("does not conform: 1 SHOULD broken"))
}

func TestJSONKeepsDurationsAsSeconds(t *testing.T) {
	g := gomega.NewWithT(t)
	in := Report{Duration: 90*time.Second + 1, Verdicts: []Verdict{{
		Requirement: "a", Duration: 1500 * time.Millisecond,
		Evidence: &Evidence{Wire: []Line{{At: 123456789, Direction: "sent", Text: "x"}}},
	}}}
	data, err := json.Marshal(in)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, want := range []string{`"duration":1.5}`, `"at":0.123456789`, `"duration":90.000000001`, `"runs":[]`, `"reason":""`} {
		g.Expect(string(data)).To(gomega.ContainSubstring(want))
	}
	g.Expect(strings.Count(string(data), `"duration"`)).To(gomega.Equal(2))
	var out Report
	g.Expect(json.Unmarshal(data, &out)).To(gomega.Succeed())
	in.Runs = []Run{}
	g.Expect(out).To(gomega.Equal(in))
}
