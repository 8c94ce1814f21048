package verdict

import (
	"testing"

	"github.com/onsi/gomega"
)

func at11(id string, s Status) Verdict {
	return Verdict{Requirement: id, Exchange: "x", Revision: "2025-11-25", Transport: "stdio", Status: s}
}

func TestCompareKinds(t *testing.T) {
	for _, c := range []struct {
		was, is Status
		want    ChangeKind
		counts  bool
	}{
		{Pass, Pass, "", false}, {Pass, Fail, Regression, true}, {Pass, Warn, Regression, true}, {Warn, Fail, Regression, true},
		{Note, Fail, Regression, true}, {Fail, Pass, Fix, false}, {Warn, Note, Fix, false}, {Fail, Warn, NewEvidence, false},
		{Pass, Note, AdviceDropped, false}, {Note, Pass, AdviceTaken, false}, {Untested, Fail, NewlyTested, false}, {"", Fail, NewlyTested, false},
		{Fail, Skip, NoLongerTested, false}, {Pass, "", NoLongerTested, false}, {Pass, Error, NoLongerTested, false}, {Error, Fail, NewlyTested, false},
		{Skip, Untested, "", false}, {"", Skip, "", false}, {Fail, Fail, "", false},
	} {
		report := func(s Status) *Report {
			r := &Report{Complete: true, Verdicts: []Verdict{at11("other", Pass)}}
			if s != "" {
				r.Verdicts = append(r.Verdicts, at11("a", s))
			}
			return r
		}
		g := gomega.NewWithT(t)
		got := Compare(report(c.was), report(c.is))
		if c.want == "" {
			g.Expect(got.Changes).To(gomega.BeEmpty(), "%s %s", c.was, c.is)
			continue
		}
		g.Expect(got.Changes).To(gomega.HaveLen(1), "%s %s", c.was, c.is)
		g.Expect(got.Changes[0].Kind).To(gomega.Equal(c.want), "%s %s", c.was, c.is)
		g.Expect(got.Changes[0].Verdict().Requirement).To(gomega.Equal("a"))
		g.Expect(len(got.Regressions()) == 1).To(gomega.Equal(c.counts), "%s %s", c.was, c.is)
	}
}

func TestCompareEvidenceAndWhatDoesNotCount(t *testing.T) {
	g := gomega.NewWithT(t)
	before, after := &Report{Complete: true}, &Report{Complete: true}
	add := func(was, is Verdict) {
		before.Verdicts, after.Verdicts = append(before.Verdicts, was), append(after.Verdicts, is)
	}
	same := at11("same", Fail)
	same.Reason, same.Evidence = "the code is 1", &Evidence{Parts: []Part{{Source: "id", Value: "17"}}}
	other := same
	other.Evidence = &Evidence{Parts: []Part{{Source: "id", Value: "18"}}}
	add(same, other)
	changed := same
	changed.Requirement = "changed"
	otherReason := changed
	otherReason.Reason = "the code is 2"
	add(changed, otherReason)
	more := at11("more", Fail)
	moreNow := more
	moreNow.Evidence = &Evidence{Problems: 3}
	add(more, moreNow)
	known := at11("known", Fail)
	known.Known = "issue 1"
	add(at11("known", Pass), known)
	beside := at11("beside", Fail)
	beside.Extension = "io.example"
	add(at11("beside", Pass), beside)

	c := Compare(before, after)
	var kinds []string
	for _, ch := range c.Changes {
		kinds = append(kinds, ch.New.Requirement+" "+string(ch.Kind))
	}
	g.Expect(kinds).To(gomega.Equal([]string{"known regression", "beside regression", "changed changed-evidence", "more changed-evidence"}))
	g.Expect(c.Regressions()).To(gomega.BeEmpty())
	g.Expect(c.Same).To(gomega.Equal(1))
}

func TestCompareAcrossCatalogues(t *testing.T) {
	g := gomega.NewWithT(t)
	before := &Report{Complete: true, Catalogue: "one", Verdicts: []Verdict{at11("a", Pass), at11("b", Pass)}}
	renamed := at11("a", Fail)
	renamed.Exchange = "x under another name"
	after := &Report{Complete: true, Catalogue: "one", Verdicts: []Verdict{renamed, at11("b", Pass)}}
	g.Expect(Compare(before, after).Regressions()).To(gomega.BeEmpty(), "within one catalogue another exchange is another check")
	after.Catalogue = "two"
	c := Compare(before, after)
	g.Expect(c.Regressions()).To(gomega.Equal([]string{"a"}))
	g.Expect(c.Notes).To(gomega.ConsistOf(gomega.ContainSubstring("the catalogues differ")))
	after.Verdicts = append(after.Verdicts, at11("a", Pass)) // the old one is still there: the other is new
	c = Compare(before, after)
	g.Expect(c.Regressions()).To(gomega.BeEmpty())
	g.Expect(c.Changes).To(gomega.HaveLen(1))
	g.Expect(c.Changes[0].Kind).To(gomega.Equal(NewlyTested))
}

func TestCompareTellsOfWhatIsNotWhole(t *testing.T) {
	g := gomega.NewWithT(t)
	whole := &Report{Complete: true, Verdicts: []Verdict{at11("a", Pass)}}
	for _, c := range []struct {
		second     *Report
		incomplete bool
		says       string
	}{
		{&Report{Complete: false, Verdicts: whole.Verdicts}, true, "the new run did not reach its end"},
		{&Report{Complete: true}, true, "the new run judged nothing"},
		{&Report{Complete: true, Select: "tools", Verdicts: whole.Verdicts}, false, "narrowed differently"},
		{&Report{Complete: true, Shard: "1/2", Verdicts: whole.Verdicts}, false, "different parts of a run"},
		{&Report{Complete: true, Suite: "2", Verdicts: whole.Verdicts}, false, "different versions of mcp-litmus"},
		{&Report{Complete: true, Verdicts: []Verdict{at11("a", Pass), at11("b", Error)}}, false, "1 check of the new run could not be carried out"},
	} {
		got := Compare(whole, c.second)
		g.Expect(got.Incomplete).To(gomega.Equal(c.incomplete), c.says)
		g.Expect(got.Notes).To(gomega.ContainElement(gomega.ContainSubstring(c.says)))
	}
	g.Expect(Compare(whole, whole).Notes).To(gomega.BeEmpty())
}

func TestCompareRevisions(t *testing.T) {
	g := gomega.NewWithT(t)
	old := func(v Verdict) Verdict { v.Revision = "2024-11-05"; return v }
	r := &Report{Complete: true, Verdicts: []Verdict{
		old(at11("everywhere", Fail)), old(at11("first", Fail)), old(at11("second", Pass)), old(at11("went", Pass)), old(at11("held", Pass)),
		at11("everywhere", Fail), at11("first", Pass), at11("second", Fail), at11("came", Pass), at11("held", Pass),
	}}
	c := CompareRevisions(r, "2024-11-05", "2025-11-25")
	kinds := map[string]ChangeKind{}
	for _, ch := range c.Changes {
		kinds[ch.Verdict().Requirement] = ch.Kind
	}
	g.Expect(kinds).To(gomega.Equal(map[string]ChangeKind{
		"everywhere": BrokenInBoth, "first": Fix, "second": Regression, "went": NoLongerTested, "came": NewlyTested,
	}))
	g.Expect(c.Same).To(gomega.Equal(1))
	g.Expect(c.Incomplete).To(gomega.BeFalse())
	c = CompareRevisions(r, "2024-11-05", "2025-06-18")
	g.Expect(c.Incomplete).To(gomega.BeTrue())
	g.Expect(c.Notes).To(gomega.Equal([]string{"nothing was judged at 2025-06-18: the server may not speak it"}))
}
