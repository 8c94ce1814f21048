package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// side is one of the two reports of a comparison, for people.
type side struct{ Title, Name, Server, Target, Suite, Catalogue, Summary string }

func sides(c *verdict.Comparison) [2]side {
	of := func(title, name string, r *verdict.Report) side {
		return side{title, orNone(printable(name), title+" report"), orNone(printable(r.Server), "(it gave no name)"), orNone(printable(r.Target), "(none)"), orNone(printable(r.Suite), "(unknown version)"),
			shortDigest(r.Catalogue), printable(r.Summary(false))}
	}
	first, second := "old", "new"
	if c.Revisions {
		first, second = "first", "second"
	}
	return [2]side{of(first, c.OldName, c.Old), of(second, c.NewName, c.New)}
}

// changeTitle is what changes of a kind are called.
func changeTitle(c *verdict.Comparison, k verdict.ChangeKind) string {
	a, b := printable(c.OldName), printable(c.NewName)
	if c.Revisions {
		switch k {
		case verdict.Regression:
			return "Broken at " + b + ", not at " + a
		case verdict.Fix:
			return "Broken at " + a + ", not at " + b
		case verdict.NewlyTested:
			return "Judged at " + b + " only"
		case verdict.NoLongerTested:
			return "Judged at " + a + " only"
		case verdict.AdviceDropped:
			return "Advice that is followed at " + a + " only"
		case verdict.AdviceTaken:
			return "Advice that is followed at " + b + " only"
		case verdict.NewEvidence:
			return "Broken at both, at different levels"
		}
		return "Broken at both"
	}
	switch k {
	case verdict.Regression:
		return "Regressions"
	case verdict.Fix:
		return "Fixes"
	case verdict.NewlyTested:
		return "Newly tested"
	case verdict.NoLongerTested:
		return "No longer tested"
	case verdict.AdviceDropped:
		return "Advice that is not followed any more (never counted)"
	case verdict.AdviceTaken:
		return "Advice that is followed now (never counted)"
	}
	return "Broken as before, for another reason"
}

// changeGroup is one requirement whose checks changed in the same way.
type changeGroup []verdict.Change

func (g changeGroup) verdict() *verdict.Verdict { return g[0].Verdict() }

// places says where, once each.
func (g changeGroup) places(revisions bool) string {
	var vs []*verdict.Verdict
	var transports []string
	for i := range g {
		v := g[i].Verdict()
		vs = append(vs, v)
		if !slices.Contains(transports, v.Transport) {
			transports = append(transports, v.Transport)
		}
	}
	if revisions {
		return "over " + strings.Join(transports, ", ")
	}
	return places(vs)
}

// exchanges are the names of the exchanges, once each.
func (g changeGroup) exchanges() string {
	var names []string
	for i := range g {
		if name := `"` + printable(g[i].Verdict().Exchange) + `"`; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 3 {
		return plural(len(names), "exchange")
	}
	return "exchange " + strings.Join(names, ", ")
}

// words says how one check changed: "pass → fail".
func (g changeGroup) words() string {
	word := func(v *verdict.Verdict) string {
		if v == nil {
			return "no check"
		}
		return string(v.Status)
	}
	return word(g[0].Old) + " → " + word(g[0].New)
}

// expected is why a change does not count though it is a regression, or "".
func (g changeGroup) expected() string {
	switch v := g[0].New; {
	case g[0].Kind != verdict.Regression:
	case v.Known != "":
		return "expected by the baseline: " + knownText(v)
	case v.Extension != "":
		return "of the extension " + printable(v.Extension) + ", not counted"
	}
	return ""
}

// reasons are the reasons of the two verdicts, where they are judged and broken.
func (g changeGroup) reasons() (was, is string) {
	of := func(v *verdict.Verdict) string {
		if v == nil {
			return ""
		}
		return excerpt(v.Reason, 500)
	}
	return of(g[0].Old), of(g[0].New)
}

// grouped are the changes of a kind by requirement and the statuses that it went from and to.
func grouped(c *verdict.Comparison, k verdict.ChangeKind) []changeGroup {
	var out []changeGroup
	at := map[string]int{}
	for _, ch := range c.Changes {
		if ch.Kind != k {
			continue
		}
		g := changeGroup{ch}
		key := ch.Verdict().Requirement + "\x00" + g.words() + "\x00" + g.expected()
		n, ok := at[key]
		if !ok {
			n = len(out)
			at[key] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], ch)
	}
	slices.SortStableFunc(out, func(a, b changeGroup) int { // what counts comes first
		return cmp.Compare(min(len(a.expected()), 1), min(len(b.expected()), 1))
	})
	return out
}

// brief says whether changes of a kind are told in few words: they are many, and say little about the server.
func brief(k verdict.ChangeKind) bool { return k == verdict.NewlyTested || k == verdict.NoLongerTested }

// tallyOf counts "2 requirements, 5 checks".
func tallyOf(groups []changeGroup) string {
	var ids []string
	checks := 0
	for _, g := range groups {
		checks += len(g)
		if id := g.verdict().Requirement; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if checks == len(ids) {
		return plural(checks, "requirement")
	}
	return plural(len(ids), "requirement") + ", " + plural(checks, "check")
}

// conclusion is what a comparison comes to, in one line.
func conclusion(c *verdict.Comparison) string {
	count := func(k verdict.ChangeKind) int {
		var ids []string
		for _, g := range grouped(c, k) {
			if id := g.verdict().Requirement; !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return len(ids)
	}
	if c.Revisions {
		return fmt.Sprintf("%s broken only at %s, %d only at %s, %d at both", plural(count(verdict.Fix), "requirement"), printable(c.OldName),
			count(verdict.Regression), printable(c.NewName), count(verdict.BrokenInBoth)+count(verdict.NewEvidence))
	}
	fixes := ""
	switch n := count(verdict.Fix); {
	case n == 1:
		fixes = "1 fix"
	case n > 1:
		fixes = thousands(n) + " fixes"
	}
	words := "no regression"
	if n := len(c.Regressions()); n > 0 {
		words = plural(n, "regression")
	}
	if fixes != "" {
		words += ", " + fixes
	}
	if c.Incomplete {
		words += "; the comparison is not whole"
	}
	return words
}

// areaCount is how many checks of an area hold, of those judged, on each side.
type areaCount struct {
	Area                             string
	OldPass, OldAll, NewPass, NewAll int
}

func areaCounts(c *verdict.Comparison) []areaCount {
	var out []areaCount
	at := map[string]int{}
	for n, r := range []*verdict.Report{c.Old, c.New} {
		for _, v := range r.Verdicts {
			if v.Status != verdict.Pass && v.Status != verdict.Note && v.Status != verdict.Warn && v.Status != verdict.Fail {
				continue
			}
			i, ok := at[v.Area]
			if !ok {
				i = len(out)
				at[v.Area] = i
				out = append(out, areaCount{Area: printable(v.Area)})
			}
			pass := 0
			if v.Status == verdict.Pass {
				pass = 1
			}
			if n == 0 {
				out[i].OldAll, out[i].OldPass = out[i].OldAll+1, out[i].OldPass+pass
			} else {
				out[i].NewAll, out[i].NewPass = out[i].NewAll+1, out[i].NewPass+pass
			}
		}
	}
	return out
}

// briefly joins groups that moved alike at the same places: what moved, and the requirements.
func briefly(c *verdict.Comparison, groups []changeGroup) (out [][2]string) {
	var heads []string
	ids := map[string][]string{}
	for _, g := range groups {
		head := g.words() + ", " + g.places(c.Revisions)
		if ids[head] == nil {
			heads = append(heads, head)
		}
		ids[head] = append(ids[head], printable(g.verdict().Requirement))
	}
	for _, head := range heads {
		out = append(out, [2]string{printable(head), strings.Join(ids[head], ", ")})
	}
	return out
}
