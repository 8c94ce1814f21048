package suite

import (
	"slices"
	"strings"
	"sync"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Describe adds the suite to a Ginkgo tree: revision > transport > area > exchange > requirement, each spec
// labelled with its level, area, revision, transport and requirement. Call it where Ginkgo's containers are
// called. The target is first touched when the first spec runs; Ginkgo's own label filter narrows what is played. With Baseline,
// a last spec holds that no entry is out of date.
// It returns true, so that it can stand in a var declaration; false when the options are wrong, which a spec tells.
func Describe(target Target, opts ...Option) bool {
	s, err := gather(opts)
	if err != nil {
		ginkgo.It("mcp-litmus can be set up", func() { ginkgo.Fail(err.Error()) }) // a tree cannot fail by itself
		return false
	}
	r := &lazy{target: target, opts: opts, select_: s.options.Select}
	wanted, _ := plan.Select(s.options.Select)
	for _, revision := range script.Revisions {
		if len(s.options.Revisions) > 0 && !slices.Contains(s.options.Revisions, string(revision)) {
			continue
		}
		ginkgo.Describe(string(revision), func() {
			ginkgo.Describe(target.Transport(), func() { r.tree(s, revision, wanted) })
		})
	}
	if len(s.baseline) > 0 {
		ginkgo.It("the baseline is up to date", func(ctx ginkgo.SpecContext) {
			r.run(ctx)
			gomega.Expect(r.stale).To(gomega.BeEmpty())
		})
	}
	return true
}

// tree adds the containers and specs of one revision.
func (r *lazy) tree(s *settings, revision script.Revision, wanted plan.Selection) {
	transport := r.target.Transport()
	area, group := "", []*script.Exchange(nil)
	flush := func() {
		if exchanges := group; len(exchanges) > 0 {
			ginkgo.Describe(area, func() {
				for _, ex := range exchanges {
					ginkgo.Describe(ex.Name, func() { r.specs(s, ex, revision, wanted) })
				}
			})
		}
		group = nil
	}
	for _, ex := range s.library.Exchanges {
		if !plan.Concerns(s.library, ex, revision, transport) {
			continue
		}
		if ex.Area != area {
			flush()
			area = ex.Area
		}
		group = append(group, ex)
	}
	flush()
}

func (r *lazy) specs(s *settings, ex *script.Exchange, revision script.Revision, wanted plan.Selection) {
	transport := r.target.Transport()
	for _, q := range plan.InForce(s.library, ex, revision, transport) {
		labels := plan.Labels(q, revision, transport)
		if !wanted(labels) {
			continue
		}
		key := key{q.ID, ex.Name, string(revision)}
		ginkgo.It(q.ID, ginkgo.Label(labels...), func(ctx ginkgo.SpecContext) {
			v, ok := r.verdict(ctx, key)
			if !ok {
				ginkgo.Skip("the server does not speak this revision, or could not be driven at it")
			}
			skip, remark := aside(v, s.strict)
			switch {
			case skip != "":
				ginkgo.Skip(skip)
			case remark != "":
				ginkgo.AddReportEntry(string(v.Status), remark)
			default:
				gomega.Expect(v).To(Conform(s.strict))
			}
		})
	}
}

// key finds a verdict of a run over one transport.
type key struct{ requirement, exchange, revision string }

// lazy is a run that starts when its first verdict is asked for.
type lazy struct {
	target  Target
	opts    []Option
	select_ string
	once    sync.Once
	err     error
	by      map[key]verdict.Verdict
	problem string
	stale   []string // entries of the baseline
}

// run runs the suite, the first time.
func (r *lazy) run(ctx ginkgo.SpecContext) {
	r.once.Do(func() {
		suiteConfig, _ := ginkgo.GinkgoConfiguration()
		filter := r.select_
		switch {
		case filter == "":
			filter = suiteConfig.LabelFilter
		case suiteConfig.LabelFilter != "":
			filter = "(" + filter + ") && (" + suiteConfig.LabelFilter + ")"
		}
		opts := append(slices.Clone(r.opts), Select(filter))
		if suiteConfig.LabelFilter != "" {
			opts = append(opts, Narrowed())
		}
		var o *Outcome
		if o, r.err = Run(ctx, r.target, opts...); r.err != nil {
			return
		}
		r.by = map[key]verdict.Verdict{}
		for _, v := range o.Report.Verdicts {
			r.by[key{v.Requirement, v.Exchange, v.Revision}] = v
		}
		r.problem, r.stale = strings.Join(o.Report.Problems, "; "), o.Report.Baseline
	})
	if r.err != nil {
		ginkgo.Fail(r.err.Error())
	}
	if len(r.by) == 0 {
		ginkgo.Fail("nothing was judged: " + r.problem)
	}
}

func (r *lazy) verdict(ctx ginkgo.SpecContext, k key) (verdict.Verdict, bool) {
	r.run(ctx)
	v, ok := r.by[k]
	return v, ok
}
