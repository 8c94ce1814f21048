package script

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// node is a YAML value that knows where it stands. Anchors, aliases, tags and merge keys are refused: a fixture
// reads the same to a person and to any other YAML reader.
type node struct {
	kind    nodeKind
	pos     Position
	scalar  any    // of a scalar: string, bool, int64, float64 or nil
	text    string // of a scalar: as text
	style   token.Type
	entries []entry // of a mapping
	items   []*node // of a list
	lines   [][]rune
}

type nodeKind int

const (
	scalarNode nodeKind = iota
	mappingNode
	listNode
)

type entry struct {
	key   string
	pos   Position
	value *node
}

// get is the value under a key, or nil.
func (n *node) get(key string) *node {
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

func (n *node) isNull() bool { return n.kind == scalarNode && n.scalar == nil }

// what names the kind of value, for errors.
func (n *node) what() string {
	switch n.kind {
	case mappingNode:
		return "a mapping"
	case listNode:
		return "a list"
	}
	switch n.scalar.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case bool:
		return "true or false"
	}
	return "a number"
}

// maxDepth bounds how deep values nest, so that reading cannot exhaust the stack.
const maxDepth = 100

// parseYAML reads a file of one document. An empty file is a nil node.
func parseYAML(file string, data []byte, m *mistakes) (root *node) {
	// The YAML library indexes past its tokens on some malformed texts; that is a mistake in the file, no crash.
	defer func() {
		if r := recover(); r != nil {
			m.add(Position{File: file}, "this is not YAML that can be read (%v)", r)
			root = nil
		}
	}()
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if nesting(data) > maxDepth {
		m.add(Position{File: file}, "values nest deeper than %d; flatten them", maxDepth)
		return nil
	}
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		at, what := Position{File: file}, err.Error()
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			what = syntax.GetMessage()
			if strings.Contains(what, "flow map") || strings.Contains(what, "must be specified") {
				what += "; within { } an expression that has a comma, a bracket or a brace needs quotes"
			}
			if t := syntax.GetToken(); t != nil && t.Position != nil {
				at.Line, at.Column = t.Position.Line, max(1, t.Position.Column)
			}
		}
		m.add(at, "this is not YAML: %s", what)
		return nil
	}
	c := &converter{file: file, mistakes: m}
	for _, line := range strings.Split(string(data), "\n") {
		c.lines = append(c.lines, []rune(strings.TrimSuffix(line, "\r")))
	}
	for _, d := range parsed.Docs {
		if d.Body == nil {
			continue
		}
		if root != nil {
			m.add(c.at(d.Body), "a second YAML document; put everything into one list")
			return root
		}
		root = c.convert(d.Body, 0)
	}
	return root
}

// nesting is a cheap bound of how deep values nest, by brackets and by what starts a line: the library recurses into
// them, and takes quadratic time.
func nesting(data []byte) int {
	depth, deepest, all := 0, 0, 0
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("- ")) {
			depth = 0 // texts may hold brackets that nobody closes; they end with their entry
		}
		marks, spaces := 0, 0
	start:
		for i := range line {
			switch {
			case line[i] == ' ' || line[i] == '\t':
				spaces++
			case strings.IndexByte("-?:", line[i]) >= 0 && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
				marks++
			default:
				break start
			}
		}
		// Two spaces a level is the narrowest that people write.
		deepest = max(deepest, marks, (spaces-marks)/2)
		for _, b := range line {
			switch b {
			case '[', '{':
				depth, all = depth+1, all+1
				deepest = max(deepest, depth, all/50)
			case ']', '}':
				depth, all = max(0, depth-1), max(0, all-1)
			}
		}
	}
	return deepest
}

type converter struct {
	file  string
	lines [][]rune
	*mistakes
}

func (c *converter) at(n ast.Node) Position {
	at := Position{File: c.file}
	var t *token.Token
	switch v := n.(type) {
	case *ast.MappingNode:
		t = v.GetToken()
		if !v.IsFlowStyle && len(v.Values) > 0 {
			t = v.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		t = v.Key.GetToken()
	default:
		t = n.GetToken()
	}
	if t != nil && t.Position != nil {
		at.Line, at.Column = t.Position.Line, max(1, t.Position.Column)
	}
	return at
}

func (c *converter) convert(n ast.Node, depth int) *node {
	out := &node{lines: c.lines, pos: Position{File: c.file}}
	if n == nil {
		return out
	}
	out.pos = c.at(n)
	if depth > maxDepth {
		c.add(out.pos, "values nest deeper than %d; flatten them", maxDepth)
		return out
	}
	if t := n.GetToken(); t != nil {
		out.style = t.Type
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		out.kind = mappingNode
		c.entries(out, v.Values, depth)
	case *ast.MappingValueNode:
		out.kind = mappingNode
		c.entries(out, []*ast.MappingValueNode{v}, depth)
	case *ast.SequenceNode:
		out.kind = listNode
		for _, item := range v.Values {
			out.items = append(out.items, c.convert(item, depth+1))
		}
	case *ast.LiteralNode:
		out.text = v.Value.Value
		out.scalar = out.text
	case *ast.StringNode:
		out.text = v.Value
		out.scalar = out.text
	case *ast.BoolNode:
		out.text, out.scalar = v.Token.Value, v.Value
	case *ast.IntegerNode:
		out.text = v.Token.Value
		switch i := v.Value.(type) {
		case int64:
			out.scalar = i
		case uint64:
			out.scalar = float64(i)
			if i <= 1<<63-1 {
				out.scalar = int64(i)
			}
		default:
			c.add(out.pos, "the number %s is too large", out.text)
		}
	case *ast.FloatNode:
		out.text, out.scalar = v.Token.Value, v.Value
	case *ast.NullNode:
		out.text = ""
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		c.add(out.pos, "anchors, aliases, tags and merge keys are not read here; write the value out")
	default:
		c.add(out.pos, "a value of this kind (%s) is not read here", strings.ToLower(n.Type().String()))
	}
	return out
}

func (c *converter) entries(out *node, values []*ast.MappingValueNode, depth int) {
	seen := map[string]bool{}
	for _, e := range values {
		pos := c.at(e.Key)
		switch k := e.Key.(type) {
		case *ast.MergeKeyNode:
			c.add(pos, "anchors, aliases, tags and merge keys are not read here; write the value out")
			continue
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
			key := keyText(k)
			if seen[key] {
				c.add(pos, "the key %q stands here twice; keep one", key)
				continue
			}
			seen[key] = true
			out.entries = append(out.entries, entry{key, pos, c.convert(e.Value, depth+1)})
		default:
			c.add(pos, "a key must be a plain text")
		}
	}
}

func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return fmt.Sprint(k.GetToken().Value)
}
