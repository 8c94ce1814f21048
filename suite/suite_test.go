package suite_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/internal/rejudge"
	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// run runs the suite and holds that its transcript gives the same verdicts again.
func run(t *testing.T, target suite.Target, opts ...suite.Option) *suite.Outcome {
	t.Helper()
	o, err := suite.Run(t.Context(), target, opts...)
	if err != nil {
		t.Fatal(err)
	}
	rejudge.Check(t, o)
	return o
}

func pipe() suite.Target { return suite.Pipe(reference.New().ServeStdio) }

func web() suite.Target { return suite.Handler(reference.New().Handler()) }

func sabotaged(t *testing.T, fault string) suite.Target {
	t.Helper()
	faults, err := sabotage.Find(fault)
	if err != nil {
		t.Fatal(err)
	}
	return suite.Handler(sabotage.Handler(reference.New(reference.WithFlags(sabotage.Flags(faults))).Handler(), faults))
}

func TestTheReferenceServerConforms(t *testing.T) {
	for name, target := range map[string]suite.Target{"in memory": pipe(), "over HTTP": web()} {
		t.Run(name, func(t *testing.T) {
			o := run(t, target)
			for _, v := range o.Report.Verdicts {
				switch v.Status {
				case verdict.Fail, verdict.Warn, verdict.Note, verdict.Error:
					t.Errorf("%s at %s in %q: %s: %s", v.Requirement, v.Revision, v.Exchange, v.Status, v.Reason)
				}
			}
			if !o.Conforms() || len(o.Report.Problems) > 0 {
				t.Errorf("conforms: %v, problems: %v", o.Conforms(), o.Report.Problems)
			}
			if len(o.Report.Runs) != len(script.Revisions) {
				t.Errorf("the runs are %v, not %d revisions", o.Report.Runs, len(script.Revisions))
			}
		})
	}
}

func TestASecretHeaderIsNotShownHoweverShort(t *testing.T) {
	g := gomega.NewWithT(t)
	server := httptest.NewServer(reference.New().Handler())
	defer server.Close()
	target, err := transport.URL(server.URL, transport.URLOptions{Header: map[string]string{"X-Pin": "12"}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	o := run(t, target, suite.Revisions("2025-11-25"), suite.Select("ping"), suite.SecretHeaders("x-pin"))
	shown := map[string]bool{}
	for _, p := range o.Transcript.Plays {
		for _, e := range p.Events {
			if e.Kind == transcript.Send {
				shown[strings.Join(e.HTTP.Headers["X-Pin"], ",")] = true
			}
		}
	}
	g.Expect(shown).To(gomega.Equal(map[string]bool{"[redacted]": true}))
}

func TestAFailureTellsTheWholeStory(t *testing.T) {
	g := gomega.NewWithT(t)
	o := run(t, sabotaged(t, "invalid-cursor-is-internal-error"), suite.Select("pagination.cursor.invalid"), suite.Revisions("2025-11-25"))
	broken := slices.DeleteFunc(slices.Clone(o.Report.Verdicts), func(v verdict.Verdict) bool { return v.Status == verdict.Pass })
	g.Expect(broken).To(gomega.HaveLen(1))
	v := broken[0]
	g.Expect(v).NotTo(suite.Conform(true))
	message := suite.Conform(true).FailureMessage(v)
	for what, text := range map[string]string{
		"the requirement in words": v.Text, "its id": "pagination.cursor.invalid", "the section": "https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination",
		"what was sent": `"method":"tools/list"`, "what came back": `"code":-32603`, "the expression": "error.code == -32602", "the value of a part": "error.code = -32603",
	} {
		if !strings.Contains(message, text) {
			t.Errorf("%s (%s) is missing in the failure message:\n%s", what, text, message)
		}
	}
}

func TestSelectionNarrowsWhatIsPlayed(t *testing.T) {
	o := run(t, web(), suite.Select("tools.call.unknown-tool"), suite.Revisions("2025-11-25"))
	for _, v := range o.Report.Verdicts {
		if v.Requirement != "tools.call.unknown-tool" {
			t.Errorf("%s was judged, too", v.Requirement)
		}
	}
	if n := len(o.Transcript.Plays); n != 3 {
		t.Errorf("%d exchanges were played; the two of the survey and one were wanted", n)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for want, opt := range map[string]suite.Option{
		"there is no revision": suite.Revisions("2025-11-26"),
		"safe, all or none":    suite.CallTools("some"),
		"no label filter":      suite.Select("a &&"),
		"wants none of the":    suite.Select("promts"),
		"no role":              suite.Role("no-such-role", transcript.Role{Name: "x"}),
	} {
		if _, err := suite.Run(t.Context(), web(), opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v; wanted one with %q", err, want)
		}
	}
}

func TestASettingThatFitsNothingProvesNothing(t *testing.T) {
	for want, role := range map[string]transcript.Role{
		`"nosuch"`:           {Name: "nosuch"},
		"the call succeeded": {Name: "echo", Arguments: map[string]any{"message": "litmus"}},
	} {
		o := run(t, web(), suite.Role("failing-tool", role), suite.Select("tools.call.execution-error"), suite.Revisions("2025-11-25"))
		if len(o.Report.Verdicts) != 1 || o.Report.Verdicts[0].Status != verdict.Untested || !strings.Contains(o.Report.Verdicts[0].Reason, want) {
			t.Errorf("with %+v the verdicts are %+v, not one that is untested for %s", role, o.Report.Verdicts, want)
		}
	}
}

func TestNoToolIsCalledWithNone(t *testing.T) {
	o := run(t, web(), suite.CallTools("none"), suite.Revisions("2025-11-25"))
	for _, p := range o.Transcript.Plays {
		for _, e := range p.Events {
			if e.Kind == transcript.Send && strings.Contains(string(e.Data), `"method":"tools/call"`) && !strings.Contains(string(e.Data), "litmus_absent_tool") && strings.Contains(string(e.Data), `"arguments"`) {
				t.Errorf("%q calls a tool: %s", p.Exchange, e.Data)
			}
		}
	}
}

func TestAnInterruptedRunKeepsWhatWasJudged(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	played := 0
	o, err := suite.Run(ctx, web(), suite.Jobs(1), suite.Revisions("2025-11-25"), suite.Progress(func(int) {}, func(...verdict.Verdict) {
		if played++; played == 4 {
			cancel()
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	rejudge.Check(t, o)
	n := o.Report.Count()
	if o.Report.Complete || n[verdict.Pass] == 0 || n[verdict.Error] == 0 {
		t.Errorf("complete: %v, counts: %v; wanted passes of what was played and errors for the rest", o.Report.Complete, n)
	}
}

// The call would run for a minute: a step that waited for it would end with a timeout.
func TestARequestNeedNotBeWaitedFor(t *testing.T) {
	own := fstest.MapFS{"own.yaml": {Data: []byte(`
- id: own.sent
  level: MUST
  since: 2024-11-05
  text: What runs does not keep others from being answered.
  spec: basic#x
`)}, "call.yaml": {Data: []byte(`
- exchange: ask something else while a call runs
  session: own
  steps:
    - request: tools/call
      id: litmus-slow
      params: {name: slow, arguments: {duration: 60000}}
      until: sent
      as: call
    - request: ping
      checks:
        own.sent: has(result) && !call.timeout && !has(call.reply)
    - notify: notifications/cancelled
      params: {requestId: "${call.sent.id}"}
`)}}
	for name, target := range map[string]suite.Target{"in memory": pipe(), "over HTTP": web()} {
		t.Run(name, func(t *testing.T) {
			o, err := suite.Run(t.Context(), target, suite.Exchanges(own), suite.Select("own.sent"), suite.Revisions("2025-11-25"))
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Report.Verdicts) != 1 || o.Report.Verdicts[0].Status != verdict.Pass {
				t.Errorf("the verdicts are %v; one pass was wanted", o.Report.Verdicts)
			}
		})
	}
}

// A server's own test is this short.
func TestServerInPlainGoTest(t *testing.T) {
	suite.Test(t, suite.Handler(reference.New().Handler()), suite.Revisions("2025-11-25"), suite.Select("lifecycle"))
}

// What is told while a run goes on is not redacted: it must not quote the server.
func TestProgressQuotesNothing(t *testing.T) {
	broken := 0
	run(t, sabotaged(t, "invalid-cursor-is-internal-error"), suite.Select("pagination"), suite.Revisions("2025-11-25"), suite.Jobs(1),
		suite.Progress(func(int) {}, func(verdicts ...verdict.Verdict) {
			for _, v := range verdicts {
				if v.Status == verdict.Warn || v.Status == verdict.Fail {
					broken++
				}
				if v.Reason != "" || v.Evidence != nil {
					t.Errorf("%s tells of its reason %q and evidence %v", v.Requirement, v.Reason, v.Evidence)
				}
			}
		}))
	if broken == 0 {
		t.Error("nothing was told of what is broken")
	}
}
