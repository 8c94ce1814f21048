package reference

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// schema is a JSON Schema (2020-12) of the server's own, for a tool or a form: as it is sent, and decoded for checking.
// Only the keywords that those schemas use are checked.
type schema struct {
	text json.RawMessage
	root object
}

// mustSchema reads a schema of the server's own.
func mustSchema(text string) *schema {
	v, err := decode([]byte(text))
	if err != nil {
		panic("reference: schema " + text + ": " + err.Error())
	}
	return &schema{text: json.RawMessage(text), root: v.(object)}
}

// validate returns an error that says where and why v, which the error calls name, does not fit, or nil.
func (s *schema) validate(v any, name string) error {
	return s.check(s.root, v, name)
}

func (s *schema) check(rule any, v any, at string) error {
	if allowed, ok := rule.(bool); ok {
		if !allowed {
			return fmt.Errorf("%s is not allowed", at)
		}
		return nil
	}
	keywords := rule.(object)
	for _, check := range []func(object, any, string) error{
		s.checkType, s.checkValue, s.checkNumber, s.checkString, s.checkArray, s.checkObject, s.checkCombined,
	} {
		if err := check(keywords, v, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) checkType(k object, v any, at string) error {
	want, ok := k["type"].(string)
	if !ok || typeOf(v) == want || (want == "number" && typeOf(v) == "integer") {
		return nil
	}
	return fmt.Errorf("%s must be of type %s, not %s", at, want, typeOf(v))
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if number, ok := rational(v); ok && number.IsInt() {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// rational returns the exact value of a number, unless its exponent is too large to write out.
func rational(n json.Number) (*big.Rat, bool) {
	if _, exponent, found := strings.Cut(strings.ToLower(n.String()), "e"); found && len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

func (s *schema) checkValue(k object, v any, at string) error {
	if values, ok := k["enum"].([]any); ok && !slices.ContainsFunc(values, func(e any) bool { return equal(e, v) }) {
		return fmt.Errorf("%s must be one of %s", at, encode(values))
	}
	if value, ok := k["const"]; ok && !equal(value, v) {
		return fmt.Errorf("%s must be %s", at, encode(value))
	}
	return nil
}

func equal(a, b any) bool {
	x, aIsNumber := a.(json.Number)
	y, bIsNumber := b.(json.Number)
	if aIsNumber && bIsNumber {
		p, ok := rational(x)
		q, okToo := rational(y)
		return ok && okToo && p.Cmp(q) == 0
	}
	return reflect.DeepEqual(a, b)
}

func (s *schema) checkNumber(k object, v any, at string) error {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	for keyword, wrong := range map[string]int{"minimum": -1, "maximum": 1} {
		limit, ok := k[keyword].(json.Number)
		if !ok {
			continue
		}
		bound, _ := rational(limit)
		if value, ok := rational(n); !ok || value.Cmp(bound) == wrong {
			return fmt.Errorf("%s is %s, but the %s is %s", at, n, keyword, limit)
		}
	}
	return nil
}

func (s *schema) checkString(k object, v any, at string) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	length := utf8.RuneCountInString(text)
	if limit, ok := integer(k["minLength"]); ok && length < limit {
		return fmt.Errorf("%s must have at least %d characters", at, limit)
	}
	if limit, ok := integer(k["maxLength"]); ok && length > limit {
		return fmt.Errorf("%s must have at most %d characters", at, limit)
	}
	return nil
}

func integer(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return int(i), err == nil
}

func (s *schema) checkArray(k object, v any, at string) error {
	items, ok := v.([]any)
	if !ok {
		return nil
	}
	if limit, ok := integer(k["minItems"]); ok && len(items) < limit {
		return fmt.Errorf("%s must have at least %d items", at, limit)
	}
	if limit, ok := integer(k["maxItems"]); ok && len(items) > limit {
		return fmt.Errorf("%s must have at most %d items", at, limit)
	}
	if rule, ok := k["items"]; ok {
		for i, item := range items {
			if err := s.check(rule, item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *schema) checkObject(k object, v any, at string) error {
	o, ok := v.(object)
	if !ok {
		return nil
	}
	required, _ := k["required"].([]any)
	for _, name := range required {
		if _, ok := o[name.(string)]; !ok {
			return fmt.Errorf("%s.%s is missing", at, name)
		}
	}
	properties, _ := k["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(o)) {
		rule, ok := properties[name]
		if !ok {
			if rule, ok = k["additionalProperties"]; !ok {
				continue
			}
		}
		if err := s.check(rule, o[name], at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) checkCombined(k object, v any, at string) error {
	if ref, ok := k["$ref"].(string); ok {
		target := any(s.root)
		for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			target = target.(object)[step]
		}
		if err := s.check(target, v, at); err != nil {
			return err
		}
	}
	all, _ := k["allOf"].([]any)
	for _, rule := range all {
		if err := s.check(rule, v, at); err != nil {
			return err
		}
	}
	if options, ok := k["anyOf"].([]any); ok {
		var first error
		for i, rule := range options {
			err := s.check(rule, v, at)
			if err == nil {
				first = nil
				break
			}
			if i == 0 {
				first = err
			}
		}
		if first != nil {
			return fmt.Errorf("%s fits none of the alternatives; the first: %w", at, first)
		}
	}
	if options, ok := k["oneOf"].([]any); ok {
		fitting := 0
		for _, rule := range options {
			if s.check(rule, v, at) == nil {
				fitting++
			}
		}
		if fitting != 1 {
			return fmt.Errorf("%s fits %d of the alternatives, not exactly one", at, fitting)
		}
	}
	if condition, ok := k["if"]; ok {
		branch := "then"
		if s.check(condition, v, at) != nil {
			branch = "else"
		}
		if rule, ok := k[branch]; ok {
			return s.check(rule, v, at)
		}
	}
	return nil
}
