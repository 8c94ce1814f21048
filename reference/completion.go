package reference

import (
	"slices"
	"strconv"
	"strings"
)

// maxCompletions is how many values one answer may hold.
const maxCompletions = 100

// completion returns every value that an argument may take, given the arguments that are already known.
type completion func(known map[string]string) []string

func oneOf(values ...string) completion {
	return func(map[string]string) []string { return values }
}

// numbers offers 1 to n.
func numbers(n int) completion {
	values := make([]string, n)
	for i := range values {
		values[i] = strconv.Itoa(i + 1)
	}
	return oneOf(values...)
}

func frameworks(known map[string]string) []string {
	byLanguage := map[string][]string{
		"go":         {"echo", "gin"},
		"python":     {"django", "fastapi", "flask"},
		"typescript": {"angular", "express", "react"},
	}
	if language, ok := known["language"]; ok {
		return byLanguage[language]
	}
	return slices.Sorted(slices.Values(slices.Concat(byLanguage["go"], byLanguage["python"], byLanguage["typescript"])))
}

func complete(c *call) (any, error) {
	ref, ok := c.params["ref"].(object)
	if !ok {
		return nil, invalidParams("Invalid params: ref must be an object")
	}
	argument, ok := c.params["argument"].(object)
	if !ok {
		return nil, invalidParams("Invalid params: argument must be an object")
	}
	name, err := text(argument, "name")
	if err != nil {
		return nil, err
	}
	value, err := text(argument, "value")
	if err != nil {
		return nil, err
	}
	context, err := optionalObject(c.params, "context")
	if err != nil {
		return nil, err
	}
	known, err := stringMap(context, "arguments")
	if err != nil {
		return nil, err
	}
	values, err := c.candidates(ref, name)
	if err != nil {
		return nil, err
	}
	matches := []string{}
	if values != nil {
		matches = ranked(values(known), value)
	}
	result := object{"total": len(matches), "hasMore": len(matches) > maxCompletions}
	result["values"] = matches[:min(len(matches), maxCompletions)]
	return object{"completion": result}, nil
}

// candidates returns the completion of the argument that ref and name point to, nil if it has none.
func (c *call) candidates(ref object, name string) (completion, error) {
	switch ref["type"] {
	case "ref/prompt":
		promptName, err := text(ref, "name")
		if err != nil {
			return nil, err
		}
		p, err := c.prompt(promptName)
		if err != nil {
			return nil, err
		}
		for _, a := range p.arguments {
			if a.name == name {
				return a.completion, nil
			}
		}
		return nil, invalidParams("Prompt %s has no argument %s", promptName, name)
	case "ref/resource":
		uri, err := text(ref, "uri")
		if err != nil {
			return nil, err
		}
		for _, t := range templates {
			if t.uri != uri {
				continue
			}
			if values, ok := t.completions[name]; ok {
				return values, nil
			}
			return nil, invalidParams("Template %s has no variable %s", uri, name)
		}
		return nil, invalidParams("Unknown resource template: %s", uri)
	}
	return nil, invalidParams("Invalid params: ref.type must be ref/prompt or ref/resource")
}

// ranked returns the values that hold typed, those that begin with it first; case does not matter.
func ranked(values []string, typed string) []string {
	typed = strings.ToLower(typed)
	begin, within := []string{}, []string{}
	for _, v := range values {
		switch at := strings.Index(strings.ToLower(v), typed); {
		case at == 0:
			begin = append(begin, v)
		case at > 0:
			within = append(within, v)
		}
	}
	return append(begin, within...)
}
