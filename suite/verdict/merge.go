package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Key tells one verdict of a report from every other one.
type Key struct{ Requirement, Exchange, Revision, Transport string }

// Key is that of the verdict.
func (v *Verdict) Key() Key { return Key{v.Requirement, v.Exchange, v.Revision, v.Transport} }

// ParseShard reads "2/3" as part 2 of 3. The error says how to write one.
func ParseShard(text string) (part, of int, err error) {
	first, second, found := strings.Cut(text, "/")
	part, err1 := strconv.Atoi(first)
	of, err2 := strconv.Atoi(second)
	if !found || err1 != nil || err2 != nil || part < 1 || part > of {
		return 0, 0, fmt.Errorf("the shard %q is none; write I/N with I from 1 to N, such as 1/3", text)
	}
	return part, of, nil
}

// Merge joins reports of one server to one: the shards of a run, and runs at other revisions or over other transports.
// Of a check that several shards of one run judged (what watches all that crosses the wire), the worst verdict counts. A shard that
// is missing is a problem of the merged report, which is then not complete.
//
// The error says why reports do not belong together: different catalogues, versions of the suite, servers or selections, or the same check
// in two of them that are not shards of one run.
func Merge(parts ...*Report) (*Report, error) {
	if len(parts) == 0 {
		return nil, errors.New("there is no report to merge")
	}
	first := parts[0]
	out := &Report{
		Suite: first.Suite, Catalogue: first.Catalogue, Select: first.Select, Server: first.Server,
		Started: first.Started, Complete: true,
	}
	var ended time.Time
	var targets []string
	from := map[Key]*Report{}
	at := map[Key]int{}
	for i, r := range parts {
		if err := belongs(first, r, i+1); err != nil {
			return nil, err
		}
		out.Server = cmp.Or(out.Server, r.Server)
		out.Complete = out.Complete && r.Complete
		out.Narrowed = out.Narrowed || r.Narrowed && r.Shard == ""
		out.Problems = appendNew(out.Problems, r.Problems...)
		out.Baseline = appendNew(out.Baseline, r.Baseline...)
		targets = appendNew(targets, r.Target)
		if r.Started.Before(out.Started) {
			out.Started = r.Started
		}
		if end := r.Started.Add(r.Duration); end.After(ended) {
			ended = end
		}
		for _, run := range r.Runs {
			if !slices.Contains(out.Runs, run) {
				out.Runs = append(out.Runs, run)
			}
		}
		for _, v := range r.Verdicts {
			key := v.Key()
			other, twice := from[key]
			switch {
			case !twice:
				from[key], at[key] = r, len(out.Verdicts)
				out.Verdicts = append(out.Verdicts, v)
			case other == r: // an exchange that judged it twice
				out.Verdicts = append(out.Verdicts, v)
			case r.Shard == "" || other.Shard == "" || r.Target != other.Target || r.Shard == other.Shard:
				return nil, fmt.Errorf("%s in the exchange %q at %s over %s is in two of the reports, and these are not two shards of one run",
					v.Requirement, v.Exchange, v.Revision, v.Transport)
			case v.Status.Outweighs(out.Verdicts[at[key]].Status):
				out.Verdicts[at[key]] = v
			}
		}
	}
	out.Target = strings.Join(targets, " and ")
	out.Duration = ended.Sub(out.Started)
	out.order()
	if missing := missingShards(parts); len(missing) > 0 {
		out.Problems = appendNew(out.Problems, missing...)
		out.Complete = false
	}
	return out, nil
}

func belongs(first, r *Report, number int) error {
	for _, c := range []struct{ what, a, b string }{
		{"catalogue", first.Catalogue, r.Catalogue}, {"version of mcp-litmus", first.Suite, r.Suite}, {"selection", first.Select, r.Select},
	} {
		if c.a != c.b {
			return fmt.Errorf("report %d was made with another %s than report 1 (%q, not %q): such reports cannot be merged", number, c.what, c.b, c.a)
		}
	}
	if first.Server != "" && r.Server != "" && first.Server != r.Server {
		return fmt.Errorf("report %d is of the server %q, report 1 of %q: reports of one server are merged", number, r.Server, first.Server)
	}
	return nil
}

// order puts runs and verdicts in the order of one run: by revision, then transport; within, as they came.
func (r *Report) order() {
	slices.SortStableFunc(r.Runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Transport, b.Transport))
	})
	// Shards hold every n-th exchange: the areas come together again by their first appearance.
	areas := map[string]int{}
	for _, v := range r.Verdicts {
		if _, ok := areas[v.Area]; !ok {
			areas[v.Area] = len(areas)
		}
	}
	slices.SortStableFunc(r.Verdicts, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Transport, b.Transport), cmp.Compare(areas[a.Area], areas[b.Area]))
	})
}

// missingShards says of each target that was run in parts which parts are not there.
func missingShards(parts []*Report) (problems []string) {
	type family struct {
		target string
		of     int
	}
	have := map[family][]int{}
	var families []family
	for _, r := range parts {
		if r.Shard == "" {
			continue
		}
		part, of, err := ParseShard(r.Shard)
		if err != nil {
			return []string{err.Error()}
		}
		f := family{r.Target, of}
		if have[f] == nil {
			families = append(families, f)
		}
		have[f] = append(have[f], part)
	}
	for _, f := range families {
		for part := 1; part <= f.of; part++ {
			if !slices.Contains(have[f], part) {
				problems = append(problems, fmt.Sprintf("shard %d/%d of the run on %s is missing", part, f.of, f.target))
			}
		}
	}
	return problems
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
