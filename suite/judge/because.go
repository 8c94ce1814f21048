package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// because says in one sentence why an expression does not hold over the variables; parts are what it came to.
func because(that *script.Expr, vars map[string]any, parts []script.Part) string {
	switch {
	case vars["timeout"] == true && vars["reply"] == nil:
		return "no answer came in time"
	case vars["exit"] != nil && (vars["reply"] == nil && that.Uses("error") || that.Uses("result")):
		return "the server's process ended" + howEnded(vars["exit"])
	}
	if problem, ok := firstProblem(parts); ok {
		return problem
	}
	found := findings(parts, vars)
	if len(that.Source) <= shortSource && !that.HasLogicalOperator() && !that.IsPresence() {
		found = append([]string{"expected " + that.Source}, found...)
	}
	if len(found) == 0 {
		return "the check does not hold"
	}
	return strings.Join(found, "; ")
}

const (
	shortSource = 60 // characters of an expression that is told
	shortValue  = 80 // bytes of a value that is told
)

// howEnded is how a process ended, from the observation's exit: ", with code 1", ", by signal killed", or "".
func howEnded(exit any) string {
	e, _ := exit.(map[string]any)
	if signal, _ := e["signal"].(string); signal != "" {
		return ", by signal " + signal
	}
	if code := e["code"]; code != nil {
		return fmt.Sprintf(", with code %v", code)
	}
	return ""
}

// findings are the values that tell most of why an expression does not hold, three at most: single ones, or where there
// is none of these, what there is. The evidence holds them all.
func findings(parts []script.Part, vars map[string]any) []string {
	var single, other []string
	for _, p := range parts {
		list, text := &single, told(p)
		switch {
		case p.Whole && p.Err == "" && p.Presence == "" || len(p.Source) > shortSource || p.Source == "revision" || p.Source == "transport":
			continue
		case p.Presence == "http" && vars["http"] == nil: // of course not, over this transport
			continue
		case p.Err == "" && (p.Compound || p.Presence != "" && p.Value == "true"):
			list = &other
		}
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	if len(single) == 0 {
		single = other
	}
	return single[:min(3, len(single))]
}

// told is a part in words.
func told(p script.Part) string {
	switch {
	case p.Absent:
		return p.Err
	case p.Err != "":
		return p.Source + ": " + p.Err
	case p.Presence != "" && p.Value == "true":
		return "there is " + p.Presence
	case p.Presence != "":
		return "there is no " + p.Presence
	}
	return p.Source + " is " + clip(p.Value, shortValue)
}

// firstProblem is the first thing that a schema found wrong, when the parts tell of one.
func firstProblem(parts []script.Part) (string, bool) {
	i := slices.IndexFunc(parts, func(p script.Part) bool { return len(p.Problems) > 0 })
	if i < 0 {
		return "", false
	}
	text := clip(parts[i].Problems[0], 3*shortValue)
	if n := len(parts[i].Problems) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text, true
}
