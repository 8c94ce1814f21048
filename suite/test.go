package suite

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Test runs the suite against the target as subtests of t, named revision/transport/area/exchange/requirement, so
// that -run can pick among them. What does not apply or could not be exercised is a skipped subtest with its reason. What the baseline
// expects passes with a remark, and an entry that is out of date is an error of t itself.
// It returns the outcome for reports.
func Test(t *testing.T, target Target, opts ...Option) *Outcome {
	t.Helper()
	o, err := Run(t.Context(), target, opts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Report.Problems {
		t.Error(p)
	}
	for _, p := range o.Report.Baseline {
		t.Error(p)
	}
	if len(o.Report.Verdicts) == 0 {
		t.Fatal("nothing was judged")
	}
	nest(t, o.Report.Verdicts, o.Strict, []func(verdict.Verdict) string{
		func(v verdict.Verdict) string { return v.Revision },
		func(v verdict.Verdict) string { return v.Transport },
		func(v verdict.Verdict) string { return v.Area },
		func(v verdict.Verdict) string { return v.Exchange },
	})
	return o
}

// nest makes a subtest for each value of the first level, in the order in which they come.
func nest(t *testing.T, verdicts []verdict.Verdict, strict bool, levels []func(verdict.Verdict) string) {
	t.Helper()
	if len(levels) == 0 {
		for _, v := range verdicts {
			t.Run(v.Requirement, func(t *testing.T) { assert(t, v, strict) })
		}
		return
	}
	var order []string
	groups := map[string][]verdict.Verdict{}
	for _, v := range verdicts {
		name := levels[0](v)
		if _, ok := groups[name]; !ok {
			order = append(order, name)
		}
		groups[name] = append(groups[name], v)
	}
	for _, name := range order {
		t.Run(name, func(t *testing.T) { nest(t, groups[name], strict, levels[1:]) })
	}
}

func assert(t *testing.T, v verdict.Verdict, strict bool) {
	t.Helper()
	skip, remark := aside(v, strict)
	switch {
	case skip != "":
		t.Skip(skip)
	case remark != "":
		t.Log(remark)
	default:
		gomega.NewWithT(t).Expect(v).To(Conform(strict))
	}
}
