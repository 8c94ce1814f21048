package plan

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// leastShare is the part of the requirements that can be seen from outside that must be tested at each revision, in percent.
const leastShare = 85

func TestTheCatalogueIsTested(t *testing.T) {
	lib, err := script.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range script.Revisions {
		c := Covers(lib, r)
		if c.All() < 100 {
			t.Errorf("%s: only %d requirements are in force", r, c.All())
		}
		if c.Share() < leastShare {
			t.Errorf("%s: %d of %d requirements that can be seen from outside are tested, less than %d %%; not %s",
				r, len(c.Tested), len(c.Tested)+len(c.Untested), leastShare, ids(c.Untested))
		}
	}
}

func ids(list []*script.Requirement) string {
	var out []string
	for _, q := range list {
		out = append(out, q.ID)
	}
	return strings.Join(out, ", ")
}

func TestCoverageFollowsTheRevision(t *testing.T) {
	g := gomega.NewWithT(t)
	lib, err := script.Load(fstest.MapFS{
		"requirements/a.yaml": {Data: []byte(`
- {id: a.tested, level: MUST, since: 2024-11-05, text: x, spec: "basic#x"}
- {id: a.ended, level: MUST, since: 2024-11-05, until: 2025-03-26, text: x, spec: "basic#x"}
- {id: a.unseen, level: SHOULD, since: 2024-11-05, text: x, spec: "basic#x"}
- {id: a.hidden, level: MUST, since: 2025-06-18, text: x, spec: "basic#x", untestable: nobody sees it}
- {id: a.beside, level: MUST, since: 2025-11-25, text: x, spec: "/seps/x#x", extension: io.example/x}
- {id: a.firmer, level: {2024-11-05: advice, 2025-06-18: SHOULD}, since: 2024-11-05, text: x, spec: "basic#x"}
`)},
		"exchanges/a.yaml": {Data: []byte(`
- {exchange: one, transports: [stdio], steps: [{request: ping, checks: {a.tested: has(result), a.ended: has(result), a.firmer: has(result)}}]}
`)},
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	old, now := Covers(lib, script.R20241105), Covers(lib, script.R20251125)
	g.Expect(ids(old.Tested)).To(gomega.Equal("a.tested, a.ended"))
	g.Expect(ids(old.Advice)).To(gomega.Equal("a.firmer"))
	g.Expect(old.All()).To(gomega.Equal(3))
	g.Expect(old.Share()).To(gomega.Equal(66))
	g.Expect(ids(now.Tested)).To(gomega.Equal("a.tested, a.firmer"))
	g.Expect(ids(now.Untested)).To(gomega.Equal("a.unseen"))
	g.Expect(ids(now.Untestable)).To(gomega.Equal("a.hidden"))
	g.Expect(CoversExtensions(lib, script.R20241105).All()).To(gomega.BeZero())
	g.Expect(ids(CoversExtensions(lib, script.R20251125).Untested)).To(gomega.Equal("a.beside"))
	g.Expect(Coverage{}.Share()).To(gomega.BeZero())
}
