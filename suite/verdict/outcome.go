package verdict

import (
	"fmt"
	"strings"
)

// Count is the number of verdicts by status, known ones included.
func (r *Report) Count() map[Status]int {
	n := map[Status]int{}
	for _, v := range r.Verdicts {
		n[v.Status]++
	}
	return n
}

// CountOf is Count for the requirements of the core alone, or for those of extensions alone.
func (r *Report) CountOf(extensions bool) map[Status]int {
	n := map[Status]int{}
	for _, v := range r.Verdicts {
		if (v.Extension != "") == extensions {
			n[v.Status]++
		}
	}
	return n
}

// Known is the number of failures and warnings that the baseline expects, those that it calls flaky apart: see Flaky.
func (r *Report) Known() int { return r.expected(false) }

// Flaky is the number of failures and warnings that the baseline calls flaky.
func (r *Report) Flaky() int { return r.expected(true) }

func (r *Report) expected(flaky bool) int {
	n := 0
	for _, v := range r.Verdicts {
		if v.Known != "" && v.Flaky == flaky {
			n++
		}
	}
	return n
}

// Judged is the number of verdicts that say something about the server: passes, failures, warnings and notes.
func (r *Report) Judged() int {
	n := r.Count()
	return n[Pass] + n[Fail] + n[Warn] + n[Note]
}

// Inapplicable says whether nothing was judged though the run was carried out: every check was skipped or untested.
func (r *Report) Inapplicable() bool {
	n := r.Count()
	return r.Complete && len(r.Problems) == 0 && len(r.Verdicts) > 0 && n[Skip]+n[Untested] == len(r.Verdicts)
}

// Broken is the number of different requirements of the core with status s (Fail or Warn) that the baseline does not
// expect.
func (r *Report) Broken(s Status) int {
	return r.broken(func(v *Verdict) bool { return v.Status == s && v.Extension == "" })
}

// BrokenBeside is the number of different requirements of extensions that failed or warned and that the baseline does
// not expect: they are reported and do not decide conformance.
func (r *Report) BrokenBeside() int {
	return r.broken(func(v *Verdict) bool { return (v.Status == Fail || v.Status == Warn) && v.Extension != "" })
}

func (r *Report) broken(counts func(*Verdict) bool) int {
	ids := map[string]bool{}
	for i, v := range r.Verdicts {
		if v.Known == "" && counts(&r.Verdicts[i]) {
			ids[v.Requirement] = true
		}
	}
	return len(ids)
}

// Conforms says whether the server meets what was judged: something was, and nothing failed (with strict: nor
// warned) that the baseline does not expect. It says nothing about what could not be judged; see Settled.
func (r *Report) Conforms(strict bool) bool {
	return r.Judged() > 0 && r.Broken(Fail) == 0 && (!strict || r.Broken(Warn) == 0)
}

// Settled says whether the run was carried out as planned: to its end, without a problem or an error verdict,
// and something was judged.
func (r *Report) Settled() bool {
	return r.Complete && len(r.Problems) == 0 && r.Count()[Error] == 0 && r.Judged() > 0
}

// Summary is what became of the run, in one line for people: "conforms", "does not conform: 3 MUST broken",
// "nothing was judged", "nothing that was asked for applies to this server", each with what qualifies it.
func (r *Report) Summary(strict bool) string {
	musts, shoulds := r.Broken(Fail), r.Broken(Warn)
	switch {
	case r.Inapplicable() && r.Count()[Untested] == 0:
		return "nothing was judged: nothing that was asked for applies to this server"
	case r.Inapplicable():
		return "nothing was judged: this server gave no way to exercise what was asked for"
	case r.Judged() == 0:
		return qualified("nothing was judged", r.unsettled())
	}
	if !r.Conforms(strict) {
		var broken []string
		if musts > 0 {
			broken = append(broken, fmt.Sprintf("%d MUST broken", musts))
		}
		if shoulds > 0 {
			broken = append(broken, fmt.Sprintf("%d SHOULD broken", shoulds))
		}
		return qualified("does not conform: "+strings.Join(broken, ", "), append(r.qualifiers(), r.unsettled()...))
	}
	words := "conforms"
	if !r.Complete || len(r.Problems) > 0 {
		words = "not settled: nothing is broken in what was judged"
	}
	q := r.unsettled()
	if shoulds > 0 {
		q = append([]string{fmt.Sprintf("%d SHOULD broken", shoulds)}, q...)
	}
	return qualified(words, append(r.qualifiers(), q...))
}

func (r *Report) qualifiers() []string {
	var q []string
	if n := r.Known(); n > 0 {
		q = append(q, count(n, "known failure", "known failures"))
	}
	if n := r.Flaky(); n > 0 {
		q = append(q, count(n, "flaky failure", "flaky failures"))
	}
	if n := r.BrokenBeside(); n > 0 {
		q = append(q, count(n, "requirement of an extension broken, not counted", "requirements of extensions broken, not counted"))
	}
	if n := len(r.Baseline); n > 0 {
		q = append(q, "the baseline is out of date")
	}
	return q
}

func (r *Report) unsettled() []string {
	var q []string
	if n := r.Count()[Error]; n > 0 {
		q = append(q, count(n, "check could not be carried out", "checks could not be carried out"))
	}
	if !r.Complete {
		q = append(q, "the run did not reach its end")
	}
	return q
}

func qualified(words string, by []string) string {
	if len(by) == 0 {
		return words
	}
	return words + " (" + strings.Join(by, "; ") + ")"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
