package script

import (
	"encoding/json"
	"testing"

	"github.com/onsi/gomega"
)

func TestHeaderAnnotations(t *testing.T) {
	g := gomega.NewWithT(t)
	const input = `{
		"type": "object", "x-mcp-header": "Root",
		"properties": {
			"a": {"type": "string", "x-mcp-header": "A"},
			"x-mcp-header": {"type": "string"},
			"b/c": {"type": "object", "properties": {"d": {"type": ["integer", "null"], "x-mcp-header": ""}}},
			"e": {"type": "array", "items": {"x-mcp-header": 5}},
			"f": {"default": {"x-mcp-header": "no"}, "examples": [{"x-mcp-header": "no"}], "enum": [{"x-mcp-header": "no"}]},
			"g": {"items": [{"properties": {"h": {"type": "number", "x-mcp-header": "H"}}}]}
		},
		"anyOf": [{"properties": {"i": {"type": "boolean", "x-mcp-header": "I"}}}],
		"$defs": {"j": {"x-mcp-header": "J"}},
		"then": {"not": {"x-mcp-header": "K"}}}`
	var schema any
	g.Expect(json.Unmarshal([]byte(input), &schema)).To(gomega.Succeed())
	got, err := headerAnnotations(schema)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	found := func(path string, value any, reachable bool, types ...any) map[string]any {
		return map[string]any{"path": path, "value": value, "reachable": reachable, "types": append([]any{}, types...)}
	}
	g.Expect(got).To(gomega.Equal([]any{
		found("", "Root", false, "object"),
		found("/$defs/j", "J", false),
		found("/anyOf/0/properties/i", "I", false, "boolean"),
		found("/properties/a", "A", true, "string"),
		found("/properties/b~1c/properties/d", "", true, "integer", "null"),
		found("/properties/e/items", 5.0, false),
		found("/properties/g/items/0/properties/h", "H", false, "number"),
		found("/then/not", "K", false),
	}))
	for _, v := range []any{nil, true, "x", []any{}, map[string]any{"properties": 5.0, "items": "x", "allOf": map[string]any{}}} {
		g.Expect(headerAnnotations(v)).To(gomega.BeEmpty())
	}
}

func TestBase64(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(base64Of("Hello, 世界")).To(gomega.Equal("SGVsbG8sIOS4lueVjA=="))
	_, err := base64Of(5)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("needs a text")))
}
