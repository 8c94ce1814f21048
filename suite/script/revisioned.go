package script

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
)

// revisionFunction is a function that depends on the revision: a macro hands it the variable of that name as its last value.
type revisionFunction struct {
	values int // that its author gives
	// found is what is wrong, and what cannot be judged.
	found func(values []any, r Revision) (problems, unknown []string, err error)
	// tells is how an explanation calls what was found, where the function only says whether there are no problems; "": it gives
	// all that was found itself.
	tells string
}

var revisionFunctions = map[string]revisionFunction{
	"schema":         {2, foundInMessage, "problems"},
	"problems":       {2, foundInMessage, ""},
	"isJSONSchema":   {1, foundInSchema, "schemaProblems"},
	"schemaProblems": {1, foundInSchema, ""},
	"conforms":       {2, foundInInstance, "problems of the instance"},
}

func foundInMessage(values []any, r Revision) (problems, unknown []string, err error) {
	problems, err = messageProblems(values[0], values[1], r)
	return problems, nil, err
}

func foundInSchema(values []any, r Revision) (problems, unknown []string, err error) {
	read := readSchema(values[0], r)
	return read.problems, read.unknown, nil
}

func foundInInstance(values []any, r Revision) (problems, unknown []string, err error) {
	return readSchema(values[1], r).check(values[0]), nil, nil
}

// declare declares the function to CEL, under the name that the macro calls.
func (f revisionFunction) declare(name string) cel.EnvOption {
	call := func(args ...ref.Val) ref.Val {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = native(a)
		}
		problems, unknown, err := f.found(values[:f.values], Revision(fmt.Sprint(values[f.values])))
		if f.tells == "" {
			return result(textList(slices.Concat(problems, unknown)), err)
		}
		return result(len(problems) == 0, err)
	}
	kind := cel.ListType(cel.StringType)
	if f.tells != "" {
		kind = cel.BoolType
	}
	takes, binding := []*cel.Type{cel.DynType, cel.DynType}, cel.BinaryBinding(func(a, b ref.Val) ref.Val { return call(a, b) })
	if f.values == 2 {
		takes, binding = append(takes, cel.DynType), cel.FunctionBinding(call)
	}
	return cel.Function("@"+name, cel.Overload("@"+name, takes, kind, binding))
}
