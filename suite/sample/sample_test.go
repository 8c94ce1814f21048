package sample

import (
	"testing"

	"github.com/onsi/gomega"
)

func object(properties map[string]any, required ...any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func TestObject(t *testing.T) {
	for _, c := range []struct {
		name   string
		schema any
		want   map[string]any
	}{
		{"nothing required", object(map[string]any{"a": map[string]any{"type": "string"}}), map[string]any{}},
		{"a format", object(map[string]any{"a": map[string]any{"type": "string", "format": "date"}}, "a"), map[string]any{"a": "2025-01-01"}},
		{"bounds", object(map[string]any{"n": map[string]any{"type": "integer", "minimum": int64(5), "multipleOf": int64(4)}}, "n"),
			map[string]any{"n": int64(8)}},
		{"a reference", map[string]any{"type": "object", "required": []any{"a"}, "$defs": map[string]any{"x": map[string]any{"enum": []any{"on", "off"}}},
			"properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/x"}}}, map[string]any{"a": "on"}},
		{"an array", object(map[string]any{"a": map[string]any{"type": "array", "minItems": int64(2), "items": map[string]any{"type": "boolean"}}}, "a"),
			map[string]any{"a": []any{false, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got, err := Object(c.schema)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(got).To(gomega.Equal(c.want))
		})
	}
}

// A server chooses its schemas, and must not be able to keep the suite busy with them.
func TestObjectOfASchemaThatMultiplies(t *testing.T) {
	inner := map[string]any{"type": "string"}
	for range deepest - 2 {
		inner = map[string]any{"type": "array", "minItems": int64(8), "items": inner}
	}
	_, err := Object(object(map[string]any{"a": inner}, "a"))
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("more than 10000 values")))
}

func TestObjectOfASchemaThatReferencesItself(t *testing.T) {
	_, err := Object(object(map[string]any{"a": map[string]any{"$ref": "#"}}, "a"))
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("nested too deep")))
}
