package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Baseline are the failures that are known and reviewed.
type Baseline []Known

// Known is one entry of a baseline.
type Known struct {
	Requirement string          // an id, or a glob in which * stands for any text: tools.*
	Revision    script.Revision // "": every one
	Transport   string          // "": every one
	Flaky       bool            // it fails now and then: that it passes does not make the entry out of date
	Reason      string
	Pos         script.Position
}

func readBaseline(r *reader, v *value) Baseline {
	if v.kind == scalarKind {
		return r.baselineFile(v)
	}
	if v.kind != listKind {
		r.add(v.pos, "baseline is a list of entries with requirement: and reason:, or the name of a file with one")
		return nil
	}
	var out Baseline
	for i, item := range v.items {
		of := ordinal("baseline", i)
		k := Known{Pos: item.pos}
		if !r.fields(item, of,
			field{"requirement", func(v *value) {
				k.Requirement = r.text(v, of+": requirement")
				if _, err := path.Match(k.Requirement, ""); err != nil {
					r.add(v.pos, "%s: the glob %q cannot be read; use * for any text", of, k.Requirement)
				}
			}},
			field{"revision", func(v *value) { k.Revision = r.revision(v) }},
			field{"transport", func(v *value) { k.Transport = r.oneOf(v, of+": transport", wire.Transports...) }},
			field{"flaky", func(v *value) { k.Flaky = r.boolean(v, of+": flaky") }},
			field{"reason", func(v *value) { k.Reason = strings.TrimSpace(r.text(v, of+": reason")) }},
		) {
			continue
		}
		if k.Requirement == "" {
			r.add(item.pos, "%s names no requirement; add requirement:", of)
		}
		if k.Reason == "" {
			r.add(item.pos, "%s gives no reason; say in reason: why this failure is accepted", of)
		}
		out = append(out, k)
	}
	return out
}

// LoadBaseline reads a file that holds nothing but baseline:, in the form of litmus.yaml. The error joins every mistake in it, each a
// *script.Error with file:line:column.
func LoadBaseline(path string) (Baseline, error) {
	r := &reader{environment: environment{lookup: os.LookupEnv}, dir: filepath.Dir(path)}
	b := r.loadBaseline(path, script.Position{File: path})
	return b, r.err()
}

// baselineFile reads the file that a litmus.yaml names in the place of a list.
func (r *reader) baselineFile(v *value) Baseline {
	if name := r.path(v, "baseline"); name != "" {
		return r.loadBaseline(name, v.pos)
	}
	return nil
}

// loadBaseline reads the file; what is wrong with its name is told at named.
func (r *reader) loadBaseline(path string, named script.Position) (out Baseline) {
	data, err := os.ReadFile(path)
	if err != nil {
		r.add(named, "the baseline cannot be read: %v", err)
		return nil
	}
	before := len(r.mistakes)
	root := parse(path, data, &r.mistakes)
	if root == nil && len(r.mistakes) > before {
		return nil // it is no YAML
	}
	if root == nil || root.kind == scalarKind && root.scalar == nil {
		r.add(script.Position{File: path, Line: 1, Column: 1}, "the file is empty; a baseline is baseline: with a list of entries (none: [])")
		return nil
	}
	r.fields(root, "a baseline file", field{"baseline", func(v *value) {
		if v.kind == scalarKind { // no chain of files
			r.add(v.pos, "baseline is a list of entries with requirement: and reason:")
			return
		}
		out = readBaseline(r, v)
	}})
	return out
}

// Apply marks every failure and warning that an entry covers as known or flaky, with the entry's reason; of several entries
// the first one's. What an earlier baseline marked is unmarked first. Errors are never marked. It returns, and keeps in r.Baseline, a
// sentence for every entry that is out of date (it matches nothing, or what it covers does not fail any more) or contradicts an
// earlier one. Each of them fails the run.
//
// What this run cannot tell is no problem: in a run that was narrowed, is a part of one, or did not reach its end no entry is out of
// date, and none is that covers an error.
func (b Baseline) Apply(r *verdict.Report) (problems []string) {
	for i := range r.Verdicts {
		r.Verdicts[i].Known, r.Verdicts[i].Flaky = "", false
	}
	marked := map[*verdict.Verdict]Known{}
	for n, k := range b {
		count := map[verdict.Status]int{}
		var against *Known
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			if !k.covers(v) {
				continue
			}
			count[v.Status]++
			if v.Status != verdict.Fail && v.Status != verdict.Warn {
				continue
			}
			if by, ok := marked[v]; !ok {
				v.Known, v.Flaky, marked[v] = k.Reason, k.Flaky, k
			} else if by.Flaky != k.Flaky {
				against = &by
			}
		}
		p := k.problem(r, count)
		if c := b[:n].contradicted(k, against); c != "" {
			p = c
		}
		if p != "" {
			problems = append(problems, fmt.Sprintf("%s: the baseline entry for %s %s", k.Pos, k, p))
		}
	}
	r.Baseline = problems
	return problems
}

// contradicted says how an entry contradicts an earlier one, or "": it says the same thing again, or calls flaky what against calls known.
func (b Baseline) contradicted(k Known, against *Known) string {
	for _, e := range b {
		if e.Requirement == k.Requirement && e.Revision == k.Revision && e.Transport == k.Transport {
			return fmt.Sprintf("contradicts the one at %s, which is for the same; remove one of them", e.Pos)
		}
	}
	if against == nil {
		return ""
	}
	kind := map[bool]string{true: "flaky", false: "known"}
	return fmt.Sprintf("contradicts the one at %s for %s: a failure that both cover is %s there and %s here; narrow one of them",
		against.Pos, *against, kind[against.Flaky], kind[k.Flaky])
}

// problem says what is wrong with an entry that covers so many verdicts of each status, or "".
func (k Known) problem(r *verdict.Report, n map[verdict.Status]int) string {
	switch {
	case n[verdict.Fail]+n[verdict.Warn] > 0, n[verdict.Error] > 0, r.Narrowed, r.Shard != "", !r.Complete:
		return ""
	case n[verdict.Pass] > 0 && k.Flaky:
		return ""
	case n[verdict.Pass] > 0:
		return "is out of date: nothing that it covers fails any more; remove it"
	case n[verdict.Note] > 0:
		return "covers nothing that can fail: notes are never counted; remove it"
	case n[verdict.Untested]+n[verdict.Skip] > 0:
		return "covers nothing that was judged: it was untested or does not apply; remove it, or make it testable"
	}
	hint := ""
	if !strings.ContainsAny(k.Requirement, `*?[\`) {
		var ids []string
		for _, v := range r.Verdicts {
			ids = append(ids, v.Requirement)
		}
		slices.Sort(ids)
		if slices.Contains(ids, k.Requirement) {
			return "matches nothing: the requirement was exercised elsewhere only; remove it, or correct its revision or transport"
		}
		if m := didYouMean(k.Requirement, slices.Compact(ids)); strings.Contains(m, "did you mean") {
			hint = m
		}
	}
	if hint == "" {
		hint = "; remove it, or correct the requirement's id"
	}
	return "matches nothing" + hint
}

func (k Known) covers(v *verdict.Verdict) bool {
	ok, err := path.Match(k.Requirement, v.Requirement)
	return err == nil && ok && (k.Revision == "" || string(k.Revision) == v.Revision) && (k.Transport == "" || k.Transport == v.Transport)
}

// String names what the entry covers.
func (k Known) String() string {
	s := k.Requirement
	if k.Revision != "" {
		s += " at " + string(k.Revision)
	}
	if k.Transport != "" {
		s += " over " + k.Transport
	}
	return s
}
