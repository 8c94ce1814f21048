package sabotage

import (
	"errors"
	"fmt"
	"io/fs"

	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

var (
	faultName     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	requirementID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$`)
)

var faultKeys = []string{"fault", "breaks", "why", "on", "revisions", "when", "on-receive", "at", "skip", "do", "flag"}

// Load reads every .yaml file of fsys, in the order of their paths. It is strict: an unknown key or action, a bad expression or
// a name that is used twice is an error. The error joins all problems; each reads `file:line:column: what; how to mend it`.
// Without a usable file the error says so.
func Load(fsys fs.FS) ([]Fault, error) {
	l := &loader{seen: map[string]Pos{}}
	var loaded []Fault
	files := 0
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		files++
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		loaded = append(loaded, l.file(name, data)...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the fault files: %w", err)
	}
	if len(l.problems) > 0 {
		return nil, errors.Join(l.problems...)
	}
	if files == 0 {
		return nil, errors.New("there is no .yaml file among the fault files")
	}
	return loaded, nil
}

// loader reads one file after the other and gathers the problems.
type loader struct {
	name     string // of the file
	source   []byte
	moment   moment // of the fault that is being read
	seen     map[string]Pos
	only     []string // the names of those to read; nil: all
	problems []error
}

func (l *loader) file(name string, data []byte) []Fault {
	l.name, l.source = name, data
	root, ok := l.parse(data)
	if !ok || root == nil {
		return nil
	}
	items, ok := root.(*ast.SequenceNode)
	if !ok {
		l.fail(root, "a fault file holds a list; begin each fault with `- fault: its-name`")
		return nil
	}
	var loaded []Fault
	for _, item := range items.Values {
		if l.only != nil && !l.isWanted(item) {
			continue
		}
		before := len(l.problems)
		if f := l.fault(item); len(l.problems) == before {
			loaded = append(loaded, f)
		}
	}
	return loaded
}

// isWanted says whether a fault may be one of those that are to be read, by its first line `fault: its-name`. What looks
// otherwise is read.
func (l *loader) isWanted(n ast.Node) bool {
	var first *ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			first = n.Values[0]
		}
	case *ast.MappingValueNode:
		first = n
	}
	if first == nil || first.Key.String() != "fault" {
		return true
	}
	name, ok := first.Value.(*ast.StringNode)
	return !ok || slices.Contains(l.only, name.Value)
}

func (l *loader) fault(n ast.Node) Fault {
	entries, ok := l.mapping(n, "a fault")
	if !ok {
		return Fault{}
	}
	f := Fault{Pos: l.pos(n), program: &program{}}
	has := map[string]entry{}
	for _, entry := range entries {
		if !slices.Contains(faultKeys, entry.key) {
			l.unknown(entry.keyNode, entry.key, "a fault", faultKeys)
			continue
		}
		has[entry.key] = entry
	}
	if entry, ok := has["fault"]; ok {
		f.Pos = l.pos(entry.keyNode)
	}
	for _, key := range []string{"fault", "breaks", "why"} {
		if _, ok := has[key]; !ok {
			l.failAt(f.Pos, "the fault lacks `%s`; add it", key)
		}
	}
	l.head(&f, has)
	l.condition(&f, has)
	if entry, ok := has["do"]; ok {
		if f.program.moment == 0 {
			l.fail(entry.keyNode, "`do` without a moment; add one of `when`, `on-receive` and `at`")
		} else {
			l.actions(&f, entry.value)
		}
	} else if f.program.moment != 0 {
		l.failAt(f.Pos, "the fault says when but not what; add `do` with a list of actions")
	} else if len(f.Flags) == 0 {
		l.failAt(f.Pos, "the fault does nothing; add `when` and `do`, or a `flag`")
	}
	l.on(&f, has)
	return f
}

// head reads what describes the fault.
func (l *loader) head(f *Fault, has map[string]entry) {
	if entry, ok := has["fault"]; ok {
		f.Name, _ = l.text(entry.value)
		if !faultName.MatchString(f.Name) {
			l.fail(entry.value, "%q is no name for a fault; use lower-case words joined by hyphens", f.Name)
		} else if first, ok := l.seen[f.Name]; ok {
			l.fail(entry.value, "the name %q is taken at %s; choose another", f.Name, first)
		} else {
			l.seen[f.Name] = l.pos(entry.value)
		}
	}
	if entry, ok := has["breaks"]; ok {
		f.Breaks = []string{}
		for _, item := range l.list(entry.value, "breaks") {
			id, ok := l.text(item)
			switch {
			case !ok:
			case !requirementID.MatchString(id):
				l.fail(item, "%q has not the form of a requirement's id; write one such as tools.call.unknown-tool", id)
			case slices.Contains(f.Breaks, id):
				l.fail(item, "%s is listed twice; remove one", id)
			default:
				f.Breaks = append(f.Breaks, id)
			}
		}
	}
	if entry, ok := has["why"]; ok {
		f.Why, ok = l.text(entry.value)
		if ok && strings.TrimSpace(f.Why) == "" {
			l.fail(entry.value, "`why` is empty; say in one sentence what the server does wrong")
		}
	}
	if entry, ok := has["revisions"]; ok {
		f.Revisions = l.listOf(entry.value, "revisions", "a revision", revisions)
	}
	if entry, ok := has["skip"]; ok {
		f.Skip, _ = l.integer(entry.value, "skip", 1, 1000)
	}
	if entry, ok := has["flag"]; ok {
		f.Flags = l.flags(entry.value)
	}
}

// condition reads the moment: when, on-receive or at.
func (l *loader) condition(f *Fault, has map[string]entry) {
	var first string
	for _, key := range []string{"when", "on-receive", "at"} {
		entry, ok := has[key]
		if !ok {
			continue
		}
		if first != "" {
			l.fail(entry.keyNode, "`%s` beside `%s`; a fault has one moment: make two faults of it", key, first)
			continue
		}
		first = key
		text, ok := l.text(entry.value)
		if !ok {
			f.program.moment = atMessage
			continue
		}
		switch key {
		case "when":
			f.When, f.program.moment = text, atMessage
		case "on-receive":
			f.OnReceive, f.program.moment = text, atReceive
		case "at":
			f.At = text
			f.program.moment = map[string]moment{"start": atStart, "eof": atEOF}[text]
			if f.program.moment == 0 {
				f.program.moment = atStart
				l.fail(entry.value, "there is no moment %q; `at` is start or eof", text)
			}
			continue
		}
		compiled, err := compileExpr(text, true)
		if err != nil {
			l.failExpr(entry.value, err)
		}
		f.program.condition = compiled
	}
	l.moment = f.program.moment
}

func (l *loader) actions(f *Fault, n ast.Node) {
	items := l.list(n, "do")
	if items != nil && len(items) == 0 {
		l.fail(n, "`do` is empty; list at least one action")
	}
	for _, item := range items {
		entries, _ := l.mapping(item, "an action")
		for _, entry := range entries {
			i := slices.IndexFunc(actionSpecs, func(s *actionSpec) bool { return s.name == entry.key })
			if i < 0 {
				l.unknown(entry.keyNode, entry.key, "an action", actionNames())
				continue
			}
			spec := actionSpecs[i]
			if spec.at&f.program.moment == 0 {
				l.fail(entry.keyNode, "`%s` cannot be done at this moment; it works with %s", spec.name, momentNames(spec.at))
				continue
			}
			if apply := spec.parse(l, entry.value); apply != nil {
				f.program.actions = append(f.program.actions, action{spec, apply})
				f.program.kinds |= spec.kind
			}
		}
	}
}

// on settles the transports: those that are named, else those on which some action can do anything.
func (l *loader) on(f *Fault, has map[string]entry) {
	able := viaBoth
	if f.program.moment != 0 {
		able = 0
		for _, a := range f.program.actions {
			able |= a.spec.via
		}
		if f.program.moment&(atStart|atEOF) != 0 {
			able &= viaStdio
		}
	}
	entry, named := has["on"]
	if !named {
		for _, transport := range transports {
			if able&mediumOf(transport) != 0 {
				f.On = append(f.On, transport)
			}
		}
		return
	}
	f.On = l.listOf(entry.value, "on", "a transport", transports)
	for _, transport := range f.On {
		if able&mediumOf(transport) == 0 && len(f.program.actions) > 0 {
			l.fail(entry.value, "nothing in this fault can be done on %s; remove it from `on`", transport)
		}
	}
}

// flags reads `flag: name`, `flag: [name, name]` or `flag: {name: false}`.
func (l *loader) flags(n ast.Node) map[string]bool {
	flags := map[string]bool{}
	add := func(at ast.Node, name string, value bool) {
		if _, ok := KnownFlags[name]; !ok {
			l.unknown(at, name, "a flag of the reference server", flagNames())
			return
		}
		flags[name] = value
	}
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		entries, _ := l.mapping(n, "flag")
		for _, entry := range entries {
			value, ok := entry.value.(*ast.BoolNode)
			if !ok {
				l.fail(entry.value, "a flag is true or false")
				continue
			}
			add(entry.keyNode, entry.key, value.Value)
		}
	case *ast.SequenceNode:
		for _, item := range n.Values {
			if name, ok := l.text(item); ok {
				add(item, name, true)
			}
		}
	default:
		if name, ok := l.text(n); ok {
			add(n, name, true)
		}
	}
	return flags
}

func momentNames(at moment) string {
	var names []string
	for _, m := range []struct {
		bit  moment
		name string
	}{{atMessage, "`when`"}, {atReceive, "`on-receive`"}, {atStart, "`at: start`"}, {atEOF, "`at: eof`"}} {
		if at&m.bit != 0 {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}
