package script

import (
	"regexp"
	"slices"
)

var roleName = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

func (r *reader) role(n *node) *RoleDefinition {
	r.known(n, "a role", "role", "kind", "does", "add", "apart", "known", "survey", "shows")
	d := &RoleDefinition{Pos: n.pos}
	d.Name = r.text(n.get("role"), n.pos, "the name of the role", true)
	if d.Name != "" && !roleName.MatchString(d.Name) {
		r.add(n.get("role").pos, "the name %q has the wrong shape; write lower-case words with hyphens between, such as failing-tool", d.Name)
	}
	if _, taken := capabilities[d.Name]; taken {
		r.add(n.get("role").pos, "%q is a capability; choose another name for the role", d.Name)
	}
	if n.get("kind") == nil {
		r.add(n.pos, "the kind of role %s is missing: tool, prompt, resource or template", d.Name)
	}
	d.Kind = r.choice(n.get("kind"), "kind", "", "tool", "prompt", "resource", "template")
	d.Does = r.text(n.get("does"), n.pos, "does, which says what it does,", true)
	d.Add = r.text(n.get("add"), n.pos, "add, which says what to put into litmus.yaml,", true)
	d.Apart = r.yes(n.get("apart"), "apart")
	d.Survey = r.expr(n.get("survey"), "survey", context([]string{"taskable"}, "the survey is all that is known here"))
	shown := context([]string{"tool", "arguments", "result"}, "only tool, arguments and result are known here")
	if d.Shows = r.condition(n.get("shows"), "shows", shown); d.Shows != nil && d.Shows.constant() {
		r.add(d.Shows.Pos, "shows comes out the same for every call; look at tool, arguments or result")
	}
	known := n.get("known")
	if known == nil || known.isNull() {
		return d
	}
	if known.kind != listNode {
		r.add(known.pos, "known must be a list of well-known fixtures, not %s", known.what())
		return d
	}
	for _, i := range known.items {
		d.Known = append(d.Known, r.knownRole(i, d))
	}
	return d
}

func (r *reader) knownRole(n *node, d *RoleDefinition) KnownRole {
	k := KnownRole{}
	if n.kind != mappingNode {
		r.add(n.pos, "a known fixture must be a mapping such as {name: test_error_handling}, not %s", n.what())
		return k
	}
	r.known(n, "a known fixture", "name", "uri", "arguments", "when")
	k.Name = r.text(n.get("name"), n.pos, "name", false)
	k.URI = r.text(n.get("uri"), n.pos, "uri", false)
	if byURI := slices.Contains([]string{"resource", "template"}, d.Kind); byURI && k.URI == "" {
		r.add(n.pos, "a known %s needs its uri", d.Kind)
	} else if !byURI && d.Kind != "" && k.Name == "" {
		r.add(n.pos, "a known %s needs its name", d.Kind)
	}
	k.Arguments = r.plainMap(n.get("arguments"), "arguments")
	if w := n.get("when"); w != nil {
		k.When = r.condition(w, "when", context(nil, "only the server is known here"))
	}
	return k
}
