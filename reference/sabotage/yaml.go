package sabotage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parse reads one YAML document; nil and true for a file of comments.
func (l *loader) parse(data []byte) (ast.Node, bool) {
	if !utf8.Valid(data) {
		l.failAt(Pos{l.name, 1, 1}, "the file is not UTF-8; save it as UTF-8")
		return nil, false
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var at yaml.Error
		pos := Pos{l.name, 1, 1}
		what := err.Error()
		if errors.As(err, &at) {
			what = at.GetMessage()
			if t := at.GetToken(); t != nil && t.Position != nil {
				pos.Line, pos.Column = t.Position.Line, t.Position.Column
			}
		}
		l.failAt(pos, "this is not YAML: %s", what)
		return nil, false
	}
	var root ast.Node
	for _, document := range file.Docs {
		if document.Body == nil {
			continue
		}
		if root != nil {
			l.fail(document.Body, "a second document; keep one list a file")
			return nil, false
		}
		root = document.Body
	}
	return root, true
}

func (l *loader) pos(n ast.Node) Pos {
	pos := Pos{l.name, 1, 1}
	if n == nil {
		return pos
	}
	if pairs, ok := n.(*ast.MappingNode); ok && !pairs.IsFlowStyle && len(pairs.Values) > 0 {
		n = pairs.Values[0].Key
	} else if pair, ok := n.(*ast.MappingValueNode); ok {
		n = pair.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		pos.Line, pos.Column = t.Position.Line, t.Position.Column
	}
	return pos
}

func (l *loader) fail(n ast.Node, format string, args ...any) {
	l.failAt(l.pos(n), format, args...)
}

func (l *loader) failAt(pos Pos, format string, args ...any) {
	l.problems = append(l.problems, fmt.Errorf("%s: %s", pos, fmt.Sprintf(format, args...)))
}

func (l *loader) unknown(n ast.Node, word, what string, known []string) {
	hint := didYouMean(word, known)
	if hint == "" {
		hint = "; known: " + strings.Join(known, ", ")
	}
	l.fail(n, "%q is unknown in %s%s", word, what, hint)
}

// failExpr points into an expression, also one that spans lines.
func (l *loader) failExpr(n ast.Node, err error) {
	pos := l.pos(n)
	var inside *exprError
	if !errors.As(err, &inside) {
		l.failAt(pos, "%v", err)
		return
	}
	t := n.GetToken()
	switch {
	case t != nil && (t.Type == token.LiteralType || t.Type == token.FoldedType):
		pos = l.inBlock(pos, inside, t.Type == token.FoldedType)
	case inside.line == 0:
		pos.Column += inside.column
		if t != nil && (t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType) {
			pos.Column++
		}
	}
	l.failAt(pos, "bad CEL: %v; see docs/faults.md for the names", err)
}

// inBlock finds a place of a block scalar, whose text begins on the line after its indicator at pos. A folded one has
// blanks where the file has line ends.
func (l *loader) inBlock(pos Pos, inside *exprError, folded bool) Pos {
	lines := strings.Split(string(l.source), "\n")
	at, column := pos.Line+inside.line, inside.column // index of the line, from 0
	for ; folded && at < len(lines); at++ {
		length := len(strings.TrimSpace(lines[at])) + 1
		if column < length {
			break
		}
		column -= length
	}
	if at >= len(lines) {
		return pos
	}
	indent := len(lines[at]) - len(strings.TrimLeft(lines[at], " "))
	return Pos{pos.File, at + 1, indent + column + 1}
}

type entry struct {
	key     string
	keyNode ast.Node
	value   ast.Node
}

// mapping lists the entries of n in their order.
func (l *loader) mapping(n ast.Node, what string) ([]entry, bool) {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		l.fail(n, "%s is a mapping; write `key: value`", what)
		return nil, false
	}
	entries := make([]entry, 0, len(pairs))
	for _, pair := range pairs {
		key, ok := scalarText(pair.Key)
		if !ok {
			l.fail(pair.Key, "this key is no plain text; aliases, merges and complex keys are not supported: write it out")
			continue
		}
		if slices.ContainsFunc(entries, func(e entry) bool { return e.key == key }) {
			l.fail(pair.Key, "%q stands here twice; remove one", key)
			continue
		}
		entries = append(entries, entry{key, pair.Key, pair.Value})
	}
	return entries, true
}

func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.NanNode, *ast.InfinityNode:
		if t := n.GetToken(); t != nil {
			return t.Value, true
		}
	}
	return "", false
}

func isNull(n ast.Node) bool {
	_, ok := n.(*ast.NullNode)
	return ok || n == nil
}

// list wants a sequence; nil after a problem.
func (l *loader) list(n ast.Node, what string) []ast.Node {
	sequence, ok := n.(*ast.SequenceNode)
	if !ok {
		l.fail(n, "`%s` is a list; write `[...]` or one `- ` a line", what)
		return nil
	}
	if sequence.Values == nil {
		return []ast.Node{}
	}
	return sequence.Values
}

// text wants a string. A number or a bool must be quoted to be one, true excepted: `when: true` is a fair condition.
func (l *loader) text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.BoolNode:
		return n.Token.Value, true
	}
	l.fail(n, "this is no text; put it in quotes")
	return "", false
}

func (l *loader) isTrue(n ast.Node) bool {
	value, ok := n.(*ast.BoolNode)
	if !ok || !value.Value {
		l.fail(n, "this can only be `true`; leave it out otherwise")
		return false
	}
	return true
}

func (l *loader) integer(n ast.Node, what string, low, high int) (int, bool) {
	if value, ok := n.(*ast.IntegerNode); ok {
		if i, err := strconv.Atoi(fmt.Sprint(value.Value)); err == nil && low <= i && i <= high {
			return i, true
		}
	}
	l.fail(n, "`%s` is a whole number from %d to %d", what, low, high)
	return 0, false
}

func (l *loader) oneOf(n ast.Node, what string, known ...string) (string, bool) {
	word, ok := l.text(n)
	if ok && !slices.Contains(known, word) {
		l.unknown(n, word, what, known)
		return "", false
	}
	return word, ok
}

func (l *loader) listOf(n ast.Node, key, what string, known []string) []string {
	items := l.list(n, key)
	if items != nil && len(items) == 0 {
		l.fail(n, "`%s` is empty; leave it out for all", key)
	}
	var words []string
	for _, item := range items {
		word, ok := l.oneOf(item, what, known...)
		if ok && slices.Contains(words, word) {
			l.fail(item, "%q stands here twice; remove one", word)
		} else if ok {
			words = append(words, word)
		}
	}
	return words
}

// textTemplate wants a string, in which `${CEL}` may stand; nil after a problem.
func (l *loader) textTemplate(n ast.Node) template {
	text, ok := l.text(n)
	if !ok {
		return nil
	}
	compiled, err := compileString(text)
	if err != nil {
		l.failExpr(n, err)
		return nil
	}
	return compiled
}

// template wants any JSON value; nil after a problem.
func (l *loader) template(n ast.Node) template {
	switch n := n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return l.textTemplate(n)
	case *ast.NullNode:
		return constant{nil}
	case *ast.BoolNode:
		return constant{n.Value}
	case *ast.IntegerNode:
		return constant{json.Number(fmt.Sprint(n.Value))}
	case *ast.FloatNode:
		return l.float(n)
	case *ast.SequenceNode:
		elements := make(array, 0, len(n.Values))
		for _, item := range n.Values {
			if element := l.template(item); element != nil {
				elements = append(elements, element)
			}
		}
		return elements
	case *ast.MappingNode, *ast.MappingValueNode:
		entries, _ := l.mapping(n, "an object")
		members := object{}
		for _, entry := range entries {
			if member := l.template(entry.value); member != nil {
				members[entry.key] = member
			}
		}
		return members
	}
	l.fail(n, "this has no JSON form; anchors, aliases, tags, .nan and .inf are not supported: write the value out")
	return nil
}

// float keeps the digits as they were written where JSON allows them, so that 1.0 and 1e400 stay what they are.
func (l *loader) float(n *ast.FloatNode) template {
	if json.Valid([]byte(n.Token.Value)) {
		return constant{json.Number(n.Token.Value)}
	}
	if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
		l.fail(n, "this number has no JSON form; write it as JSON does")
		return nil
	}
	return constant{json.Number(strconv.FormatFloat(n.Value, 'g', -1, 64))}
}
