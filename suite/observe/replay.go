package observe

import (
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Replay walks through an exchange as it was played, by the record alone: a step was carried out when the record says that it
// began. visit may be nil. It returns the variables after the last step, those that steps stored under a name among them.
func (r *Reader) Replay(ex *script.Exchange, vars map[string]any, events []transcript.Event, visit func(Seen)) map[string]any {
	type place struct{ step, item int }
	recorded := map[place][]transcript.Event{}
	begun := map[place]bool{}
	for _, e := range events {
		at := place{e.Step, e.Item}
		if e.Kind == transcript.Step {
			if begun[at] {
				continue
			}
			begun[at] = true
		}
		recorded[at] = append(recorded[at], e)
	}
	w := &Walk{
		Reader: r,
		Begun:  func(st *script.Step, item int) bool { return begun[place{st.Number, item}] },
		Carry: func(st *script.Step, item int, _ map[string]any) ([]transcript.Event, error) {
			return recorded[place{st.Number, item}], nil
		},
		Visit: visit,
	}
	vars, _ = w.Steps(ex, vars) // looking up cannot fail
	return vars
}
