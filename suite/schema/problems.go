package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xeipuuv/gojsonschema"
)

// maxProblems is how many lines are listed in full: a list of a thousand broken items is not read to its end.
const maxProblems = 50

// alternatives lists members of which an object needs one: where a union fails for want of the first, all are named.
var alternatives = map[string][]string{
	"text":   {"blob"},
	"result": {"error"},
	"method": {"result", "error"},
}

type problem struct {
	path []string
	what string
}

// problems turns the validator's errors into lines for people, sorted and without repeats. Errors that only say that a
// branch of a union failed are dropped where the branch says why.
func problems(errs []gojsonschema.ResultError) []string {
	unions := map[string]bool{}
	for _, e := range errs {
		if e.Type() == "number_any_of" {
			unions[e.Context().String(separator)] = true
		}
	}
	var found, wrappers []problem
	for _, e := range errs {
		path := strings.Split(e.Context().String(separator), separator)[1:]
		switch e.Type() {
		case "number_any_of", "number_one_of", "number_all_of", "condition_then", "condition_else":
			wrappers = append(wrappers, problem{path, "has none of the allowed forms, found " + show(e.Value())})
		default:
			inUnion := unions[e.Context().String(separator)]
			found = append(found, problem{path, explain(e, inUnion)})
		}
	}
	if len(found) == 0 {
		found = wrappers
	}
	slices.SortFunc(found, func(a, b problem) int {
		return cmp.Or(slices.CompareFunc(a.path, b.path, compareTokens), strings.Compare(a.what, b.what))
	})
	var lines []string
	for _, p := range found {
		lines = append(lines, pointer(p.path)+": "+p.what)
	}
	lines = slices.Compact(lines)
	if more := len(lines) - maxProblems; more > 0 {
		lines = append(lines[:maxProblems], fmt.Sprintf("and %d more problems", more))
	}
	return lines
}

// separator stands between the tokens of a path while it is in one string. A member name with NUL in it makes the
// pointer in the message imprecise, never the verdict.
const separator = "\x00"

// explain says what was expected and what was found.
func explain(e gojsonschema.ResultError, inUnion bool) string {
	details := e.Details()
	switch e.Type() {
	case "required":
		name := fmt.Sprint(details["property"])
		value, _ := e.Value().(map[string]any)
		others := alternatives[name]
		if inUnion && others != nil && !hasAny(value, others) {
			return strconv.Quote(name) + ` is missing (or instead "` + strings.Join(others, `" or "`) + `")`
		}
		return strconv.Quote(name) + " is missing"
	case "invalid_type":
		expected := strings.NewReplacer("[", "", "]", "", ",", " or ").Replace(fmt.Sprint(details["expected"]))
		return "expected " + expected + ", found " + show(e.Value())
	case "enum":
		return "expected one of " + fmt.Sprint(details["allowed"]) + ", found " + show(e.Value())
	case "const":
		return "expected " + fmt.Sprint(details["allowed"]) + ", found " + show(e.Value())
	case "number_gte":
		return fmt.Sprintf("expected at least %v, found %s", details["min"], show(e.Value()))
	case "number_lte":
		return fmt.Sprintf("expected at most %v, found %s", details["max"], show(e.Value()))
	default:
		return e.Description() + ", found " + show(e.Value())
	}
}

func hasAny(object map[string]any, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := object[name]; return ok })
}

// show names a value briefly: its type, and the value itself where it is short.
func show(value any) string {
	const most = 60
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if len(v) > most {
			return "a number of " + strconv.Itoa(len(v)) + " characters"
		}
		return "the number " + string(v)
	case string:
		if runes := []rune(v); len(runes) > most {
			return strconv.Quote(string(runes[:most])) + "…"
		}
		return strconv.Quote(v)
	case []any:
		if len(v) == 0 {
			return "an empty array"
		}
		return "an array"
	case map[string]any:
		if len(v) == 0 {
			return "an empty object"
		}
		return "an object"
	default:
		return fmt.Sprintf("%v", v)
	}
}

// pointer writes a path as JSON pointer (RFC 6901); the whole document, "" there, is "(root)" so that it can be seen.
func pointer(path []string) string {
	if len(path) == 0 {
		return "(root)"
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(escape.Replace(token))
	}
	return b.String()
}

// compareTokens orders array indices by number, all else by text.
func compareTokens(a, b string) int {
	m, errA := strconv.Atoi(a)
	n, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(m, n)
	}
	return strings.Compare(a, b)
}
