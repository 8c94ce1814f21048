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
		status, reason := applies(lib, ex, context)
		items = append(items, Item{ex, context, status, reason})
	}
	return items
}

// Concerns says whether the exchange has something to say at the revision and over the transport.
func Concerns(lib *script.Library, ex *script.Exchange, r script.Revision, transport string) bool {
	if !over(ex.Transports, transport) || !r.Over(transport) || ex.Era != "" && ex.Era != r.Era() {
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

func applies(lib *script.Library, ex *script.Exchange, c *observe.Context) (verdict.Status, string) {
	if c.Server == nil && c.Auth["protected"] == true && !(slices.Contains(ex.Needs, script.Authorization) && ex.Session == script.Bare) {
		return verdict.Untested, Unauthorized(c.Auth)
	}
	if c.Server == nil && ex.Session != script.Bare && !ex.Watch {
		return verdict.Untested, "no session could be opened"
	}
	vars := c.Vars(ex.Client.Capabilities, nil)
	// What does not apply anyway asks for no role; a condition that cannot be evaluated may be about a role that is not filled.
	if ex.When != nil {
		if ok, err := ex.When.Bool(vars); err == nil && !ok {
			return verdict.Skip, cmp.Or(ex.Reason, "does not apply: not "+ex.When.Source)
		}
	}
	for _, need := range ex.Needs {
		if status, reason := meets(lib, need, c); status != "" {
			return status, reason
		}
	}
	for _, cond := range []struct {
		expr   *script.Expr
		status verdict.Status
		what   string
	}{{ex.When, verdict.Skip, "does not apply"}, {ex.Given, verdict.Untested, "this server gives no way to exercise it"}} {
		if cond.expr == nil {
			continue
		}
		if ok, err := cond.expr.Bool(vars); err != nil || !ok {
			if ex.Reason != "" {
				return cond.status, ex.Reason
			}
			return cond.status, fmt.Sprintf("%s: not %s", cond.what, cond.expr.Source)
		}
	}
	return "", ""
}

// meets checks one need: a role by its name, a capability by its path, or with a leading "!" that a capability
// was not declared.
func meets(lib *script.Library, need string, c *observe.Context) (verdict.Status, string) {
	for _, def := range lib.Roles {
		if def.Name != need {
			continue
		}
		if c.Roles[need] != nil {
			return "", ""
		}
		if why := c.Unfilled[need]; why != "" {
			return verdict.Untested, why
		}
		return verdict.Untested, fmt.Sprintf("no known %s %s; add to litmus.yaml: roles: {%s: %s}", def.Kind, def.Does, need, filling(def))
	}
	if need == script.Authorization {
		if c.Auth["protected"] == true {
			return "", ""
		}
		return verdict.Skip, "the server asks for no authorization"
	}
	path, undeclared := strings.CutPrefix(need, "!")
	if Declares(c.Server, path) == undeclared {
		if undeclared {
			return verdict.Skip, fmt.Sprintf("the server declares the capability %s", path)
		}
		return verdict.Skip, fmt.Sprintf("the server does not declare the capability %s", path)
	}
	return "", ""
}

// filling is what litmus.yaml holds for a role, ready to be filled in.
func filling(def *script.RoleDefinition) string {
	if def.Kind == "resource" || def.Kind == "template" {
		return "{uri: …}"
	}
	return "{name: …, arguments: {…}}"
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
