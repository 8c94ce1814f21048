package sabotage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcp-litmus/mcp-litmus/fixtures/faults"
)

// The transports that a fault can be applied on.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "streamable-http"
	TransportSSE   = "http+sse" // the two-endpoint transport of 2024-11-05
)

var transports = []string{TransportStdio, TransportHTTP, TransportSSE}

var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// firstDeclared is the first revision in which each request declares its revision instead of a session having one.
const firstDeclared = "2026-07-28"

// Pos is a place in a fault file; Line and Column count from 1.
type Pos struct {
	File         string
	Line, Column int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Fault is one deliberate violation. Faults come from [Load], [All] or [Find]; one that was put together by hand does nothing.
type Fault struct {
	Name      string
	Breaks    []string        // ids of the requirements that fail with it; empty for a harmless peculiarity, with which nothing may fail
	Why       string          // one sentence for people
	On        []string        // transports, never empty
	Revisions []string        // empty: all
	When      string          // CEL; exactly one of When, OnReceive and At is set, or none for a mere flag
	OnReceive string          // CEL
	At        string          // "start" or "eof"
	Skip      int             // so many matches in a session pass unharmed before the first one is struck
	Flags     map[string]bool // flags of the server that it asks for
	Pos       Pos

	program *program
}

// moment says at which point a fault is considered.
type moment uint8

const (
	atMessage moment = 1 << iota // when: an outgoing message or HTTP answer
	atReceive                    // on-receive
	atStart
	atEOF
)

// program is the compiled part of a fault, shared by its copies.
type program struct {
	moment    moment // 0 for a mere flag
	condition *expression
	actions   []action
	kinds     kind // of all actions together
	fired     atomic.Int64
}

// AppliesTo says whether the fault is applied on a transport ("stdio", "streamable-http", "http+sse") at a revision.
// An empty transport or revision stands for any.
func (f Fault) AppliesTo(transport, revision string) bool {
	return (transport == "" || slices.Contains(f.On, transport)) &&
		(revision == "" || len(f.Revisions) == 0 || slices.Contains(f.Revisions, revision))
}

// Fired is how often the fault struck in this process, over all connections and copies. A fault that
// never fired proves nothing about the checks that passed. It stays 0 for a mere flag.
func (f Fault) Fired() int64 {
	if f.program == nil {
		return 0
	}
	return f.program.fired.Load()
}

// inForce is AppliesTo for a revision that may not be known yet: a fault that names revisions
// does not strike then.
func (f *Fault) inForce(revision string) bool {
	return len(f.Revisions) == 0 || slices.Contains(f.Revisions, revision)
}

// All returns the embedded faults in the order of their files. They are read once; the error is that of [Load].
func All() ([]Fault, error) {
	loaded, err := embedded()
	return slices.Clone(loaded), err
}

var (
	embedded   = sync.OnceValues(func() ([]Fault, error) { isEmbedded.Store(true); return Load(faults.FS) })
	isEmbedded atomic.Bool // All was called
)

// Find returns the embedded faults of these names, in this order. The error names each one that does not exist, and the most similar
// one that does.
func Find(names ...string) ([]Fault, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if !isEmbedded.Load() {
		if found := findQuickly(names); found != nil {
			return found, nil
		}
	}
	all, err := All()
	if err != nil {
		return nil, err
	}
	var found []Fault
	var unknown []string
	for _, name := range names {
		i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
		if i >= 0 {
			found = append(found, all[i])
			continue
		}
		known := make([]string, len(all))
		for i, f := range all {
			known[i] = f.Name
		}
		hint := didYouMean(name, known)
		if hint == "" {
			hint = "; the names stand in fixtures/faults"
		}
		unknown = append(unknown, fmt.Sprintf("no fault is named %q%s", name, hint))
	}
	if unknown != nil {
		return nil, errors.New(strings.Join(unknown, "\n"))
	}
	return found, nil
}

// findQuickly reads only the faults of those names: a server that is started with one need not wait for hundreds to be
// compiled. It returns nil when anything is amiss, and leaves it to All to say what.
func findQuickly(names []string) []Fault {
	l := &loader{seen: map[string]Pos{}, only: names}
	byName := map[string]Fault{}
	err := fs.WalkDir(faults.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		data, err := faults.FS.ReadFile(name)
		if err == nil && slices.ContainsFunc(names, func(n string) bool { return bytes.Contains(data, []byte(n)) }) {
			for _, f := range l.file(name, data) {
				byName[f.Name] = f
			}
		}
		return err
	})
	if err != nil || len(l.problems) > 0 {
		return nil
	}
	var found []Fault
	for _, name := range names {
		f, ok := byName[name]
		if !ok {
			return nil
		}
		found = append(found, f)
	}
	return found
}

// Flags joins the flags that the faults ask for, to be handed to the server. Where two faults
// disagree the later one wins.
func Flags(faults []Fault) map[string]bool {
	flags := map[string]bool{}
	for _, f := range faults {
		maps.Copy(flags, f.Flags)
	}
	return flags
}

// concerning picks the faults that have something to do on any of these transports.
func concerning(faults []Fault, on ...string) []*Fault {
	var picked []*Fault
	for i := range faults {
		f := &faults[i]
		if f.program != nil && f.program.moment != 0 && slices.ContainsFunc(on, func(t string) bool { return slices.Contains(f.On, t) }) {
			picked = append(picked, f)
		}
	}
	return picked
}

// didYouMean is `; did you mean "x"?` for the known word nearest to word, or nothing when none is near.
func didYouMean(word string, known []string) string {
	best, distance := "", len(word)/2+1
	for _, candidate := range known {
		if d := editDistance(word, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
