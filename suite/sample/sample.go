// Package sample makes values that fit a JSON Schema.
package sample

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Object makes an object that fits a schema of objects, such as a tool's input schema or the requestedSchema of a form: the
// required properties and no others, from const, default, examples or enum where the schema has them, else the simplest
// value of the type. The same schema always gives the same object. The error says why none could be made.
func Object(schema any) (map[string]any, error) {
	root, ok := schema.(map[string]any)
	if !ok {
		return nil, errors.New("the schema is no object")
	}
	s := sampler{root: root}
	v, err := s.value(root, 0)
	if err != nil {
		return nil, err
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the schema does not describe an object")
	}
	if err := fits(root, args); err != nil {
		return nil, err
	}
	return args, nil
}

func fits(schema, v any) error {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const name = "litmus:///schema.json"
	if err := c.AddResource(name, plain(schema)); err != nil {
		return err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return err
	}
	return compiled.Validate(plain(v))
}

// noLoader refuses to fetch anything.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not loaded", url) }

// plain turns int64 into float64, which is what the validator knows of numbers.
func plain(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = plain(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	}
	return v
}

type sampler struct {
	root map[string]any
	made int // values, until now
}

const (
	deepest  = 12     // a recursive schema must end
	mostMade = 10_000 // arrays of arrays of arrays multiply
)

func (s *sampler) value(schema any, depth int) (any, error) {
	if s.made++; s.made > mostMade {
		return nil, fmt.Errorf("the schema asks for more than %d values", mostMade)
	}
	o, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return nil, errors.New("nothing fits the schema false")
		}
		return "litmus", nil
	}
	if depth > deepest {
		return nil, errors.New("the schema is nested too deep")
	}
	if ref, ok := o["$ref"].(string); ok {
		target, err := s.resolve(ref)
		if err != nil {
			return nil, err
		}
		return s.value(target, depth+1)
	}
	if v, ok := o["const"]; ok {
		return v, nil
	}
	if v, ok := o["default"]; ok {
		return v, nil
	}
	for _, name := range []string{"examples", "enum"} {
		if l, ok := o[name].([]any); ok && len(l) > 0 {
			return l[0], nil
		}
	}
	for _, name := range []string{"oneOf", "anyOf", "allOf"} {
		if l, ok := o[name].([]any); ok && len(l) > 0 {
			if branch, ok := l[0].(map[string]any); ok {
				merged := maps.Clone(o)
				delete(merged, name)
				maps.Copy(merged, branch)
				return s.value(merged, depth+1)
			}
		}
	}
	return s.typed(o, depth)
}

func (s *sampler) typed(o map[string]any, depth int) (any, error) {
	kind := o["type"]
	if l, ok := kind.([]any); ok && len(l) > 0 {
		kind = l[0]
	}
	switch kind {
	case "integer", "number":
		return number(o, kind == "integer"), nil
	case "boolean":
		return false, nil
	case "null":
		return nil, nil
	case "array":
		out := []any{}
		for range min(int(float(o["minItems"], 0)), 8) {
			item, err := s.value(o["items"], depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, item)
		}
		return out, nil
	case "string":
		return text(o), nil
	}
	if kind != "object" && o["properties"] == nil && depth > 0 {
		return "litmus", nil
	}
	out := map[string]any{}
	properties, _ := o["properties"].(map[string]any)
	required, _ := o["required"].([]any)
	for _, r := range required {
		name, ok := r.(string)
		if !ok {
			continue
		}
		v, err := s.value(orTrue(properties, name), depth+1)
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func orTrue(properties map[string]any, name string) any {
	if v, ok := properties[name]; ok {
		return v
	}
	return true
}

func (s *sampler) resolve(ref string) (any, error) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("the reference %s leads out of the schema", ref)
	}
	var at any = s.root
	for _, part := range strings.Split(strings.TrimPrefix(rest, "/"), "/") {
		if part == "" {
			continue
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		o, ok := at.(map[string]any)
		if !ok || o[part] == nil {
			return nil, fmt.Errorf("the reference %s leads nowhere", ref)
		}
		at = o[part]
	}
	return at, nil
}

func number(o map[string]any, whole bool) any {
	v := 1.0
	if low, ok := o["minimum"]; ok {
		v = math.Max(v, float(low, v))
	}
	if low, ok := o["exclusiveMinimum"]; ok {
		v = math.Max(v, float(low, v-1)+1)
	}
	if high, ok := o["maximum"]; ok {
		v = math.Min(v, float(high, v))
	}
	if high, ok := o["exclusiveMaximum"]; ok && v >= float(high, v+1) {
		v = float(high, v) - 1
	}
	if step := float(o["multipleOf"], 0); step > 0 {
		v = math.Ceil(v/step) * step
	}
	if whole || v == math.Trunc(v) {
		return int64(math.Ceil(v))
	}
	return v
}

func float(v any, or float64) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return or
}

// formats are simple values of the string formats that schemas name.
var formats = map[string]string{
	"date-time": "2025-01-01T00:00:00Z", "date": "2025-01-01", "time": "00:00:00Z", "email": "litmus@example.com",
	"uri": "https://example.com/", "url": "https://example.com/", "uri-reference": "/", "hostname": "example.com",
	"ipv4": "127.0.0.1", "ipv6": "::1", "uuid": "123e4567-e89b-42d3-a456-426614174000", "duration": "PT1S",
}

func text(o map[string]any) string {
	v := "litmus"
	if f, ok := o["format"].(string); ok {
		if known, ok := formats[f]; ok {
			v = known
		}
	}
	if n := int(float(o["minLength"], 0)); n > len(v) && n < 10_000 {
		v += strings.Repeat("x", n-len(v))
	}
	if n := int(float(o["maxLength"], math.MaxInt32)); n < len(v) {
		v = string(slices.Clone([]byte(v))[:max(n, 0)])
	}
	return v
}
