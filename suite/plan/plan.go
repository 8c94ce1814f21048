package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Item is one exchange at one revision over one transport, and whether it is to be played.
type Item struct {
	Exchange *script.Exchange
	Context  *observe.Context // what its client was offered
	Status   verdict.Status   // "": to be played; else Skip, Untested or Error, and why
	Reason   string
	Add      verdict.Additions // what would let it be played
}

// Plan lists, in the catalogue's order, every exchange that has a requirement in force at the context's
// revision and is about its transport. The survey's own exchanges are among them.
func Plan(lib *script.Library, c *observe.Context) []Item {
	var items []Item
	for _, ex := range lib.Exchanges {
		if !Concerns(lib, ex, c.Revision, c.Transport) {
			continue
		}
		context := c.For(ex)
		item := applies(lib, ex, context)
		item.Exchange, item.Context = ex, context
		items = append(items, item)
	}
	return items
}

// Concerns says whether the exchange has something to say at the revision and over the transport.
func Concerns(lib *script.Library, ex *script.Exchange, r script.Revision, transport string) bool {
	if !over(ex.Transports, transport) || !r.Over(transport) || ex.Era != "" && ex.Era != r.Era() || r < ex.Since {
		return false
	}
	return len(InForce(lib, ex, r, transport)) > 0 || ex.Survey != ""
}

// over says whether transport is among those listed; none listed means all. In-memory pipes carry the lines of stdio and
// have no process: what is about both names both.
func over(transports []string, transport string) bool {
	return len(transports) == 0 || slices.Contains(transports, transport)
}

// InForce lists the requirements that the exchange's checks name and that are in force at the revision and
// about the transport, in the order of the checks.
func InForce(lib *script.Library, ex *script.Exchange, r script.Revision, transport string) []*script.Requirement {
	var out []*script.Requirement
	add := func(checks []*script.Check) {
		for _, c := range checks {
			q := lib.Requirement(c.Requirement)
			if q != nil && q.InForce(r) && over(q.Transports, transport) && !slices.Contains(out, q) {
				out = append(out, q)
			}
		}
	}
	var walk func(steps []*script.Step)
	walk = func(steps []*script.Step) {
		for _, st := range steps {
			add(st.Checks)
			walk(st.Steps)
		}
	}
	walk(ex.Steps)
	add(ex.Checks)
	return out
}

// applies says what keeps the exchange from being played, if anything.
func applies(lib *script.Library, ex *script.Exchange, c *observe.Context) Item {
	if c.Server == nil && c.Auth["protected"] == true && !(slices.Contains(ex.Needs, script.Authorization) && ex.Session == script.Bare) {
		item := Item{Status: verdict.Untested, Reason: Unauthorized(c.Auth)}
		if !given(c.Auth) {
			item.Add = Additions(lib, []string{"auth.token"})
		}
		return item
	}
	if c.Server == nil && ex.Session != script.Bare && !ex.Watch {
		return Item{Status: verdict.Untested, Reason: "no session could be opened"}
	}
	vars := c.Vars(ex.Client.Capabilities, nil)
	// What does not apply anyway asks for no role; a condition that cannot be evaluated may be about a role that is not filled.
	if ex.When != nil {
		if ok, err := ex.When.Bool(vars); err == nil && !ok {
			return Item{Status: verdict.Skip, Reason: cmp.Or(ex.Reason, "does not apply: not "+ex.When.Source)}
		}
	}
	for _, need := range ex.Needs {
		if item := meets(lib, need, c); item.Status != "" {
			return item
		}
	}
	for _, cond := range []struct {
		expr   *script.Expr
		status verdict.Status
		what   string
		add    []string
	}{{ex.When, verdict.Skip, "does not apply", nil}, {ex.Given, verdict.Untested, "this server gives no way to exercise it", ex.Add}} {
		if cond.expr == nil {
			continue
		}
		if ok, err := cond.expr.Bool(vars); err != nil || !ok {
			return Item{
				Status: cond.status, Reason: cmp.Or(ex.Reason, fmt.Sprintf("%s: not %s", cond.what, cond.expr.Source)),
				Add: Additions(lib, cond.add),
			}
		}
	}
	return Item{}
}

// Additions are those that a check or exchange names, as entries of litmus.yaml.
func Additions(lib *script.Library, names []string) (out verdict.Additions) {
	for _, add := range names {
		if key, name, example, ok := lib.Addition(add); ok {
			out = append(out, verdict.Addition{Key: key, Name: name, Value: example})
		}
	}
	return out
}

// meets checks one need: a role by its name, a capability by its path, or with a leading "!" that a capability
// was not declared.
func meets(lib *script.Library, need string, c *observe.Context) Item {
	for _, def := range lib.Roles {
		if def.Name != need {
			continue
		}
		if c.Roles[need] != nil {
			return Item{}
		}
		if why := c.Unfilled[need]; why != "" {
			return Item{Status: verdict.Untested, Reason: why}
		}
		return Item{
			Status: verdict.Untested, Reason: fmt.Sprintf("no known %s %s", def.Kind, def.Does), Add: Additions(lib, []string{need}),
		}
	}
	if need == script.Authorization {
		if c.Auth["protected"] == true {
			return Item{}
		}
		return Item{Status: verdict.Skip, Reason: "the server asks for no authorization"}
	}
	path, undeclared := strings.CutPrefix(need, "!")
	if Declares(c.Server, path) == undeclared {
		if undeclared {
			return Item{Status: verdict.Skip, Reason: fmt.Sprintf("the server declares the capability %s", path)}
		}
		return Item{Status: verdict.Skip, Reason: fmt.Sprintf("the server does not declare the capability %s", path)}
	}
	return Item{}
}

// Declares says whether the server declared a capability, given as a path such as "resources.subscribe", or
// "extensions." and an identifier: an object, or true.
func Declares(server map[string]any, path string) bool {
	var at any = server["capabilities"]
	parts := strings.Split(path, ".")
	if parts[0] == "extensions" {
		parts = strings.SplitN(path, ".", 2)
	}
	for _, part := range parts {
		o, ok := at.(map[string]any)
		if !ok {
			return false
		}
		at, ok = o[part]
		if !ok {
			return false
		}
	}
	return at != nil && at != false
}
