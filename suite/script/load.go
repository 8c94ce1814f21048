package script

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-litmus/mcp-litmus/fixtures"
	"github.com/mcp-litmus/mcp-litmus/suite/schema"
)

// Library is all requirements, exchanges and roles, in the order of their files.
type Library struct {
	Requirements []*Requirement
	Exchanges    []*Exchange
	Roles        []*RoleDefinition
	Digest       string // SHA-256 over all source files and the schemas of messages in a stable order, in hexadecimal

	requirements map[string]*Requirement
	exchanges    map[string]*Exchange
	roles        map[string]*RoleDefinition
}

// maxFile bounds the size of one file, in bytes.
const maxFile = 4 << 20

// source is one file with the kind of its items.
type source struct {
	name, area, kind string
	root             *node
}

// Load reads requirements/**.yaml, exchanges/**.yaml and roles.yaml of fsys, and every .yaml file at any depth of
// the extra folders, whose kind the first key of its items tells: id (requirements), exchange or role. All mistakes
// of all files are found and joined, each an *Error with its place; the library is nil then. An extra file system
// may add to the catalogue but not replace what is there.
func Load(fsys fs.FS, extra ...fs.FS) (*Library, error) {
	l := &Library{requirements: map[string]*Requirement{}, exchanges: map[string]*Exchange{}, roles: map[string]*RoleDefinition{}}
	m := &mistakes{}
	digest := sha256.New()
	var sources []source
	for i, f := range append([]fs.FS{fsys}, extra...) {
		err := fs.WalkDir(f, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) && name == "." {
					return fmt.Errorf("the folder of exchanges does not exist: %w", err)
				}
				return err
			}
			if d.IsDir() {
				if i == 0 && !inCatalogue(name) {
					return fs.SkipDir
				}
				return nil
			}
			ext := path.Ext(name)
			kind := ""
			if i == 0 {
				if kind = kindOf(name); kind == "" {
					return nil
				}
			}
			if ext != ".yaml" && ext != ".yml" {
				return nil
			}
			if info, err := d.Info(); err == nil && info.Size() > maxFile {
				m.add(Position{File: name}, "the file is larger than %d bytes; split it", maxFile)
				return nil
			}
			data, err := fs.ReadFile(f, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(digest, "%d %s %d\n", i, name, len(data))
			digest.Write(data)
			root := parseYAML(name, data, m)
			if root == nil {
				return nil
			}
			area := strings.TrimSuffix(name, ext)
			if i == 0 {
				_, area, _ = strings.Cut(area, "/")
			} else if kind = guessKind(root); kind == "" {
				m.add(root.pos, "this file holds no list of exchanges, requirements or roles (their first keys are exchange:, id: and role:); move it out of this folder")
				return nil
			}
			sources = append(sources, source{name, area, kind, root})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read the fixtures: %w", err)
		}
	}
	if err := schema.Hash(digest); err != nil { // what schema(...) says depends on them, too
		return nil, fmt.Errorf("cannot read the schemas: %w", err)
	}
	l.read(sources, m)
	if err := m.err(); err != nil {
		return nil, err
	}
	l.Digest = hex.EncodeToString(digest.Sum(nil))
	return l, nil
}

func inCatalogue(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return top == "." || top == "requirements" || top == "exchanges"
}

func kindOf(name string) string {
	switch {
	case name == "roles.yaml":
		return "role"
	case strings.HasPrefix(name, "requirements/"):
		return "id"
	case strings.HasPrefix(name, "exchanges/"):
		return "exchange"
	}
	return ""
}

// guessKind goes by the first key of the first item, and where that key is misplaced, by whichever key tells.
func guessKind(root *node) string {
	kinds := []string{"exchange", "id", "role"}
	if root.kind != listNode || len(root.items) == 0 || len(root.items[0].entries) == 0 {
		return ""
	}
	for _, e := range root.items[0].entries {
		if slices.Contains(kinds, e.key) {
			return e.key
		}
	}
	return ""
}

// read turns the sources into types: roles and requirements first, since exchanges name them.
func (l *Library) read(sources []source, m *mistakes) {
	r := &reader{mistakes: m, roles: map[string]bool{}, requirements: l.requirements}
	each := func(kind string, do func(s source, item *node)) {
		for _, s := range sources {
			if s.kind != kind {
				continue
			}
			if s.root.kind != listNode {
				m.add(s.root.pos, "the file must be a list; start every entry with \"- %s: \"", kind)
				continue
			}
			for _, item := range s.root.items {
				if item.kind != mappingNode {
					m.add(item.pos, "an entry must be a mapping that starts with %s:, not %s", kind, item.what())
					continue
				}
				do(s, item)
			}
		}
	}
	each("role", func(_ source, n *node) {
		d := r.role(n)
		if before := l.roles[d.Name]; before != nil {
			m.add(n.pos, "the role %q is already defined at %s; choose another name", d.Name, before.Pos)
			return
		}
		l.roles[d.Name], r.roles[d.Name] = d, true
		l.Roles = append(l.Roles, d)
	})
	each("id", func(s source, n *node) {
		q := r.requirement(n, s.area)
		if before := l.requirements[q.ID]; before != nil {
			m.add(n.pos, "the requirement %q is already at %s; choose another id", q.ID, before.Pos)
			return
		}
		l.requirements[q.ID] = q
		l.Requirements = append(l.Requirements, q)
	})
	each("exchange", func(s source, n *node) {
		x := r.exchange(n, s.area)
		if before := l.exchanges[x.Name]; before != nil && x.Name != "" {
			m.add(n.pos, "an exchange %q is already at %s; choose another name", x.Name, before.Pos)
			return
		}
		if before := l.Survey(x.Survey); before != nil {
			m.add(n.get("survey").pos, "the survey has its part %q already at %s; leave out survey:", x.Survey, before.Pos)
			return
		}
		l.exchanges[x.Name] = x
		l.Exchanges = append(l.Exchanges, x)
	})
}

var embedded = sync.OnceValues(func() (*Library, error) { return Load(fixtures.FS) })

// Default is the library that is built in. It is read once and shared: do not change it.
func Default() (*Library, error) { return embedded() }

// Requirement finds a requirement by its id, or is nil.
func (l *Library) Requirement(id string) *Requirement { return l.requirements[id] }

// Exchange finds an exchange by its name, or is nil.
func (l *Library) Exchange(name string) *Exchange { return l.exchanges[name] }

// Role finds the definition of a role, or is nil.
func (l *Library) Role(name string) *RoleDefinition { return l.roles[name] }

// Complaints lists what is unfinished in the catalogue, each an *Error: a requirement that no exchange proves and
// that is not untestable, one that is both, and one that some revision in its window has no place in the
// specification for. Advice needs no such place.
func (l *Library) Complaints() []error {
	proven := map[string]*Exchange{}
	for _, x := range l.Exchanges {
		for _, c := range x.AllChecks() {
			proven[c.Requirement] = x
		}
	}
	var out []error
	for _, q := range l.Requirements {
		x := proven[q.ID]
		switch {
		case x == nil && q.Untestable == "":
			out = append(out, &Error{q.Pos, fmt.Sprintf("no exchange proves %s; write one, or say with untestable: why nobody can", q.ID)})
		case x != nil && q.Untestable != "":
			out = append(out, &Error{q.Pos, fmt.Sprintf("%s is said to be untestable, but the exchange %q proves it; remove one", q.ID, x.Name)})
		}
		for _, rev := range Revisions {
			if q.InForce(rev) && q.SpecAt(rev) == "" && q.LevelAt(rev) != Advice {
				out = append(out, &Error{q.Pos, fmt.Sprintf("%s does not say where revision %s states it; add to spec:", q.ID, rev)})
				break
			}
		}
	}
	return out
}

// AllChecks are the checks of all steps, nested ones included, in reading order, and those of the exchange itself.
func (x *Exchange) AllChecks() []*Check {
	var out []*Check
	var walk func([]*Step)
	walk = func(steps []*Step) {
		for _, s := range steps {
			out = append(out, s.Checks...)
			walk(s.Steps)
		}
	}
	walk(x.Steps)
	return append(out, x.Checks...)
}
