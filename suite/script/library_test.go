package script

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/fixtures"
)

func TestOwnFoldersAdd(t *testing.T) {
	g := gomega.NewWithT(t)
	main := files(map[string]string{
		"requirements/a.yaml": requirementsNamed("a.one"),
		"exchanges/a.yaml":    "- {exchange: one, steps: [{request: ping, checks: {a.one: has(result)}}]}\n",
		"schemas/x.yaml":      "not: read\n",
		"exchanges/README.md": "not read",
	})
	own := files(map[string]string{
		"deep/er/mine.yml":  "- {exchange: two, needs: [my-role], steps: [{request: ping, checks: {b.two: has(result)}}]}\n",
		"my-rules.yaml":     requirementsNamed("b.two"),
		"roles.yaml":        "- {role: my-role, kind: tool, does: x, add: y}\n",
		"README.md":         "not read",
		"empty.yaml":        "",
		"only-comment.yaml": "# nothing\n",
	})
	l, err := Load(main, own)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(l.Exchange("two").Area).To(gomega.Equal("deep/er/mine"))
	g.Expect(l.Requirement("b.two")).NotTo(gomega.BeNil())
	g.Expect(l.Role("my-role").Kind).To(gomega.Equal("tool"))
	g.Expect(l.Requirement("none")).To(gomega.BeNil())
	g.Expect(l.Exchange("none")).To(gomega.BeNil())

	alone, err := Load(main)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	again, err := Load(main)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again.Digest).To(gomega.Equal(alone.Digest))
	g.Expect(l.Digest).NotTo(gomega.Equal(alone.Digest))

	_, err = Load(main, files(map[string]string{"x.yaml": requirementsNamed("a.one")}))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(`x.yaml:1:3: the requirement "a.one" is already at requirements/a.yaml:1:3`)))
}

func TestComplaintsAreAboutTheCatalogue(t *testing.T) {
	l, err := Load(files(map[string]string{
		"requirements/a.yaml": `
- {id: a.proven, level: MUST, since: 2024-11-05, text: x, spec: "basic#x"}
- {id: a.unproven, level: MUST, since: 2024-11-05, text: x, spec: "basic#x"}
- {id: a.untestable, level: MUST, since: 2024-11-05, text: x, spec: "basic#x", untestable: nobody sees it}
- {id: a.both, level: MUST, since: 2024-11-05, text: x, spec: "basic#x", untestable: nobody sees it}
- {id: a.gap, level: MUST, since: 2024-11-05, text: x, spec: {2025-06-18: "basic#x"}}
- {id: a.advice, level: advice, since: 2024-11-05, text: x}
`,
		"exchanges/a.yaml": `
- exchange: all
  steps:
    - each: callable
      steps:
        - request: ping
          checks: {a.proven: has(result), a.both: has(result), a.gap: has(result), a.advice: has(result)}
`}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range l.Complaints() {
		got = append(got, c.Error())
	}
	want := `requirements/a.yaml:3:3: no exchange proves a.unproven; write one, or say with untestable: why nobody can
requirements/a.yaml:5:3: a.both is said to be untestable, but the exchange "all" proves it; remove one
requirements/a.yaml:6:3: a.gap does not say where revision 2024-11-05 states it; add to spec:`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestLevelsAndPlacesFollowTheRevision(t *testing.T) {
	g := gomega.NewWithT(t)
	l, err := Load(files(map[string]string{"requirements/a.yaml": `
- id: a.one
  level: {2024-11-05: SHOULD, 2025-06-18: MUST NOT}
  since: 2024-11-05
  until: 2025-11-25
  text: Something.
  spec: {2024-11-05: basic/lifecycle#a, 2025-11-25: basic/lifecycle#b}
  transports: [stdio]
`}))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	q := l.Requirement("a.one")
	g.Expect(q.LevelAt(R20250326)).To(gomega.Equal(Should))
	g.Expect(q.LevelAt(R20251125)).To(gomega.Equal(MustNot))
	g.Expect(q.SpecAt(R20250618)).To(gomega.Equal("basic/lifecycle#a"))
	g.Expect(q.SpecAt(R20251125)).To(gomega.Equal("basic/lifecycle#b"))
	g.Expect(q.InForce(R20251125)).To(gomega.BeTrue())
	g.Expect(q.InForce(R20260728)).To(gomega.BeFalse())
}

func TestStepsAreNumberedInReadingOrder(t *testing.T) {
	g := gomega.NewWithT(t)
	l, err := Load(files(map[string]string{
		"requirements/a.yaml": requirementsNamed("a.one"),
		"exchanges/a.yaml": `
- exchange: one
  steps:
    - open: second
    - each: callable
      as: calls
      steps:
        - request: tools/call
          params: {name: "${it.name}"}
          as: call
          checks: {a.one: has(call.result) && it.name != ""}
        - quiet:
    - request: ping
      in: second
      timeout: 1500ms
      checks: {a.one: [{that: "calls.all(c, has(c.call))"}, has(result)]}
`}))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	steps := l.Exchange("one").Steps
	g.Expect([]int{steps[0].Number, steps[1].Number, steps[1].Steps[0].Number, steps[1].Steps[1].Number, steps[2].Number}).
		To(gomega.Equal([]int{1, 2, 3, 4, 5}))
	g.Expect(steps[2].Timeout).To(gomega.Equal(1500 * time.Millisecond))
	g.Expect(steps[2].Checks).To(gomega.HaveLen(2))
	g.Expect(steps[2].Until).To(gomega.Equal(UntilReply))
	g.Expect(l.Exchange("one").AllChecks()).To(gomega.HaveLen(3))
}

// The roles' expressions are only worth something if they fill from what servers say.
func TestTheSurveyFillsRoles(t *testing.T) {
	l, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, schema map[string]any, more map[string]any) any {
		tool := map[string]any{"name": name, "inputSchema": schema}
		for k, v := range more {
			tool[k] = v
		}
		args := map[string]any{}
		for k := range schemaProperties(schema) {
			args[k] = "litmus"
		}
		return map[string]any{"name": name, "arguments": args, "tool": tool}
	}
	vars := map[string]any{
		"callable": []any{
			call("typed", map[string]any{"type": "object", "required": []any{"a"}, "properties": map[string]any{"a": map[string]any{"type": "string"}}}, nil),
			call("free", map[string]any{"type": "object"}, nil),
			call("structured", map[string]any{"type": "object", "required": []any{"x"}}, map[string]any{"outputSchema": map[string]any{"type": "object"}}),
			map[string]any{"name": "mirrored", "arguments": map[string]any{"a": "given"}, "tool": map[string]any{"name": "mirrored", "inputSchema": map[string]any{
				"properties": map[string]any{"a": map[string]any{"type": "string"}, "b": map[string]any{}, "e": true,
					"n": map[string]any{"type": "integer", "x-mcp-header": "N"}, "c": map[string]any{"enum": []any{"x"}, "type": "string", "x-mcp-header": "C"}}}}},
			call("composed", map[string]any{"type": "object", "properties": map[string]any{"b": true}, "anyOf": []any{map[string]any{"required": []any{"b"}}}}, nil),
		},
		"taskable": []any{
			call("sometimes", map[string]any{"type": "object"}, map[string]any{"execution": map[string]any{"taskSupport": "optional"}}),
			call("always", map[string]any{"type": "object"}, map[string]any{"execution": map[string]any{"taskSupport": "required"}}),
		},
		"server": map[string]any{
			"serverInfo": map[string]any{"name": "mcp-litmus-reference"},
			"resources": []any{
				map[string]any{"uri": "a:bin", "mimeType": "image/png"}, map[string]any{"uri": "a:text", "mimeType": "text/plain"},
			},
			"templates": []any{map[string]any{"uriTemplate": "test://template/{id}/data"}},
			"prompts": []any{
				map[string]any{"name": "with", "arguments": []any{map[string]any{"name": "city", "required": true}, map[string]any{"name": "state"}}},
				map[string]any{"name": "without"},
			},
		},
	}
	want := map[string]string{
		"typed-tool": "typed", "argument-free-tool": "free", "structured-tool": "structured", "composed-tool": "composed", "text-resource": "a:text",
		"binary-resource": "a:bin", "any-resource": "a:bin", "plain-prompt": "without", "argument-prompt": "with",
		"template-resource": "test://template/123/data", "task-tool": "sometimes", "task-only-tool": "always", "header-tool": "mirrored",
		"asking-resource": "test://input-required",
	}
	for _, d := range l.Roles {
		if d.Survey == nil {
			continue
		}
		v, err := d.Survey.Value(vars)
		role, _ := v.(map[string]any)
		if got := fmt.Sprint(role["name"], role["uri"]); err != nil || !strings.Contains(got, want[d.Name]) || want[d.Name] == "" {
			t.Errorf("%s: got %v (%v), want %s", d.Name, v, err, want[d.Name])
		}
		if d.Name == "argument-prompt" && jsonCut(role["arguments"], 100) != `{"city":"litmus"}` {
			t.Errorf("%s: got the arguments %v", d.Name, role["arguments"])
		}
		if d.Name == "header-tool" && jsonCut(role["arguments"], 100) != `{"a":"given","c":"x","n":7}` {
			t.Errorf("%s: got the arguments %v", d.Name, role["arguments"])
		}
		if v, err := d.Survey.Value(map[string]any{"callable": []any{}, "taskable": []any{}, "server": map[string]any{"resources": []any{}, "prompts": []any{}}}); err == nil && v != nil {
			t.Errorf("%s: a server that offers nothing fills it with %v", d.Name, v)
		}
	}
	shows := map[string]any{
		"text-tool":              map[string]any{"content": []any{map[string]any{"type": "text"}}},
		"image-tool":             map[string]any{"content": []any{map[string]any{"type": "image"}}},
		"audio-tool":             map[string]any{"content": []any{map[string]any{"type": "audio"}}},
		"embedded-resource-tool": map[string]any{"content": []any{map[string]any{"type": "resource"}}},
		"resource-link-tool":     map[string]any{"content": []any{map[string]any{"type": "resource_link"}}},
		"mixed-content-tool":     map[string]any{"content": []any{map[string]any{"type": "text"}, map[string]any{"type": "image"}}},
		"structured-tool":        map[string]any{"content": []any{}, "structuredContent": map[string]any{}},
		"failing-tool":           map[string]any{"content": []any{}, "isError": true},
	}
	for _, d := range l.Roles {
		if d.Shows == nil {
			continue
		}
		for name, result := range shows {
			ok, err := d.Shows.Bool(map[string]any{"tool": map[string]any{}, "arguments": map[string]any{}, "result": result})
			expect := name == d.Name || name == "mixed-content-tool" && (d.Name == "text-tool" || d.Name == "image-tool")
			if got := err == nil && ok; got != expect {
				t.Errorf("%s: a result of a %s shows it: %v (%v)", d.Name, name, got, err)
			}
		}
	}
}

func schemaProperties(schema map[string]any) map[string]any {
	p, _ := schema["properties"].(map[string]any)
	return p
}

func FuzzLoad(f *testing.F) {
	f.Add(designExchanges)
	f.Add(designRequirements)
	for _, seed := range []string{"", "-", "- exchange: x\n  steps:\n  - request: \"${\"", "- {exchange: a, steps: [{raw: [a, b], ids: [1]}]}", "a: &x [*x]",
		"- exchange: |\n   x\n  steps: >\n", "- exchange: \"\\u00e4\\\"\"\n  when: \"\\t'\"", "- role: x\n  known: [{name: a}]", "- ? [a]\n  : b", "\xff\xfe", "- id: a.b\n  level: {a: b}",
		"- exchange: x\n  when: 'a.'\n", "- exchange: x\r\n  when: |\r\n    a.\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Load(files(map[string]string{"requirements/a.yaml": text, "exchanges/a.yaml": text, "roles.yaml": text}), files(map[string]string{"own.yaml": text}))
		if (l == nil) == (err == nil) {
			t.Errorf("a library or an error, not both: %v, %v", l, err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(fixtures.FS); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoadLarge loads a catalogue of the size that is expected: 500 requirements, 300 exchanges.
func BenchmarkLoadLarge(b *testing.B) {
	var ids []string
	for i := range 500 {
		ids = append(ids, fmt.Sprintf("a.n%d", i))
	}
	var x strings.Builder
	for i := range 300 {
		fmt.Fprintf(&x, `
- exchange: number %d
  needs: [tools]
  steps:
    - request: tools/call
      params: {name: "${absent.tool}", arguments: {}}
      as: call
      checks:
        a.n%d: error.code == -32602 && has(error.message)
    - pages: tools/list
      as: listing
      checks:
        a.n%d: unique(listing.items.map(t, t.name))
        a.n%d: {each: listing.items, that: 'schema(it, "Tool")'}
`, i, i, i+1, i+2)
	}
	fsys := files(map[string]string{"requirements/a.yaml": requirementsNamed(ids...), "exchanges/a.yaml": x.String()})
	for b.Loop() {
		if _, err := Load(fsys); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	e, err := Compile(`unique(result.tools.map(t, t.name)) && result.tools.all(t, has(t.inputSchema))`, Position{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var tools []any
	for i := range 1000 {
		tools = append(tools, map[string]any{"name": fmt.Sprint(i), "inputSchema": map[string]any{"type": "object"}})
	}
	vars := map[string]any{"result": map[string]any{"tools": tools}}
	for b.Loop() {
		if ok, err := e.Bool(vars); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}
