package script

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/mcp-litmus/mcp-litmus/suite/sample"
	"github.com/mcp-litmus/mcp-litmus/suite/schema"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// plainFunctions are the functions of one value.
var plainFunctions = map[string]struct {
	result *cel.Type
	of     func(any) (any, error)
}{
	"unique":         {cel.BoolType, unique},
	"ascending":      {cel.BoolType, ascending},
	"isInteger":      {cel.BoolType, func(v any) (any, error) { return isInteger(v), nil }},
	"isURI":          {cel.BoolType, ofText(isURI)},
	"isURITemplate":  {cel.BoolType, ofText(isURITemplate)},
	"isBase64":       {cel.BoolType, ofText(isBase64)},
	"base64":         {cel.StringType, base64Of},
	"isTimestamp":    {cel.BoolType, ofText(isTimestamp)},
	"isVisibleASCII": {cel.BoolType, ofText(isVisibleASCII)},
	"isMetaKey":      {cel.BoolType, ofText(isMetaKey)},
	"range":          {cel.ListType(cel.IntType), rangeOf},
	"json":           {cel.DynType, parseJSON},
	"sample":         {cel.DynType, sampleOf},
	"keys":           {cel.ListType(cel.StringType), keysOf},
	"values":         {cel.ListType(cel.DynType), valuesOf},
	"challenges":     {cel.ListType(cel.DynType), challengesOf},
	"mirrored":       {cel.ListType(cel.DynType), headerAnnotations},
	"uri":            {cel.MapType(cel.StringType, cel.DynType), partsOfURI},
}

func functionNames() []string {
	return slices.Sorted(maps.Keys(allFunctions()))
}

var allFunctions = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"has": true, "size": true, "matches": true, "all": true, "exists": true, "filter": true, "map": true}
	for n := range revisionFunctions {
		all[n] = true
	}
	for n := range plainFunctions {
		all[n] = true
	}
	return all
})

// ownFunctions declares them to CEL.
func ownFunctions() []cel.EnvOption {
	dyn := cel.DynType
	var options []cel.EnvOption
	for name, f := range plainFunctions {
		options = append(options, cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{dyn}, f.result,
			cel.UnaryBinding(func(v ref.Val) ref.Val { return result(f.of(native(v))) }))))
	}
	for name, f := range revisionFunctions {
		options = append(options, f.declare(name))
	}
	return options
}

func result(v any, err error) ref.Val {
	if err != nil {
		return types.NewErr("%s", err.Error())
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

func textList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// messageProblems validates a value against our schema of a message or a part of one.
func messageProblems(value, name any, r Revision) ([]string, error) {
	set, err := schema.For(string(r))
	if err != nil {
		return nil, err
	}
	definition, ok := name.(string)
	if !ok {
		return nil, fmt.Errorf("the name of a schema must be a text, not %s", jsonCut(name, 80))
	}
	return set.Validate(definition, value)
}

var definitions = sync.OnceValues(func() ([]string, error) {
	known := map[string]bool{}
	for _, r := range schema.Revisions() {
		set, err := schema.For(r)
		if err != nil {
			return nil, err
		}
		for _, n := range set.Names() {
			known[n] = true
		}
	}
	return slices.Sorted(maps.Keys(known)), nil
})

// unknownDefinition says what is wrong with a schema's name that is written out, or "".
func unknownDefinition(arg ast.Expr) string {
	if arg.Kind() != ast.LiteralKind {
		return ""
	}
	name, ok := arg.AsLiteral().Value().(string)
	if !ok {
		return `the name of a schema must be a text: schema(result, "CallToolResult")`
	}
	names, err := definitions()
	if err != nil {
		return err.Error()
	}
	if slices.Contains(names, name) {
		return ""
	}
	return fmt.Sprintf("no revision has a schema definition %q%s", name, DidYouMean(name, names))
}

func ofText(f func(string) bool) func(any) (any, error) {
	return func(v any) (any, error) {
		s, ok := v.(string)
		return ok && f(s), nil
	}
}

func list(name string, v any) ([]any, error) {
	if l, ok := v.([]any); ok {
		return l, nil
	}
	return nil, fmt.Errorf("%s takes a list, not %s", name, jsonCut(v, 80))
}

// unique: no two items are the same JSON value; 1 and 1.0 are.
func unique(v any) (any, error) {
	l, err := list("unique", v)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(l))
	for _, x := range l {
		k := canonical(x)
		if seen[k] {
			return false, nil
		}
		seen[k] = true
	}
	return true, nil
}

// ascending: every item is greater than the one before it. The items are all numbers or all texts.
func ascending(v any) (any, error) {
	l, err := list("ascending", v)
	if err != nil {
		return nil, err
	}
	rising := true
	for i, x := range l {
		_, isText := x.(string)
		if _, isNumber := number(x); !isText && !isNumber {
			return nil, fmt.Errorf("ascending takes numbers or texts, not %s", jsonCut(x, 80))
		}
		if i == 0 {
			continue
		}
		c, ok := compare(l[i-1], x)
		if !ok {
			return nil, fmt.Errorf("ascending cannot compare %s with %s", jsonCut(l[i-1], 80), jsonCut(x, 80))
		}
		rising = rising && c < 0
	}
	return rising, nil
}

func compare(a, b any) (int, bool) {
	if s, ok := a.(string); ok {
		t, ok := b.(string)
		return strings.Compare(s, t), ok
	}
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			switch {
			case i < j:
				return -1, true
			case i > j:
				return 1, true
			}
			return 0, true
		}
	}
	x, ok1 := number(a)
	y, ok2 := number(b)
	switch {
	case !ok1 || !ok2:
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, true
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func isInteger(v any) bool {
	f, ok := number(v)
	return ok && f == math.Trunc(f) && !math.IsInf(f, 0)
}

// maxRange bounds range(n), so that a slip of the pen does not eat the memory.
const maxRange = 1_000_000

func rangeOf(v any) (any, error) {
	n, ok := number(v)
	if !ok || !isInteger(v) || n < 0 || n > maxRange {
		return nil, fmt.Errorf("range takes a whole number from 0 to %d, not %s", maxRange, jsonCut(v, 80))
	}
	out := make([]int64, int(n))
	for i := range out {
		out[i] = int64(i)
	}
	return out, nil
}

func parseJSON(v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("json takes a text, not %s", jsonCut(v, 80))
	}
	out, _, err := wire.Decode([]byte(s)) // as http.json and all messages are read
	return out, err
}

func sampleOf(v any) (any, error) {
	o, err := sample.Object(v)
	if err != nil {
		return nil, fmt.Errorf("no sample can be made: %w", err)
	}
	return o, nil
}

func keysOf(v any) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("keys takes a map, not %s", jsonCut(v, 80))
	}
	return slices.Sorted(maps.Keys(m)), nil
}

func valuesOf(v any) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("values takes a map, not %s", jsonCut(v, 80))
	}
	out := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out, nil
}

// canonical is a text that two JSON values share exactly if they are equal.
func canonical(v any) string {
	var b strings.Builder
	writeCanonical(&b, v)
	return b.String()
}

func writeCanonical(b *strings.Builder, v any) {
	switch x := v.(type) {
	case float64:
		if isInteger(x) && math.Abs(x) < 1<<63 {
			fmt.Fprint(b, int64(x))
			return
		}
		fmt.Fprint(b, x)
	case []any:
		b.WriteByte('[')
		for _, i := range x {
			writeCanonical(b, i)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		names := make([]string, 0, len(x))
		for k := range x {
			names = append(names, k)
		}
		sort.Strings(names)
		b.WriteByte('{')
		for _, k := range names {
			fmt.Fprintf(b, "%q:", k)
			writeCanonical(b, x[k])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case string:
		fmt.Fprintf(b, "%q", x)
	default:
		fmt.Fprint(b, x)
	}
}
