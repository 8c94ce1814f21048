package judge

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

const twoSteps = `
- exchange: ask twice
  steps:
    - request: ping
      as: first
    - request: ping
      as: second
  checks:
    test.both: has(first.result) && has(second.result)
- exchange: ask step by step
  steps:
    - request: ping
      as: first
    - request: ping
      checks:
        test.both: has(first.result) && has(result)
- exchange: ask whether it is still there
  steps:
    - request: ping
    - request: ping
    - request: ping
      checks:
        test.both: {that: has(result), survival: true}
- exchange: be refused step by step
  steps:
    - request: ping
    - request: ping
      checks:
        test.both: http.status >= 400
`

const both = `
- id: test.both
  level: MUST
  since: 2024-11-05
  text: Both are answered.
  spec: {2024-11-05: basic/utilities/ping#message-format}
`

func library(t *testing.T) *script.Library {
	t.Helper()
	file := func(text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.TrimSpace(text) + "\n")}
	}
	lib, err := script.Load(fstest.MapFS{"requirements/test.yaml": file(both), "exchanges/test.yaml": file(twoSteps)})
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func answered(step int) []transcript.Event {
	return []transcript.Event{
		{Kind: transcript.Step, Step: step},
		{Kind: transcript.Send, Step: step, Data: []byte(`{"jsonrpc":"2.0","id":` + string(rune('0'+step)) + `,"method":"ping"}`)},
		{Kind: transcript.Receive, Step: step, Data: []byte(`{"jsonrpc":"2.0","id":` + string(rune('0'+step)) + `,"result":{}}`)},
	}
}

// What the suite could not do is no failure of the server, in the checks of an exchange as a whole either.
func TestChecksOfAnExchangeThatWasNotCarriedOut(t *testing.T) {
	lib := library(t)
	c := &observe.Context{Revision: script.R20251125, Transport: "stdio"}
	for _, x := range []struct {
		name   string
		play   transcript.Play
		status verdict.Status
		reason string
	}{
		{"both were answered", transcript.Play{Events: append(answered(1), answered(2)...)}, verdict.Pass, ""},
		{"the server did not answer the second", transcript.Play{Events: append(answered(1), answered(2)[:2]...)}, verdict.Fail, "there is no second.result"},
		{"the server had ended before the second", transcript.Play{Events: append(append(answered(1),
			transcript.Event{Kind: transcript.EOF, Step: 1}), answered(2)[:2]...)}, verdict.Untested, "the server had ended the conversation before a step"},
		{"the server ended during the second", transcript.Play{Events: append(append(answered(1), answered(2)[:2]...),
			transcript.Event{Kind: transcript.EOF, Step: 2})}, verdict.Fail, "there is no second.result"},
		{"no session could be had", transcript.Play{Problem: "connection refused"}, verdict.Untested,
			"the exchange could not be played to its end: connection refused"},
		{"the second session could not be had", transcript.Play{Problem: "connection refused", Events: answered(1)}, verdict.Untested, "connection refused"},
		{"the second step failed", transcript.Play{Events: append(answered(1),
			transcript.Event{Kind: transcript.Step, Step: 2}, transcript.Event{Kind: transcript.Failure, Step: 2, Note: "no route to host"})},
			verdict.Error, "the suite could not carry a step out: no route to host"},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			x.play.Exchange = "ask twice"
			got := Play(lib, c, &x.play, nil)
			g.Expect(got).To(gomega.HaveLen(1))
			g.Expect(got[0].Status).To(gomega.Equal(x.status))
			g.Expect(got[0].Reason).To(gomega.ContainSubstring(x.reason))
		})
	}
}

// One process serves all sessions over HTTP: when it ends while several exchanges are played, any of them may have ended it. What could
// not be sent any more is nobody's answer either.
func TestAProcessThatEndedForSeveralExchanges(t *testing.T) {
	lib := library(t)
	during := func(exchange string) *transcript.Play {
		return &transcript.Play{Exchange: exchange, Revision: "2025-11-25", Transport: "streamable-http",
			Events: append(append(answered(1), answered(2)[:2]...), transcript.Event{Kind: transcript.Exit, Step: 2, Exit: &transcript.ExitStatus{Code: 1}})}
	}
	unsent := during("ask twice")
	unsent.Events = append(unsent.Events[:len(unsent.Events)-1],
		transcript.Event{Kind: transcript.End, Step: 2, Stream: 9, Note: "unexpected EOF"}, // of a stream that was open
		transcript.Event{Kind: transcript.End, Step: 2, Note: transcript.NeverReached})
	for _, x := range []struct {
		name      string
		transport string
		plays     []*transcript.Play
		ended     bool
		unsent    bool
	}{
		{"one exchange", "streamable-http", []*transcript.Play{during("ask twice")}, false, false},
		{"two exchanges", "streamable-http", []*transcript.Play{during("ask twice"), during("another")}, true, false},
		{"two exchanges over HTTP+SSE", "http+sse", []*transcript.Play{during("ask twice"), during("another")}, true, false},
		{"two processes", "stdio", []*transcript.Play{during("ask twice"), during("another")}, false, false},
		{"a request that reached nobody", "streamable-http", []*transcript.Play{unsent}, false, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			j := &judge{lib: lib, run: &transcript.Run{Plays: x.plays}, pair: Pair{Revision: script.R20251125, Transport: x.transport},
				context: &observe.Context{Revision: script.R20251125, Transport: x.transport}}
			g.Expect(j.endedForSeveral()).To(gomega.Equal(x.ended))
			g.Expect(neverReached(x.plays[0].Events)).To(gomega.Equal(x.unsent))
			want := verdict.Fail
			if x.ended || x.unsent {
				want = verdict.Untested
			}
			for _, exchange := range []string{"ask twice", "ask step by step", "ask whether it is still there"} {
				p := *x.plays[0]
				if exchange == "ask whether it is still there" {
					if x.unsent { // which it is not, and nothing else says why
						continue
					}
					p.Events = append(slices.Clone(p.Events), answered(3)[:2]...)
				}
				judged := newTally(j, lib.Exchange(exchange))
				judged.play(&p, nil)
				g.Expect(judged.by["test.both"].status).To(gomega.Equal(want), exchange)
			}
		})
	}
}

// A reason is short: the evidence holds the expression and every value.
func TestBecause(t *testing.T) {
	long := strings.Repeat("x", 70)
	object := func(pairs ...any) map[string]any {
		o := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
		return o
	}
	for _, x := range []struct {
		that, want string
		vars       map[string]any
	}{
		{`error.code == -32602`, "expected error.code == -32602; error.code is -32603", object("error", object("code", int64(-32603)))},
		{`error.code == -32602`, "expected error.code == -32602; there is no error", nil},
		{`has(error) || has(http) && http.status >= 400`, "there is no error", nil},
		{`has(error) || has(http) && http.status >= 400`, "there is no error; http.status is 200", object("http", object("status", int64(200)))},
		{`schema(it, "Tool")`, `(root): "inputSchema" is missing (and 2 more)`, object("it", object("title", int64(1)), "revision", "2025-11-25")},
		{`has(it.type) && it.type in ["` + long + `"]`, `it.type is "resource_link"`, object("it", object("type", "resource_link"), "revision", "2024-11-05")},
		{`has(result)`, "there is no result", nil},
		{`has(it.request)`, "there is no it.request", object("it", object("id", int64(1)))},
		{`has(result)`, "the server's process ended, with code 1", object("exit", object("code", int64(1), "signal", ""))},
		{`unique(it)`, `expected unique(it); it is ["a","a"]`, object("it", []any{"a", "a"})},
		{`"` + long + `" == revision`, "the check does not hold", object("revision", "2024-11-05")},
		{`error.code == 1`, "no answer came in time", object("timeout", true)},
		// What is written within a text, or named like something else, is no operator and no variable.
		{`it == "a && b!"`, `expected it == "a && b!"; it is "c"`, object("it", "c")},
		{`it.error == 1`, `expected it.error == 1; it.error is 2`, object("it", object("error", int64(2)), "exit", object("code", int64(1)))},
		{`it.all(x, x > 1)`, `expected it.all(x, x > 1); x is 0`, object("it", []any{int64(0)})},
	} {
		e, err := script.Compile(x.that, script.Position{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gomega.NewWithT(t).Expect(because(e, x.vars, e.Explain(x.vars))).To(gomega.Equal(x.want), x.that)
	}
}

// In a run that broke off, a request may be missing whose reply is there.
func TestAWatchHoldsNothingAgainstTheServerInARunThatBrokeOff(t *testing.T) {
	lib, err := script.Default()
	if err != nil {
		t.Fatal(err)
	}
	for complete, want := range map[bool]verdict.Status{true: verdict.Fail, false: verdict.Error} {
		g := gomega.NewWithT(t)
		vs, err := Run(lib, &transcript.Run{
			Header:   transcript.Header{Options: transcript.Options{Select: "base.response.same-id"}},
			Complete: complete,
			Sessions: []*transcript.Session{{Number: 1, Revision: "2025-11-25", Transport: "stdio", Negotiated: "2025-11-25", Events: []transcript.Event{
				{Kind: transcript.Receive, Data: []byte(`{"jsonrpc":"2.0","id":7,"result":{}}`)}}}},
			Plays: []*transcript.Play{{Exchange: "x", Revision: "2025-11-25", Transport: "stdio"}},
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		vs = slices.DeleteFunc(vs, func(v verdict.Verdict) bool { return v.Exchange != "every message that the server sends" })
		g.Expect(vs).To(gomega.HaveLen(1))
		g.Expect(vs[0].Status).To(gomega.Equal(want), "complete: %v: %s", complete, vs[0].Reason)
	}
}
