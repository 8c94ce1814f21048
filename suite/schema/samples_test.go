package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// samples makes valid values from the official schema: the smallest and the fullest for each branch of its unions.
func (o *official) samples(at string) (smallest, fullest []any) {
	variants, size := 2, 0
	o.reach(o.node(at), func(schema map[string]any) {
		variants = max(variants, len(anySlice(schema["anyOf"])))
		size++
	})
	if size < 100 {
		variants *= 2 // a second round, with other words of the enumerations; the larger definitions consist of small ones
	}
	seen := map[string]bool{}
	for pick := range variants {
		for _, full := range []bool{false, true} {
			sample := o.build(o.node(at), full, pick)
			text := asJSON(sample)
			switch {
			case seen[text]:
			case full:
				fullest = append(fullest, sample)
			default:
				smallest = append(smallest, sample)
			}
			seen[text] = true
		}
	}
	return smallest, fullest
}

// reach calls f with every schema that a value of the given one may be judged by.
func (o *official) reach(node any, f func(schema map[string]any)) {
	seen := map[string]bool{}
	var walk func(node any)
	walk = func(node any) {
		everyValue(node, func(value any) {
			schema, ok := value.(map[string]any)
			if !ok {
				return
			}
			if ref, ok := schema["$ref"].(string); !ok {
				f(schema)
			} else if !seen[ref] {
				seen[ref] = true
				walk(o.resolve(ref))
			}
		})
	}
	walk(node)
}

func (o *official) resolve(ref string) any {
	return o.node(strings.TrimPrefix(ref, "#/"+o.keyword+"/"))
}

// build makes one value. pick chooses among the alternatives; the keywords are those that the official schemas use.
func (o *official) build(node any, full bool, pick int) any {
	schema, ok := node.(map[string]any)
	if !ok {
		return "anything" // the schema true
	}
	if ref, ok := schema["$ref"].(string); ok {
		return o.build(o.resolve(ref), full, pick)
	}
	if value, ok := schema["const"]; ok {
		return value
	}
	if values, ok := schema["enum"].([]any); ok {
		return values[pick%len(values)]
	}
	if branches, ok := schema["anyOf"].([]any); ok {
		return o.build(branches[pick%len(branches)], full, pick%len(branches)+pick/len(branches))
	}
	if parts, ok := schema["allOf"].([]any); ok {
		merged := map[string]any{}
		for _, part := range parts {
			maps.Copy(merged, o.build(part, full, pick).(map[string]any))
		}
		return merged
	}
	types, _ := schema["type"].([]any)
	if kind, ok := schema["type"].(string); ok {
		types = []any{kind}
	}
	if len(types) == 0 {
		return []any{nil, "anything", map[string]any{"a": json.Number("1")}}[pick%3]
	}
	switch types[pick%len(types)] {
	case "object":
		return o.buildObject(schema, full, pick)
	case "array":
		if !full {
			return []any{}
		}
		return []any{o.build(schema["items"], full, pick), o.build(schema["items"], false, pick+1)}
	case "string":
		return "text of no meaning"
	case "integer":
		return json.Number("7")
	case "number":
		if schema["maximum"] != nil {
			return json.Number("0.5")
		}
		return json.Number("7.5")
	case "boolean":
		return pick%2 == 0
	default:
		return nil
	}
}

func (o *official) buildObject(schema map[string]any, full bool, pick int) any {
	object := map[string]any{}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		if full || slices.Contains(required, any(name)) {
			object[name] = o.build(property, full, pick)
		}
	}
	if other, ok := schema["additionalProperties"].(map[string]any); ok && full {
		object["firstExtra"] = o.build(other, full, pick)
		object["secondExtra"] = o.build(other, false, pick+1)
	}
	return object
}

// replacements stand in for each value in turn: every JSON type, empty and not.
var replacements = []any{
	nil, true, "x", json.Number("7"), json.Number("7.0"), json.Number("-7"), json.Number("1.5"),
	[]any{}, []any{"x"}, []any{map[string]any{}},
	map[string]any{}, map[string]any{"x": "y"}, map[string]any{"x": json.Number("7")}, map[string]any{"x": map[string]any{}},
}

// breaker makes broken copies of values: a member removed; a member added, unknown or from elsewhere in the definition,
// of a type that is rarely right; a value replaced by one of another type; a word replaced by every other one.
type breaker struct {
	words []string // what constants and enumerations allow
	names []string // members to add
	depth int      // how deep to go: what lies deeper is the root, or nearly, in another definition
}

// breakerFor collects the words and the names that a definition reaches.
func (o *official) breakerFor(at string) breaker {
	b := breaker{names: []string{"no-such-member"}}
	o.reach(o.node(at), func(schema map[string]any) {
		for _, word := range append(anySlice(schema["enum"]), schema["const"]) {
			if word, ok := word.(string); ok {
				b.words = append(b.words, word)
			}
		}
		if properties, ok := schema["properties"].(map[string]any); ok {
			b.names = slices.AppendSeq(b.names, maps.Keys(properties))
		}
	})
	slices.Sort(b.words)
	slices.Sort(b.names)
	return breaker{slices.Compact(b.words), slices.Compact(b.names), 9}
}

// each calls f with the broken copies of the value, one after the other.
func (b breaker) each(value any, f func(any)) {
	root := value
	b.breakValue(value, b.depth, func(v any) { root = v }, func() { f(root) })
}

// breakValue changes what set stores, calls f each time, and puts the value back at the end.
func (b breaker) breakValue(value any, depth int, set func(any), f func()) {
	try := func(replacement any) {
		set(replacement)
		f()
	}
	defer set(value)
	for _, replacement := range replacements {
		try(replacement)
	}
	if text, ok := value.(string); ok && slices.Contains(b.words, text) {
		for _, word := range b.words {
			try(word)
		}
	}
	set(value)
	if depth == 0 {
		return
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			b.breakValue(item, depth-1, func(x any) { v[i] = x }, f)
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			member := v[name]
			delete(v, name)
			f()
			v[name] = member
			b.breakValue(member, depth-1, func(x any) { v[name] = x }, f)
		}
		for _, name := range b.names {
			if _, there := v[name]; there {
				continue
			}
			for _, added := range []any{"x", []any{"x"}} {
				v[name] = added
				f()
			}
			delete(v, name)
		}
	}
}

func anySlice(value any) []any {
	slice, _ := value.([]any)
	return slice
}
