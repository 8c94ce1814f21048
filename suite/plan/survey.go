// Package plan picks what applies to a target. From what the survey's exchanges saw it draws what later exchanges rely on:
// what the server offers, which tools may be called and with which arguments, and who plays which role. It is pure: the
// player uses it live, the judge on a transcript.
package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-litmus/mcp-litmus/suite/sample"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Server is the document `server`: capabilities, serverInfo, instructions and all else from the handshake's result, from
// 2026-07-28 that of server/discover, and the lists that the Offer exchange stored in vars.
func Server(vars map[string]any) map[string]any {
	server := map[string]any{"capabilities": map[string]any{}, "serverInfo": map[string]any{}}
	if handshake, ok := vars["handshake"].(map[string]any); ok {
		if result, ok := handshake["result"].(map[string]any); ok {
			for name, v := range result {
				if (name == "capabilities" || name == "serverInfo") && !isObject(v) {
					continue
				}
				server[name] = v
			}
			meta, _ := result["_meta"].(map[string]any)
			if info, ok := meta[wire.MetaServer].(map[string]any); ok {
				server["serverInfo"] = info
			}
		}
	}
	for _, name := range script.ListSteps {
		server[name] = []any{}
		if walked, ok := vars[name].(map[string]any); ok {
			if items, ok := walked["items"].([]any); ok {
				server[name] = slices.DeleteFunc(slices.Clone(items), func(v any) bool { return !isObject(v) })
			}
		}
	}
	return server
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

// Callable are the tools that may be called for what they are, in the server's order: objects with name, arguments
// and tool. With policy "all" that is every tool for which arguments can be made; with "safe" the tools that are
// annotated read-only, those that litmus.yaml names and well-known fixtures; with "none" no tool at all. Tools that are known to take
// long or to change something are left to the exchanges that are about that.
func Callable(lib *script.Library, server map[string]any, opts transcript.Options) []any {
	return mayBeCalled(lib, server, opts, func(support any, apart bool) bool { return support != "required" && !apart })
}

// Taskable are the tools that may be called, and called as tasks, like those of Callable otherwise. What a tool says of
// tasks counts only where the server declares them for tool calls.
// Source: 2025-11-25, Tasks, "Tool-Level Negotiation".
func Taskable(lib *script.Library, server map[string]any, opts transcript.Options) []any {
	if !Declares(server, "tasks.requests.tools.call") {
		return []any{}
	}
	return mayBeCalled(lib, server, opts, func(support any, _ bool) bool { return support == "optional" || support == "required" })
}

// mayBeCalled are the tools that the policy lets be called, of those that take holds for: by what they say of tasks, and
// whether they are known to take long or to change something.
func mayBeCalled(lib *script.Library, server map[string]any, opts transcript.Options, take func(support any, apart bool) bool) []any {
	out := []any{}
	if opts.CallTools == "none" {
		return out
	}
	for _, t := range server["tools"].([]any) {
		tool := t.(map[string]any)
		name, _ := tool["name"].(string)
		fixture, isFixture, apart := fixtureArguments(lib, name, server)
		if !take(taskSupport(tool), apart) {
			continue
		}
		if args, ok := allowed(lib, name, opts); ok {
			out = append(out, call(tool, args))
			continue
		}
		if isFixture {
			out = append(out, call(tool, fixture))
			continue
		}
		if opts.CallTools != "all" && !readOnly(tool) {
			continue
		}
		if args, err := sample.Object(tool["inputSchema"]); err == nil {
			out = append(out, call(tool, args))
		}
	}
	return out
}

func call(tool map[string]any, args map[string]any) any {
	if args == nil {
		args = map[string]any{}
	}
	return map[string]any{"name": tool["name"], "arguments": args, "tool": tool}
}

// taskSupport is what the tool says of tasks: "required", "optional", "forbidden" or nothing.
func taskSupport(tool map[string]any) any {
	execution, _ := tool["execution"].(map[string]any)
	return execution["taskSupport"]
}

func readOnly(tool map[string]any) bool {
	annotations, _ := tool["annotations"].(map[string]any)
	return annotations["readOnlyHint"] == true
}

// allowed gives the arguments with which litmus.yaml lets the tool be called.
func allowed(lib *script.Library, name string, opts transcript.Options) (map[string]any, bool) {
	for _, a := range opts.Allow {
		if a.Name == name {
			return a.Arguments, true
		}
	}
	for _, role := range slices.Sorted(maps.Keys(opts.Roles)) {
		if def := lib.Role(role); def != nil && def.Kind == "tool" && !def.Apart && opts.Roles[role].Name == name {
			return opts.Roles[role].Arguments, true
		}
	}
	return nil, false
}

// fixtureArguments gives the arguments of a well-known fixture of that name, whether it is one, and whether the
// survey must leave it alone.
func fixtureArguments(lib *script.Library, name string, server map[string]any) (args map[string]any, is, apart bool) {
	for _, def := range lib.Roles {
		if def.Kind != "tool" {
			continue
		}
		if k, ok := known(def, server, name); ok {
			apart = apart || def.Apart
			if !is {
				is, args = true, k.Arguments
			}
		}
	}
	return args, is, apart
}

// known finds the definition's well-known fixture of that name (or URI) on this server.
func known(def *script.RoleDefinition, server map[string]any, name string) (script.KnownRole, bool) {
	for _, k := range def.Known {
		if k.Name != name && k.URI != name {
			continue
		}
		if k.When != nil {
			if ok, err := k.When.Bool(map[string]any{"server": server}); err != nil || !ok {
				continue
			}
		}
		return k, true
	}
	return script.KnownRole{}, false
}

// Roles fills the roles: from litmus.yaml, else from well-known fixtures that the server offers, else from what
// the survey shows; tools only among callable and Taskable. calls are the outcomes of script.Calls. A role that nothing
// fills is absent; unfilled says of those for which litmus.yaml names something that the server does not list
// why they are. (A resource need not be listed: it may be one of a template's.)
func Roles(lib *script.Library, server map[string]any, callable, calls []any, opts transcript.Options) (roles map[string]any, unfilled map[string]string) {
	roles, unfilled = map[string]any{}, map[string]string{}
	taskable := Taskable(lib, server, opts)
	for _, def := range lib.Roles {
		if def.Kind == "tool" && opts.CallTools == "none" {
			continue
		}
		if r, ok := opts.Roles[def.Name]; ok {
			offered := find(server, def.Kind, r.Name, r.URI)
			if offered == nil && r.URI == "" {
				unfilled[def.Name] = fmt.Sprintf("the settings name %q as %s, but the server lists no such %s", r.Name, def.Name, def.Kind)
				continue
			}
			roles[def.Name] = roleDoc(r.Name, r.URI, r.Arguments, offered)
			continue
		}
		if r, ok := fill(def, server, callable, taskable, calls); ok {
			roles[def.Name] = r
		}
	}
	return roles, unfilled
}

func fill(def *script.RoleDefinition, server map[string]any, callable, taskable, calls []any) (map[string]any, bool) {
	for _, k := range def.Known {
		offered := find(server, def.Kind, k.Name, k.URI)
		if offered == nil {
			continue
		}
		if _, ok := known(def, server, k.Name+k.URI); ok {
			return roleDoc(k.Name, k.URI, k.Arguments, offered), true
		}
	}
	if def.Survey != nil {
		v, err := def.Survey.Value(map[string]any{"server": server, "callable": callable, "taskable": taskable})
		if r, ok := v.(map[string]any); err == nil && ok {
			if def.Kind != "tool" || isCallable(callable, r["name"]) || isCallable(taskable, r["name"]) {
				return r, true
			}
		}
	}
	if def.Shows != nil {
		for _, c := range calls {
			outcome := c.(map[string]any)
			it, _ := outcome["it"].(map[string]any)
			reply, _ := outcome[script.CallStep].(map[string]any)
			if it == nil || reply["result"] == nil {
				continue
			}
			if name, _ := it["name"].(string); find(server, "tool", name, "") == nil {
				continue // a client with other capabilities called it
			}
			ok, err := def.Shows.Bool(map[string]any{
				"tool": it["tool"], "arguments": it["arguments"], "result": reply["result"], "server": server,
			})
			if err == nil && ok {
				return it, true
			}
		}
	}
	return nil, false
}

func isCallable(callable []any, name any) bool {
	return slices.ContainsFunc(callable, func(c any) bool { return c.(map[string]any)["name"] == name })
}

func roleDoc(name, uri string, args map[string]any, offered map[string]any) map[string]any {
	doc := map[string]any{}
	if name != "" {
		if args == nil {
			args = map[string]any{}
		}
		doc["name"], doc["arguments"] = name, args
	}
	if uri != "" {
		doc["uri"] = uri
	}
	if offered != nil && name != "" && offered["inputSchema"] != nil {
		doc["tool"] = offered
	}
	return doc
}

// find gives the offered tool, prompt, resource or template with that name or URI, or nil.
func find(server map[string]any, kind, name, uri string) map[string]any {
	list := map[string]string{"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "templates"}[kind]
	member, want := "name", name
	if uri != "" {
		member, want = "uri", uri
		if kind == "template" {
			member = "uriTemplate"
		}
	}
	items, _ := server[list].([]any)
	for _, item := range items {
		if o := item.(map[string]any); o[member] == want {
			return o
		}
	}
	return nil
}

// Absent names things that the server does not offer: tool, prompt, resource (a URI), method and cursor.
func Absent(server map[string]any) map[string]any {
	tool, prompt := "litmus_absent_tool", "litmus_absent_prompt"
	for n := 2; find(server, "tool", tool, "") != nil; n++ {
		tool = fmt.Sprintf("litmus_absent_tool_%d", n)
	}
	for n := 2; find(server, "prompt", prompt, "") != nil; n++ {
		prompt = fmt.Sprintf("litmus_absent_prompt_%d", n)
	}
	return map[string]any{
		"tool": tool, "prompt": prompt, "resource": "litmus-absent://nowhere/nothing",
		"method": "litmus/absent-method", "cursor": "litmus-absent-cursor",
	}
}
