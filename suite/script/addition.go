package script

import (
	"regexp"
	"slices"
	"strings"
)

// Allow is the addition of a tool that may be called, whatever it does.
const Allow = "allow"

// Example is what litmus.yaml holds for the role, ready to be filled in.
func (d *RoleDefinition) Example() string {
	if d.Kind == "resource" || d.Kind == "template" {
		return "{uri: …}"
	}
	return "{name: …, arguments: {…}}"
}

// Addition is where in litmus.yaml the addition with this name, as a check or exchange gives it in add:, goes: the key, the name
// under it ("" where key holds a list), and an example ready to be filled in. ok says whether there is such an addition.
func (l *Library) Addition(add string) (key, name, example string, ok bool) {
	if add == Allow {
		return "allow", "", "{name: …, arguments: {…}}", true
	}
	if kind, token := strings.CutPrefix(add, "auth."); token {
		return "auth", kind, "…", true
	}
	if d := l.Role(add); d != nil {
		return "roles", add, d.Example(), true
	}
	return "", "", "", false
}

var tokenAddition = regexp.MustCompile(`^auth\.[a-z]+(-[a-z]+)*$`)

// additions reads add: one text, or several.
func (r *reader) additions(n *node) []string {
	if n == nil {
		return nil
	}
	list := n
	if n.kind == scalarNode {
		list = &node{kind: listNode, pos: n.pos, items: []*node{n}}
	}
	return r.texts(list, "add", func(i *node, t string) {
		if t == Allow || r.roles[t] || tokenAddition.MatchString(t) {
			return
		}
		all := []string{Allow}
		for role := range r.roles {
			all = append(all, role)
		}
		slices.Sort(all)
		hint := DidYouMean(t, all)
		if hint == "" {
			hint = "; name a role of roles.yaml, allow, or auth. and a kind of token"
		}
		r.add(i.pos, "nothing called %q can be added to litmus.yaml%s", t, hint)
	})
}
