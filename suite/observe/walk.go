package observe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Seen is what a step looks like after the fact.
type Seen struct {
	Step   *script.Step
	Item   int                // which repetition of a repeated step, from 1; 0 for others
	Events []transcript.Event // its own
	Doc    map[string]any     // its observation; nil: it was not carried out
	Vars   map[string]any     // all variables that its checks see
	Gone   bool               // the server had ended the conversation before the step began
	Left   bool               // its own when: said that it be left out
	Empty  bool               // the list of its repetition is empty
	Err    error              // its when: or the list of its repetition could not be evaluated
}

// Walk goes through the steps of an exchange: it decides by when: which are left out, repeats those of each:, and hands what a
// step saw to the later ones under its name. The player carries the steps out, the judge looks them up; all else about
// the order of steps and what they know of each other is here, once.
type Walk struct {
	Reader *Reader // may be nil
	// Begun says whether the record has the step: then nobody decides again whether it is to be carried out. nil: there is
	// no record yet.
	Begun func(st *script.Step, item int) bool
	// Carry carries a step out with these variables, or looks it up. Its events are all that happened from the end of the step before
	// in that session to its own end, with the one of kind Step that tells when it began; none at all: it was not
	// carried out. An error ends the walk.
	Carry func(st *script.Step, item int, vars map[string]any) ([]transcript.Event, error)
	// Visit is shown each step, nested ones included, those that were left out, too. nil: the variables alone are wanted.
	Visit func(Seen)

	ended map[string]*ending // how sessions ended, by name
}

// ending is that the server ended a conversation: exit says how its process ended, nil while that is not known.
type ending struct{ exit *transcript.ExitStatus }

// Steps goes through the steps of the exchange. It returns the variables after the last step that was reached, those that
// steps stored under a name among them, and the error of Carry.
func (w *Walk) Steps(ex *script.Exchange, vars map[string]any) (map[string]any, error) {
	w.ended = map[string]*ending{}
	vars = enter(vars, nil)
	return vars, w.steps(ex.Steps, vars, 0)
}

func (w *Walk) show(seen Seen) {
	if w.Visit != nil {
		w.Visit(seen)
	}
}

// steps adds to vars what the steps store under their names.
func (w *Walk) steps(steps []*script.Step, vars map[string]any, item int) error {
	for _, st := range steps {
		if left, err := w.leaves(st, item, vars); left || err != nil {
			w.show(Seen{Step: st, Item: item, Vars: vars, Left: left, Err: err})
			continue
		}
		if st.Verb == script.Each {
			if err := w.each(st, vars); err != nil {
				return err
			}
			continue
		}
		events, err := w.Carry(st, item, vars)
		if err != nil {
			return err
		}
		w.step(st, item, vars, events)
	}
	return nil
}

// leaves says whether the step's when: has it left out. With an error it cannot be told, and it is left out, too.
func (w *Walk) leaves(st *script.Step, item int, vars map[string]any) (bool, error) {
	if st.When == nil || w.Begun != nil && w.Begun(st, item) {
		return false, nil
	}
	ok, err := st.When.Bool(vars)
	return err == nil && !ok, err
}

// step makes the observation of a step of its events.
func (w *Walk) step(st *script.Step, item int, vars map[string]any, events []transcript.Event) {
	began := slices.IndexFunc(events, func(e transcript.Event) bool { return e.Kind == transcript.Step })
	if began < 0 {
		w.show(Seen{Step: st, Item: item, Vars: vars})
		return
	}
	w.note(st, events[:began])
	before := w.ended[sessionOf(st)]
	own := slices.Delete(slices.Clone(events), began, began+1)
	if w.Visit != nil || st.As != "" {
		var exit *transcript.ExitStatus
		if before != nil {
			exit = before.exit
		}
		doc := w.Reader.step(st, own, exit)
		if w.Visit != nil {
			w.Visit(Seen{Step: st, Item: item, Events: own, Doc: doc, Vars: enter(vars, doc), Gone: before != nil})
		}
		if st.As != "" {
			vars[st.As] = doc
		}
	}
	w.note(st, events[began:])
}

// note remembers of the step's session that the server ended it.
func (w *Walk) note(st *script.Step, events []transcript.Event) {
	for _, e := range events {
		if e.Kind != transcript.EOF && e.Kind != transcript.Exit {
			continue
		}
		end := &ending{e.Exit}
		if before := w.ended[sessionOf(st)]; before != nil && e.Exit == nil {
			end = before
		}
		w.ended[sessionOf(st)] = end
	}
}

// sessionOf names the session whose events are the step's.
func sessionOf(st *script.Step) string {
	if st.Verb == script.Open {
		return st.Target
	}
	return st.In
}

// each goes through nested steps once for every item. Under the step's own name the outcomes are stored as a list
// of objects: the item as `it`, and what the nested steps stored.
func (w *Walk) each(st *script.Step, vars map[string]any) error {
	items, err := list(st, vars)
	if err != nil || len(items) == 0 {
		for _, nested := range st.Steps {
			w.show(Seen{Step: nested, Vars: vars, Empty: err == nil, Err: err})
		}
	}
	all := []any{}
	for i, it := range items {
		inner := maps.Clone(vars)
		inner["it"] = it
		if err := w.steps(st.Steps, inner, i+1); err != nil {
			return err
		}
		all = append(all, outcome(it, st, inner))
	}
	if st.As != "" {
		vars[st.As] = all
	}
	return nil
}

// outcome is what one repetition of a repeated step leaves: its item as `it`, and what the nested steps stored in vars
// under their names.
func outcome(it any, st *script.Step, vars map[string]any) map[string]any {
	outcome := map[string]any{"it": it}
	for _, nested := range st.Steps {
		if v, ok := vars[nested.As]; ok && nested.As != "" {
			outcome[nested.As] = v
		}
	}
	return outcome
}

// list evaluates the items of a repeated step.
func list(st *script.Step, vars map[string]any) ([]any, error) {
	v, err := st.List.Value(vars)
	if err != nil {
		return nil, fmt.Errorf("%s:%d:%d: the list %q cannot be evaluated: %w", st.Pos.File, st.Pos.Line, st.Pos.Column, st.List.Source, err)
	}
	items, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s:%d:%d: %q is no list", st.Pos.File, st.Pos.Line, st.Pos.Column, st.List.Source)
	}
	return items, nil
}

// enter adds the observation's members to the variables, in a copy.
func enter(vars, doc map[string]any) map[string]any {
	out := make(map[string]any, len(vars)+len(doc))
	maps.Copy(out, vars)
	maps.Copy(out, doc)
	return out
}
