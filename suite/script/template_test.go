package script

import (
	"strings"
	"testing"
)

// valueOf reads one YAML value as a template.
func valueOf(t *testing.T, yaml string) (Value, error) {
	t.Helper()
	m := &mistakes{}
	root := parseYAML("test.yaml", []byte(yaml), m)
	if root == nil {
		t.Fatalf("%s: %v", yaml, m.err())
	}
	v := template(root.get("v"), &scope{extra: []string{"call"}}, m)
	return v, m.err()
}

func TestTemplatesPutValuesIn(t *testing.T) {
	vars := map[string]any{
		"id": int64(7), "result": map[string]any{"a": []any{int64(1), 2.5, nil}}, "error": nil, "stderr": "text", "timeout": true,
		"call": map[string]any{"id": "x"},
	}
	for yaml, want := range map[string]string{
		`v: plain`:         "\"plain\"",
		`v: 5`:             `5`,
		`v: 1.5`:           `1.5`,
		`v: true`:          `true`,
		`v: null`:          `null`,
		`v: ""`:            `""`,
		`v: "${id}"`:       `7`,
		`v: "${result.a}"`: `[1,2.5,null]`,
		`v: "${error}"`:    `null`,
		`v: "${stderr}"`:   `"text"`,
		`v: "a${id}b${stderr}c${result}${error}"`:    `"a7btextc{\"a\":[1,2.5,null]}null"`,
		`v: "$${id} costs $5 $$"`:                    `"${id} costs $5 $$"`,
		`v: "$${${id}}"`:                             `"${7}"`,
		`v: '${{"a}": "}", "b": {"c": id}}}'`:        `{"a}":"}","b":{"c":7}}`,
		`v: '${"\"}" + stderr}'`:                     `"\"}text"`,
		`v: {a: ["${id}", {b: "${call.id}"}], c: d}`: `{"a":[7,{"b":"x"}],"c":"d"}`,
		`v: []`: `[]`,
		`v: {}`: `{}`,
	} {
		v, err := valueOf(t, yaml)
		if err != nil {
			t.Errorf("%s: %v", yaml, err)
			continue
		}
		got, err := v.Render(vars)
		if err != nil || jsonCut(got, 1000) != want {
			t.Errorf("%s: got %s (%v), want %s", yaml, jsonCut(got, 1000), err, want)
		}
		if v.IsZero() {
			t.Errorf("%s: what was written is not nothing", yaml)
		}
	}
	if (Value{}).IsZero() != true {
		t.Error("the zero value stands for nothing")
	}
}

func TestRenderingDoesNotShareWhatWasWritten(t *testing.T) {
	v, err := valueOf(t, "v: {a: {b: [1]}}")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := v.Render(nil)
	first.(map[string]any)["a"].(map[string]any)["b"].([]any)[0] = "changed"
	second, _ := v.Render(nil)
	if got := jsonCut(second, 100); got != `{"a":{"b":[1]}}` {
		t.Errorf("got %s", got)
	}
}

func TestRenderingSaysWhatIsNotThere(t *testing.T) {
	v, err := valueOf(t, `v: {name: "${call.nothing.at.all}"}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Render(map[string]any{"call": map[string]any{}})
	if err == nil || !strings.Contains(err.Error(), "test.yaml:1:14: ${call.nothing.at.all}: there is no member \"nothing\"") {
		t.Errorf("got %v", err)
	}
}

func TestSourceIsForPeople(t *testing.T) {
	for yaml, want := range map[string]string{
		`v: "a ${id}"`:                  "a ${id}",
		`v: {a: "${id}", b: [1, null]}`: `{"a":"${id}","b":[1,null]}`,
		`v: 5`:                          "5",
	} {
		v, err := valueOf(t, yaml)
		if err != nil || v.Source() != want {
			t.Errorf("%s: got %q (%v), want %q", yaml, v.Source(), err, want)
		}
	}
}
