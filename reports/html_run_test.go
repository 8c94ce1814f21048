package reports_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// faultyRun judges the reference server with faults, over Streamable HTTP and over pipes, and joins the two reports.
func faultyRun(t *testing.T) *verdict.Report {
	t.Helper()
	g := gomega.NewWithT(t)
	faults, err := sabotage.Find("unknown-tool-is-internal-error", "tool-name-with-a-space", "http-notification-with-body")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	server := reference.New(reference.WithFlags(sabotage.Flags(faults)))
	options := []suite.Option{suite.Revisions("2025-06-18", "2025-11-25"), suite.Select("tools || lifecycle || transports")}
	over := func(target suite.Target, options ...suite.Option) *verdict.Report {
		out, err := suite.Run(context.Background(), target, options...)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return out.Report
	}
	r := over(suite.Handler(sabotage.Handler(server.Handler(), faults)), options...)
	// No tool may be called here, so that there is something that was not exercised.
	pipes := over(suite.Pipe(sabotage.Stdio(server.ServeStdio, faults, sabotage.Process{})), append(options, suite.CallTools("none"))...)
	r.Runs = append(r.Runs, pipes.Runs...)
	r.Verdicts = append(r.Verdicts, pipes.Verdicts...)
	for _, s := range []verdict.Status{verdict.Fail, verdict.Warn, verdict.Note, verdict.Untested, verdict.Skip, verdict.Pass} {
		g.Expect(r.Count()[s]).To(gomega.BeNumerically(">", 0), "verdicts that are %s", s)
	}
	return r
}

func TestHTMLOfARunInTheBrowser(t *testing.T) {
	b := browser(t)
	r := faultyRun(t)
	file := page(t, r)
	for _, l := range looks {
		t.Run(l.String(), func(t *testing.T) { useThePage(open(t, b, file, "", l), r, l) })
	}
}

// useThePage does what a reader does: look, filter, search, open a verdict, read the conversation, follow a link.
func useThePage(p *tab, r *verdict.Report, l look) {
	g := p.g
	n := r.Count()
	g.Expect(p.text(".summary")).To(gomega.ContainSubstring("does not conform: "))
	dark := "(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); return r < 60 && g < 60 && b < 60 })()"
	g.Expect(eval[bool](p, dark)).To(gomega.Equal(l.scheme == "dark"), "the system's colours are taken")
	g.Expect(p.texts(".matrix thead th[scope=colgroup]")).To(gomega.ContainElements("2025-06-18", "2025-11-25"))
	p.accessible()

	// Filter by status, with the mouse.
	p.click(".statuses input[value=fail]")
	g.Expect(p.text("#shown")).To(gomega.Equal(fmt.Sprintf("%d of %s verdicts", n[verdict.Fail], thousands(len(r.Verdicts)))))
	g.Expect(p.texts("#list .verdict > summary > .badge")).To(gomega.And(gomega.HaveLen(n[verdict.Fail]), gomega.HaveEach("✗ fail")))
	g.Expect(eval[string](p, "location.hash")).To(gomega.Equal("#status=fail"))

	// Search in it; the key / leads there.
	p.click("h1")
	p.do(chromedp.KeyEvent("/"))
	g.Expect(eval[bool](p, "document.activeElement.name === 'q'")).To(gomega.BeTrue())
	p.set("[name=q]", "") // this key event types the / all the same, which a keyboard would not
	p.do(chromedp.SendKeys(chromedp.CSS("[name=q]"), "202 Body"))
	wanted := 0
	for _, v := range r.Verdicts {
		if v.Status == verdict.Fail && v.Requirement == "http.notification.no-body" {
			wanted++
		}
	}
	g.Expect(wanted).To(gomega.BeNumerically(">", 0))
	g.Expect(p.texts("#list .what .id")).To(gomega.And(gomega.HaveLen(wanted), gomega.HaveEach("http.notification.no-body")))

	// A filter of another kind, and all again.
	p.click("#reset")
	p.set("[name=area]", "basic/lifecycle")
	areas := 0
	for _, v := range r.Verdicts {
		if v.Area == "basic/lifecycle" {
			areas++
		}
	}
	g.Expect(p.text("#shown")).To(gomega.HavePrefix(fmt.Sprint(areas) + " of "))
	p.click("#reset")

	readAVerdict(p)

	// The other colours, by the switch.
	other := map[string]string{"light": "dark", "dark": "light"}[l.scheme]
	p.click(fmt.Sprintf(".themes label:has([value=%s])", other))
	g.Expect(eval[bool](p, dark)).To(gomega.Equal(other == "dark"), "the switch changes the colours")
	if l.width > 500 {
		p.accessible()
	}
	p.click(".themes label:has([value=system])")
	g.Expect(eval[bool](p, dark)).To(gomega.Equal(l.scheme == "dark"))
}

// readAVerdict follows a link of the overview, reads what it leads to, and goes on from there.
func readAVerdict(p *tab) {
	g := p.g
	p.click(".finding a[href*='tools.call.unknown-tool-code'][href*='streamable-http']")
	p.until("document.querySelector('.verdict.current .sequence') !== null")
	current := ".verdict.current "
	g.Expect(p.text(current + "dl.facts")).To(gomega.ContainSubstring("call a tool that does not exist"))
	g.Expect(eval[string](p, "document.querySelector('.verdict.current dl.facts a').href")).To(
		gomega.MatchRegexp(`^https://modelcontextprotocol\.io/specification/20\d\d-\d\d-\d\d/server/tools#`))
	g.Expect(p.text(current + ".expression > .code")).To(gomega.Equal("error.code == -32602"))
	g.Expect(p.texts(current + ".parts tbody tr:first-child > *")).To(gomega.Equal([]string{"error.code", "-32603"}))

	// The conversation: what was sent, what came back, with their headers.
	g.Expect(p.texts(current + ".sequence .sent .name")).To(gomega.ContainElement("tools/call"))
	g.Expect(p.texts(current + ".sequence .received .name")).To(gomega.ContainElement("error -32603"))
	if p.text(current+".talk-head button") == "Open all messages" {
		p.click(current + ".talk-head button")
	}
	p.until("document.querySelectorAll('.verdict.current .sequence details:not([open])').length === 0")
	g.Expect(p.texts(current + ".sequence .sent .headers th")).To(gomega.ContainElement("Mcp-Protocol-Version"))
	g.Expect(p.texts(current + ".sequence .received .headers td")).To(gomega.ContainElement("200"))
	g.Expect(p.text(current + ".sequence .sent .code")).To(gomega.ContainSubstring("\n  \"method\": \"tools/call\",\n"))
	p.accessible()

	// By the keyboard alone: a message closes and opens.
	eval[bool](p, "document.querySelector('.verdict.current .sequence .sent summary').focus() || true")
	p.do(chromedp.KeyEvent("\r"))
	g.Expect(eval[bool](p, "document.querySelector('.verdict.current .sequence .sent details').open")).To(gomega.BeFalse())
	p.do(chromedp.KeyEvent("\r"))
	g.Expect(eval[bool](p, "document.querySelector('.verdict.current .sequence .sent details').open")).To(gomega.BeTrue())

	// On to the same requirement at another revision, which the filters do not hide even when they exclude it.
	here := eval[string](p, "document.querySelector('.verdict.current').dataset.id")
	p.set("[name=revision]", "2025-06-18")
	eval[bool](p, "(location.hash = '#v="+strings.ReplaceAll(here, "2025-06-18", "2025-11-25")+"', true)")
	p.until("document.querySelector('.verdict.current[data-id*=\"2025-11-25\"]') !== null")
	g.Expect(eval[string](p, "document.querySelector('[name=revision]').value")).To(gomega.BeEmpty())
	p.click(".verdict.current .links .places a")
	p.until("document.querySelector('.verdict.current').dataset.id !== '" + strings.ReplaceAll(here, "2025-06-18", "2025-11-25") + "'")
}

func TestALinkInTheBrowserOpensItsVerdictAndKeepsTheFilters(t *testing.T) {
	b := browser(t)
	file := page(t, sampleReport(t))
	const id = "tools.call.unknown-tool/2025-11-25/streamable-http/call-a-tool-without-a-name"
	for _, c := range []struct{ name, fragment, hash string }{
		{"alone", "#v=" + id, "#v=" + id},
		{"with filters that want it", "#status=fail&revision=2025-11-25&v=" + id, "#status=fail&revision=2025-11-25&v=" + id},
		{"with filters that hide it", "#status=pass&v=" + id, "#v=" + id},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, b, file, c.fragment, looks[0])
			p.until("document.querySelector('.verdict.current .body') !== null")
			p.g.Expect(eval[string](p, "document.querySelector('.verdict.current').dataset.id")).To(gomega.Equal(id))
			p.g.Expect(eval[string](p, "location.hash")).To(gomega.Equal(c.hash))
			p.g.Expect(eval[bool](p, "document.activeElement === document.querySelector('.verdict.current > summary')")).To(gomega.BeTrue())
		})
	}
	t.Run("to nothing", func(t *testing.T) {
		p := open(t, b, file, "#v=no.such/verdict", looks[0])
		p.g.Expect(p.text("#shown")).To(gomega.ContainSubstring("not in this report"))
	})
}

func TestHostileTextInTheBrowser(t *testing.T) {
	b := browser(t)
	r := sampleReport(t)
	evil := "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 1'>\u202e\u0000\u2028]]>--><!--"
	r.Server, r.Target, r.Problems, r.Baseline = evil, evil, []string{evil}, []string{evil}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		v.Text, v.Reason, v.Exchange, v.Note, v.Spec = evil, v.Reason+evil, v.Exchange+evil, evil, "javascript:window.evil=1"
		v.Evidence = &verdict.Evidence{Expression: evil, Item: `{"` + evil + `": "` + evil + `"}`, Parts: []verdict.Part{{Source: "x", Value: evil}, {Source: evil, Err: evil}}, Wire: []verdict.Line{
			{Direction: "sent", Text: `{"method": "` + evil + `", "id": "` + evil + `", "params": {"name": "` + evil + `"}}`, About: evil},
			{Direction: "received", Text: evil, HTTP: &verdict.HTTP{Status: 200, Headers: map[string]string{evil: evil, "Content-Type": evil}}},
			{Direction: "received", Text: `{"error": {"code": "` + evil + `", "message": "` + evil + `"}}`},
			{About: verdict.Stderr, Text: evil}, {Text: evil},
		}}
	}
	p := open(t, b, page(t, r), "", looks[2])
	p.click("#list summary")
	p.until("document.querySelector('#list .sequence') !== null")
	p.g.Expect(eval[bool](p, "'evil' in window || document.querySelector('img') !== null")).To(gomega.BeFalse(), "the server's text ran")
	p.g.Expect(eval[int](p, "document.querySelectorAll('script').length")).To(gomega.Equal(2))
	p.g.Expect(eval[bool](p, "document.querySelector('a[href^=javascript]') !== null")).To(gomega.BeFalse())
	p.g.Expect(eval[bool](p, `/[\u202e\u2028\u0000]/.test(document.body.textContent)`)).To(gomega.BeFalse(), "text can be reordered")
	p.g.Expect(p.text("#list .words")).To(gomega.ContainSubstring("<img src=x onerror='window.evil = 1'>‹U+202E›"))
	p.accessible()
}

func TestPrintingInTheBrowserOpensWhatWentWrong(t *testing.T) {
	r := sampleReport(t)
	p := open(t, browser(t), page(t, r), "", looks[0])
	eval[bool](p, "dispatchEvent(new Event('beforeprint'))")
	n := r.Count()
	printed := n[verdict.Fail] + n[verdict.Warn] + n[verdict.Note] + n[verdict.Error]
	p.g.Expect(eval[int](p, "document.querySelectorAll('#list > li').length")).To(gomega.Equal(printed))
	p.g.Expect(p.texts("#list .verdict[open] > summary .id")).To(gomega.Equal([]string{
		"tools.call.unknown-tool", "http.origin.validated", "utilities.logging.level", "http.get.405-or-stream", "tools.list.unique-names", "robustness.survives-garbage",
	}), "each once")
	p.g.Expect(eval[int](p, "document.querySelectorAll('#list .verdict details:not([open])').length")).To(gomega.BeZero())
	p.g.Expect(eval[int](p, "document.querySelectorAll('#list .message .code').length")).To(gomega.BeNumerically(">=", 4))
	eval[bool](p, "dispatchEvent(new Event('afterprint'))")
	p.g.Expect(eval[int](p, "document.querySelectorAll('#list > li').length")).To(gomega.Equal(len(r.Verdicts)))
	p.g.Expect(eval[int](p, "document.querySelectorAll('#list details[open]').length")).To(gomega.BeZero())
}

func TestFiveThousandVerdictsInTheBrowser(t *testing.T) {
	b := browser(t)
	const n = 5000
	r := sampleReport(t)
	evidence := r.Verdicts[slices.IndexFunc(r.Verdicts, func(v verdict.Verdict) bool { return v.Evidence != nil })].Evidence
	r.Verdicts = nil
	for i := range n {
		v := verdict.Verdict{
			Requirement: fmt.Sprintf("area%d.requirement-%d", i/4%20, i/4), Exchange: "an exchange", Area: fmt.Sprintf("server/area%d", i/4%20), Level: "MUST",
			Revision: []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}[i%4], Transport: "stdio", Status: verdict.Pass,
			Text: "The requirement with the number " + strconv.Itoa(i/4) + " holds.", Spec: "https://modelcontextprotocol.io/specification/", Duration: time.Millisecond,
		}
		if i%5 == 0 {
			v.Status, v.Reason, v.Evidence = verdict.Fail, "it does not hold", evidence
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	p := open(t, b, page(t, r), "", looks[0])
	g := p.g
	g.Expect(p.text("#shown")).To(gomega.Equal("5,000 verdicts"))
	g.Expect(eval[int](p, "document.querySelectorAll('#list > li').length")).To(gomega.BeNumerically("<=", 200), "rows are made when they are needed")
	g.Expect(eval[[]int](p, "[report.evidence.length, report.wires.length, report.requirements.length]")).To(gomega.Equal([]int{1, 1, n / 4}), "held once")
	p.click(".statuses input[value=fail]")
	g.Expect(p.text("#shown")).To(gomega.Equal("1,000 of 5,000 verdicts"))
	p.do(chromedp.SendKeys(chromedp.CSS("[name=q]"), "number 1235 holds"))
	g.Expect(p.text("#shown")).To(gomega.Equal("1 of 5,000 verdicts"))
	g.Expect(p.texts("#list .id")).To(gomega.Equal([]string{"area15.requirement-1235"}))
	p.click("#reset")

	// The very last one is a link away.
	last := eval[string](p, "verdicts[4999].id")
	eval[bool](p, "(location.hash = '#v="+last+"', true)")
	p.until("document.querySelector('.verdict.current .body') !== null")
	g.Expect(eval[string](p, "document.querySelector('.verdict.current').dataset.id")).To(gomega.Equal(last))
	p.click(".counts .fail a")
	p.until("document.querySelector('#shown').textContent === '1,000 of 5,000 verdicts'")
}

// sampleReport is the golden JSON report.
func sampleReport(t *testing.T) *verdict.Report {
	t.Helper()
	f, err := os.Open("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := reports.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
