package script

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// The checks over everything that crossed the wire ask simple things of thousands of messages, and CEL's interpreter takes
// its time for each. What is simple enough, comparisons of members with literals and what && || ! ?: make of them, is
// evaluated here, and only where it comes out as CEL has it: whatever is not plainly so is left to CEL.

// tri is a truth value, or that CEL must decide.
type tri int8

const (
	unsure tri = iota
	no
	yes
)

func triOf(b bool) tri {
	if b {
		return yes
	}
	return no
}

// scene is what a quick expression sees: the variables, and the one that a macro binds.
type scene struct {
	vars map[string]any
	name string
	item any
}

type (
	getter    func(s *scene) (any, bool) // false: it cannot be had
	predicate func(s *scene) tri
)

// quickBool is the expression as a predicate, or nil.
func quickBool(e ast.Expr) predicate {
	switch e.Kind() {
	case ast.SelectKind:
		if sel := e.AsSelect(); sel.IsTestOnly() {
			return quickHas(sel)
		}
		return truth(quickValue(e))
	case ast.IdentKind:
		return truth(quickValue(e))
	case ast.CallKind:
		return quickCall(e.AsCall())
	case ast.ComprehensionKind:
		return quickExists(e.AsComprehension())
	}
	return nil
}

func truth(get getter) predicate {
	if get == nil {
		return nil
	}
	return func(s *scene) tri {
		if b, ok := get.of(s).(bool); ok {
			return triOf(b)
		}
		return unsure
	}
}

// missing is what a getter gives that cannot be had: equal to nothing.
type missing struct{}

func (g getter) of(s *scene) any {
	if v, ok := g(s); ok {
		return v
	}
	return missing{}
}

// quickValue is a variable, or a member of one, however deep; or nil.
func quickValue(e ast.Expr) getter {
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		return func(s *scene) (any, bool) {
			if s.name == name {
				return s.item, true
			}
			v, ok := s.vars[name]
			return v, ok
		}
	case ast.SelectKind:
		sel := e.AsSelect()
		of, field := quickValue(sel.Operand()), sel.FieldName()
		if of == nil || sel.IsTestOnly() {
			return nil
		}
		return func(s *scene) (any, bool) {
			m, ok := of.of(s).(map[string]any)
			if !ok {
				return nil, false
			}
			v, ok := m[field]
			return v, ok
		}
	}
	return nil
}

func quickHas(sel ast.SelectExpr) predicate {
	field := sel.FieldName()
	if o := sel.Operand(); o.Kind() == ast.IdentKind && o.AsIdent() == presence {
		return func(s *scene) tri {
			_, ok := s.vars[field]
			return triOf(ok)
		}
	}
	of := quickValue(sel.Operand())
	if of == nil {
		return nil
	}
	return func(s *scene) tri {
		m, ok := of.of(s).(map[string]any)
		if !ok {
			return unsure
		}
		_, ok = m[field]
		return triOf(ok)
	}
}

func quickCall(c ast.CallExpr) predicate {
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalNot:
		if p := quickBool(args[0]); p != nil {
			return func(s *scene) tri { return [...]tri{unsure, yes, no}[p(s)] }
		}
	case operators.LogicalAnd:
		return quickJunction(args, no, yes)
	case operators.LogicalOr:
		return quickJunction(args, yes, no)
	case operators.Conditional:
		p, then, otherwise := quickBool(args[0]), quickBool(args[1]), quickBool(args[2])
		if p == nil || then == nil || otherwise == nil {
			return nil
		}
		return func(s *scene) tri {
			switch p(s) {
			case yes:
				return then(s)
			case no:
				return otherwise(s)
			}
			return unsure
		}
	case operators.Equals:
		return quickEqual(args[0], args[1])
	case operators.NotEquals:
		if p := quickEqual(args[0], args[1]); p != nil {
			return func(s *scene) tri { return [...]tri{unsure, yes, no}[p(s)] }
		}
	case operators.In:
		return quickIn(args[0], args[1])
	case operators.Greater:
		get, than := quickValue(args[0]), plainLiteral(args[1])
		bound, ok := than.(int64)
		if get == nil || !ok {
			return nil
		}
		return func(s *scene) tri {
			if n, ok := get.of(s).(int64); ok {
				return triOf(n > bound)
			}
			return unsure
		}
	case "@schema":
		value, name, revision := quickValue(args[0]), quickValue(args[1]), quickValue(args[2])
		if value == nil || name == nil || revision == nil {
			return nil
		}
		return func(s *scene) tri {
			v, ok := value(s)
			n, ok2 := name(s)
			r, ok3 := revision(s)
			if !ok || !ok2 || !ok3 {
				return unsure
			}
			found, err := messageProblems(v, n, r)
			if err != nil {
				return unsure
			}
			return triOf(len(found) == 0)
		}
	}
	return nil
}

// quickJunction is && or ||: decided by one operand alone, whatever the other is, as CEL has it.
func quickJunction(args []ast.Expr, decides, otherwise tri) predicate {
	a, b := quickBool(args[0]), quickBool(args[1])
	if a == nil || b == nil || len(args) != 2 {
		return nil
	}
	return func(s *scene) tri {
		x := a(s)
		if x == decides {
			return decides
		}
		switch y := b(s); {
		case y == decides:
			return decides
		case x == otherwise && y == otherwise:
			return otherwise
		}
		return unsure
	}
}

// plainLiteral is a text, a whole number, true, false or nil; missing{} for anything else.
func plainLiteral(e ast.Expr) any {
	if e.Kind() != ast.LiteralKind {
		return missing{}
	}
	switch v := e.AsLiteral().(type) {
	case types.String:
		return string(v)
	case types.Int:
		return int64(v)
	case types.Bool:
		return bool(v)
	case types.Null:
		return nil
	}
	return missing{}
}

// quickEqual compares a member with a literal of the same kind, any member with null, or the type of a member with one.
func quickEqual(a, b ast.Expr) predicate {
	if a.Kind() == ast.CallKind && a.AsCall().FunctionName() == "type" && b.Kind() == ast.IdentKind {
		return quickType(a.AsCall().Args()[0], b.AsIdent())
	}
	get, want := quickValue(a), plainLiteral(b)
	if get == nil || want == (missing{}) {
		return nil
	}
	return func(s *scene) tri {
		got, ok := get(s)
		if !ok {
			return unsure
		}
		switch got := got.(type) {
		case nil, map[string]any, []any:
			if want == nil {
				return triOf(got == nil)
			}
		case string:
			if w, ok := want.(string); ok || want == nil {
				return triOf(ok && got == w)
			}
		case int64:
			if w, ok := want.(int64); ok || want == nil {
				return triOf(ok && got == w)
			}
		case bool:
			if w, ok := want.(bool); ok || want == nil {
				return triOf(ok && got == w)
			}
		}
		return unsure
	}
}

func quickType(of ast.Expr, name string) predicate {
	get := quickValue(of)
	if get == nil || !slices.Contains([]string{"map", "list", "string", "int", "bool"}, name) {
		return nil
	}
	return func(s *scene) tri {
		v, ok := get(s)
		if !ok {
			return unsure
		}
		switch v.(type) {
		case map[string]any:
			return triOf(name == "map")
		case []any:
			return triOf(name == "list")
		case string:
			return triOf(name == "string")
		case int64:
			return triOf(name == "int")
		case bool:
			return triOf(name == "bool")
		}
		return unsure
	}
}

func quickIn(value, of ast.Expr) predicate {
	get := quickValue(value)
	if get == nil || of.Kind() != ast.ListKind {
		return nil
	}
	var texts []string
	for _, e := range of.AsList().Elements() {
		text, ok := plainLiteral(e).(string)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return func(s *scene) tri {
		if text, ok := get.of(s).(string); ok {
			return triOf(slices.Contains(texts, text))
		}
		return unsure
	}
}

// quickExists knows only that nothing exists in an empty list.
func quickExists(c ast.ComprehensionExpr) predicate {
	get, step := quickValue(c.IterRange()), c.LoopStep()
	if get == nil || plainLiteral(c.AccuInit()) != false || !isIdent(c.Result(), c.AccuVar()) ||
		step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.LogicalOr {
		return nil
	}
	return func(s *scene) tri {
		if l, ok := get.of(s).([]any); ok && len(l) == 0 {
			return no
		}
		return unsure
	}
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

// quickList is the expression as a list, a variable or what filter leaves of one; or nil.
func quickList(e ast.Expr) func(vars map[string]any) ([]any, bool) {
	if e.Kind() == ast.IdentKind {
		name := e.AsIdent()
		return func(vars map[string]any) ([]any, bool) {
			l, ok := vars[name].([]any)
			return l, ok
		}
	}
	if e.Kind() != ast.ComprehensionKind {
		return nil
	}
	c := e.AsComprehension()
	step := c.LoopStep()
	if c.IterRange().Kind() != ast.IdentKind || c.IterVar2() != "" || !isIdent(c.Result(), c.AccuVar()) || plainLiteral(c.LoopCondition()) != true ||
		c.AccuInit().Kind() != ast.ListKind || len(c.AccuInit().AsList().Elements()) > 0 ||
		step.Kind() != ast.CallKind || step.AsCall().FunctionName() != operators.Conditional {
		return nil
	}
	args := step.AsCall().Args()
	if !isIdent(args[2], c.AccuVar()) || args[1].Kind() != ast.CallKind || args[1].AsCall().FunctionName() != operators.Add {
		return nil
	}
	sum := args[1].AsCall().Args()
	if !isIdent(sum[0], c.AccuVar()) || sum[1].Kind() != ast.ListKind || len(sum[1].AsList().Elements()) != 1 || !isIdent(sum[1].AsList().Elements()[0], c.IterVar()) {
		return nil
	}
	keep, from, name := quickBool(args[0]), c.IterRange().AsIdent(), c.IterVar()
	if keep == nil {
		return nil
	}
	return func(vars map[string]any) ([]any, bool) {
		l, ok := vars[from].([]any)
		if !ok {
			return nil, false
		}
		s := scene{vars: vars, name: name}
		kept := []any{}
		for _, s.item = range l {
			switch keep(&s) {
			case yes:
				kept = append(kept, s.item)
			case unsure:
				return nil, false
			}
		}
		return kept, true
	}
}
