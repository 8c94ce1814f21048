package observe_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

func exchange(t *testing.T, steps string) *script.Exchange {
	t.Helper()
	file := func(text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.TrimSpace(text) + "\n")}
	}
	lib, err := script.Load(fstest.MapFS{
		"requirements/test.yaml": file(`
- id: test.any
  level: MUST
  since: 2024-11-05
  text: It is answered.
  spec: {2024-11-05: basic/utilities/ping#message-format}
`),
		"exchanges/test.yaml": file("- exchange: x\n  steps:\n" + steps),
	})
	if err != nil {
		t.Fatal(err)
	}
	return lib.Exchange("x")
}

func began(step int) transcript.Event { return transcript.Event{Kind: transcript.Step, Step: step} }

const asked, told = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/message"}`

// A step knows how the process ended before it, whether it is carried out or looked up.
func TestAStepKnowsOfAnEndBeforeIt(t *testing.T) {
	g := gomega.NewWithT(t)
	ex := exchange(t, `
    - {request: ping, as: first}
    - {request: ping, when: 'first.exit.code == 3', as: second}
    - {request: ping, when: 'second.exit.code == 3', as: third, checks: {test.any: exit.code == 3}}
`)
	events := map[int][]transcript.Event{
		1: {began(1), sent(1, asked), {Kind: transcript.EOF, Step: 1}, {Kind: transcript.Exit, Step: 1, Exit: &transcript.ExitStatus{Code: 3}}},
		2: {began(2), sent(2, asked)}, 3: {began(3), sent(3, asked)},
	}
	live := observe.Walk{Carry: func(st *script.Step, _ int, _ map[string]any) ([]transcript.Event, error) {
		return events[st.Number], nil
	}}
	vars, err := live.Steps(ex, nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(vars).To(gomega.HaveKey("third"))

	var all []transcript.Event
	for n := 1; n <= 3; n++ {
		all = append(all, events[n]...)
	}
	gone := map[int]bool{}
	g.Expect(new(observe.Reader).Replay(ex, nil, all, func(s observe.Seen) { gone[s.Step.Number] = s.Gone })).To(gomega.Equal(vars))
	g.Expect(gone).To(gomega.Equal(map[int]bool{1: false, 2: true, 3: true}))
}

// What came after the step before was over belongs to the next one; an end that came then had come before that step began.
func TestWhatCameBetweenBelongsToTheNextStep(t *testing.T) {
	g := gomega.NewWithT(t)
	ex := exchange(t, `
    - {request: ping, as: first}
    - {request: ping, as: second, checks: {test.any: has(result)}}
`)
	vars := new(observe.Reader).Replay(ex, nil, []transcript.Event{
		began(1), sent(1, asked), received(2, told), {Kind: transcript.EOF, Step: 2}, began(2), sent(2, asked),
	}, func(s observe.Seen) { g.Expect(s.Gone).To(gomega.Equal(s.Step.Number == 2)) })
	g.Expect(vars["first"]).To(gomega.HaveKeyWithValue("arrived", gomega.BeEmpty()))
	g.Expect(vars["second"]).To(gomega.HaveKeyWithValue("arrived", gomega.HaveLen(1)))
}

// The record counts: a secret that was taken out of it may have decided what was done.
func TestWhatIsRecordedIsNotDecidedAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	ex := exchange(t, `
    - {request: ping, when: 'revision == "x"', as: taken, checks: {test.any: has(result)}}
    - {request: ping, when: 'revision == "x"', as: left}
`)
	left := map[int]bool{}
	vars := new(observe.Reader).Replay(ex, map[string]any{"revision": "y"}, []transcript.Event{began(1), sent(1, asked)},
		func(s observe.Seen) { left[s.Step.Number] = s.Left })
	g.Expect(left).To(gomega.Equal(map[int]bool{1: false, 2: true}))
	g.Expect(vars).To(gomega.HaveKey("taken"))
	g.Expect(vars).NotTo(gomega.HaveKey("left"))
}
