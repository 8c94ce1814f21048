package script

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// Part is a sub-expression and what it came to.
type Part struct {
	Source string
	Value  string // JSON, cut after 300 characters; empty with Err
	Err    string // why it has no value

	Whole    bool     // it is the whole expression
	Presence string   // has(result.tools): what it asks for; "" where it is no such test
	Compound bool     // it joins or compares others, or its value is a list or an object: its parts tell more
	Absent   bool     // Err is that something is not there
	Problems []string // what a schema found; Value has it, too, as far as it goes
}

// maxPart is how many characters of a value an explanation shows.
const maxPart = 300

// Explain lists the sub-expressions that decided the outcome, with their values, the whole expression last.
// Literals are left out; of && and || only the sides that decided are shown; all, exists and their like show the
// item at which they stopped; schema, isJSONSchema and conforms also show what they found.
func (e *Expr) Explain(vars map[string]any) []Part {
	program, err := e.trace()
	if err != nil {
		return []Part{{Source: e.Source, Err: err.Error()}}
	}
	out, details, err := program.Eval(activation(vars))
	x := &explainer{expr: e, vars: vars, seen: map[shown]bool{}}
	if details != nil && details.State() != nil {
		x.state = details.State()
		x.walk(e.ast.NativeRep().Expr())
	}
	last := x.part(e.ast.NativeRep().Expr(), strings.TrimSpace(e.Source))
	last.Whole = true
	if err != nil {
		last.failed(err)
	} else {
		last.holds(native(out))
	}
	// The whole expression is shown once, as its author wrote it.
	if n := len(x.parts); n > 0 && x.whole {
		x.parts = x.parts[:n-1]
	}
	return append(x.parts, last)
}

// part is a part without its value.
func (x *explainer) part(e ast.Expr, source string) Part {
	p := Part{Source: source, Compound: x.expr.has(e, joins) || x.expr.has(e, compares)}
	if isPresence(e) {
		p.Presence = x.expr.asked(e)
	}
	return p
}

func (p *Part) holds(v any) {
	p.Value = jsonCut(v, maxPart)
	switch v.(type) {
	case []any, map[string]any:
		p.Compound = true
	}
}

func (p *Part) failed(err error) {
	err = plainError(err)
	p.Err = err.Error()
	p.Absent = errors.As(err, new(absence))
}

// valued is a part that is named, with its value.
func valued(source string, v any) Part {
	p := Part{Source: source}
	p.holds(v)
	return p
}

// shown is what people see of a part: nothing is shown twice.
type shown struct{ source, value, err string }

type explainer struct {
	expr  *Expr
	vars  map[string]any
	state interpreter.EvalState
	parts []Part
	seen  map[shown]bool
	whole bool // the last part is the whole expression
}

func (x *explainer) info() *ast.SourceInfo { return x.expr.ast.NativeRep().SourceInfo() }

func (x *explainer) value(e ast.Expr) (ref.Val, bool) {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral(), true
	}
	return x.state.Value(e.ID())
}

func (x *explainer) is(e ast.Expr, want types.Bool) bool {
	v, ok := x.value(e)
	return ok && v == want
}

func (x *explainer) failed(e ast.Expr) bool {
	v, ok := x.value(e)
	return ok && types.IsError(v)
}

func (x *explainer) add(e ast.Expr) {
	x.whole = false
	v, ok := x.value(e)
	if !ok || e.Kind() == ast.LiteralKind {
		return
	}
	if _, isType := v.(*types.Type); isType && e.Kind() == ast.IdentKind { // string is "string"
		return
	}
	source, err := cel.ExprToString(e, x.info())
	if err != nil || strings.Contains(source, "@") && strings.Contains(source, "@result") {
		return
	}
	p := x.part(e, source)
	if failure, bad := v.(*types.Err); bad {
		p.failed(failure)
	} else {
		p.holds(native(v))
	}
	if e.ID() == x.expr.ast.NativeRep().Expr().ID() {
		x.parts = append(x.parts, p)
		x.whole = true
		return
	}
	x.put(p)
}

func (x *explainer) put(p Part) {
	if key := (shown{p.Source, p.Value, p.Err}); !x.seen[key] {
		x.seen[key] = true
		x.parts = append(x.parts, p)
	}
}

func (x *explainer) walk(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		x.add(e)
	case ast.SelectKind:
		x.selection(e)
	case ast.CallKind:
		x.call(e)
	case ast.ListKind:
		for _, i := range e.AsList().Elements() {
			x.walk(i)
		}
	case ast.MapKind:
		for _, i := range e.AsMap().Entries() {
			x.walk(i.AsMapEntry().Value())
		}
	case ast.ComprehensionKind:
		x.comprehension(e)
		x.add(e)
	}
}

// selection shows a.b.c whole; of has(a.b.c), and when a member is missing, also the deepest part that is there.
func (x *explainer) selection(e ast.Expr) {
	operand := e.AsSelect().Operand()
	switch {
	case operand.Kind() == ast.IdentKind && operand.AsIdent() == presence:
	case !isPath(operand):
		x.walk(operand)
	case e.AsSelect().IsTestOnly() || x.failed(e):
		x.deepest(operand)
	}
	x.add(e)
}

// deepest shows the longest part of a path that has a value.
func (x *explainer) deepest(path ast.Expr) {
	for ; ; path = path.AsSelect().Operand() {
		if v, ok := x.lookUp(path); ok {
			if source, err := cel.ExprToString(path, x.info()); err == nil {
				x.put(valued(source, v))
			}
			return
		}
		if path.Kind() != ast.SelectKind {
			return
		}
	}
}

// lookUp is the value of a path in the variables: CEL evaluates a path as one, and notes no value of its parts.
func (x *explainer) lookUp(path ast.Expr) (any, bool) {
	if path.Kind() == ast.IdentKind {
		v, ok := x.vars[strings.TrimPrefix(path.AsIdent(), ".")]
		return v, ok
	}
	v, ok := x.lookUp(path.AsSelect().Operand())
	m, isMap := v.(map[string]any)
	if !ok || !isMap {
		return nil, false
	}
	v, ok = m[path.AsSelect().FieldName()]
	return v, ok
}

// isPath says whether e is a name or members of a name: a.b.c.
func isPath(e ast.Expr) bool {
	for e.Kind() == ast.SelectKind {
		e = e.AsSelect().Operand()
	}
	return e.Kind() == ast.IdentKind
}

func (x *explainer) call(e ast.Expr) {
	c := e.AsCall()
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		// One side alone decides an && that is false and an || that is true.
		decisive := types.Bool(c.FunctionName() == operators.LogicalOr)
		whole, ok := x.value(e)
		shown := false
		for _, a := range args {
			if !ok || whole != decisive && !types.IsError(whole) || types.IsError(whole) && x.failed(a) || whole == decisive && x.is(a, decisive) {
				x.walk(a)
				shown = true
			}
		}
		if !shown {
			for _, a := range args {
				x.walk(a)
			}
		}
	case operators.Conditional:
		x.walk(args[0])
		if x.is(args[0], types.True) {
			x.walk(args[1])
		} else if x.is(args[0], types.False) {
			x.walk(args[2])
		}
	case operators.NotStrictlyFalse:
		x.walk(args[0])
		return
	default:
		if c.IsMemberFunction() {
			x.walk(c.Target())
		}
		for _, a := range args {
			if !strings.HasPrefix(c.FunctionName(), "@") || a.Kind() != ast.IdentKind || a.AsIdent() != "revision" {
				x.walk(a)
			}
		}
		x.findings(c)
	}
	x.add(e)
}

// findings shows what a function that only says yes or no has found.
func (x *explainer) findings(c ast.CallExpr) {
	f, ok := revisionFunctions[strings.TrimPrefix(c.FunctionName(), "@")]
	if !ok || f.tells == "" {
		return
	}
	values := make([]any, 0, len(c.Args()))
	for _, a := range c.Args() {
		v, ok := x.value(a)
		if !ok || types.IsError(v) {
			return
		}
		values = append(values, native(v))
	}
	problems, unknown, _ := f.found(values[:f.values], Revision(fmt.Sprint(values[f.values])))
	if found := slices.Concat(problems, unknown); len(found) > 0 {
		p := valued(f.tells, textList(found))
		p.Problems = found
		x.put(p)
	}
}

// comprehension shows the range and, where one item decided (an all that is false, an exists that is true, an
// error), that item and what held of it.
func (x *explainer) comprehension(e ast.Expr) {
	c := e.AsComprehension()
	x.walk(c.IterRange())
	if c.LoopStep().Kind() != ast.CallKind || len(c.LoopStep().AsCall().Args()) != 2 {
		return
	}
	var decisive types.Bool
	switch c.LoopStep().AsCall().FunctionName() {
	case operators.LogicalAnd:
	case operators.LogicalOr:
		decisive = types.True
	default:
		return
	}
	whole, ok := x.value(e)
	if !ok || whole != decisive && !types.IsError(whole) {
		return
	}
	items, ok := x.value(c.IterRange())
	if !ok || types.IsError(items) {
		return
	}
	predicate := c.LoopStep().AsCall().Args()[1]
	program, err := x.expr.env.PlanProgram(ast.NewAST(predicate, x.info()), cel.EvalOptions(cel.OptTrackState))
	if err != nil {
		return
	}
	for key, item := range pairs(native(items)) {
		vars := maps.Clone(x.vars)
		if vars == nil {
			vars = map[string]any{}
		}
		name, value := c.IterVar(), item
		if vars[c.IterVar()] = item; c.HasIterVar2() {
			vars[c.IterVar()], vars[c.IterVar2()] = key, item
			name = c.IterVar2()
		} else if _, isMap := native(items).(map[string]any); isMap {
			vars[c.IterVar()] = key // a map is gone through by its keys
			value = key
		}
		out, details, _ := program.Eval(activation(vars))
		if out != decisive && !types.IsError(out) || details == nil {
			continue
		}
		x.put(valued(name, value))
		inner := &explainer{expr: x.expr, vars: vars, state: details.State(), seen: x.seen, parts: x.parts}
		inner.walk(predicate)
		x.parts = inner.parts
		return
	}
}

// pairs goes through a list by index or through a map by key, in order.
func pairs(v any) iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		switch x := v.(type) {
		case []any:
			for i, item := range x {
				if !yield(int64(i), item) {
					return
				}
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(x)) {
				if !yield(k, x[k]) {
					return
				}
			}
		}
	}
}
