package observe

import (
	"fmt"
	"maps"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Context is what all steps of all exchanges see, at one revision over one transport.
type Context struct {
	Revision  script.Revision
	Transport string
	Server    map[string]any // what the survey showed
	Roles     map[string]any
	Unfilled  map[string]string // why a role that the settings name is not filled
	Callable  []any             // the tools that may be called, each with name, arguments and tool
	Absent    map[string]any
	Loopback  bool
	Auth      map[string]any // what is known of the server's authorization; nil: nothing
	Reader    *Reader        // may be nil
	// Clients are the same for clients that declared capabilities, by script.CapabilitiesKey: what such a client was offered.
	Clients map[string]*Context
}

// For is the context in which the exchange is planned, played and judged: what a client with its capabilities was offered,
// or where no such client asked, what one without any was.
func (c *Context) For(ex *script.Exchange) *Context {
	if other := c.Clients[script.CapabilitiesKey(ex.Client.Capabilities)]; other != nil {
		return other
	}
	return c
}

// Vars is a fresh set of variables for an exchange; opening are the events of its session's handshake.
func (c *Context) Vars(client map[string]any, opening []transcript.Event) map[string]any {
	if client == nil {
		client = map[string]any{}
	}
	vars := map[string]any{
		"revision": string(c.Revision), "transport": c.Transport, "server": c.Server, "roles": c.Roles,
		"callable": c.Callable, "absent": c.Absent, "client": client, "loopback": c.Loopback, "auth": c.Auth,
		"meta": wire.Meta(string(c.Revision), client), "pingMethod": wire.Ping(string(c.Revision)),
	}
	if len(opening) > 0 {
		vars["handshake"] = c.Reader.handshake(opening)
	}
	return vars
}

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

// Enter adds the observation's members to the variables, in a copy.
func Enter(vars, doc map[string]any) map[string]any {
	out := make(map[string]any, len(vars)+len(doc))
	maps.Copy(out, vars)
	maps.Copy(out, doc)
	return out
}

// Replay goes through the steps of an exchange as they were played and calls visit for each, nested steps
// included. It returns the variables after the last step, those that steps stored under a name among them.
func Replay(ex *script.Exchange, vars map[string]any, events []transcript.Event, visit func(Seen)) map[string]any {
	return (*Reader)(nil).Replay(ex, vars, events, visit)
}

// Replay is the function Replay.
func (r *Reader) Replay(ex *script.Exchange, vars map[string]any, events []transcript.Event, visit func(Seen)) map[string]any {
	return replayWith(r, ex, vars, events, visit)
}

func replayWith(reader *Reader, ex *script.Exchange, vars map[string]any, events []transcript.Event, visit func(Seen)) map[string]any {
	r := replay{reader: reader, byStep: map[[2]int][]transcript.Event{}, begun: map[[2]int]int{}, visit: visit}
	for i, e := range events {
		key := [2]int{e.Step, e.Item}
		if e.Kind == transcript.Step {
			if _, again := r.begun[key]; !again {
				r.begun[key] = i
			}
			continue
		}
		r.byStep[key] = append(r.byStep[key], e)
		if e.Kind == transcript.EOF || e.Kind == transcript.Exit {
			r.ends = append(r.ends, end{i, e.In, e.Exit})
		}
	}
	return r.steps(ex.Steps, maps.Clone(vars), 0)
}

type end struct {
	at   int
	in   string
	exit *transcript.ExitStatus
}

type replay struct {
	reader *Reader
	byStep map[[2]int][]transcript.Event
	begun  map[[2]int]int // the index of the event with which it began
	ends   []end
	visit  func(Seen)
}

func (r *replay) steps(steps []*script.Step, vars map[string]any, item int) map[string]any {
	for _, st := range steps {
		if st.When != nil {
			if ok, err := st.When.Bool(vars); err != nil || !ok {
				r.visit(Seen{Step: st, Item: item, Vars: vars, Left: err == nil, Err: err})
				continue
			}
		}
		if st.Verb == script.Each {
			r.each(st, vars)
			continue
		}
		key := [2]int{st.Number, item}
		began, ok := r.begun[key]
		if !ok {
			r.visit(Seen{Step: st, Item: item, Vars: vars})
			continue
		}
		var exit *transcript.ExitStatus
		gone := false
		for _, e := range r.ends {
			if e.at < began && e.in == st.In {
				gone = true
				if e.exit != nil {
					exit = e.exit
				}
			}
		}
		doc := r.reader.step(st, r.byStep[key], exit)
		r.visit(Seen{Step: st, Item: item, Events: r.byStep[key], Doc: doc, Vars: Enter(vars, doc), Gone: gone})
		if st.As != "" {
			vars[st.As] = doc
		}
	}
	return vars
}

// each replays nested steps once for every item. Under the step's own name the outcomes are stored as a list
// of objects: the item as `it`, and what the nested steps stored.
func (r *replay) each(st *script.Step, vars map[string]any) {
	items, err := List(st, vars)
	if err != nil || len(items) == 0 {
		for _, nested := range st.Steps {
			r.visit(Seen{Step: nested, Vars: vars, Empty: err == nil, Err: err})
		}
	}
	all := []any{}
	for i, it := range items {
		inner := maps.Clone(vars)
		inner["it"] = it
		inner = r.steps(st.Steps, inner, i+1)
		all = append(all, Outcome(it, st, inner))
	}
	if st.As != "" {
		vars[st.As] = all
	}
}

// Outcome is what one repetition of a repeated step leaves: its item as `it`, and what the nested steps stored in vars
// under their names.
func Outcome(it any, st *script.Step, vars map[string]any) map[string]any {
	outcome := map[string]any{"it": it}
	for _, nested := range st.Steps {
		if v, ok := vars[nested.As]; ok && nested.As != "" {
			outcome[nested.As] = v
		}
	}
	return outcome
}

// List evaluates the items of a repeated step.
func List(st *script.Step, vars map[string]any) ([]any, error) {
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
