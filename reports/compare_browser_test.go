package reports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func TestComparisonInTheBrowser(t *testing.T) {
	b := browser(t)
	const evil = "</script></details><img src=x onerror='window.evil = 1'>\u202e\x00"
	good, bad := sampleReport(t), sampleReport(t)
	bad.Server, bad.Catalogue = bad.Server+evil, "another"
	for i := range bad.Verdicts {
		v := &bad.Verdicts[i]
		v.Reason, v.Text = v.Reason+evil, v.Text+evil
		switch {
		case v.Status == verdict.Pass:
			v.Status = verdict.Fail
		case v.Status == verdict.Fail && i%2 == 0:
			v.Status = verdict.Pass
		case v.Status == verdict.Untested:
			v.Status = verdict.Pass
		}
	}
	for _, c := range []*verdict.Comparison{verdict.Compare(good, bad), verdict.CompareRevisions(bad, "2024-11-05", "2025-11-25")} {
		var page bytes.Buffer
		gomega.NewWithT(t).Expect(reports.CompareHTML(&page, c)).To(gomega.Succeed())
		file := filepath.Join(t.TempDir(), "compare.html")
		gomega.NewWithT(t).Expect(os.WriteFile(file, page.Bytes(), 0o644)).To(gomega.Succeed())
		for _, l := range looks {
			t.Run(l.String(), func(t *testing.T) {
				p := open(t, b, file, "", l)
				p.g.Expect(eval[int](p, "document.querySelectorAll('.group').length")).To(gomega.BeNumerically(">=", 2))
				if !c.Revisions {
					p.g.Expect(p.text(".summary")).To(gomega.HavePrefix("3 regressions"))
					p.g.Expect(p.texts("#kind-regression ~ ol .id code")).To(gomega.ContainElement("lifecycle.initialize.version"))
					p.g.Expect(p.text(".alarm")).To(gomega.ContainSubstring("the catalogues differ"))
				}
				eval[bool](p, "document.querySelectorAll('details').forEach(d => d.open = true) || true")
				p.g.Expect(eval[bool](p, "'evil' in window || document.querySelector('img, script') !== null")).To(gomega.BeFalse(), "the server's text is markup")
				p.g.Expect(eval[bool](p, "document.documentElement.scrollWidth <= innerWidth")).To(gomega.BeTrue(), "it fits the window")
				p.accessible()
			})
		}
		if strings.ContainsAny(page.String(), "\u202e\x00") {
			t.Error("text can be reordered")
		}
	}
}
