package config

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Unreviewed begins the reason of every entry that Renew adds, until someone has written the true one.
const Unreviewed = "not reviewed yet: "

// Renew is the baseline with which the run of r passes. Entries of b that still cover a failure, or are flaky and still cover a check,
// stay as they are; those that are out of date go, unless the run cannot tell (see Apply). A failure or warning that no entry covers gets one:
// for the requirement everywhere if it is broken wherever it was judged, else for the revision, else for the transport there.
//
// The error says why no baseline can be made from r: a run that was not carried out whole would write down less than there is.
func (b Baseline) Renew(r *verdict.Report) (Baseline, error) {
	switch {
	case !r.Complete:
		return nil, errors.New("the run did not reach its end")
	case len(r.Problems) > 0:
		return nil, fmt.Errorf("the run could not be carried out whole: %s", strings.Join(r.Problems, "; "))
	case r.Judged() == 0:
		return nil, errors.New("nothing was judged")
	}
	stays := &verdict.Report{Complete: true, Narrowed: r.Narrowed, Shard: r.Shard, Verdicts: slices.Clone(r.Verdicts)}
	var out Baseline
	for _, k := range b {
		if next := append(slices.Clone(out), k); len(next.Apply(stays)) == 0 {
			out = next
		}
	}
	out.Apply(stays)
	var ids []string
	of := map[string][]*verdict.Verdict{}
	for i := range stays.Verdicts {
		v := &stays.Verdicts[i]
		switch v.Status {
		case verdict.Pass, verdict.Fail, verdict.Warn:
			if of[v.Requirement] == nil {
				ids = append(ids, v.Requirement)
			}
			of[v.Requirement] = append(of[v.Requirement], v)
		}
	}
	for _, id := range ids {
		out = append(out, missing(id, of[id])...)
	}
	return out, nil
}

// missing are the entries for what is broken and not expected of one requirement, judged in vs.
func missing(id string, vs []*verdict.Verdict) (out Baseline) {
	broken := func(v *verdict.Verdict) bool { return v.Status != verdict.Pass }
	fresh := slices.DeleteFunc(slices.Clone(vs), func(v *verdict.Verdict) bool { return !broken(v) || v.Known != "" })
	if len(fresh) == 0 {
		return nil
	}
	if places(vs, broken) == places(vs, nil) && len(fresh) == len(slices.DeleteFunc(slices.Clone(vs), func(v *verdict.Verdict) bool { return !broken(v) })) {
		return Baseline{{Requirement: id, Reason: reasonOf(fresh[0])}}
	}
	var revisions []string
	for _, v := range fresh {
		if slices.Contains(revisions, v.Revision) {
			continue
		}
		revisions = append(revisions, v.Revision)
		at := slices.DeleteFunc(slices.Clone(vs), func(o *verdict.Verdict) bool { return o.Revision != v.Revision })
		if places(at, broken) == places(at, nil) {
			out = append(out, Known{Requirement: id, Revision: script.Revision(v.Revision), Reason: reasonOf(v)})
			continue
		}
		var transports []string
		for _, f := range fresh {
			if f.Revision == v.Revision && !slices.Contains(transports, f.Transport) {
				transports = append(transports, f.Transport)
				out = append(out, Known{Requirement: id, Revision: script.Revision(v.Revision), Transport: f.Transport, Reason: reasonOf(f)})
			}
		}
	}
	return out
}

// places counts the revisions and transports of vs for which keep holds (nil: of all).
func places(vs []*verdict.Verdict, keep func(*verdict.Verdict) bool) int {
	seen := map[[2]string]bool{}
	for _, v := range vs {
		if keep == nil || keep(v) {
			seen[[2]string{v.Revision, v.Transport}] = true
		}
	}
	return len(seen)
}

// reasonOf is the reason of an entry until someone has reviewed it: why the check fails, cut when it is long.
func reasonOf(v *verdict.Verdict) string {
	reason := []rune(strings.Join(strings.Fields(v.Reason), " "))
	if len(reason) > 120 {
		reason = append(reason[:119], '…')
	}
	return strings.TrimSpace(Unreviewed + string(reason))
}

// Write writes the baseline as a file that LoadBaseline reads, and whose entries can be pasted into litmus.yaml. The error is that of
// writing to w.
func (b Baseline) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "# Failures that are known and reviewed: docs/litmus-yaml.md, Baseline. Say in each reason why it is accepted.\n")
	if len(b) == 0 {
		fmt.Fprint(out, "baseline: []\n")
		return out.Flush()
	}
	fmt.Fprint(out, "baseline:\n")
	for _, k := range b {
		fmt.Fprintf(out, "  - requirement: %s\n", yamlText(k.Requirement))
		if k.Revision != "" {
			fmt.Fprintf(out, "    revision: %s\n", k.Revision)
		}
		if k.Transport != "" {
			fmt.Fprintf(out, "    transport: %s\n", yamlText(k.Transport))
		}
		if k.Flaky {
			fmt.Fprint(out, "    flaky: true\n")
		}
		fmt.Fprintf(out, "    reason: %s\n", yamlText(k.Reason))
	}
	return out.Flush()
}

// yamlText is s as a double-quoted scalar: what JSON allows, YAML does. A reference to the environment is written as text.
func yamlText(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(strings.ReplaceAll(s, "${", "$${")) // of a string, into memory: cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
