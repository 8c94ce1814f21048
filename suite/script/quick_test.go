package script

import (
	"reflect"
	"strings"
	"testing"
)

// values are what a member can be, in plain JSON.
var quickValues = []any{nil, true, false, "request", "result", "", int64(0), int64(1), int64(200), 1.0, 1.5, []any{}, []any{"a"},
	map[string]any{}, map[string]any{"id": int64(1), "x": "y"}, map[string]any{"id": nil}}

// items are messages with any of these values in each of the members that the expressions below look at, and without.
func quickItems() []any {
	var out []any
	for _, name := range []string{"kind", "message", "malformed", "stream"} {
		for _, v := range append([]any{"absent"}, quickValues...) {
			item := map[string]any{"kind": "request", "malformed": false, "stream": int64(1), "message": map[string]any{"id": int64(1)}}
			if item[name] = v; v == "absent" {
				delete(item, name)
			}
			out = append(out, item)
		}
	}
	return append(out, quickValues...)
}

// TestQuickIsWhatCELSays compares the quick evaluation with CEL's own: where it decides, CEL has decided the same.
func TestQuickIsWhatCELSays(t *testing.T) {
	for _, src := range []string{
		`it.kind == "request"`, `it.kind != "request"`, `it.kind in ["request", "result"]`, `!(it.kind in ["x"])`, `!it.malformed`,
		`has(it.message.id)`, `has(it.message.id) && it.message.id != null`, `it.message.id == 1`, `it.stream > 0`, `it.message.x == "y"`,
		`type(it.message) == map`, `type(it.message) == list || it.malformed`, `it.kind == null`, `it.malformed == true`,
		`type(it.message) == map ? has(it.message.x) : it.stream > 0`, `it.malformed && it.kind == "x" || it.stream == 1`,
		`it.message.exists(x, x == "a")`, `!it.message.exists(x, x.startsWith("a"))`, `has(nothing) || has(it.kind)`, `it.malformed`, `it`,
		`it.message.id > 0 || it.nothing == 1`, `it.nothing == 1 && it.kind == "result"`, `schema(it.message, it.kind)`, `type(it.stream) == int`,
	} {
		e, err := Compile(src, Position{}, []string{"nothing"})
		if err != nil {
			t.Fatal(err)
		}
		if e.quick == nil {
			t.Errorf("%s is left to CEL altogether", src)
			continue
		}
		decided := 0
		for _, item := range quickItems() {
			vars := map[string]any{"it": item, "revision": "2025-11-25"}
			got := e.quick(vars)
			if got == unsure {
				continue
			}
			decided++
			out, err := e.eval(vars)
			if err != nil || (got == yes) != out.Value() {
				t.Errorf("%s of %v is %v, CEL says %v (%v)", src, item, got == yes, out, err)
			}
		}
		if decided == 0 && !strings.HasPrefix(src, "schema") {
			t.Errorf("%s is never decided", src)
		}
	}
	for _, src := range []string{`messages`, `messages.filter(m, m.kind == "request")`, `messages.filter(m, has(m.message) && m.stream > 0)`} {
		e, err := Compile(src, Position{}, nil)
		if err != nil || e.list == nil {
			t.Fatalf("%s is left to CEL altogether (%v)", src, err)
		}
		decided := 0
		for _, item := range quickItems() {
			vars := map[string]any{"messages": []any{map[string]any{"kind": "request", "stream": int64(0), "message": "x"}, item}}
			got, ok := e.list(vars)
			if !ok {
				continue
			}
			decided++
			out, err := e.eval(vars)
			if err != nil || !reflect.DeepEqual(any(got), native(out)) {
				t.Errorf("%s of %v is %v, CEL says %v (%v)", src, vars, got, out, err)
			}
		}
		if decided == 0 {
			t.Errorf("%s is never decided", src)
		}
	}
}
