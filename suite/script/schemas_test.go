package script

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-litmus/mcp-litmus/fixtures"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// editorSchema compiles one of the schemas that editors use.
func editorSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	data, err := fs.ReadFile(fixtures.FS, name)
	if err != nil {
		t.Fatal(err)
	}
	doc, _, err := wire.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://schema.invalid/"+name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://schema.invalid/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plainYAML(t *testing.T, name, text string) any {
	t.Helper()
	m := &mistakes{}
	root := parseYAML(name, []byte(text), m)
	if err := m.err(); err != nil {
		t.Fatal(err)
	}
	if root == nil {
		return []any{}
	}
	return nodeValue(root)
}

func nodeValue(n *node) any {
	switch n.kind {
	case mappingNode:
		out := map[string]any{}
		for _, e := range n.entries {
			out[e.key] = nodeValue(e.value)
		}
		return out
	case listNode:
		out := []any{}
		for _, i := range n.items {
			out = append(out, nodeValue(i))
		}
		return out
	}
	return n.scalar
}

// What the loader reads, the editors' schemas must not underline in red.
func TestTheEditorsSchemasAcceptWhatLoads(t *testing.T) {
	exchange, requirement, roles := editorSchema(t, "exchange.schema.json"), editorSchema(t, "requirement.schema.json"), editorSchema(t, "roles.schema.json")
	good, err := os.ReadFile("testdata/mistakes/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	check := func(s *jsonschema.Schema, name, text string) {
		if err := s.Validate(plainYAML(t, name, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(exchange, "the documentation's exchanges", designExchanges)
	check(exchange, "all forms", string(good))
	check(requirement, "the documentation's requirements", designRequirements)
	err = fs.WalkDir(fixtures.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		data, err := fs.ReadFile(fixtures.FS, name)
		if err != nil {
			return err
		}
		switch {
		case name == "roles.yaml":
			check(roles, name, string(data))
		case strings.HasPrefix(name, "exchanges/"):
			check(exchange, name, string(data))
		case strings.HasPrefix(name, "requirements/"):
			check(requirement, name, string(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheEditorsSchemasRefuseMistakes(t *testing.T) {
	exchange, requirement, roles := editorSchema(t, "exchange.schema.json"), editorSchema(t, "requirement.schema.json"), editorSchema(t, "roles.schema.json")
	for text, s := range map[string]*jsonschema.Schema{
		"- {exchange: x, steps: [{reqest: ping}]}":                 exchange,
		"- {exchange: x, steps: [{request: ping, notify: x}]}":     exchange,
		"- {exchange: x, steps: [{request: ping, parms: {}}]}":     exchange,
		"- {exchange: x, session: mine, steps: [{request: ping}]}": exchange,
		"- {exchange: x}": exchange,
		"- {id: a, level: MUST, since: 2024-11-05, text: x}":        requirement,
		"- {id: a.b, level: MSUT, since: 2024-11-05, text: x}":      requirement,
		"- {id: a.b, level: MUST, since: 2024-11-06, text: x}":      requirement,
		"- {id: a.b, level: MUST, since: 2024-11-05}":               requirement,
		"- {role: x, kind: tol, does: x, add: y}":                   roles,
		"- {role: x, kind: tool, does: x, add: y, known: [{a: b}]}": roles,
	} {
		if s.Validate(plainYAML(t, "mistake", text)) == nil {
			t.Errorf("accepted: %s", text)
		}
	}
}

// The schema lists the keys of every verb, and must not lag behind the loader.
func TestTheEditorsSchemaKnowsTheKeysOfEveryVerb(t *testing.T) {
	data, err := fs.ReadFile(fixtures.FS, "exchange.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, err := wire.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	for _, s := range doc.(map[string]any)["definitions"].(map[string]any)["step"].(map[string]any)["oneOf"].([]any) {
		step := s.(map[string]any)
		properties := step["properties"].(map[string]any)
		known[step["required"].([]any)[0].(string)] = slices.Sorted(maps.Keys(properties))
	}
	for verb, keys := range verbs {
		want := slices.Concat([]string{string(verb)}, keys, commonKeys)
		if verb == Each {
			want = slices.DeleteFunc(want, func(k string) bool { return k == "checks" })
		}
		slices.Sort(want)
		if !slices.Equal(known[string(verb)], want) {
			t.Errorf("%s: the schema has the keys %v, the loader %v", verb, known[string(verb)], want)
		}
	}
}

func TestEveryNameIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/expressions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Variables() {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/expressions.md does not describe the variable %s", name)
		}
	}
	for _, name := range functionNames() {
		if !strings.Contains(string(page), name+"(") {
			t.Errorf("docs/expressions.md does not describe the function %s", name)
		}
	}
}
