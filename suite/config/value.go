package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// value is a YAML value that knows where it stands, before ${...} is expanded.
type value struct {
	pos     script.Position
	kind    kind
	scalar  any    // of a scalar: string, bool, int64, uint64, float64 or nil
	text    string // of a scalar: as it is written
	entries []entry
	items   []*value
}

type kind int

const (
	scalarKind kind = iota
	mapKind
	listKind
)

type entry struct {
	key   string
	pos   script.Position
	value *value
}

// what names the kind of value, for errors.
func (v *value) what() string {
	switch v.kind {
	case mapKind:
		return "a mapping"
	case listKind:
		return "a list"
	}
	switch v.scalar.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the text %q", v.text)
	}
	return v.text
}

// mistakes gathers what is wrong in the file, so that its author sees all of it at once.
type mistakes []*script.Error

func (m *mistakes) add(at script.Position, format string, args ...any) {
	*m = append(*m, &script.Error{Pos: at, What: fmt.Sprintf(format, args...)})
}

func (m mistakes) err() error {
	slices.SortStableFunc(m, func(a, b *script.Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	var all []error
	for _, e := range m {
		all = append(all, e)
	}
	return errors.Join(all...)
}

// maxDepth bounds how deep values nest, so that reading cannot exhaust the stack.
const maxDepth = 50

// parse reads the one document of a file; an empty one is nil.
func parse(file string, data []byte, m *mistakes) (root *value) {
	// The YAML library panics on some malformed texts; that is a mistake in the file, no crash.
	defer func() {
		if r := recover(); r != nil {
			m.add(script.Position{File: file}, "this is not YAML that can be read (%v)", r)
			root = nil
		}
	}()
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if max(bytes.Count(data, []byte("[")), bytes.Count(data, []byte("{"))) > 10000 {
		m.add(script.Position{File: file}, "more brackets than a configuration has")
		return nil
	}
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		at, what := script.Position{File: file}, err.Error()
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			what = syntax.GetMessage()
			if t := syntax.GetToken(); t != nil && t.Position != nil {
				at.Line, at.Column = t.Position.Line, max(1, t.Position.Column)
			}
		}
		m.add(at, "this is not YAML: %s", what)
		return nil
	}
	for _, d := range parsed.Docs {
		if d.Body == nil {
			continue
		}
		if root != nil {
			m.add(place(file, d.Body), "a second YAML document; put everything into one")
			return root
		}
		root = convert(file, d.Body, 0, m)
	}
	return root
}

func place(file string, n ast.Node) script.Position {
	at := script.Position{File: file}
	t := n.GetToken()
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			t = v.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		t = v.Key.GetToken()
	}
	if t != nil && t.Position != nil {
		at.Line, at.Column = t.Position.Line, max(1, t.Position.Column)
	}
	return at
}

func convert(file string, n ast.Node, depth int, m *mistakes) *value {
	out := &value{pos: script.Position{File: file}}
	if n == nil {
		return out
	}
	out.pos = place(file, n)
	if depth > maxDepth {
		m.add(out.pos, "values nest deeper than %d", maxDepth)
		return out
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		out.kind = mapKind
		out.entries = pairs(file, v.Values, depth, m)
	case *ast.MappingValueNode:
		out.kind = mapKind
		out.entries = pairs(file, []*ast.MappingValueNode{v}, depth, m)
	case *ast.SequenceNode:
		out.kind = listKind
		for _, item := range v.Values {
			out.items = append(out.items, convert(file, item, depth+1, m))
		}
	case *ast.LiteralNode:
		out.scalar, out.text = v.Value.Value, v.Value.Value
	case *ast.StringNode:
		out.scalar, out.text = v.Value, v.Value
	case *ast.BoolNode:
		out.scalar, out.text = v.Value, v.Token.Value
	case *ast.IntegerNode:
		out.scalar, out.text = v.Value, v.Token.Value
	case *ast.FloatNode:
		out.scalar, out.text = v.Value, v.Token.Value
	case *ast.NullNode:
	default:
		m.add(out.pos, "%s is not read here; write the value out", strings.ToLower(n.Type().String()))
	}
	return out
}

func pairs(file string, nodes []*ast.MappingValueNode, depth int, m *mistakes) []entry {
	var out []entry
	for _, e := range nodes {
		pos := place(file, e.Key)
		key := ""
		switch k := e.Key.(type) {
		case *ast.StringNode:
			key = k.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
			key = k.GetToken().Value
		default:
			m.add(pos, "a key must be a plain text; merge keys and anchors are not read here")
			continue
		}
		if slices.ContainsFunc(out, func(o entry) bool { return o.key == key }) {
			m.add(pos, "the key %q stands here twice; keep one", key)
			continue
		}
		out = append(out, entry{key, pos, convert(file, e.Value, depth+1, m)})
	}
	return out
}

// didYouMean is `; did you mean "x"?` for the nearest of the names, or what there is when none is near.
func didYouMean(name string, names []string) string {
	return cmp.Or(script.DidYouMean(name, names), "; there are "+strings.Join(names, ", "))
}
