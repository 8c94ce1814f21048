package script

import (
	"fmt"
	"strings"
	"testing"
)

func TestExplainShowsWhatDecided(t *testing.T) {
	vars := map[string]any{
		"error":    map[string]any{"code": int64(-32601), "message": "no"},
		"revision": "2025-11-25",
		"items":    []any{map[string]any{"name": "a"}, map[string]any{"title": "b"}, map[string]any{"name": "c"}},
		"result":   map[string]any{"tools": []any{}},
	}
	cases := map[string]string{
		`error.code == -32602`: `
error.code = -32601
error.code == -32602 = false`,
		`has(error) && error.code == -32602 && has(result)`: `
error.code = -32601
error.code == -32602 = false
has(error) && error.code == -32602 = false
has(error) && error.code == -32602 && has(result) = false`,
		`error.code == -32602 || error.message == "x"`: `
error.code = -32601
error.code == -32602 = false
error.message = "no"
error.message == "x" = false
error.code == -32602 || error.message == "x" = false`,
		`has(reply)`: `
has(reply) = false`,
		`items.all(i, has(i.name))`: `
items = [{"name":"a"},{"title":"b"},{"name":"c"}]
i = {"title":"b"}
has(i.name) = false
items.all(i, has(i.name)) = false`,
		`items.exists(i, i.name == "b")`: `
items = [{"name":"a"},{"title":"b"},{"name":"c"}]
i = {"title":"b"}
i.name ! there is no member "name"
i.name == "b" ! there is no member "name"
items.exists(i, i.name == "b") ! there is no member "name"`,
		`!items.exists(i, has(i.name) && i.name == "c")`: `
items = [{"name":"a"},{"title":"b"},{"name":"c"}]
i = {"name":"c"}
has(i.name) = true
i.name = "c"
i.name == "c" = true
has(i.name) && i.name == "c" = true
items.exists(i, has(i.name) && i.name == "c") = true
!items.exists(i, has(i.name) && i.name == "c") = false`,
		`items.all(n, i, n < 1)`: `
items = [{"name":"a"},{"title":"b"},{"name":"c"}]
i = {"title":"b"}
n = 1
n < 1 = false
items.all(n, i, n < 1) = false`,
		`error.all(k, k != "code")`: `
error = {"code":-32601,"message":"no"}
k = "code"
k != "code" = false
error.all(k, k != "code") = false`,
		`result.tools.size() > 0`: `
result.tools = []
result.tools.size() = 0
result.tools.size() > 0 = false`,
		`result.nothing == 1`: `
result = {"tools":[]}
result.nothing ! there is no member "nothing"
result.nothing == 1 ! there is no member "nothing"`,
		`reply.id == 1`: `
reply.id ! there is no reply
reply.id == 1 ! there is no reply`,
		`schema(result, "CallToolResult")`: `
result = {"tools":[]}
problems = ["(root): \"content\" is missing"]
schema(result, "CallToolResult") = false`,
		`!isJSONSchema({"type": 5}) && has(reply)`: `
has(reply) = false
!isJSONSchema({"type": 5}) && has(reply) = false`,
		`has(error) ? error.code == 1 : result == 1`: `
has(error) = true
error.code = -32601
error.code == 1 = false
has(error) ? error.code == 1 : result == 1 = false`,
		`!has(error)`: `
has(error) = true
!has(error) = false`,
		`has(error)
  && false`: `
has(error)
  && false = false`,
	}
	for src, want := range cases {
		e, err := Compile(src, Position{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, p := range e.Explain(vars) {
			if p.Err != "" {
				fmt.Fprintf(&b, "\n%s ! %s", p.Source, p.Err)
			} else {
				fmt.Fprintf(&b, "\n%s = %s", p.Source, p.Value)
			}
		}
		if got := b.String(); got != want {
			t.Errorf("%s\n--- got%s\n--- want%s", src, got, want)
		}
	}
}

func TestExplainCutsLongValues(t *testing.T) {
	e, err := Compile(`size(result) == 0`, Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts := e.Explain(map[string]any{"result": strings.Repeat("ä", 1_000_000)})
	if got := len([]rune(parts[0].Value)); got != maxPart+1 || !strings.HasSuffix(parts[0].Value, "…") {
		t.Errorf("got %d characters: %.40s", got, parts[0].Value)
	}
}
