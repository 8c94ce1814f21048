package script

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// headerAnnotation is the keyword by which a tool's input schema has an argument mirrored into an HTTP header.
const headerAnnotation = "x-mcp-header"

// Where schemas stand within a schema: one, a list of them, or a map of them by name.
var (
	inOne = []string{"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
		"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	inList = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	inMap  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// headerAnnotations are all annotations x-mcp-header of a tool's input schema: `path` (a JSON Pointer to the schema that
// has it), `value`, `types` (those that this schema names; none where it names none) and `reachable`, whether nothing but
// `properties` leads there. What only looks like one, a property of that name or a part of an example, is left out.
// Source: 2026-07-28, Streamable HTTP, "Schema Extension".
func headerAnnotations(v any) (any, error) {
	f := annotationFinder{out: []any{}}
	f.schema(v, "", true, 0)
	return f.out, nil
}

type annotationFinder struct{ out []any }

const deepestSchema = 100

func (f *annotationFinder) schema(v any, path string, reachable bool, depth int) {
	schema, ok := v.(map[string]any)
	if !ok || depth > deepestSchema {
		return
	}
	if value, ok := schema[headerAnnotation]; ok {
		// The root is no argument.
		f.out = append(f.out, map[string]any{"path": path, "value": value, "types": typesOf(schema), "reachable": reachable && depth > 0})
	}
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		at, inner := path+"/"+escapePointer(key), schema[key]
		object, isObject := inner.(map[string]any)
		list, isList := inner.([]any)
		switch {
		case isObject && slices.Contains(inMap, key):
			for _, name := range slices.Sorted(maps.Keys(object)) {
				f.schema(object[name], at+"/"+escapePointer(name), reachable && key == "properties", depth+1)
			}
		case isObject && slices.Contains(inOne, key):
			f.schema(object, at, false, depth+1)
		case isList && slices.Contains(inList, key):
			for i, item := range list {
				f.schema(item, at+"/"+strconv.Itoa(i), false, depth+1)
			}
		}
	}
}

func typesOf(schema map[string]any) []any {
	switch t := schema["type"].(type) {
	case string:
		return []any{t}
	case []any:
		return t
	}
	return []any{}
}

func escapePointer(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// base64Of is the base64 of a text's UTF-8, standard alphabet, padded.
func base64Of(v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("base64: needs a text, not %s", jsonCut(v, 80))
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}
