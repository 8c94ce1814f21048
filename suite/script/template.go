package script

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Value is a template: a YAML value in which texts may hold ${CEL}. A text that is exactly one ${...} takes the
// kind of its value; otherwise values are put into the text, texts as they are, all else as JSON. $${ stands for
// the two characters ${ themselves. Keys hold no ${...}. The zero Value stands for no value at all.
type Value struct{ form form }

// form is one kind of template.
type form interface {
	render(vars map[string]any) (any, error)
	source() string
}

// IsZero says whether nothing was written. A null that was written is not nothing.
func (v Value) IsZero() bool { return v.form == nil }

// Render puts the variables in. The result is plain Go: map[string]any, []any, int64, float64, string, bool or nil;
// its maps and lists are fresh, but the values that came from vars are shared. It is an error when an expression
// cannot be evaluated: a variable or a member is not there. The zero Value gives nil.
func (v Value) Render(vars map[string]any) (any, error) {
	if v.form == nil {
		return nil, nil
	}
	return v.form.render(vars)
}

// Source is the value for people: a text as it was written, all else as JSON.
func (v Value) Source() string {
	if v.form == nil {
		return ""
	}
	return v.form.source()
}

type literal struct{ value any }

func (l literal) render(map[string]any) (any, error) { return l.value, nil }
func (l literal) source() string {
	if s, ok := l.value.(string); ok {
		return s
	}
	return jsonCut(l.value, 1000)
}

// text is a text with expressions in it; a part is either text or an expression.
type text struct {
	written string
	parts   []textPart
}

type textPart struct {
	text string
	expr *Expr
}

func (t text) source() string { return t.written }

func (t text) render(vars map[string]any) (any, error) {
	if len(t.parts) == 1 {
		return t.evaluate(t.parts[0], vars)
	}
	var b strings.Builder
	for _, p := range t.parts {
		v, err := t.evaluate(p, vars)
		if err != nil {
			return nil, err
		}
		if s, ok := v.(string); ok {
			b.WriteString(s)
			continue
		}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("cannot put the value of %s into a text: %w", p.expr.Source, err)
		}
		b.Write(data)
	}
	return b.String(), nil
}

func (t text) evaluate(p textPart, vars map[string]any) (any, error) {
	if p.expr == nil {
		return p.text, nil
	}
	v, err := p.expr.Value(vars)
	if err != nil {
		return nil, fmt.Errorf("%s: ${%s}: %w", p.expr.Pos, p.expr.Source, err)
	}
	return v, nil
}

type mapValue struct {
	keys   []string
	values []form
}

func (m mapValue) render(vars map[string]any) (any, error) {
	out := make(map[string]any, len(m.keys))
	for i, k := range m.keys {
		v, err := m.values[i].render(vars)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

func (m mapValue) source() string {
	parts := make([]string, len(m.keys))
	for i, k := range m.keys {
		parts[i] = encodeText(k) + ":" + inner(m.values[i])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

type listValue []form

func (l listValue) render(vars map[string]any) (any, error) {
	out := make([]any, len(l))
	for i, v := range l {
		r, err := v.render(vars)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

func (l listValue) source() string {
	parts := make([]string, len(l))
	for i, v := range l {
		parts[i] = inner(v)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// inner is a part's source within JSON.
func inner(v form) string {
	switch x := v.(type) {
	case literal:
		return jsonCut(x.value, 1000)
	case text:
		return encodeText(x.written)
	}
	return v.source()
}

// isConstant says whether a template holds no expression.
func isConstant(v form) bool {
	switch x := v.(type) {
	case text:
		return false
	case mapValue:
		for _, v := range x.values {
			if !isConstant(v) {
				return false
			}
		}
	case listValue:
		for _, v := range x {
			if !isConstant(v) {
				return false
			}
		}
	}
	return true
}

// template reads a node as a template.
func template(n *node, sc *scope, m *mistakes) Value { return Value{formOf(n, sc, m)} }

func formOf(n *node, sc *scope, m *mistakes) form {
	switch n.kind {
	case mappingNode:
		v := mapValue{}
		for _, e := range n.entries {
			if strings.Contains(e.key, "${") {
				m.add(e.pos, "a key holds no ${...}; build the whole map in one ${...}")
			}
			v.keys = append(v.keys, e.key)
			v.values = append(v.values, formOf(e.value, sc, m))
		}
		return v
	case listNode:
		v := make(listValue, 0, len(n.items))
		for _, i := range n.items {
			v = append(v, formOf(i, sc, m))
		}
		return v
	}
	if s, ok := n.scalar.(string); ok && strings.Contains(s, "${") {
		return textTemplate(n, s, sc, m)
	}
	return literal{n.scalar}
}

func textTemplate(n *node, s string, sc *scope, m *mistakes) form {
	runes := []rune(s)
	t := text{written: s}
	var plain []rune
	flush := func() {
		if len(plain) > 0 {
			t.parts = append(t.parts, textPart{text: string(plain)})
			plain = nil
		}
	}
	for i := 0; i < len(runes); i++ {
		rest := string(runes[i:min(i+3, len(runes))])
		switch {
		case rest == "$${":
			plain = append(plain, '$', '{')
			i += 2
		case strings.HasPrefix(rest, "${"):
			end := expressionEnd(runes, i+2)
			if end < 0 {
				m.add(n.place(i), "${ is not closed; end the expression with }, or write $${ for the two characters")
				return literal{s}
			}
			start := i + 2
			if e := compile(string(runes[start:end]), func(o int) Position { return n.place(start + o) }, sc, m); e != nil {
				flush()
				t.parts = append(t.parts, textPart{expr: e})
			}
			i = end
		default:
			plain = append(plain, runes[i])
		}
	}
	flush()
	hasExpr := false
	for _, p := range t.parts {
		hasExpr = hasExpr || p.expr != nil
	}
	if !hasExpr {
		if len(t.parts) == 1 {
			return literal{t.parts[0].text}
		}
		return literal{s}
	}
	return t
}

// expressionEnd finds the brace that closes an expression, past braces and texts within it, or -1.
func expressionEnd(runes []rune, from int) int {
	depth := 0
	for i := from; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case '\'', '"':
			for i++; i < len(runes) && runes[i] != r; i++ {
				if runes[i] == '\\' {
					i++
				}
			}
		}
	}
	return -1
}
