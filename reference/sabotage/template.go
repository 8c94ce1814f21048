package sabotage

import (
	"fmt"
	"strings"
)

// template is a JSON value in which strings may hold `${CEL}`.
type template interface {
	value(names *scope) (any, error)
}

type (
	constant struct{ json any }
	object   map[string]template
	array    []template
	joined   []template
)

func (c constant) value(*scope) (any, error) { return cloneJSON(c.json), nil }

func (o object) value(names *scope) (any, error) {
	result := make(map[string]any, len(o))
	for key, member := range o {
		value, err := member.value(names)
		if err != nil {
			return nil, err
		}
		result[key] = value
	}
	return result, nil
}

func (a array) value(names *scope) (any, error) {
	result := make([]any, len(a))
	for i, element := range a {
		value, err := element.value(names)
		if err != nil {
			return nil, err
		}
		result[i] = value
	}
	return result, nil
}

// value joins literal text and computed parts: a computed string as it is, anything else as JSON.
func (j joined) value(names *scope) (any, error) {
	var text strings.Builder
	for _, part := range j {
		value, err := part.value(names)
		if err != nil {
			return nil, err
		}
		text.WriteString(asText(value))
	}
	return text.String(), nil
}

func asText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return string(encodeJSON(value))
}

// compileString makes a template of text. A string that is one `${CEL}` yields the value with its own type;
// anything else yields a string. The error's column counts from 0 inside text.
func compileString(text string) (template, error) {
	pieces, err := splitTemplate(text)
	if err != nil {
		return nil, err
	}
	parts := make(joined, len(pieces))
	for i, p := range pieces {
		if !p.isExpr {
			parts[i] = constant{p.text}
			continue
		}
		expr, err := compileExpr(p.text, false)
		if inside, ok := err.(*exprError); ok {
			if inside.line == 0 {
				inside.column += p.offset
			}
			inside.what = fmt.Sprintf("`${%s}`: %s", p.text, inside.what)
			return nil, inside
		}
		if err != nil {
			return nil, err
		}
		parts[i] = expr
	}
	switch len(parts) {
	case 0:
		return constant{""}, nil
	case 1:
		return parts[0], nil
	}
	return parts, nil
}
