package script

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaReading is what became of reading a JSON Schema that a server sent.
type schemaReading struct {
	problems []string // why it is no valid schema
	unknown  []string // what cannot be judged from here: a reference into the network, a dialect nobody knows
	compiled []*jsonschema.Schema
}

// check lists why the instance does not conform. It is empty when the schema cannot be judged or is itself broken:
// that is decided for the server here, isJSONSchema judges the schema.
func (r schemaReading) check(instance any) (problems []string) {
	defer func() {
		if recover() != nil {
			problems = nil // a schema that the library cannot carry out is not the instance's fault
		}
	}()
	for i, s := range r.compiled {
		err := s.Validate(instance)
		if err == nil {
			return nil
		}
		if i == 0 {
			problems = leaves(err)
		}
	}
	return problems
}

// Drafts from the newest; before 2025-11-25 the specification names none, so that any of them will do.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft2019, jsonschema.Draft7, jsonschema.Draft6, jsonschema.Draft4}

// readSchema compiles a schema in the dialect that it declares, else in the default one of the revision.
func readSchema(schema any, revision Revision) schemaReading {
	candidates := drafts
	if o, ok := schema.(map[string]any); ok && o["$schema"] != nil || revision >= R20251125 {
		candidates = drafts[:1]
	}
	var first schemaReading
	var good schemaReading
	for i, d := range candidates {
		r := readAs(schema, d)
		if i == 0 {
			first = r
		}
		if len(r.problems) == 0 {
			good.unknown = append(good.unknown, r.unknown...)
			good.compiled = append(good.compiled, r.compiled...)
		}
	}
	switch {
	case len(good.compiled) > 0:
		return schemaReading{compiled: good.compiled}
	case len(good.unknown) > 0:
		return schemaReading{unknown: good.unknown[:1]}
	}
	return first
}

const schemaURL = "https://schema.invalid/schema.json"

func readAs(schema any, draft *jsonschema.Draft) (r schemaReading) {
	defer func() {
		if p := recover(); p != nil {
			r = schemaReading{unknown: []string{fmt.Sprintf("unknown: this schema cannot be read here (%v)", p)}}
		}
	}()
	switch schema.(type) {
	case map[string]any, bool:
	default:
		return schemaReading{problems: []string{"a schema is an object or a boolean, not " + jsonCut(schema, 80)}}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(lenientRegexp)
	for _, name := range formatNames {
		// Whether a format is asserted is left open by every draft, so none is held against a server.
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(schemaURL, schema); err != nil {
		return schemaReading{problems: []string{err.Error()}}
	}
	compiled, err := c.Compile(schemaURL)
	var remote *jsonschema.LoadURLError
	var invalid *jsonschema.SchemaValidationError
	switch {
	case err == nil:
		return schemaReading{compiled: []*jsonschema.Schema{compiled}}
	case errors.As(err, &remote):
		return schemaReading{unknown: []string{fmt.Sprintf("unknown: %s is not followed", remote.URL)}}
	case errors.As(err, &invalid):
		return schemaReading{problems: leaves(invalid.Err)}
	}
	return schemaReading{problems: []string{strings.ReplaceAll(err.Error(), schemaURL, "")}}
}

// noLoader follows no reference: neither into the network nor to files of this machine.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("references are not followed") }

var formatNames = []string{"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname",
	"email", "date", "time", "date-time", "uri", "uri-reference", "uri-template", "iri", "iri-reference", "semver"}

// anything is a pattern that Go cannot carry out: whatever it is asked, it matches.
type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

// lenientRegexp reads patterns, which JSON Schema writes in ECMA-262's dialect, as Go does where Go can. What is
// broken in both is an error; what only Go refuses (lookaround, back references, \u) matches anything.
func lenientRegexp(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err == nil {
		return re, nil
	}
	var bad *syntax.Error
	if errors.As(err, &bad) {
		switch bad.Code {
		case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrTrailingBackslash, syntax.ErrMissingRepeatArgument:
			return nil, err
		case syntax.ErrMissingBracket:
			if !strings.Contains(pattern, "[]") && !strings.Contains(pattern, "[^]") {
				return nil, err
			}
		}
	}
	return anything(pattern), nil
}

// leaves lists the innermost reasons of a validation error as "JSON pointer: what", at most twenty.
func leaves(err error) []string {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return []string{err.Error()}
	}
	printer := message.NewPrinter(language.English) // not safe for concurrent use, so each has its own
	var out []string
	var walk func(*jsonschema.ValidationError)
	walk = func(v *jsonschema.ValidationError) {
		if len(out) >= 20 {
			return
		}
		if len(v.Causes) == 0 {
			at := ""
			for _, t := range v.InstanceLocation {
				at += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(t)
			}
			out = append(out, fmt.Sprintf("%s: %s", at, v.ErrorKind.LocalizedString(printer)))
			return
		}
		for _, c := range v.Causes {
			walk(c)
		}
	}
	walk(v)
	return out
}
