package script

import (
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// joins and compares are the operators whose operands tell more than they do.
var (
	joins    = []string{operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional}
	compares = []string{operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In}
)

// HasLogicalOperator says whether the expression, or one within it, is made of others by &&, ||, ! or ?:.
func (e *Expr) HasLogicalOperator() bool { return e.has(e.ast.NativeRep().Expr(), joins) }

// IsPresence says whether the expression is has(...) and nothing else.
func (e *Expr) IsPresence() bool { return isPresence(e.ast.NativeRep().Expr()) }

func isPresence(e ast.Expr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }

// asked is what a presence test asks for: result.tools of has(result.tools).
func (e *Expr) asked(test ast.Expr) string {
	s := test.AsSelect()
	if s.Operand().Kind() == ast.IdentKind && s.Operand().AsIdent() == presence {
		return s.FieldName()
	}
	operand, err := cel.ExprToString(s.Operand(), e.ast.NativeRep().SourceInfo())
	if err != nil {
		return s.FieldName()
	}
	return operand + "." + s.FieldName()
}

// has says whether one of the operators stands anywhere in the expression as its author wrote it: those that macros are made
// of do not count.
func (e *Expr) has(part ast.Expr, operators []string) bool {
	info := e.ast.NativeRep().SourceInfo()
	var found func(ast.Expr) bool
	found = func(x ast.Expr) bool {
		if macro, ok := info.GetMacroCall(x.ID()); ok {
			x = macro
		}
		switch x.Kind() {
		case ast.SelectKind:
			return found(x.AsSelect().Operand())
		case ast.CallKind:
			c := x.AsCall()
			return slices.Contains(operators, c.FunctionName()) || c.IsMemberFunction() && found(c.Target()) || slices.ContainsFunc(c.Args(), found)
		case ast.ListKind:
			return slices.ContainsFunc(x.AsList().Elements(), found)
		case ast.MapKind:
			return slices.ContainsFunc(x.AsMap().Entries(), func(e ast.EntryExpr) bool {
				return found(e.AsMapEntry().Key()) || found(e.AsMapEntry().Value())
			})
		}
		return false
	}
	return found(part)
}
