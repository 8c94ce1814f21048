package reports

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func console80(r *verdict.Report, o ConsoleOptions) string {
	var b bytes.Buffer
	Console(&b, r, o)
	return b.String()
}

// hostile is a report in which every text field holds what could take over a terminal or break a document.
func hostile() (*verdict.Report, string) {
	const evil = "\x1b]0;owned\a\x1b[2J\x9b1A\u202e\u0085\x00\xff]]></failure><!-- & \" ' \r\n\ufffe\ud7ff"
	v := verdict.Verdict{
		Requirement: evil, Exchange: evil, Area: evil, Level: evil, Revision: evil, Transport: evil, Reason: evil,
		Text: evil, Spec: evil, Note: evil,
		Evidence: &verdict.Evidence{
			Expression: evil, Position: evil, Parts: []verdict.Part{{Source: evil, Value: evil}, {Source: evil, Err: evil}}, Item: evil,
			Wire: []verdict.Line{{Direction: "received", Text: evil}, {Direction: evil, Text: evil}},
		},
	}
	r := &verdict.Report{
		Suite: "v0.1.0", Catalogue: evil, Target: evil, Server: evil, Select: evil, Problems: []string{evil}, Baseline: []string{evil},
		Runs: []verdict.Run{{Revision: evil, Transport: evil, Negotiated: evil}},
	}
	for _, s := range []verdict.Status{verdict.Error, verdict.Fail, verdict.Warn, verdict.Note, verdict.Untested, verdict.Skip, verdict.Pass} {
		v.Status = s
		r.Verdicts = append(r.Verdicts, v)
	}
	v.Status, v.Known = verdict.Fail, evil
	r.Verdicts = append(r.Verdicts, v)
	return r, evil
}

func TestConsoleKeepsControlCharactersFromTheTerminal(t *testing.T) {
	r, _ := hostile()
	control := regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{202e}]`)
	for _, o := range []ConsoleOptions{{}, {Width: 80}, {Width: 1}, {Verbose: true}, {Strict: true}} {
		out := console80(r, o)
		if at := control.FindStringIndex(out); at != nil {
			t.Fatalf("%+v: %q", o, out[max(0, at[0]-40):min(len(out), at[1]+40)])
		}
	}
	ours := regexp.MustCompile("\x1b\\[[0-9;]+m")
	colored := console80(r, ConsoleOptions{Color: true, Width: 80})
	g := gomega.NewWithT(t)
	g.Expect(ours.MatchString(colored)).To(gomega.BeTrue())
	g.Expect(control.MatchString(ours.ReplaceAllString(colored, ""))).To(gomega.BeFalse())
	g.Expect(ours.ReplaceAllString(colored, "")).To(gomega.Equal(console80(r, ConsoleOptions{Width: 80})), "colours change the layout")
}

func TestConsoleKeepsToTheWidth(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, width := range []int{72, 80, 120} {
		for line := range strings.SplitSeq(console80(sample(), ConsoleOptions{Width: width, Verbose: true}), "\n") {
			if !strings.Contains(line, "https://modelcontextprotocol.io") { // links stay whole
				g.Expect(columns(line)).To(gomega.BeNumerically("<=", width), "%q", line)
			}
		}
	}
}

func TestConsoleTellsARequirementOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	out := console80(sample(), ConsoleOptions{})
	g.Expect(strings.Count(out, "MUST tools.call.unknown-tool")).To(gomega.Equal(1))
	g.Expect(strings.Count(out, "error.code == -32602")).To(gomega.Equal(1))
	g.Expect(out).To(gomega.ContainSubstring(`2025-11-25 over streamable-http, exchange "call a tool without a name"`))
	verbose := console80(sample(), ConsoleOptions{Verbose: true})
	g.Expect(strings.Count(verbose, "error.code == -32602")).To(gomega.Equal(4), "verbose shows the evidence of every place")
	g.Expect(verbose).To(gomega.ContainSubstring("lifecycle.initialize.version"))
	g.Expect(out).NotTo(gomega.ContainSubstring("lifecycle.initialize.version"))
}

func TestConsoleOrder(t *testing.T) {
	g := gomega.NewWithT(t)
	out := console80(sample(), ConsoleOptions{})
	at := -1
	for _, title := range []string{"\nFailures", "\nWarnings", "\nErrors", "\nKnown failures", "\nNotes", "\nUntested", "checks passed", "does not conform: 2 MUST broken"} {
		next := strings.Index(out, title)
		g.Expect(next).To(gomega.BeNumerically(">", at), title)
		at = next
	}
	g.Expect(strings.Count(strings.TrimSpace(out[at:]), "\n")).To(gomega.BeZero(), "the verdict is the last line")
}

func TestConsoleOfAnEmptyReport(t *testing.T) {
	out := console80(&verdict.Report{}, ConsoleOptions{Width: 80})
	gomega.NewWithT(t).Expect(out).To(gomega.HaveSuffix("nothing was judged (the run did not reach its end)\n"))
}

func TestConsoleLeavesOutTheMiddleOfALongTalk(t *testing.T) {
	g := gomega.NewWithT(t)
	v := unknownTool("many")
	v.Evidence.Wire = nil
	for i := range 100 {
		v.Evidence.Wire = append(v.Evidence.Wire, verdict.Line{At: time.Duration(i) * time.Second, Direction: "sent", Text: "x"})
	}
	out := console80(&verdict.Report{Verdicts: []verdict.Verdict{v}}, ConsoleOptions{})
	g.Expect(out).To(gomega.ContainSubstring("… 88 lines left out …"))
	g.Expect(strings.Count(out, "s x\n")).To(gomega.Equal(12))
	g.Expect(out).To(gomega.ContainSubstring("99.000s x"))
}

func interrupted() *verdict.Report {
	r := &verdict.Report{Verdicts: []verdict.Verdict{{Requirement: "a", Exchange: "x", Status: verdict.Pass, Level: "MUST"}}}
	for _, id := range []string{"b", "c"} {
		for _, place := range []string{"stdio", "streamable-http"} {
			r.Verdicts = append(r.Verdicts, verdict.Verdict{Requirement: id, Exchange: "y", Transport: place, Status: verdict.Error, Reason: "the run was interrupted"})
		}
	}
	return r
}

func TestConsoleTellsOnceWhatWasNotPlayed(t *testing.T) {
	out := console80(interrupted(), ConsoleOptions{Width: 80})
	g := gomega.NewWithT(t)
	g.Expect(out).To(gomega.ContainSubstring("\nNot played (4 checks)\n  - the run was interrupted\n    for 4 checks of b, c (exchange \"y\")\n"))
	g.Expect(out).NotTo(gomega.ContainSubstring("Errors"))
}

func TestQuietConsole(t *testing.T) {
	g := gomega.NewWithT(t)
	out := console80(sample(), ConsoleOptions{Quiet: true})
	for _, title := range []string{"\nFailures", "\nErrors", "\ndoes not conform: 2 MUST broken"} {
		g.Expect(out).To(gomega.ContainSubstring(title))
	}
	for _, title := range []string{"mcp-litmus ", "area", "Warnings", "Known", "Notes", "Untested", "passed"} {
		g.Expect(out).NotTo(gomega.ContainSubstring(title))
	}
	g.Expect(console80(sample(), ConsoleOptions{Quiet: true, Strict: true})).To(gomega.ContainSubstring("\nWarnings"))
	good := &verdict.Report{Complete: true, Verdicts: []verdict.Verdict{{Status: verdict.Pass}}}
	g.Expect(console80(good, ConsoleOptions{Quiet: true})).To(gomega.Equal("conforms\n"))
}

func TestConsoleLeavesOutLongParts(t *testing.T) {
	g := gomega.NewWithT(t)
	v := unknownTool("x")
	v.Evidence.Parts = append(v.Evidence.Parts, verdict.Part{Source: "a.very.long.path" + strings.Repeat(".and.on", 10), Value: "1"})
	r := &verdict.Report{Verdicts: []verdict.Verdict{v}}
	g.Expect(console80(r, ConsoleOptions{})).NotTo(gomega.ContainSubstring("a.very.long.path"))
	g.Expect(console80(r, ConsoleOptions{Verbose: true})).To(gomega.ContainSubstring("a.very.long.path"))
}

func TestConsoleKeepsTheUntestedShort(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &verdict.Report{Complete: true}
	for i := range 12 {
		r.Verdicts = append(r.Verdicts, verdict.Verdict{
			Requirement: fmt.Sprintf("r%d", i), Exchange: "x", Status: verdict.Untested, Level: "MUST", Reason: fmt.Sprintf("reason %d", i),
		})
	}
	r.Verdicts[11].Add = verdict.Additions{{Key: "auth", Value: "{token: …}"}}
	short := console80(r, ConsoleOptions{})
	g.Expect(short).To(gomega.ContainSubstring("(12 checks: this server gave no way to exercise them)\n  - reason 11\n"), "what can be added comes first")
	g.Expect(short).To(gomega.ContainSubstring("… and 4 further reasons for 4 checks: -v lists them all"))
	g.Expect(short).NotTo(gomega.ContainSubstring("reason 7"))
	g.Expect(console80(r, ConsoleOptions{Verbose: true})).To(gomega.ContainSubstring("reason 7"))
}
