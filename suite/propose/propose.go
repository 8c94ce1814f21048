// Package propose writes a litmus.yaml for a server from what a survey of it shows: who plays which role, which tools were
// left alone and why, and what nobody plays.
package propose

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/sample"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Target is how the server is reached, as litmus.yaml is to say it.
type Target struct {
	Command   []string
	URL       string
	Transport string
	Cwd       string
	// Headers and Env are names and what is to stand for their values: references to the environment, never the values.
	Headers, Env map[string]string
}

// Proposal is all that the file says.
type Proposal struct {
	Target   Target
	Library  *script.Library
	Options  transcript.Options
	Contexts []*observe.Context // of the survey, oldest revision first; at least one
}

// Left is a tool that the survey did not call.
type Left struct {
	Name      string
	Arguments map[string]any // that would fit; nil when none could be made
	Why       string
}

// newest is what the server shows at the newest revision.
func (p *Proposal) newest() *observe.Context { return p.Contexts[len(p.Contexts)-1] }

// LeftAlone are the tools that the suite will not call unless litmus.yaml says so, in the server's order.
func (p *Proposal) LeftAlone() []Left {
	var out []Left
	c := p.newest()
	called := map[any]bool{}
	for _, item := range c.Callable {
		called[item.(map[string]any)["name"]] = true
	}
	for _, role := range p.roles() {
		called[role["name"]] = true
	}
	tools, _ := c.Server["tools"].([]any)
	for _, item := range tools {
		tool := item.(map[string]any)
		name, ok := tool["name"].(string)
		if !ok || called[name] {
			continue
		}
		left := Left{Name: name}
		arguments, err := sample.Object(tool["inputSchema"])
		annotations, _ := tool["annotations"].(map[string]any)
		switch {
		case annotations["destructiveHint"] == true && annotations["readOnlyHint"] != true:
			left.Why = "says that it may destroy something (destructiveHint)"
		case annotations["readOnlyHint"] == false:
			left.Why = "says that it changes something (readOnlyHint: false)"
		case annotations["readOnlyHint"] != true:
			left.Why = "does not say that it only reads (readOnlyHint: true)"
		case err != nil:
			left.Why = "no arguments could be made: " + err.Error()
		default:
			left.Why = "is called in exchanges of its own only"
		}
		if err == nil {
			left.Arguments = arguments
		}
		out = append(out, left)
	}
	return out
}

// roles are those that are filled, by name; those that only a client with more capabilities is offered count, too.
func (p *Proposal) roles() map[string]map[string]any {
	out := map[string]map[string]any{}
	add := func(c *observe.Context) {
		for name, role := range c.Roles {
			if r, ok := role.(map[string]any); ok && out[name] == nil {
				out[name] = r
			}
		}
	}
	for _, c := range slices.Backward(p.Contexts) {
		add(c)
		for _, key := range slices.Sorted(maps.Keys(c.Clients)) {
			add(c.Clients[key])
		}
	}
	return out
}

// Write writes litmus.yaml.
func (p *Proposal) Write(w io.Writer) error {
	f := &file{}
	info, _ := p.newest().Server["serverInfo"].(map[string]any)
	var spoken []string
	for _, c := range p.Contexts {
		spoken = append(spoken, string(c.Revision))
	}
	f.line("# yaml-language-server: $schema=https://raw.githubusercontent.com/mcp-litmus/mcp-litmus/main/suite/config/litmus.schema.json")
	f.comment("", fmt.Sprintf("Written by mcp-litmus init for %v %v, which speaks %s. Every key: docs/litmus-yaml.md.",
		orText(info["name"], "a server"), orText(info["version"], ""), strings.Join(spoken, ", ")))
	f.line("")
	p.target(f)
	f.line("")
	p.allow(f)
	f.line("")
	p.roleSection(f)
	_, err := w.Write(f.Bytes())
	return err
}

func orText(v any, other string) string {
	if text, ok := v.(string); ok {
		return text
	}
	return other
}

func (p *Proposal) target(f *file) {
	t := p.Target
	f.line("target:")
	if len(t.Command) > 0 {
		items := make([]any, len(t.Command))
		for i, s := range t.Command {
			items[i] = s
		}
		f.line("  command: " + flow(items))
	}
	for _, e := range []struct{ key, value string }{{"url", t.URL}, {"transport", t.Transport}, {"cwd", t.Cwd}} {
		if e.value != "" {
			f.line("  " + e.key + ": " + flow(e.value))
		}
	}
	for _, m := range []struct {
		key    string
		values map[string]string
	}{{"headers", t.Headers}, {"env", t.Env}} {
		if len(m.values) == 0 {
			continue
		}
		f.line("  " + m.key + ":")
		for _, name := range slices.Sorted(maps.Keys(m.values)) {
			f.line("    " + scalar(name) + ": " + quote(m.values[name])) // its ${...} is a reference, and stays one
		}
	}
}

func (p *Proposal) allow(f *file) {
	var called []string
	for _, item := range p.newest().Callable {
		if name, ok := item.(map[string]any)["name"].(string); ok {
			called = append(called, name)
		}
	}
	if len(called) > 0 {
		f.comment("", "Called without being asked, since they say that they only read, or are well-known fixtures: "+strings.Join(called, ", ")+".")
	}
	left := p.LeftAlone()
	if len(left) == 0 {
		f.comment("", "No other tool is there.")
		return
	}
	f.comment("", "Left alone: these may change something. Whatever is safe to call here, with these arguments or better ones: uncomment it.")
	f.line("allow:")
	for _, l := range left {
		entry := "name: " + flow(l.Name)
		if l.Arguments == nil {
			entry += ", arguments: {}"
		} else if len(l.Arguments) > 0 {
			entry += ", arguments: " + flow(l.Arguments)
		}
		f.line(oneLine("  # - {" + entry + "}   # " + l.Why))
	}
}

func (p *Proposal) roleSection(f *file) {
	roles := p.roles()
	f.comment("", "Who plays which part in the exchanges. Better ones may stand in place of what was found.")
	f.line("roles:")
	for _, def := range p.Library.Roles {
		switch r := roles[def.Name]; {
		case r == nil:
		case p.varies(def.Name):
			f.line(oneLine("  # " + def.Name + ": " + player(r) + "   # is found by each run: it is not the same at every revision"))
		case saidInFull(r):
			f.line("  " + def.Name + ": " + player(r))
		default:
			f.line(oneLine("  # " + def.Name + ": " + player(r) + "   # is found by each run, which then knows more of it than can be said here"))
		}
	}
	var nobody, elsewhere []*script.RoleDefinition
	for _, def := range p.Library.Roles {
		switch {
		case roles[def.Name] != nil:
		case p.useful(def):
			nobody = append(nobody, def)
		default:
			elsewhere = append(elsewhere, def)
		}
	}
	if len(nobody) > 0 {
		f.line("")
		f.comment("  ", "Nobody was found for these, so what they prove stays untested. Where the server has one, name it and uncomment the line:")
		for _, def := range nobody {
			f.line("  # " + def.Name + ": " + def.Example() + "   # it " + def.Does)
		}
	}
	if len(elsewhere) > 0 {
		var names []string
		for _, def := range elsewhere {
			names = append(names, def.Name)
		}
		f.line("")
		f.comment("  ", "Of no use here, since the server does not declare what they are about: "+strings.Join(names, ", ")+".")
	}
}

// varies says whether a role has another player at another revision: litmus.yaml can name one alone.
func (p *Proposal) varies(role string) bool {
	players := map[string]bool{}
	for _, c := range p.Contexts {
		if r, ok := c.Roles[role].(map[string]any); ok {
			players[fmt.Sprint(r["name"], r["uri"])] = true
		}
	}
	return len(players) > 1
}

// saidInFull says whether litmus.yaml can say all that the survey knows of who plays a role.
func saidInFull(r map[string]any) bool {
	for name := range r {
		if !slices.Contains([]string{"name", "arguments", "uri", "tool"}, name) {
			return false
		}
	}
	return true
}

// useful says whether some exchange that applies to the server needs the role.
func (p *Proposal) useful(def *script.RoleDefinition) bool {
	capability := map[string]string{"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resources"}[def.Kind]
	needed, applies := false, false
	for _, ex := range p.Library.Exchanges {
		if !slices.Contains(ex.Needs, def.Name) && !slices.Contains(ex.Add, def.Name) {
			continue
		}
		needed = true
		for _, c := range p.Contexts {
			applies = applies || plan.Concerns(p.Library, ex, c.Revision, c.Transport) && !slices.ContainsFunc(ex.Needs, func(need string) bool {
				path, undeclared := strings.CutPrefix(need, "!")
				return p.Library.Role(need) == nil && need != script.Authorization && plan.Declares(c.Server, path) == undeclared
			})
		}
	}
	return plan.Declares(p.newest().Server, capability) && (applies || !needed)
}

// player is what plays a role, as litmus.yaml says it.
func player(r map[string]any) string {
	if uri, ok := r["uri"].(string); ok {
		return "{uri: " + flow(uri) + "}"
	}
	text := "{name: " + flow(r["name"])
	if arguments, ok := r["arguments"].(map[string]any); ok && len(arguments) > 0 {
		text += ", arguments: " + flow(arguments)
	}
	return text + "}"
}

// file is what is written.
type file struct{ bytes.Buffer }

func (f *file) line(text string) { f.WriteString(text + "\n") }

// comment writes prose as comment lines.
func (f *file) comment(indent, text string) {
	const width = 110
	line := indent + "#"
	for _, word := range strings.Fields(oneLine(text)) {
		if len(line)+1+len(word) > width && line != indent+"#" {
			f.line(line)
			line = indent + "#"
		}
		line += " " + word
	}
	f.line(line)
}

// References gives for each name a reference to an environment variable named like it, in place of its value. A credential
// with a scheme, such as Bearer, keeps the scheme.
func References(values map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range values {
		variable := strings.ToUpper(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(name, "_"))
		out[name] = "${" + variable + "}"
		if scheme, _, ok := strings.Cut(value, " "); ok && strings.EqualFold(name, "authorization") {
			out[name] = scheme + " " + "${" + variable + "_TOKEN}"
		}
	}
	return out
}

// Summary says in a few lines what the file holds, and what to do next.
func (p *Proposal) Summary(output string) string {
	var b strings.Builder
	if output != "-" {
		fmt.Fprintf(&b, "%s is written: ", output)
	}
	left := len(p.LeftAlone())
	fmt.Fprintf(&b, "%d of %d roles filled, %d %s left alone.\n", len(p.roles()), len(p.Library.Roles), left, plural(left, "tool", "tools"))
	var set []string
	for _, m := range []map[string]string{p.Target.Headers, p.Target.Env} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			set = append(set, reference.FindString(m[name]))
		}
	}
	if len(set) > 0 {
		fmt.Fprintf(&b, "Values are not written down; set these in the environment: %s\n", strings.Join(set, " "))
	}
	if output != "-" {
		b.WriteString("Read what is behind a # in it, then: mcp-litmus run\n")
	}
	return b.String()
}

var reference = regexp.MustCompile(`\$\{[A-Z0-9_]+\}`)

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
