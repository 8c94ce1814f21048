package script

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/interpreter"
)

// The variables of an expression, by where they come from. docs/expressions.md says what each holds.
var (
	contextVariables     = []string{"server", "handshake", "client", "revision", "transport", "roles", "callable", "absent", "loopback", "auth", "meta", "pingMethod", "opening"}
	observationVariables = []string{"id", "result", "error", "reply", "http", "during", "arrived", "lines", "elapsed",
		"exit", "timeout", "stderr", "sent", "replies", "stream", "replyStream"}
	pagesVariables = []string{"items", "pages", "cursors", "repeats", "complete"}
	watchVariables = []string{"messages", "requests", "answers", "sessions"}
	itemVariable   = "it"
)

// Variables are the names of all variables that are built in, sorted.
func Variables() []string {
	all := slices.Concat(contextVariables, observationVariables, pagesVariables, watchVariables, []string{itemVariable})
	slices.Sort(all)
	return all
}

// presence is the variable that has(name) looks into: all variables that are there.
const presence = "@vars"

var baseEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true),
		cel.EnableMacroCallTracking(),
		ext.Strings(), ext.Lists(), ext.Math(), ext.Sets(), ext.TwoVarComprehensions(),
		cel.Variable(presence, cel.DynType),
		cel.Macros(ownMacros()...),
	}
	for _, name := range Variables() {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(append(options, ownFunctions()...)...)
})

var environments sync.Map // names joined by space -> *cel.Env

// environment is the base environment with more variables.
func environment(extra []string) (*cel.Env, error) {
	base, err := baseEnvironment()
	if err != nil {
		return nil, fmt.Errorf("cannot set up the expression language: %w", err)
	}
	builtIn := Variables()
	names := map[string]bool{}
	for _, n := range extra {
		if !slices.Contains(builtIn, n) {
			names[n] = true
		}
	}
	if len(names) == 0 {
		return base, nil
	}
	sorted := slices.Sorted(maps.Keys(names))
	key := strings.Join(sorted, " ")
	if e, ok := environments.Load(key); ok {
		return e.(*cel.Env), nil
	}
	var options []cel.EnvOption
	for _, n := range sorted {
		options = append(options, cel.Variable(n, cel.DynType))
	}
	e, err := base.Extend(options...)
	if err != nil {
		return nil, err
	}
	environments.Store(key, e)
	return e, nil
}

// Expr is a compiled CEL expression. It is safe for concurrent use.
type Expr struct {
	Source string
	Pos    Position

	env *cel.Env
	*program
}

// program is the part of an expression that does not depend on where it stands: the same text is compiled once.
type program struct {
	ast   *cel.Ast
	plan  func() (cel.Program, error)
	trace func() (cel.Program, error)
}

// programs holds what compiled, by environment and text.
var programs sync.Map

type programKey struct {
	env *cel.Env
	src string
}

func newProgram(env *cel.Env, checked *cel.Ast) *program {
	return &program{
		ast:  checked,
		plan: sync.OnceValues(func() (cel.Program, error) { return env.Program(checked) }),
		trace: sync.OnceValues(func() (cel.Program, error) {
			return env.Program(checked, cel.EvalOptions(cel.OptTrackState))
		}),
	}
}

// Compile compiles an expression that stands at pos. It may use the built-in variables and extraVars. The errors,
// joined, are of type *Error; their columns count from pos.
func Compile(src string, pos Position, extraVars []string) (*Expr, error) {
	locate := func(offset int) Position {
		before := []rune(src)[:offset]
		at := pos
		for _, r := range before {
			at.Column++
			if r == '\n' {
				at.Line, at.Column = at.Line+1, 1
			}
		}
		return at
	}
	m := &mistakes{}
	e := compile(src, locate, &scope{extra: extraVars}, m)
	if err := m.err(); err != nil {
		return nil, err
	}
	return e, nil
}

// scope says which names an expression may use where it stands.
type scope struct {
	extra  []string                 // names beside the built-in ones
	refuse func(name string) string // why a built-in variable is not there, or ""; nil: all are
	later  map[string]string        // names that come to be later: where
	inside map[string]bool          // names that were there within an each: that is over
}

// compile compiles, or adds to m what is wrong and returns nil. locate tells where the rune at an offset stands.
func compile(src string, locate func(offset int) Position, sc *scope, m *mistakes) *Expr {
	if strings.TrimSpace(src) == "" {
		m.add(locate(0), "an expression is missing; write it in CEL, such as has(result)")
		return nil
	}
	env, err := environment(sc.extra)
	if err != nil {
		m.add(locate(0), "%v", err)
		return nil
	}
	p := compiledBefore(env, src)
	if p == nil {
		checked, issues := env.Compile(src)
		if issues.Err() != nil {
			report(issues, src, locate, sc, m)
			return nil
		}
		p = newProgram(env, checked)
		programs.Store(programKey{env, src}, p)
	}
	e := &Expr{Source: src, Pos: locate(0), env: env, program: p}
	if !e.checkNames(locate, sc, m) {
		return nil
	}
	return e
}

func compiledBefore(env *cel.Env, src string) *program {
	if p, ok := programs.Load(programKey{env, src}); ok {
		return p.(*program)
	}
	return nil
}

func report(issues *cel.Issues, src string, locate func(int) Position, sc *scope, m *mistakes) {
	for _, is := range issues.Errors() {
		m.add(locate(offsetOf(src, is.Location.Line(), is.Location.Column())), "%s", explainIssue(is.Message, sc))
		if strings.HasPrefix(is.Message, "Syntax error") {
			return // what follows the first syntax error only repeats it
		}
	}
}

// offsetOf turns a line (from 1) and column (from 0) within src into a count of runes.
func offsetOf(src string, line, column int) int {
	runes := []rune(src)
	offset := 0
	for ; line > 1 && offset < len(runes); offset++ {
		if runes[offset] == '\n' {
			line--
		}
	}
	return max(0, min(offset+max(0, column), len(runes)))
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	noOverload = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '([^']*)'`)
	expecting  = regexp.MustCompile(`(?s)\s+expecting .*$`)
)

// explainIssue puts CEL's own words into ours.
func explainIssue(message string, sc *scope) string {
	if m := undeclared.FindStringSubmatch(message); m != nil {
		return unknownName(m[1], sc)
	}
	if m := noOverload.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("%s cannot be used with %s; docs/expressions.md shows what goes together", strings.Trim(m[1], "_@"), m[2])
	}
	if rest, ok := strings.CutPrefix(message, "Syntax error: "); ok {
		if strings.HasPrefix(rest, "mismatched input '<EOF>'") {
			return "this is not CEL: it ends before it is complete"
		}
		rest = expecting.ReplaceAllString(rest, "")
		rest = strings.ReplaceAll(rest, "'<EOF>'", "the end")
		return "this is not CEL: " + rest
	}
	return message
}

func unknownName(name string, sc *scope) string {
	name = strings.TrimPrefix(name, ".")
	if at, ok := sc.later[name]; ok {
		return fmt.Sprintf("%q is not known yet: it is the name of %s; use it after that step", name, at)
	}
	if sc.inside[name] {
		return fmt.Sprintf("%q is known only within its each:; name the each: with as: and use that list", name)
	}
	if slices.Contains(functionNames(), name) {
		return fmt.Sprintf("%s is called with the wrong number of values; docs/expressions.md shows how", name)
	}
	known := slices.Concat(Variables(), functionNames(), sc.extra)
	if sc.refuse != nil {
		known = slices.DeleteFunc(known, func(n string) bool { return sc.refuse(n) != "" })
	}
	hint := DidYouMean(name, known)
	if hint == "" {
		hint = "; docs/expressions.md lists what there is"
	}
	return fmt.Sprintf("there is no variable or function %q%s", name, hint)
}

// checkNames finds variables that exist but not here, and the names within has(...) that CEL does not check.
func (e *Expr) checkNames(locate func(int) Position, sc *scope, m *mistakes) bool {
	good := true
	info := e.ast.NativeRep().SourceInfo()
	at := func(id int64) Position {
		if r, ok := info.GetOffsetRange(id); ok {
			return locate(int(r.Start))
		}
		return e.Pos
	}
	for _, u := range freeNames(e.ast.NativeRep().Expr()) {
		why := ""
		switch {
		case u.present && !slices.Contains(Variables(), u.name) && !slices.Contains(sc.extra, u.name):
			why = unknownName(u.name, sc)
		case sc.refuse != nil && !slices.Contains(sc.extra, u.name):
			why = sc.refuse(u.name)
		}
		if why != "" {
			m.add(at(u.id), "%s", why)
			good = false
		}
	}
	return good
}

// Uses says whether the expression asks for what the variable holds.
func (e *Expr) Uses(variable string) bool {
	return slices.ContainsFunc(freeNames(e.ast.NativeRep().Expr()), func(u use) bool { return u.name == variable })
}

// use is where an expression uses a variable; present: only asks whether it is there.
type use struct {
	name    string
	id      int64
	present bool
}

// freeNames are the uses of variables that the expression does not bind itself.
func freeNames(root ast.Expr) []use {
	var found []use
	var walk func(e ast.Expr, bound []string)
	walk = func(e ast.Expr, bound []string) {
		switch e.Kind() {
		case ast.IdentKind:
			if n := strings.TrimPrefix(e.AsIdent(), "."); !slices.Contains(bound, n) {
				found = append(found, use{name: n, id: e.ID()})
			}
		case ast.SelectKind:
			s := e.AsSelect()
			if s.IsTestOnly() && s.Operand().Kind() == ast.IdentKind && s.Operand().AsIdent() == presence {
				found = append(found, use{s.FieldName(), e.ID(), true})
				return
			}
			walk(s.Operand(), bound)
		case ast.CallKind:
			c := e.AsCall()
			if c.IsMemberFunction() {
				walk(c.Target(), bound)
			}
			for _, a := range c.Args() {
				walk(a, bound)
			}
		case ast.ListKind:
			for _, x := range e.AsList().Elements() {
				walk(x, bound)
			}
		case ast.MapKind:
			for _, x := range e.AsMap().Entries() {
				walk(x.AsMapEntry().Key(), bound)
				walk(x.AsMapEntry().Value(), bound)
			}
		case ast.ComprehensionKind:
			c := e.AsComprehension()
			walk(c.IterRange(), bound)
			walk(c.AccuInit(), bound)
			inner := append(slices.Clone(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
			walk(c.LoopCondition(), inner)
			walk(c.LoopStep(), inner)
			walk(c.Result(), inner)
		}
	}
	walk(root, nil)
	return found
}

// constant says whether the expression comes out the same whatever was observed: without any variable there is
// no value for what depends on one, so whatever still has a value cannot change.
func (e *Expr) constant() bool {
	program, err := e.plan()
	if err != nil {
		return false
	}
	_, _, err = program.Eval(nothing{})
	return err == nil
}

// activation gives the variables to CEL as they are, nothing copied.
type activation map[string]any

func (a activation) ResolveName(name string) (any, bool) {
	if name == presence {
		return map[string]any(a), true
	}
	v, ok := a[name]
	return v, ok
}

func (a activation) Parent() interpreter.Activation { return nil }

// nothing has no variable at all.
type nothing struct{}

func (nothing) ResolveName(string) (any, bool) { return nil, false }
func (nothing) Parent() interpreter.Activation { return nil }

func (e *Expr) eval(vars map[string]any) (ref.Val, error) {
	program, err := e.plan()
	if err != nil {
		return nil, err
	}
	out, _, err := program.Eval(activation(vars))
	if err != nil {
		return nil, plainError(err)
	}
	return out, nil
}

// Bool evaluates the expression. A value that is not true or false is an error, and so is whatever cannot be
// evaluated: a variable or member that is not there, values that do not go together.
func (e *Expr) Bool(vars map[string]any) (bool, error) {
	out, err := e.eval(vars)
	if err != nil {
		return false, err
	}
	if b, ok := out.(types.Bool); ok {
		return bool(b), nil
	}
	return false, fmt.Errorf("the value is %s, not true or false", jsonCut(native(out), 80))
}

// Value evaluates the expression to a plain Go value: map[string]any, []any, int64, float64, string, bool or nil.
// The value may share parts with vars: do not change it.
func (e *Expr) Value(vars map[string]any) (any, error) {
	out, err := e.eval(vars)
	if err != nil {
		return nil, err
	}
	return native(out), nil
}

var (
	noAttribute = regexp.MustCompile(`no such attribute\(s\): (.*)$`)
	noKey       = regexp.MustCompile(`no such key: (.*)$`)
)

// absence is that a variable or a member is not there.
type absence string

func (a absence) Error() string { return string(a) }

// plainError puts CEL's own words into ours. What is not there is an absence.
func plainError(err error) error {
	text := err.Error()
	if m := noAttribute.FindStringSubmatch(text); m != nil {
		return absence("there is no " + strings.TrimPrefix(m[1], "."))
	}
	if m := noKey.FindStringSubmatch(text); m != nil {
		return absence(fmt.Sprintf("there is no member %q", m[1]))
	}
	if strings.Contains(text, "no such overload") {
		return fmt.Errorf("values of these kinds do not go together (%s)", text)
	}
	return err
}

// ownMacros rewrites has(name) for bare names, and gives the functions that depend on the revision the revision.
func ownMacros() []cel.Macro {
	macros := []cel.Macro{cel.GlobalMacro(operators.Has, 1, func(f cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		switch a := args[0]; a.Kind() {
		case ast.SelectKind:
			if !a.AsSelect().IsTestOnly() {
				return f.NewPresenceTest(a.AsSelect().Operand(), a.AsSelect().FieldName()), nil
			}
		case ast.IdentKind:
			return f.NewPresenceTest(f.NewIdent(presence), a.AsIdent()), nil
		}
		return nil, f.NewError(args[0].ID(), "has() takes a name or a member: has(result), has(result.tools); for other keys: \"key\" in map")
	})}
	for name, own := range revisionFunctions {
		macros = append(macros, cel.GlobalVarArgMacro(name, func(f cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
			if len(args) != own.values {
				return nil, nil // unknownName says it
			}
			if name == "schema" || name == "problems" {
				if why := unknownDefinition(args[1]); why != "" {
					return nil, f.NewError(args[1].ID(), why)
				}
			}
			return f.NewCall("@"+name, append(slices.Clone(args), f.NewIdent("revision"))...), nil
		}))
	}
	return macros
}
