package judge

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// A server that has too much to do, or limits how often it may be asked, breaks no rule, and what it puts off keeps none.
func TestARequestThatTheServerPutsOff(t *testing.T) {
	lib := library(t)
	c := &observe.Context{Revision: script.R20251125, Transport: "streamable-http"}
	for _, x := range []struct {
		name   string
		status int
		body   string
		want   verdict.Status
	}{
		{"busy", 503, "", verdict.Untested},
		{"asked too often", 429, "", verdict.Untested},
		{"asked too often, in JSON", 429, `{"error":"slow down"}`, verdict.Untested},
		{"asked too often, in an error for nobody", 429, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slow down"}}`, verdict.Untested},
		{"the request is answered all the same", 503, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}`, verdict.Fail},
		{"out of order", 500, "", verdict.Fail},
		{"somebody else's fault", 502, "", verdict.Fail},
		{"refused", 400, "", verdict.Fail},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			second := answered(2)[:2]
			second[1].Stream, second[1].HTTP = 2, &transcript.HTTP{Method: "POST"}
			second = append(second, transcript.Event{Kind: transcript.Answer, Step: 2, Stream: 2, HTTP: &transcript.HTTP{Status: x.status}})
			if x.body != "" {
				second = append(second, transcript.Event{Kind: transcript.Receive, Step: 2, Stream: 2, Data: []byte(x.body)})
			}
			second = append(second, transcript.Event{Kind: transcript.End, Step: 2, Stream: 2})
			for _, exchange := range []string{"ask twice", "ask step by step", "be refused step by step"} {
				want := x.want
				if exchange == "be refused step by step" && want == verdict.Fail {
					want = verdict.Pass
				}
				got := Play(lib, c, &transcript.Play{Exchange: exchange, Events: append(answered(1), second...)}, nil)
				g.Expect(got).To(gomega.HaveLen(1))
				g.Expect(got[0].Status).To(gomega.Equal(want), exchange)
			}
		})
	}
}
