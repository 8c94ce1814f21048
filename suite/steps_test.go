package suite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/fixtures"
	"github.com/mcp-litmus/mcp-litmus/internal/rejudge"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// between is a conversation whose steps depend on what came by the end of the one before.
var between = fstest.MapFS{"between.yaml": &fstest.MapFile{Data: []byte(`
- exchange: look between the steps
  session: own
  steps:
    - each: range(200)
      as: turns
      steps:
        - request: ping
          as: first
        - request: ping
          when: size(first.arrived) < 2
          as: early
        - request: ping
          when: size(first.arrived) >= 2
          params: {_meta: {late: "${size(first.arrived)}"}}
          as: late
  checks:
    ping.responds: size(turns) == 200 && turns.all(t, has(t.early) != has(t.late))
`)}}

// serveTwice is a server that says something on its own behind each reply: it may come before the step is over, or after.
func serveTwice(_ context.Context, in io.Reader, out io.Writer) error {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		if m.Method == "initialize" {
			result = `{"protocolVersion":"2025-11-25","capabilities":{"logging":{}},"serverInfo":{"name":"twice","version":"1"}}`
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		if m.Method == "ping" {
			fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"behind"}}`)
		}
	}
	return nil
}

// What a step observed is settled when it is over: what the player decided by it, the judge finds in the transcript, whatever came
// a moment later.
func TestWhatComesBetweenTwoStepsIsTheSameForPlayerAndJudge(t *testing.T) {
	g := gomega.NewWithT(t)
	lib, err := script.Load(fixtures.FS, fs.FS(between))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	o, err := suite.Run(t.Context(), suite.Pipe(serveTwice), suite.Revisions("2025-11-25"), suite.Exchanges(between), suite.Select("ping.responds"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	rejudge.Check(t, o, suite.Exchanges(between))
	for _, v := range o.Report.Verdicts {
		g.Expect(v.Status).To(gomega.Equal(verdict.Pass), "%s: %s", v.Exchange, v.Reason)
	}
	looked := 0
	for _, p := range o.Transcript.Plays {
		if p.Exchange != "look between the steps" {
			continue
		}
		type place struct{ Step, Item int }
		var played, decided []place
		recorded := map[place][]transcript.Event{}
		for _, e := range p.Events {
			at := place{e.Step, e.Item}
			recorded[at] = append(recorded[at], e)
			if e.Kind == transcript.Step {
				played = append(played, at)
			}
		}
		again := observe.Walk{Carry: func(st *script.Step, item int, _ map[string]any) ([]transcript.Event, error) {
			decided = append(decided, place{st.Number, item})
			return recorded[place{st.Number, item}], nil
		}}
		_, err := again.Steps(lib.Exchange(p.Exchange), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(cmp.Diff(played, decided)).To(gomega.BeEmpty(), "decided again, other steps are taken")
		g.Expect(len(played)).To(gomega.BeNumerically(">=", 400))
		looked++
	}
	g.Expect(looked).To(gomega.Equal(1))
}
