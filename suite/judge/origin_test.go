package judge

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// A server that hangs up on a foreign origin refuses it. One that keeps it waiting does not: whether it has done what it was asked
// for nobody can tell.
func TestAForeignOriginIsRefusedByHangingUpAndNotByWaiting(t *testing.T) {
	lib, err := script.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []struct {
		exchange, requirement, transport string
		revision                         script.Revision
	}{
		{"ask from a foreign origin", "http.origin.refused", "streamable-http", script.R20250618},
		{"open a stream and post from a foreign origin", "sse.origin.refused", "http+sse", script.R20241105},
	} {
		for end, want := range map[transcript.Kind]verdict.Status{transcript.End: verdict.Pass, transcript.Timeout: verdict.Fail} {
			c := &observe.Context{Revision: place.revision, Transport: place.transport}
			var events []transcript.Event
			for step := range 2 {
				at := transcript.Event{Step: step + 1, Stream: step + 1}
				began, sent, over := at, at, at
				began.Kind, began.Stream = transcript.Step, 0
				sent.Kind, sent.HTTP = transcript.Send, &transcript.HTTP{Method: "POST"}
				sent.Data = []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
				over.Kind, over.Note = end, "EOF"
				events = append(events, began, sent, over)
			}
			vs := Play(lib, c, &transcript.Play{Exchange: place.exchange, Events: events}, nil)
			status := map[string]verdict.Status{}
			for _, v := range vs {
				status[v.Requirement] = v.Status
			}
			gomega.NewWithT(t).Expect(status).To(gomega.HaveKeyWithValue(place.requirement, want), string(end))
		}
	}
}
