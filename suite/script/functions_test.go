package script

import (
	"fmt"
	"strings"
	"testing"
)

// evaluate compiles and evaluates src over vars.
func evaluate(t *testing.T, src string, vars map[string]any) (any, error) {
	t.Helper()
	e, err := Compile(src, Position{File: "test", Line: 1, Column: 1}, []string{"v", "w"})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return e.Value(vars)
}

func TestEveryFunctionTellsRightFromWrong(t *testing.T) {
	cases := map[string]struct{ yes, no []any }{
		"unique(v)": {
			yes: []any{[]any{}, []any{"a", "b"}, []any{int64(1), "1"}, []any{map[string]any{"a": int64(1)}, map[string]any{"a": int64(2)}}, []any{nil, false}},
			no:  []any{[]any{"a", "a"}, []any{int64(1), 1.0}, []any{map[string]any{"a": []any{int64(1)}}, map[string]any{"a": []any{1.0}}}, []any{nil, nil}},
		},
		"ascending(v)": {
			yes: []any{[]any{}, []any{int64(1)}, []any{int64(1), 1.5, int64(2)}, []any{"a", "b"}},
			no:  []any{[]any{int64(1), int64(1)}, []any{int64(2), 1.5}, []any{"b", "a"}},
		},
		"isInteger(v)": {
			yes: []any{int64(0), int64(-5), 3.0},
			no:  []any{1.5, "1", nil, true, []any{}},
		},
		"isURI(v)": {
			yes: []any{"file:///a", "test://static-text", "urn:isbn:0451450523", "http://user@host:80/p?q#f", "http://[::1]:8080/", "mailto:a@b.c", "a:", "http://h/%20", "file:///c:/x"},
			no:  []any{"", "/a/b", "a b:c", "1a:b", "http://h/ x", "http://h/%2", "http://h/ä", "http://[::1", "http://h:p/", "a:b#c#d", "http://h/<x>", "http://[::1%25e]/", "a:[b]", nil, int64(1)},
		},
		"isURITemplate(v)": {
			yes: []any{"", "a", "test://template/{id}/data", "{+path:3}{?a,b*}", "http://h/{x.y}/{%20}", "{&x}", "ü{x}", "it's/{x}"},
			no:  []any{"{", "}", "{}", "{a b}", "{id", "a}b", "{a:0}", "{a:10000}", "{a,}", "a b", "%2", "<", "{a..b}", "{*a}", nil},
		},
		"isBase64(v)": {
			yes: []any{"", "TQ==", "TWE=", "TWFu", "+/+/"},
			no:  []any{"TQ", "TQ=", "T", "-_-_", "TW Fu", "TWFu\n", "data:,x", nil, int64(1)},
		},
		"isTimestamp(v)": {
			yes: []any{"2025-01-02T03:04:05Z", "2025-01-02T03:04:05.678+01:00", "2024-02-29t00:00:00z", "2016-12-31T23:59:60Z"},
			no:  []any{"2025-01-02", "2025-01-02T03:04:05", "2025-13-02T03:04:05Z", "2023-02-29T00:00:00Z", "2025-01-02T24:00:00Z", "2025-01-02 03:04:05Z", "2025-01-02T03:04:05,6Z", "2025-01-02T03:04:05+24:00", int64(5)},
		},
		"isVisibleASCII(v)": {
			yes: []any{"!", "~", "0a-Z"},
			no:  []any{"", "a b", "ä", "\x7f", "a\n", int64(1)},
		},
		"isMetaKey(v)": {
			yes: []any{"", "a", "progressToken", "com.example/x", "a/", "io.modelcontextprotocol/related-task", "a-b.c1/x_y.z-1", "A"},
			no:  []any{"-a", "a-", "1a/x", "a-/x", "/x", "a..b/x", ".a/x", "a b", "a/b/c", "a/_b", "ä", nil},
		},
		"isJSONSchema(v)": {
			yes: []any{map[string]any{"type": "object"}, true, map[string]any{}, map[string]any{"$ref": "https://elsewhere.example/s.json"},
				map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": map[string]any{"a": true}},
				map[string]any{"$schema": "https://elsewhere.example/dialect"}, map[string]any{"pattern": "^(?=a)\\u0041$"},
				map[string]any{"type": "string", "format": "no such format"}, map[string]any{"minLength": int64(1), "maximum": 1.5}},
			no: []any{"text", nil, []any{}, map[string]any{"type": "objekt"}, map[string]any{"required": "a"}, map[string]any{"$ref": "#/$defs/none"},
				map[string]any{"properties": map[string]any{"a": "string"}}, map[string]any{"pattern": "("}, map[string]any{"minLength": int64(-1)},
				map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "items": int64(1)}},
		},
		`schema(v, "Tool")`: {
			yes: []any{map[string]any{"name": "a", "inputSchema": map[string]any{"type": "object"}}},
			no:  []any{map[string]any{"name": "a"}, map[string]any{}, "text", nil},
		},
		`conforms(w, v)`: { // w is {"a": 1}
			yes: []any{map[string]any{"type": "object"}, true, map[string]any{"$ref": "https://elsewhere.example/s"}, map[string]any{"type": "nonsense"},
				map[string]any{"properties": map[string]any{"a": map[string]any{"const": 1.0}}}},
			no: []any{map[string]any{"type": "array"}, false, map[string]any{"required": []any{"b"}},
				map[string]any{"properties": map[string]any{"a": map[string]any{"type": "string"}}}},
		},
		"has(v)":                           {yes: []any{nil, int64(0)}},
		"has(v.a)":                         {yes: []any{map[string]any{"a": nil}}, no: []any{map[string]any{}}},
		`"a" in keys(v)`:                   {yes: []any{map[string]any{"a": nil}}, no: []any{map[string]any{"b": "a"}}},
		`"a" in values(v)`:                 {yes: []any{map[string]any{"b": "a"}}, no: []any{map[string]any{"a": "b"}}},
		`v.matches("^a+$")`:                {yes: []any{"aa", strings.Repeat("a", 1_000_000)}, no: []any{"ab"}},
		`json(v) == {"a": [1, 2.5]}`:       {yes: []any{`{"a":[1,2.5]}`, ` {"a":[1.0,2.5]} `}, no: []any{`{"a":[1]}`, `null`}},
		`range(v).map(i, i * 2) == [0, 2]`: {yes: []any{int64(2), 2.0}, no: []any{int64(3), int64(0)}},
		`v == -32602`:                      {yes: []any{int64(-32602), -32602.0}, no: []any{"-32602", int64(1)}},
		`v < 2.5 && v > 1u`:                {yes: []any{int64(2), 2.25}, no: []any{int64(3)}},
	}
	for src, c := range cases {
		for want, values := range map[bool][]any{true: c.yes, false: c.no} {
			for _, v := range values {
				vars := map[string]any{"v": v, "w": map[string]any{"a": int64(1)}, "revision": "2025-11-25"}
				got, err := evaluate(t, src, vars)
				if err != nil || got != any(want) {
					t.Errorf("%s of %.80q: got %v (%v), want %v", src, fmt.Sprint(v), got, err, want)
				}
			}
		}
	}
}

func TestFunctionsRefuseWhatTheyCannotJudge(t *testing.T) {
	cases := map[string]string{
		`unique(v)`:                    "unique takes a list",
		`ascending(v)`:                 "ascending takes a list",
		`ascending([v])`:               "ascending takes numbers or texts",
		`ascending([1, "a"])`:          "cannot compare 1 with \"a\"",
		`range(v)`:                     "range takes a whole number",
		`range(-1)`:                    "range takes a whole number",
		`range(2000000)`:               "range takes a whole number",
		`json(v)`:                      "json takes a text",
		`json("{")`:                    "not JSON",
		`json("1 2")`:                  "something follows",
		`keys("a")`:                    "keys takes a map",
		`values([1])`:                  "values takes a map",
		`result.tools`:                 "there is no result",
		`v.b`:                          `there is no member "b"`,
		`schema(v, v.a)`:               "the name of a schema must be a text",
		`[1][5]`:                       "index out of bounds",
		`schema(v, "Tool") && nothing`: "",
	}
	delete(cases, `schema(v, "Tool") && nothing`)
	for src, want := range cases {
		got, err := evaluate(t, src, map[string]any{"v": map[string]any{"a": int64(1)}, "revision": "2025-11-25"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v and the error %v, want an error with %q", src, got, err, want)
		}
	}
}

func TestAbsentVariablesAreNotPresent(t *testing.T) {
	for src, want := range map[string]bool{
		`has(result)`:                           false,
		`has(error) && error.code == 5`:         true,
		`!has(result) || has(result.tools)`:     true,
		`[1].all(i, has(error) && !has(reply))`: true,
		`has(error.data)`:                       false,
	} {
		if got, err := evaluate(t, src, map[string]any{"error": map[string]any{"code": int64(5)}}); err != nil || got != any(want) {
			t.Errorf("%s: got %v (%v), want %v", src, got, err, want)
		}
	}
}

func TestTheDefaultDialectDependsOnTheRevision(t *testing.T) {
	// In draft 4 exclusiveMinimum is a boolean, in 2020-12 it is a number.
	old := map[string]any{"minimum": int64(1), "exclusiveMinimum": true}
	for revision, want := range map[string]bool{"2024-11-05": true, "2025-06-18": true, "2025-11-25": false, "2026-07-28": false} {
		got, err := evaluate(t, "isJSONSchema(v)", map[string]any{"v": old, "revision": revision})
		if err != nil || got != any(want) {
			t.Errorf("%s: got %v (%v), want %v", revision, got, err, want)
		}
	}
	if got, err := evaluate(t, "conforms(w, v)", map[string]any{"v": old, "w": int64(1), "revision": "2024-11-05"}); err != nil || got != any(false) {
		t.Errorf("1 is not above an exclusive minimum of 1: got %v (%v)", got, err)
	}
	if _, err := evaluate(t, "isJSONSchema(v)", map[string]any{"v": old}); err == nil {
		t.Error("without a revision there is no default dialect, and so no answer")
	}
}

func TestProblemsAreListed(t *testing.T) {
	vars := map[string]any{"v": map[string]any{"type": "objekt", "required": "a"}, "revision": "2025-11-25"}
	for src, want := range map[string]string{
		"schemaProblems(v)":                               "/required: got string, want array",
		`problems(v, "Tool")`:                             "name",
		`schemaProblems({"$ref": "https://h.example/s"})`: "unknown: https://h.example/s is not followed",
	} {
		got, err := evaluate(t, src, vars)
		if err != nil || !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("%s: got %v (%v), want %q in it", src, got, err, want)
		}
	}
	if got, err := evaluate(t, `problems({"name": "a", "inputSchema": {"type": "object"}}, "Tool")`, vars); err != nil || len(got.([]any)) != 0 {
		t.Errorf("a valid value has no problems: got %v (%v)", got, err)
	}
}

func TestValuesComeOutPlain(t *testing.T) {
	for src, want := range map[string]string{
		`{"a": [1, 2.5, "x", null, true], "b": {1: 2}}`: `{"a":[1,2.5,"x",null,true],"b":{"1":2}}`,
		`v.map(i, {"id": i + 5000})`:                    `[{"id":5001},{"id":5002}]`,
		`[1u, 18446744073709551615u]`:                   `[1,18446744073709552000]`,
		`range(2)`:                                      `[0,1]`,
		`v`:                                             `[1,2]`,
		`{"k": v}`:                                      `{"k":[1,2]}`,
	} {
		got, err := evaluate(t, src, map[string]any{"v": []any{int64(1), int64(2)}})
		if err != nil || jsonCut(got, 1000) != want {
			t.Errorf("%s: got %s (%v), want %s", src, jsonCut(got, 1000), err, want)
		}
		assertPlain(t, src, got)
	}
}

func assertPlain(t *testing.T, src string, v any) {
	t.Helper()
	switch x := v.(type) {
	case nil, bool, int64, float64, string:
	case []any:
		for _, e := range x {
			assertPlain(t, src, e)
		}
	case map[string]any:
		for _, e := range x {
			assertPlain(t, src, e)
		}
	default:
		t.Errorf("%s: %T is no plain value", src, v)
	}
}

func TestBoolWantsABoolean(t *testing.T) {
	e, err := Compile("result", Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Bool(map[string]any{"result": "yes"}); err == nil || err.Error() != `the value is "yes", not true or false` {
		t.Errorf("got %v", err)
	}
}
