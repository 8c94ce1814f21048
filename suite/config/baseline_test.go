package config

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func verdicts() *verdict.Report {
	v := func(id, revision, transport string, s verdict.Status) verdict.Verdict {
		return verdict.Verdict{Requirement: id, Revision: revision, Transport: transport, Status: s}
	}
	return &verdict.Report{Complete: true, Verdicts: []verdict.Verdict{
		v("tools.call.unknown-tool", "2024-11-05", "stdio", verdict.Fail),
		v("tools.call.unknown-tool", "2025-11-25", "stdio", verdict.Fail),
		v("tools.call.unknown-tool", "2025-11-25", "streamable-http", verdict.Pass),
		v("tools.list.unique-names", "2025-11-25", "stdio", verdict.Warn),
		v("base.ping", "2025-11-25", "stdio", verdict.Pass),
		v("base.error", "2025-11-25", "stdio", verdict.Error),
		v("base.untested", "2025-11-25", "stdio", verdict.Untested),
		v("base.note", "2025-11-25", "stdio", verdict.Note),
	}}
}

func TestBaseline(t *testing.T) {
	pos := script.Position{File: "litmus.yaml", Line: 7, Column: 3}
	const says = "litmus.yaml:7:3: the baseline entry for "
	for _, c := range []struct {
		name    string
		entry   Known
		known   []int // indices of the verdicts that become known
		problem string
	}{
		{"by id, everywhere", Known{Requirement: "tools.call.unknown-tool"}, []int{0, 1}, ""},
		{"at a revision", Known{Requirement: "tools.call.unknown-tool", Revision: "2025-11-25"}, []int{1}, ""},
		{"over a transport that passes now", Known{Requirement: "tools.call.unknown-tool", Transport: "streamable-http"}, nil,
			"tools.call.unknown-tool over streamable-http is out of date: nothing that it covers fails any more; remove it"},
		{"a glob crosses dots and takes warnings", Known{Requirement: "tools.*"}, []int{0, 1, 3}, ""},
		{"a glob that only passes", Known{Requirement: "base.p*", Revision: "2025-11-25"}, nil,
			"base.p* at 2025-11-25 is out of date: nothing that it covers fails any more; remove it"},
		{"an error is neither hidden nor proof", Known{Requirement: "base.error"}, nil, ""},
		{"everything: the error stays", Known{Requirement: "*"}, []int{0, 1, 3}, ""},
		{"a typing mistake", Known{Requirement: "tools.call.unknown-toll"}, nil,
			`tools.call.unknown-toll matches nothing; did you mean "tools.call.unknown-tool"?`},
		{"nothing at all", Known{Requirement: "prompts.*"}, nil, "prompts.* matches nothing; remove it, or correct the requirement's id"},
		{"another revision", Known{Requirement: "tools.list.unique-names", Revision: "2024-11-05"}, nil,
			"tools.list.unique-names at 2024-11-05 matches nothing: the requirement was exercised elsewhere only; remove it, or correct its revision or transport"},
		{"untested", Known{Requirement: "base.untested"}, nil,
			"base.untested covers nothing that was judged: it was untested or does not apply; remove it, or make it testable"},
		{"a note", Known{Requirement: "base.note"}, nil, "base.note covers nothing that can fail: notes are never counted; remove it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c.entry.Reason, c.entry.Pos = "because", pos
			r := verdicts()
			problems := Baseline{c.entry}.Apply(r)
			if c.problem == "" {
				g.Expect(problems).To(gomega.BeEmpty())
			} else {
				g.Expect(problems).To(gomega.Equal([]string{says + c.problem}))
			}
			g.Expect(r.Baseline).To(gomega.Equal(problems))
			var known []int
			for i, v := range r.Verdicts {
				if v.Known != "" {
					g.Expect(v.Known).To(gomega.Equal("because"))
					known = append(known, i)
				}
			}
			g.Expect(known).To(gomega.Equal(c.known))
			g.Expect(len(r.Verdicts)).To(gomega.Equal(8), "nothing leaves the report")

			narrowed, interrupted := verdicts(), verdicts()
			narrowed.Narrowed, interrupted.Complete = true, false
			g.Expect(Baseline{c.entry}.Apply(narrowed)).To(gomega.BeEmpty())
			g.Expect(Baseline{c.entry}.Apply(interrupted)).To(gomega.BeEmpty())
		})
	}
}

func TestBaselineAndTheOutcome(t *testing.T) {
	g := gomega.NewWithT(t)
	r := verdicts()
	g.Expect(r.Conforms(false)).To(gomega.BeFalse())
	first := Known{Requirement: "tools.call.*", Reason: "first"}
	all := Known{Requirement: "tools.*", Reason: "second"}
	g.Expect(Baseline{first, all}.Apply(r)).To(gomega.BeEmpty(), "an entry that another one covers is not out of date")
	g.Expect(r.Verdicts[0].Known).To(gomega.Equal("first"))
	g.Expect(r.Verdicts[3].Known).To(gomega.Equal("second"))
	g.Expect(r.Conforms(true)).To(gomega.BeTrue())
	g.Expect(r.Settled()).To(gomega.BeFalse(), "the error is still there")
	g.Expect(r.Summary(true)).To(gomega.Equal("conforms (3 known failures; 1 check could not be carried out)"))
}
