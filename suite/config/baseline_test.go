package config

import (
	"bytes"
	"os"
	"path/filepath"
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

func TestFlakyIsApartFromKnown(t *testing.T) {
	g := gomega.NewWithT(t)
	r := verdicts()
	b := Baseline{
		{Requirement: "tools.call.unknown-tool", Revision: "2025-11-25", Flaky: true, Reason: "now and then"},
		{Requirement: "base.ping", Flaky: true, Reason: "passes this time"},
		{Requirement: "tools.call.unknown-tool", Revision: "2024-11-05", Reason: "always"},
	}
	g.Expect(b.Apply(r)).To(gomega.BeEmpty(), "a flaky entry that passes is not out of date")
	g.Expect([]int{r.Known(), r.Flaky()}).To(gomega.Equal([]int{1, 1}))
	g.Expect(r.Verdicts[1].Flaky).To(gomega.BeTrue())
	g.Expect(r.Summary(false)).To(gomega.ContainSubstring("(1 known failure; 1 flaky failure; "))
	g.Expect(Baseline{{Requirement: "base.untested", Flaky: true, Reason: "r"}}.Apply(r)).To(gomega.HaveLen(1), "it must cover something that is judged")
	g.Expect(Baseline{{Requirement: "base.error", Flaky: true, Reason: "r"}}.Apply(r)).To(gomega.BeEmpty())
	g.Expect(r.Known()+r.Flaky()).To(gomega.BeZero(), "another baseline takes the place of the first")
	g.Expect(r.Settled()).To(gomega.BeFalse(), "an error is never hidden")
}

func TestContradictoryEntries(t *testing.T) {
	at := func(line int) script.Position { return script.Position{File: "b.yaml", Line: line, Column: 3} }
	for _, c := range []struct {
		name   string
		second Known
		want   string
	}{
		{"the same again", Known{Requirement: "tools.call.unknown-tool"}, "contradicts the one at b.yaml:1:3, which is for the same; remove one of them"},
		{"flaky and known", Known{Requirement: "tools.*", Flaky: true},
			"contradicts the one at b.yaml:1:3 for tools.call.unknown-tool: a failure that both cover is known there and flaky here; narrow one of them"},
		{"one within the other", Known{Requirement: "tools.*"}, ""},
		{"flaky elsewhere", Known{Requirement: "tools.list.*", Flaky: true}, ""},
	} {
		g := gomega.NewWithT(t)
		c.second.Reason, c.second.Pos = "second", at(2)
		b := Baseline{{Requirement: "tools.call.unknown-tool", Reason: "first", Pos: at(1)}, c.second}
		narrowed := verdicts()
		narrowed.Narrowed = true
		for _, r := range []*verdict.Report{verdicts(), narrowed} {
			problems := b.Apply(r)
			if c.want == "" {
				g.Expect(problems).To(gomega.BeEmpty(), c.name)
			} else {
				g.Expect(problems).To(gomega.ConsistOf("b.yaml:2:3: the baseline entry for "+c.second.String()+" "+c.want), c.name)
			}
			g.Expect(r.Baseline).To(gomega.Equal(problems))
		}
	}
}

func TestRenewedBaselinePassesAndHidesNothingElse(t *testing.T) {
	g := gomega.NewWithT(t)
	r := verdicts()
	for i := range r.Verdicts {
		r.Verdicts[i].Reason = `the "code" is ${HOME} ` + "\x1b\n\u2028: #"
	}
	r.Verdicts = append(r.Verdicts, verdict.Verdict{Requirement: "tools.new", Revision: "2025-11-25", Transport: "stdio", Status: verdict.Fail},
		verdict.Verdict{Requirement: "tools.new", Revision: "2024-11-05", Transport: "stdio", Status: verdict.Pass},
		verdict.Verdict{Requirement: "tools.new", Revision: "2025-06-18", Transport: "stdio", Status: verdict.Fail})
	old := Baseline{
		{Requirement: "tools.list.*", Reason: "stays, with its reason"},
		{Requirement: "base.ping", Reason: "goes: it passes"},
		{Requirement: "base.p*", Flaky: true, Reason: "stays: it is flaky"},
		{Requirement: "gone.*", Reason: "goes: it matches nothing"},
	}
	b, err := old.Renew(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var got []string
	for _, k := range b {
		got = append(got, k.String())
	}
	g.Expect(got).To(gomega.Equal([]string{
		"tools.list.*", "base.p*",
		"tools.call.unknown-tool at 2024-11-05", "tools.call.unknown-tool at 2025-11-25 over stdio", // it passes over streamable-http
		"tools.new at 2025-11-25", "tools.new at 2025-06-18",
	}))
	g.Expect(b[0].Reason).To(gomega.Equal("stays, with its reason"))

	file := filepath.Join(t.TempDir(), "baseline.yaml")
	var text bytes.Buffer
	g.Expect(b.Write(&text)).To(gomega.Succeed())
	g.Expect(os.WriteFile(file, text.Bytes(), 0o644)).To(gomega.Succeed())
	again, err := LoadBaseline(file)
	g.Expect(err).NotTo(gomega.HaveOccurred(), text.String())
	g.Expect(again).To(gomega.HaveLen(len(b)))
	for i := range again {
		again[i].Pos = b[i].Pos
	}
	g.Expect(again).To(gomega.Equal(b), "what is written is what is read")
	g.Expect(again.Apply(r)).To(gomega.BeEmpty())
	g.Expect(r.Conforms(true)).To(gomega.BeTrue())
	g.Expect(r.Settled()).To(gomega.BeFalse(), "the error is still there")
	twice, err := again.Renew(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(twice).To(gomega.Equal(again), "nothing is left to write")

	narrowed := verdicts()
	narrowed.Narrowed = true
	b, err = old.Renew(narrowed)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(b[:3]).To(gomega.Equal(old[:3]), "a narrowed run cannot tell what is out of date")

	for _, bad := range []*verdict.Report{{}, {Complete: true}, {Complete: true, Problems: []string{"p"}, Verdicts: r.Verdicts}, {Verdicts: r.Verdicts}} {
		_, err := old.Renew(bad)
		g.Expect(err).To(gomega.HaveOccurred())
	}
}

func TestBaselineInAFileOfItsOwn(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(gomega.Succeed())
		return path
	}
	write("known.yaml", "baseline:\n  - {requirement: tools.*, flaky: true, reason: r}\n")
	c, err := Load(write("litmus.yaml", "baseline: known.yaml\n"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Baseline).To(gomega.HaveLen(1))
	g.Expect(c.Baseline[0].Flaky).To(gomega.BeTrue())
	g.Expect(c.Baseline[0].Pos.File).To(gomega.Equal(filepath.Join(dir, "known.yaml")))
	for text, want := range map[string]string{
		"baseline: other.yaml\n":                                    "bad.yaml:1:11: baseline is a list",
		"- {requirement: a, reason: b}\n":                           "bad.yaml:1:1: a baseline file is a mapping",
		"baseline: []\nstrict: true\n":                              `a baseline file has no key "strict"`,
		"baseline: [{requirement: a, flaky: perhaps, reason: r}]\n": `entry 1 of baseline: flaky is true or false, not "perhaps"`,
		"":                                "the file is empty",
		"baseline:\n- requirement: \"a\n": "bad.yaml:2:16: this is not YAML: could not find end character of double-quoted text",
	} {
		_, err := LoadBaseline(write("bad.yaml", text))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)), text)
		if text != "" {
			g.Expect(err).NotTo(gomega.MatchError(gomega.ContainSubstring("empty")), text)
		}
	}
}
