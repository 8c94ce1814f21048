// Package reports writes a verdict.Report in the formats that people and machines read: one file a format.
package reports

import (
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// finding is one requirement that came out the same way in one or more places.
type finding []*verdict.Verdict

// findings groups the report's verdicts for which keep holds by requirement and status, in order of first appearance.
func findings(r *verdict.Report, keep func(*verdict.Verdict) bool) []finding {
	var out []finding
	at := map[[2]string]int{}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if !keep(v) {
			continue
		}
		key := [2]string{v.Requirement, string(v.Status)}
		n, ok := at[key]
		if !ok {
			n = len(out)
			at[key] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], v)
	}
	return out
}

// lack is one reason for which checks were not judged, what to add to litmus.yaml against it, and these verdicts.
type lack struct {
	reason   string
	add      verdict.Additions
	verdicts []*verdict.Verdict
}

// inAll counts what findings are about: "2 requirements", "2 requirements, 5 checks".
func inAll(fs []finding) string {
	checks := 0
	for _, f := range fs {
		checks += len(f)
	}
	if checks == len(fs) {
		return plural(checks, "requirement")
	}
	return plural(len(fs), "requirement") + ", " + plural(checks, "check")
}

// lacks groups the verdicts for which keep holds by their reason and what to add; what the most of them wait for comes first.
func lacks(r *verdict.Report, keep func(*verdict.Verdict) bool) []lack {
	var out []lack
	at := map[string]int{}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if !keep(v) {
			continue
		}
		key := v.Reason + "\x00" + v.Add.String()
		n, ok := at[key]
		if !ok {
			n = len(out)
			at[key] = n
			out = append(out, lack{reason: v.Reason, add: v.Add})
		}
		out[n].verdicts = append(out[n].verdicts, v)
	}
	slices.SortStableFunc(out, func(a, b lack) int { return len(b.verdicts) - len(a.verdicts) })
	return out
}

// checksOf counts the verdicts that the lacks are about.
func checksOf(ls []lack) int {
	n := 0
	for _, l := range ls {
		n += len(l.verdicts)
	}
	return n
}

// about says what a lack keeps from being judged: "for 4 checks of a, b (exchange "x")". Of very many it tells the number.
func (l lack) about() string {
	const most = 8
	ids := requirements(l.verdicts)
	what := printable(strings.Join(ids, ", "))
	if len(ids) > most {
		what = plural(len(ids), "requirement")
	}
	if len(l.verdicts) > len(ids) {
		what = plural(len(l.verdicts), "check") + " of " + what
	}
	var exchanges []string
	for _, v := range l.verdicts {
		if name := `"` + printable(v.Exchange) + `"`; !slices.Contains(exchanges, name) {
			exchanges = append(exchanges, name)
		}
	}
	switch n := len(exchanges); {
	case n > 3:
		return "for " + what
	case n > 1:
		return "for " + what + " (exchanges " + strings.Join(exchanges[:n-1], ", ") + " and " + exchanges[n-1] + ")"
	}
	return "for " + what + " (exchange " + exchanges[0] + ")"
}

// unplayed says whether the suite never came to the check: the run broke off before.
func unplayed(r *verdict.Report, v *verdict.Verdict) bool {
	return v.Status == verdict.Error && v.Evidence == nil && !r.Complete
}

// requirements are the different requirements of vs, in order of first appearance.
func requirements(vs []*verdict.Verdict) []string {
	var ids []string
	for _, v := range vs {
		if !slices.Contains(ids, v.Requirement) {
			ids = append(ids, v.Requirement)
		}
	}
	return ids
}

// runs are the report's runs, and after them any revision and transport that only a verdict names.
func runs(r *verdict.Report) []verdict.Run {
	out := slices.Clone(r.Runs)
	for _, v := range r.Verdicts {
		if !slices.ContainsFunc(out, func(u verdict.Run) bool { return u.Revision == v.Revision && u.Transport == v.Transport }) {
			out = append(out, verdict.Run{Revision: v.Revision, Transport: v.Transport})
		}
	}
	return out
}

func place(revision, transport string) string {
	if transport == "" {
		return revision
	}
	return revision + " over " + transport
}

// places says where vs happened: "2024-11-05, 2025-03-26 over stdio; 2025-11-25 over stdio, streamable-http".
func places(vs []*verdict.Verdict) string {
	var revisions []string
	transports := map[string][]string{}
	for _, v := range vs {
		if !slices.Contains(revisions, v.Revision) {
			revisions = append(revisions, v.Revision)
		}
		if !slices.Contains(transports[v.Revision], v.Transport) {
			transports[v.Revision] = append(transports[v.Revision], v.Transport)
		}
	}
	var out, alike []string
	for i, rev := range revisions {
		alike = append(alike, rev)
		over := strings.Join(transports[rev], ", ")
		if i+1 < len(revisions) && strings.Join(transports[revisions[i+1]], ", ") == over {
			continue
		}
		out = append(out, place(strings.Join(alike, ", "), over))
		alike = nil
	}
	return strings.Join(out, "; ")
}

// knownWord is how the baseline expects a failure: known, or flaky.
func knownWord(v *verdict.Verdict) string {
	if v.Flaky {
		return "flaky"
	}
	return "known"
}

// knownText is the reason of the baseline, printable, with "flaky" before it where it is that; "" for what is not expected.
func knownText(v *verdict.Verdict) string {
	if v.Flaky {
		return "flaky: " + printable(v.Known)
	}
	return printable(v.Known)
}
