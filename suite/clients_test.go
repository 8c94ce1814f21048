package suite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// serveSampler is a server that offers its only tool to clients that can sample, and to nobody else.
func serveSampler(_ context.Context, in io.Reader, out io.Writer) error {
	type message struct {
		ID     any    `json:"id"`
		Method string `json:"method"`
		Params struct {
			Capabilities map[string]any `json:"capabilities"`
		} `json:"params"`
	}
	var call any // the id of the call that waits for the client's model
	samples := false
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		reply := func(id any, result string) {
			text, _ := json.Marshal(id)
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", text, result)
		}
		switch {
		case m.Method == "initialize":
			_, samples = m.Params.Capabilities["sampling"]
			reply(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sampler","version":"1"}}`)
		case m.Method == "tools/list" && samples:
			reply(m.ID, `{"tools":[{"name":"test_sampling","inputSchema":{"type":"object"}}]}`)
		case m.Method == "tools/list":
			reply(m.ID, `{"tools":[]}`)
		case m.Method == "tools/call":
			call = m.ID
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"ask","method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}`)
		case m.Method == "" && m.ID == "ask":
			reply(call, `{"content":[]}`)
		case m.Method == "ping":
			reply(m.ID, `{}`)
		}
	}
	return nil
}

// surveys are the sessions in which the survey was played, by the client capabilities that were declared there.
func surveys(o *suite.Outcome) (without, with int) {
	lib, err := script.Default()
	if err != nil {
		panic(err)
	}
	offer := lib.Survey(script.Offer)
	for _, p := range o.Transcript.Plays {
		if p.Exchange != offer.Name {
			continue
		}
		at := slices.IndexFunc(o.Transcript.Sessions, func(s *transcript.Session) bool { return s.Number == p.Session })
		if len(o.Transcript.Sessions[at].Client) == 0 {
			without++
		} else {
			with++
		}
	}
	return without, with
}

func TestWhatAServerOffersOnlyToSomeClientsIsFound(t *testing.T) {
	g := gomega.NewWithT(t)
	o := run(t, suite.Pipe(serveSampler), suite.Revisions("2025-11-25"), suite.Select("sampling.result.accepted"))
	passed := slices.ContainsFunc(o.Report.Verdicts, func(v verdict.Verdict) bool {
		return v.Exchange == "sample a text" && v.Status == verdict.Pass
	})
	g.Expect(passed).To(gomega.BeTrue(), "%v", o.Report.Verdicts)
	without, with := surveys(o)
	g.Expect(without).To(gomega.Equal(1))
	g.Expect(with).To(gomega.Equal(1), "one kind of client is wanted")
}

func TestNoClientIsSurveyedThatNobodyPlays(t *testing.T) {
	g := gomega.NewWithT(t)
	o := run(t, suite.Pipe(serveSampler), suite.Revisions("2025-11-25"), suite.Select("ping"))
	_, with := surveys(o)
	g.Expect(with).To(gomega.BeZero())
}
