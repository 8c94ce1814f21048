package script

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// reader reads nodes into types and gathers every mistake on the way.
type reader struct {
	*mistakes
	roles        map[string]bool // that are defined
	requirements map[string]*Requirement
}

// known adds a mistake for every key that is not one of the keys.
func (r *reader) known(n *node, what string, keys ...string) {
	for _, e := range n.entries {
		if !slices.Contains(keys, e.key) {
			hint := DidYouMean(e.key, keys)
			if strings.ContainsAny(e.key, "()") {
				hint = "; within { } an expression that has a comma needs quotes"
			} else if hint == "" {
				hint = "; the keys are " + strings.Join(keys, ", ")
			}
			r.add(e.pos, "%s has no key %q%s", what, e.key, hint)
		}
	}
}

// text reads a text; a number or a date stands for its text. Required: an empty one is a mistake at `at`.
func (r *reader) text(n *node, at Position, what string, required bool) string {
	switch {
	case n == nil || n.isNull():
		if required {
			r.add(at, "%s is missing", what)
		}
		return ""
	case n.kind != scalarNode:
		r.add(n.pos, "%s must be a text, not %s", what, n.what())
		return ""
	case required && strings.TrimSpace(n.text) == "":
		r.add(n.pos, "%s is empty", what)
	}
	return strings.TrimSpace(n.text)
}

// texts reads a list of texts.
func (r *reader) texts(n *node, what string, each func(n *node, text string)) []string {
	if n == nil {
		return nil
	}
	if n.kind != listNode {
		r.add(n.pos, "%s must be a list, such as [a, b], not %s", what, n.what())
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for _, i := range n.items {
		t := r.text(i, i.pos, "an entry of "+what, true)
		if t == "" {
			continue
		}
		if seen[t] {
			r.add(i.pos, "%q stands twice in %s; keep one", t, what)
			continue
		}
		seen[t] = true
		each(i, t)
		out = append(out, t)
	}
	return out
}

func (r *reader) choice(n *node, what, otherwise string, choices ...string) string {
	if n == nil {
		return otherwise
	}
	t := r.text(n, n.pos, what, true)
	if t != "" && !slices.Contains(choices, t) {
		hint := DidYouMean(t, choices)
		if hint == "" {
			hint = "; it is " + quoted(choices, "or")
		}
		r.add(n.pos, "%s cannot be %q%s", what, t, hint)
		return otherwise
	}
	return t
}

func (r *reader) yes(n *node, what string) bool {
	if n == nil {
		return false
	}
	if b, ok := n.scalar.(bool); ok {
		return b
	}
	r.add(n.pos, "%s must be true or false, not %s", what, n.what())
	return false
}

func (r *reader) revision(n *node, at Position, text, what string) Revision {
	if text == "" {
		return ""
	}
	rev, err := ParseRevision(text)
	if err != nil {
		if n != nil {
			at = n.pos
		}
		r.add(at, "%s: %v", what, err)
	}
	return rev
}

func (r *reader) transports(n *node) []string {
	names := wire.Transports
	return r.texts(n, "transports", func(i *node, t string) {
		if !slices.Contains(names, t) {
			hint := DidYouMean(t, names)
			if hint == "" {
				hint = "; the transports are " + quoted(names, "and")
			}
			r.add(i.pos, "there is no transport %q%s", t, hint)
		}
	})
}

func (r *reader) duration(n *node) time.Duration {
	if n == nil {
		return 0
	}
	d, err := time.ParseDuration(n.text)
	if err != nil || d <= 0 || d%time.Millisecond != 0 {
		r.add(n.pos, "timeout must be a time such as 3s or 500ms, not %q", n.text)
		return 0
	}
	return d
}

// expr reads an expression; nil when there is none or it is wrong.
func (r *reader) expr(n *node, what string, sc *scope) *Expr {
	if n == nil {
		return nil
	}
	if n.kind != scalarNode || n.isNull() {
		r.add(n.pos, "%s must be an expression in CEL, written as a text, not %s", what, n.what())
		return nil
	}
	return compile(n.text, n.place, sc, r.mistakes)
}

// condition reads an expression that must come out true or false.
func (r *reader) condition(n *node, what string, sc *scope) *Expr {
	return r.ofKind(r.expr(n, what, sc), n, what, "true or false", types.BoolKind)
}

// listOf reads an expression that must come out as a list.
func (r *reader) listOf(n *node, what string, sc *scope) *Expr {
	return r.ofKind(r.expr(n, what, sc), n, what, "a list", types.ListKind)
}

func (r *reader) ofKind(e *Expr, n *node, what, wanted string, kind types.Kind) *Expr {
	if e == nil {
		return nil
	}
	if out := e.ast.OutputType(); out.Kind() != kind && out.Kind() != types.DynKind {
		r.add(n.place(0), "%s must come out as %s, and this is always of the kind %s", what, wanted, out)
		return nil
	}
	return e
}

// values reads a mapping whose values are templates.
func (r *reader) values(n *node, what string, sc *scope) map[string]Value {
	if n == nil || n.isNull() {
		return nil
	}
	if n.kind != mappingNode {
		r.add(n.pos, "%s must be a mapping, not %s", what, n.what())
		return nil
	}
	out := make(map[string]Value, len(n.entries))
	for _, e := range n.entries {
		out[e.key] = template(e.value, sc, r.mistakes)
	}
	return out
}

// plainValue is a node as plain Go, for values that hold no expressions.
func (r *reader) plainValue(n *node) any {
	switch n.kind {
	case mappingNode:
		out := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			out[e.key] = r.plainValue(e.value)
		}
		return out
	case listNode:
		out := make([]any, 0, len(n.items))
		for _, i := range n.items {
			out = append(out, r.plainValue(i))
		}
		return out
	}
	if s, ok := n.scalar.(string); ok && strings.Contains(s, "${") {
		r.add(n.pos, "no ${...} here: this value is needed before anything was observed")
	}
	return n.scalar
}

func (r *reader) plainMap(n *node, what string) map[string]any {
	if n == nil || n.isNull() {
		return nil
	}
	if n.kind != mappingNode {
		r.add(n.pos, "%s must be a mapping, not %s", what, n.what())
		return nil
	}
	return r.plainValue(n).(map[string]any)
}

var (
	requirementID = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+$`)
	extensionID   = regexp.MustCompile(`^[a-z0-9-]+(?:\.[a-z0-9-]+)+/[A-Za-z0-9_.-]+$`)
	anchorShape   = regexp.MustCompile(`^/?[a-z0-9]+(?:[-/][a-z0-9]+)*#[A-Za-z0-9_%][A-Za-z0-9_.%-]*$`)
)

func (r *reader) requirement(n *node, area string) *Requirement {
	r.known(n, "a requirement", "id", "level", "since", "until", "text", "spec", "note", "untestable", "transports", "extension")
	q := &Requirement{Area: area, Pos: n.pos}
	q.ID = r.text(n.get("id"), n.pos, "the id of a requirement", true)
	if q.ID != "" && !requirementID.MatchString(q.ID) {
		r.add(n.get("id").pos, "the id %q has the wrong shape; write lower-case words with dots between and hyphens within, such as tools.call.unknown-tool", q.ID)
	}
	name := strings.TrimSpace("requirement " + q.ID)
	since := n.get("since")
	q.Since = r.revision(since, n.pos, r.text(since, n.pos, "since, the first revision of "+name+",", true), "since")
	if until := n.get("until"); until != nil {
		q.Until = r.revision(until, n.pos, r.text(until, n.pos, "until", true), "until")
		if q.Since != "" && q.Until != "" && q.Until < q.Since {
			r.add(until.pos, "until %s is before since %s; swap them", q.Until, q.Since)
		}
	}
	q.Text = r.text(n.get("text"), n.pos, "the text of "+name, true)
	q.Note = r.text(n.get("note"), n.pos, "note", false)
	if u := n.get("untestable"); u != nil {
		q.Untestable = r.text(u, u.pos, "untestable, which says why it cannot be seen from outside,", true)
	}
	q.Transports = r.transports(n.get("transports"))
	if q.Extension = r.text(n.get("extension"), n.pos, "extension", false); q.Extension != "" && !extensionID.MatchString(q.Extension) {
		r.add(n.get("extension").pos, "the extension %q has the wrong shape; write its identifier, such as io.modelcontextprotocol/tasks", q.Extension)
	}
	q.Levels = byRevision(r, n.get("level"), n.pos, "the level of "+name, q.Since, true, func(v *node) Level {
		return Level(r.choice(v, "a level", "", string(Must), string(MustNot), string(Should), string(ShouldNot), string(Advice)))
	})
	q.Spec = byRevision(r, n.get("spec"), n.pos, "spec", q.Since, false, func(v *node) string {
		s := r.text(v, v.pos, "spec", true)
		if s != "" && !anchorShape.MatchString(s) {
			r.add(v.pos, "the place %q has the wrong shape; write page#anchor, such as basic/lifecycle#initialization, or /page#anchor for a page outside the specification", s)
		}
		return s
	})
	return q
}

// byRevision reads one value, or a mapping from the revision since which each value holds.
func byRevision[T any](r *reader, n *node, at Position, what string, since Revision, required bool, read func(*node) T) map[Revision]T {
	out := map[Revision]T{}
	switch {
	case n == nil || n.isNull():
		if required {
			r.add(at, "%s is missing", what)
		}
	case n.kind == mappingNode:
		for _, e := range n.entries {
			rev := r.revision(nil, e.pos, e.key, what)
			v := read(e.value)
			if rev != "" {
				out[rev] = v
			}
		}
		if since == "" || !required || len(out) == 0 {
			break
		}
		if first := slices.Min(slices.Collect(maps.Keys(out))); first > since {
			r.add(n.pos, "%s is not given for %s; start with the revision of since", what, since)
		}
	default:
		v := read(n)
		if since != "" {
			out[since] = v
		}
	}
	return out
}
