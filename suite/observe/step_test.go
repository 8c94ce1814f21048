package observe_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// The session may answer a request of the server at any moment, also before a step has sent what its author wrote.
func TestAnAutomaticAnswerIsNotWhatAStepSent(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`
	automatic := sent(1, answer)
	automatic.Note = transcript.Automatic
	for _, own := range []string{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, answer} {
		g := gomega.NewWithT(t)
		doc := observe.Step(&script.Step{Verb: script.Raw}, []transcript.Event{
			automatic, sent(1, own), automatic, received(1, `{"jsonrpc":"2.0","id":7,"result":{}}`),
		}, nil)
		want := observe.Step(&script.Step{Verb: script.Raw}, []transcript.Event{sent(1, own), received(1, `{"jsonrpc":"2.0","id":7,"result":{}}`)}, nil)
		g.Expect(doc["sent"]).To(gomega.Equal(want["sent"]))
		g.Expect(doc["result"]).NotTo(gomega.BeNil())
	}
}

// Of a request that was asked again and again the last reply counts, and all are there.
func TestAPolledRequestIsWhatItsLastReplySays(t *testing.T) {
	g := gomega.NewWithT(t)
	st := &script.Step{Verb: script.Request, Poll: &script.Expr{}}
	events := []transcript.Event{
		sent(1, `{"jsonrpc":"2.0","id":7,"method":"tasks/get"}`), received(1, `{"jsonrpc":"2.0","id":7,"result":{"status":"working"}}`),
		sent(1, `{"jsonrpc":"2.0","id":8,"method":"tasks/get"}`), received(1, `{"jsonrpc":"2.0","id":8,"result":{"status":"completed"}}`),
	}
	doc := observe.Step(st, events, nil)
	g.Expect(doc["result"]).To(gomega.HaveKeyWithValue("status", "completed"))
	g.Expect(doc["replies"]).To(gomega.HaveLen(2))

	doc = observe.Step(st, append(events, sent(1, `{"jsonrpc":"2.0","id":9,"method":"tasks/get"}`)), nil)
	g.Expect(doc).NotTo(gomega.HaveKey("result")) // an answer is owed
	g.Expect(doc["replies"]).To(gomega.HaveLen(3))
}
