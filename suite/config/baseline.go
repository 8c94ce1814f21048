package config

import (
	"fmt"
	"path"
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
	Reason      string
	Pos         script.Position
}

func readBaseline(r *reader, v *value) Baseline {
	if v.kind != listKind {
		r.add(v.pos, "baseline is a list of entries with requirement: and reason:")
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

// Apply marks every failure and warning that an entry covers as known, with the entry's reason; of several entries
// the first one's. Errors are never marked. It returns, and keeps in r.Baseline, a sentence for every entry that is
// out of date: it matches nothing, or what it covers does not fail any more. Each of them fails the run.
//
// What this run cannot tell is no problem: in a run that was narrowed or did not reach its end no entry is out of
// date, and none is that covers an error.
func (b Baseline) Apply(r *verdict.Report) (problems []string) {
	for _, k := range b {
		n := map[verdict.Status]int{}
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			if !k.covers(v) {
				continue
			}
			n[v.Status]++
			if (v.Status == verdict.Fail || v.Status == verdict.Warn) && v.Known == "" {
				v.Known = k.Reason
			}
		}
		if p := k.problem(r, n); p != "" {
			problems = append(problems, fmt.Sprintf("%s: the baseline entry for %s %s", k.Pos, k, p))
		}
	}
	r.Baseline = problems
	return problems
}

// problem says what is wrong with an entry that covers so many verdicts of each status, or "".
func (k Known) problem(r *verdict.Report, n map[verdict.Status]int) string {
	switch {
	case n[verdict.Fail]+n[verdict.Warn] > 0, n[verdict.Error] > 0, r.Narrowed, !r.Complete:
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
