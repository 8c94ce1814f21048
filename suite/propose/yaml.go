package propose

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// flow is a value in YAML's flow style, on one line. Texts that litmus.yaml would take for references to the environment are
// escaped.
func flow(v any) string {
	switch v := v.(type) {
	case string:
		return scalar(strings.ReplaceAll(v, "${", "$${"))
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, scalar(name)+": "+flow(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return quote(v)
}

// plain are texts that mean themselves without quotes, wherever they stand.
var plain = regexp.MustCompile(`^[A-Za-z_./@][A-Za-z0-9_./@-]*$`)

// scalar is a text, in quotes unless it can do without.
func scalar(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan", ".":
		return quote(s)
	}
	if plain.MatchString(s) {
		return s
	}
	return quote(s)
}

// quote is a value as JSON, which YAML reads, too.
func quote(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSpace(b.String())
}

// oneLine makes text that may come from a server fit for a comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, s)
}
