package sabotage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A path leads into a JSON value: `result.tools.0.name`. `*` is every element of an array or member of an object, `-` the place
// behind the last element, and a name that holds a dot stands in double quotes.
type path []string

func parsePath(text string) (path, error) {
	if text == "" {
		return nil, errors.New("the path is empty; name a member, such as `result.tools.0`")
	}
	var (
		steps path
		step  strings.Builder
	)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && step.Len() == 0:
			end := strings.IndexByte(text[i+1:], '"')
			if end < 0 {
				return nil, fmt.Errorf("path %s: a double quote is not closed", text)
			}
			step.WriteString(text[i+1 : i+1+end])
			i += end + 1
			if i+1 < len(text) && text[i+1] != '.' {
				return nil, fmt.Errorf("path %s: put a dot after the quoted name", text)
			}
		case c == '.':
			if step.Len() == 0 {
				return nil, fmt.Errorf("path %s: a name is missing before a dot", text)
			}
			steps = append(steps, step.String())
			step.Reset()
		default:
			step.WriteByte(c)
		}
	}
	if step.Len() == 0 {
		return nil, fmt.Errorf("path %s: a name is missing at the end", text)
	}
	return append(steps, step.String()), nil
}

func (p path) String() string { return strings.Join(p, ".") }

// set puts value where p leads, making the objects on the way, and returns the new root. make is called once for each place.
func (p path) set(root any, make func() (any, error)) (any, error) {
	if len(p) == 0 {
		return make()
	}
	step, rest := p[0], p[1:]
	switch node := root.(type) {
	case nil:
		if step == "-" {
			element, err := rest.set(nil, make)
			return []any{element}, err
		}
		if step == "*" {
			return nil, errors.New("there is nothing under `*`")
		}
		member, err := rest.set(nil, make)
		return map[string]any{step: member}, err
	case map[string]any:
		names := []string{step}
		if step == "*" {
			names = names[:0]
			for name := range node {
				names = append(names, name)
			}
		}
		for _, name := range names {
			member, err := rest.set(node[name], make)
			if err != nil {
				return node, err
			}
			node[name] = member
		}
		return node, nil
	case []any:
		if step == "-" {
			element, err := rest.set(nil, make)
			return append(node, element), err
		}
		from, to, err := elements(step, len(node))
		if err != nil {
			return node, err
		}
		for i := from; i < to; i++ {
			if node[i], err = rest.set(node[i], make); err != nil {
				return node, err
			}
		}
		return node, nil
	}
	return root, fmt.Errorf("`%s` would go into %s", step, encodeJSON(root))
}

// drop removes what p leads to and returns the new root and whether anything was there.
func (p path) drop(root any) (any, bool) {
	step, rest := p[0], p[1:]
	switch node := root.(type) {
	case map[string]any:
		names := []string{step}
		if step == "*" {
			names = names[:0]
			for name := range node {
				names = append(names, name)
			}
		}
		dropped := false
		for _, name := range names {
			member, ok := node[name]
			switch {
			case !ok:
			case len(rest) == 0:
				delete(node, name)
				dropped = true
			default:
				changed, did := rest.drop(member)
				node[name] = changed
				dropped = dropped || did
			}
		}
		return node, dropped
	case []any:
		from, to, err := elements(step, len(node))
		if err != nil {
			return node, false
		}
		if len(rest) == 0 {
			return append(node[:from], node[to:]...), from < to
		}
		dropped := false
		for i := from; i < to; i++ {
			changed, did := rest.drop(node[i])
			node[i] = changed
			dropped = dropped || did
		}
		return node, dropped
	}
	return root, false
}

// elements is the half-open range of indexes that step means in an array of n.
func elements(step string, n int) (from, to int, err error) {
	if step == "*" {
		return 0, n, nil
	}
	i, err := strconv.Atoi(step)
	if err != nil {
		return 0, 0, fmt.Errorf("`%s` is no index of an array", step)
	}
	if i < 0 || i >= n {
		return 0, 0, fmt.Errorf("index %d is not in an array of %d", i, n)
	}
	return i, i + 1, nil
}
