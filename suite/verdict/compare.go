package verdict

import (
	"cmp"
	"slices"
)

// ChangeKind says how a check came out in the second of two reports, seen from the first.
type ChangeKind string

// The kinds of changes, in the order in which they are told.
const (
	Regression     ChangeKind = "regression"       // it held, and is broken now; or a SHOULD was broken, and a MUST is now
	Fix            ChangeKind = "fix"              // it was broken, and holds now
	BrokenInBoth   ChangeKind = "broken-in-both"   // told only of two revisions of one run
	NewEvidence    ChangeKind = "changed-evidence" // broken in both, for another reason now
	NewlyTested    ChangeKind = "newly-tested"     // judged only in the second
	NoLongerTested ChangeKind = "no-longer-tested" // judged only in the first
	AdviceDropped  ChangeKind = "advice-dropped"   // advice that was followed is not any more; never counted
	AdviceTaken    ChangeKind = "advice-taken"
)

// ChangeKinds are all of them, in order.
var ChangeKinds = []ChangeKind{Regression, Fix, BrokenInBoth, NewEvidence, NewlyTested, NoLongerTested, AdviceDropped, AdviceTaken}

// Change is one check that came out differently in two reports.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Old  *Verdict   `json:"old,omitempty"` // nil: not in the first report
	New  *Verdict   `json:"new,omitempty"`
}

// Verdict is the newer of the two that are there.
func (c *Change) Verdict() *Verdict { return cmp.Or(c.New, c.Old) }

// Counts says whether the change fails a comparison: a regression that the baseline does not expect, in the core.
func (c *Change) Counts() bool {
	return c.Kind == Regression && c.New.Known == "" && c.New.Extension == ""
}

// Comparison is what became different between two reports, or between two revisions of one.
type Comparison struct {
	Old, New   *Report
	OldName    string // for people: a file, or a revision
	NewName    string
	Revisions  bool // Old and New are two revisions of one run: what differs is no regression
	Changes    []Change
	Notes      []string // what to know before the changes are believed: other catalogues, a run that broke off
	Same       int      // checks that came out the same
	Incomplete bool     // one of the runs did not reach its end, or judged nothing: what is missing says nothing
}

// Regressions are the different requirements of changes that count, in order.
func (c *Comparison) Regressions() []string {
	var ids []string
	for i := range c.Changes {
		if ch := &c.Changes[i]; ch.Counts() {
			ids = appendNew(ids, ch.New.Requirement)
		}
	}
	return ids
}

// Compare finds what differs between two reports, check by check. Where the catalogues differ, an exchange of another name
// counts as the same check if it is the only one that is left for its requirement.
func Compare(first, second *Report) *Comparison {
	c := &Comparison{Old: first, New: second}
	c.notes()
	c.pair(func(k Key) Key { return k })
	return c
}

// CompareRevisions holds two revisions of one report side by side.
func CompareRevisions(r *Report, a, b string) *Comparison {
	c := &Comparison{Old: at(r, a), New: at(r, b), OldName: a, NewName: b, Revisions: true}
	c.unsettled("the run", r)
	for _, side := range []*Report{c.Old, c.New} {
		if side.Judged() == 0 {
			c.Incomplete = true
		}
	}
	for _, name := range []string{a, b} {
		if !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Revision == name }) {
			c.Notes = append(c.Notes, "nothing was judged at "+name+": the server may not speak it")
		}
	}
	c.pair(func(k Key) Key { k.Revision = ""; return k })
	return c
}

// at is the part of a report that is about one revision.
func at(r *Report, revision string) *Report {
	out := *r
	out.Runs = slices.DeleteFunc(slices.Clone(r.Runs), func(u Run) bool { return u.Revision != revision })
	out.Verdicts = slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Verdict) bool { return v.Revision != revision })
	return &out
}

func (c *Comparison) notes() {
	first, second := c.Old, c.New
	if first.Catalogue != second.Catalogue {
		c.Notes = append(c.Notes, "the catalogues differ: a check may have come, gone or changed without the server having changed")
	} else if first.Suite != second.Suite {
		c.Notes = append(c.Notes, "the reports are from different versions of mcp-litmus, with the same catalogue")
	}
	if first.Select != second.Select {
		c.Notes = append(c.Notes, "the runs were narrowed differently (--select): what only one of them judged says nothing about the server")
	}
	if first.Shard != second.Shard {
		c.Notes = append(c.Notes, "the reports are different parts of a run (--shard): merge the parts before comparing")
	}
	c.unsettled("the old run", first)
	c.unsettled("the new run", second)
}

func (c *Comparison) unsettled(what string, r *Report) {
	switch {
	case r.Judged() == 0:
		c.Notes = append(c.Notes, what+" judged nothing")
		c.Incomplete = true
	case !r.Complete:
		c.Notes = append(c.Notes, what+" did not reach its end: what is missing from it says nothing about the server")
		c.Incomplete = true
	case r.Count()[Error] > 0:
		c.Notes = append(c.Notes, count(r.Count()[Error], "check", "checks")+" of "+what+" could not be carried out by the suite")
	}
}

// pair finds the two verdicts of each check; as says by what they are the same.
func (c *Comparison) pair(as func(Key) Key) {
	before := map[Key][]*Verdict{}
	for i := range c.Old.Verdicts {
		v := &c.Old.Verdicts[i]
		before[as(v.Key())] = append(before[as(v.Key())], v)
	}
	partner := map[*Verdict]*Verdict{} // by the new one
	taken := map[*Verdict]bool{}
	for i := range c.New.Verdicts {
		v := &c.New.Verdicts[i]
		if list := before[as(v.Key())]; len(list) > 0 {
			partner[v], taken[list[0]] = list[0], true
			before[as(v.Key())] = list[1:]
		}
	}
	if c.Old.Catalogue != c.New.Catalogue {
		c.pairRenamed(partner, taken)
	}
	var changes []Change
	for i := range c.New.Verdicts {
		v := &c.New.Verdicts[i]
		changes = append(changes, Change{Old: partner[v], New: v})
	}
	for i := range c.Old.Verdicts {
		if v := &c.Old.Verdicts[i]; !taken[v] {
			changes = append(changes, Change{Old: v})
		}
	}
	for _, ch := range changes {
		ch.Kind = kind(ch.Old, ch.New, c.Revisions)
		if ch.Kind == "" {
			c.Same++
			continue
		}
		c.Changes = append(c.Changes, ch)
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(ChangeKinds, a.Kind), slices.Index(ChangeKinds, b.Kind))
	})
}

// pairRenamed pairs what is left where an exchange has another name: one verdict on each side for a requirement at a place.
func (c *Comparison) pairRenamed(partner map[*Verdict]*Verdict, taken map[*Verdict]bool) {
	left := map[Key][2][]*Verdict{}
	put := func(v *Verdict, side int) {
		k := v.Key()
		k.Exchange = ""
		pair := left[k]
		pair[side] = append(pair[side], v)
		left[k] = pair
	}
	for i := range c.Old.Verdicts {
		if v := &c.Old.Verdicts[i]; !taken[v] {
			put(v, 0)
		}
	}
	for i := range c.New.Verdicts {
		if v := &c.New.Verdicts[i]; partner[v] == nil {
			put(v, 1)
		}
	}
	for _, pair := range left {
		if len(pair[0]) == 1 && len(pair[1]) == 1 {
			partner[pair[1][0]], taken[pair[0][0]] = pair[0][0], true
		}
	}
}

// kind is how the check changed; "": not at all, or in nothing that says something about the server.
func kind(before, after *Verdict, revisions bool) ChangeKind {
	was, is := judged(before), judged(after)
	switch {
	case !was && !is:
		return ""
	case !was:
		return NewlyTested
	case !is:
		return NoLongerTested
	}
	from, to := weight(before.Status), weight(after.Status)
	switch {
	case to > from && to > 1:
		return Regression
	case to > from:
		return AdviceDropped
	case to < from && to > 1: // a MUST was broken, a SHOULD is: the level changed, the server did not
		return NewEvidence
	case to < from && from > 1:
		return Fix
	case to < from:
		return AdviceTaken
	case to > 1 && revisions:
		return BrokenInBoth
	case to > 1 && !sameEvidence(before, after):
		return NewEvidence
	}
	return ""
}

func judged(v *Verdict) bool {
	return v != nil && (v.Status == Pass || v.Status == Note || v.Status == Warn || v.Status == Fail)
}

// weight orders what was judged: 0 held, 1 advice not followed, 2 a SHOULD, 3 a MUST is broken.
func weight(s Status) int {
	switch s {
	case Note:
		return 1
	case Warn:
		return 2
	case Fail:
		return 3
	}
	return 0
}

// sameEvidence says whether two failures of one check show the same: the reason and the number of items. Values may hold ids, times
// and names that no two runs share.
func sameEvidence(a, b *Verdict) bool {
	items := func(v *Verdict) int {
		if v.Evidence == nil {
			return 0
		}
		return v.Evidence.Problems
	}
	return a.Reason == b.Reason && items(a) == items(b)
}
