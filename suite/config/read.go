package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// reader turns values into Go, expanding the environment and gathering mistakes.
type reader struct {
	environment
	mistakes
	dir    string // relative paths start here
	secret bool   // values from the environment that are read now are secrets
}

// field is one key of a mapping and what to do with its value.
type field struct {
	key  string
	read func(*value)
}

// fields reads a mapping whose keys are known. A key with nothing behind it is as good as absent. It says whether
// v is a mapping.
func (r *reader) fields(v *value, of string, known ...field) bool {
	if v.kind != mapKind {
		r.add(v.pos, "%s is a mapping, not %s", of, v.what())
		return false
	}
	for _, e := range v.entries {
		i := slices.IndexFunc(known, func(f field) bool { return f.key == e.key })
		if i < 0 {
			names := make([]string, len(known))
			for j, f := range known {
				names[j] = f.key
			}
			r.add(e.pos, "%s has no key %q%s", of, e.key, didYouMean(e.key, names))
			continue
		}
		if e.value.kind != scalarKind || e.value.scalar != nil {
			known[i].read(e.value)
		}
	}
	return true
}

// text is a scalar as text, expanded: numbers, true and false as they are written.
func (r *reader) text(v *value, of string) string {
	if v.kind != scalarKind {
		r.add(v.pos, "%s is a text, not %s", of, v.what())
		return ""
	}
	return r.expand(v.text, v.pos, r.secret, &r.mistakes)
}

func (r *reader) texts(v *value, of string) []string {
	if v.kind != listKind {
		r.add(v.pos, "%s is a list, as in [%s]", of, orExample(v.text))
		return nil
	}
	var out []string
	for _, item := range v.items {
		out = append(out, r.text(item, "each entry of "+of))
	}
	return out
}

// orExample is a text of several words as a list would hold them.
func orExample(s string) string {
	if words := strings.Fields(s); len(words) > 0 {
		return strings.Join(words, ", ")
	}
	return "..."
}

func (r *reader) textMap(v *value, of string) map[string]string {
	if v.kind != mapKind {
		r.add(v.pos, "%s is a mapping of names to texts, not %s", of, v.what())
		return nil
	}
	out := map[string]string{}
	for _, e := range v.entries {
		out[e.key] = r.text(e.value, of+": "+e.key)
	}
	return out
}

func (r *reader) oneOf(v *value, of string, allowed ...string) string {
	s := r.text(v, of)
	if s != "" && !slices.Contains(allowed, s) {
		r.add(v.pos, "%s cannot be %q%s", of, s, didYouMean(s, allowed))
	}
	return s
}

func (r *reader) boolean(v *value, of string) bool {
	switch s := r.text(v, of); s {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE", "":
		return false
	default:
		r.add(v.pos, "%s is true or false, not %q", of, s)
		return false
	}
}

// count is a whole number of at least 1.
func (r *reader) count(v *value, of string) int {
	s := r.text(v, of)
	n, err := strconv.Atoi(s)
	if v.kind == scalarKind && (err != nil || n < 1) {
		r.add(v.pos, "%s is a whole number of at least 1, not %q", of, s)
	}
	return n
}

// wait is a duration above 0.
func (r *reader) wait(v *value, of string) time.Duration {
	s := r.text(v, of)
	d, err := time.ParseDuration(s)
	if v.kind == scalarKind && (err != nil || d <= 0) {
		r.add(v.pos, "%s is a time with its unit, such as 10s, 500ms or 2m, not %q", of, s)
	}
	return d
}

// any is a value as JSON would have it; texts are expanded.
func (r *reader) any(v *value) any {
	switch v.kind {
	case mapKind:
		return r.anyMap(v)
	case listKind:
		out := make([]any, 0, len(v.items))
		for _, item := range v.items {
			out = append(out, r.any(item))
		}
		return out
	}
	switch s := v.scalar.(type) {
	case string:
		return r.expand(s, v.pos, r.secret, &r.mistakes)
	case uint64:
		if s <= math.MaxInt64 {
			return int64(s)
		}
	case float64:
		if math.IsNaN(s) || math.IsInf(s, 0) {
			r.add(v.pos, "%s cannot be sent as JSON", v.text)
			return nil
		}
	}
	return v.scalar
}

func (r *reader) anyMap(v *value) map[string]any {
	out := map[string]any{}
	for _, e := range v.entries {
		out[e.key] = r.any(e.value)
	}
	return out
}

func (r *reader) arguments(v *value, of string) map[string]any {
	if v.kind != mapKind {
		r.add(v.pos, "the arguments of %s are a mapping, not %s", of, v.what())
		return nil
	}
	return r.anyMap(v)
}

// revision is one of the published revisions.
func (r *reader) revision(v *value) script.Revision {
	s := r.text(v, "a revision")
	if v.kind != scalarKind {
		return ""
	}
	rev, err := script.ParseRevision(s)
	if err != nil {
		r.add(v.pos, "%v", err)
	}
	return rev
}

// asSecret reads with f; with on, values from the environment are secrets meanwhile.
func (r *reader) asSecret(on bool, f func()) {
	before := r.secret
	r.secret = on
	f()
	r.secret = before
}

func ordinal(of string, i int) string { return fmt.Sprintf("entry %d of %s", i+1, of) }
