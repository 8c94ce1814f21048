package sabotage

import (
	"errors"
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// The names that an expression can use; docs/faults.md explains each.
var expressionNames = []cel.EnvOption{
	cel.Variable("message", cel.DynType),
	cel.Variable("request", cel.DynType),
	cel.Variable("response", cel.BoolType),
	cel.Variable("notification", cel.BoolType),
	cel.Variable("client", cel.DynType),
	cel.Variable("http", cel.DynType),
	cel.Variable("revision", cel.StringType),
	cel.Variable("transport", cel.StringType),
	cel.Variable("count", cel.IntType),
	cel.Variable("received", cel.IntType),
	cel.Variable("line", cel.StringType),
}

var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(adapter{types.DefaultTypeAdapter}),
		ext.Strings(),
		ext.Encoders(),
		ext.Math(),
		cel.Function("json",
			cel.Overload("json_dyn", []*cel.Type{cel.DynType}, cel.StringType,
				cel.UnaryBinding(func(value ref.Val) ref.Val {
					native, err := nativeJSON(value)
					if err != nil {
						return types.WrapErr(err)
					}
					return types.String(encodeJSON(native))
				}))),
	}
	return cel.NewEnv(append(options, expressionNames...)...)
})

// scope holds the values of the names while one fault is being decided and carried out.
type scope struct {
	message      any
	request      any
	response     bool
	notification bool
	client       any
	http         any
	revision     string
	transport    string
	count        int
	received     int
	line         string
}

// ResolveName and Parent make scope an activation of CEL.
func (s *scope) ResolveName(name string) (any, bool) {
	switch name {
	case "message":
		return s.message, true
	case "request":
		return s.request, true
	case "response":
		return s.response, true
	case "notification":
		return s.notification, true
	case "client":
		return s.client, true
	case "http":
		return s.http, true
	case "revision":
		return s.revision, true
	case "transport":
		return s.transport, true
	case "count":
		return s.count, true
	case "received":
		return s.received, true
	case "line":
		return s.line, true
	}
	return nil, false
}

func (s *scope) Parent() cel.Activation { return nil }

// expression is a compiled CEL expression.
type expression struct {
	source  string
	program cel.Program
}

// exprError says where inside the expression the mistake is: line and column count from 0.
type exprError struct {
	line, column int
	what         string
}

func (e *exprError) Error() string { return e.what }

func compileExpr(source string, wantBool bool) (*expression, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("the CEL environment of package sabotage is broken: %w", err)
	}
	checked, issues := env.Compile(source)
	if issues.Err() != nil {
		found := issues.Errors()
		if len(found) == 0 {
			return nil, issues.Err()
		}
		first := found[0]
		return nil, &exprError{first.Location.Line() - 1, max(first.Location.Column(), 0), first.Message}
	}
	if kind := checked.OutputType(); wantBool && !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, &exprError{0, 0, fmt.Sprintf("yields %s, want a bool", kind)}
	}
	program, err := env.Program(checked)
	if err != nil {
		return nil, err
	}
	return &expression{source, program}, nil
}

// holds is false also where the expression cannot be evaluated: a fault must not strike by mistake.
func (e *expression) holds(names *scope) bool {
	value, _, err := e.program.Eval(names)
	return err == nil && value == types.True
}

func (e *expression) value(names *scope) (any, error) {
	value, _, err := e.program.Eval(names)
	if err != nil {
		return nil, fmt.Errorf("${%s}: %w", e.source, err)
	}
	native, err := nativeJSON(value)
	if err != nil {
		return nil, fmt.Errorf("${%s}: %w", e.source, err)
	}
	return native, nil
}

var errUnclosed = errors.New("`${` has no closing `}`; write `$${` for the two characters themselves")

// piece is a literal stretch of a string, or the source of an expression inside it.
type piece struct {
	text   string
	isExpr bool
	offset int
}

// splitTemplate cuts "a ${b} c" into its pieces. Braces and quotes inside an expression are understood;
// `$${` stands for a literal `${`.
func splitTemplate(text string) ([]piece, error) {
	var pieces []piece
	literal := []byte{}
	flush := func() {
		if len(literal) > 0 {
			pieces = append(pieces, piece{text: string(literal)})
			literal = nil
		}
	}
	for i := 0; i < len(text); {
		switch {
		case hasAt(text, i, "$${"):
			literal = append(literal, "${"...)
			i += 3
		case hasAt(text, i, "${"):
			end := closingBrace(text, i+2)
			if end < 0 {
				return nil, errUnclosed
			}
			flush()
			pieces = append(pieces, piece{text: text[i+2 : end], isExpr: true, offset: i + 2})
			i = end + 1
		default:
			literal = append(literal, text[i])
			i++
		}
	}
	flush()
	return pieces, nil
}

func hasAt(text string, i int, want string) bool {
	return len(text)-i >= len(want) && text[i:i+len(want)] == want
}

func closingBrace(text string, from int) int {
	depth, quote := 0, byte(0)
	for i := from; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return i
		case c == '}':
			depth--
		}
	}
	return -1
}
