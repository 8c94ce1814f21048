package reports_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// browserVariable names the browser for these tests. Where it is set, a missing browser or axe-core fails them.
const browserVariable = "MCP_LITMUS_BROWSER"

const axeFile = "testdata/axe/node_modules/axe-core/axe.min.js"

// browser starts a headless Chromium, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	path := os.Getenv(browserVariable)
	if path == "" {
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome-headless-shell", "chrome"} {
			if found, err := exec.LookPath(name); err == nil {
				path = found
				break
			}
		}
		if path == "" {
			t.Skipf("no Chromium on PATH: install one, or name it in %s", browserVariable)
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return ctx
}

// look is a width and a colour scheme in which the page is looked at.
type look struct {
	width  int64
	scheme string
}

var looks = []look{{1280, "light"}, {1280, "dark"}, {390, "light"}, {390, "dark"}}

func (l look) String() string { return fmt.Sprintf("%s at %d px", l.scheme, l.width) }

// tab is one page in the browser, and what it complained of.
type tab struct {
	*testing.T
	ctx context.Context
	g   *gomega.WithT

	mu         sync.Mutex
	complaints []string
}

// open opens file#fragment. When the test ends, the page must have complained of nothing and asked for nothing.
func open(t *testing.T, browser context.Context, file, fragment string, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{T: t, ctx: ctx, g: gomega.NewWithT(t)}
	p.g.Expect(chromedp.Listen(ctx, p.listen)).To(gomega.Succeed())
	must(p, log.Enable, cdp.Empty{})
	must(p, network.Enable, network.EnableParams{})
	must(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
	})
	must(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: l.width, Height: 844, DeviceScaleFactor: 1, Mobile: l.width < 500,
	})
	path, err := filepath.Abs(file)
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.g.Expect(chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.ToSlash(path)+fragment))).To(gomega.Succeed())
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.g.Expect(p.complaints).To(gomega.BeEmpty(), "the page complained, or asked for something")
	})
	return p
}

func (p *tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	add := func(format string, args ...any) { p.complaints = append(p.complaints, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		add("exception: %s", e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		add("console: %s", e.Type)
	case *log.EventEntryAdded:
		add("log: %s", e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") && !strings.HasPrefix(e.Request.URL, "data:") {
			add("request: %s", e.Request.URL)
		}
	}
}

// eval is the value of a JavaScript expression in the page.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	p.g.Expect(err).NotTo(gomega.HaveOccurred(), expression)
	return v
}

// until waits for a JavaScript expression to become true.
func (p *tab) until(expression string) {
	p.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](expression))
	p.g.Expect(err).NotTo(gomega.HaveOccurred(), expression)
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	p.g.Expect(chromedp.Do(p.ctx, actions...)).To(gomega.Succeed())
}

// click presses the mouse on the first element that matches.
func (p *tab) click(selector string) {
	p.Helper()
	// What comes into view takes its real size only then, and moves what is below it: scroll until nothing moves.
	eval[bool](p, fmt.Sprintf(`new Promise((done) => {
		const element = document.querySelector(%q);
		let before;
		const settle = () => {
			element.scrollIntoView({block: 'center'});
			const now = element.getBoundingClientRect().top;
			if (now === before) done(true);
			else requestAnimationFrame(settle);
			before = now;
		};
		settle();
	})`, selector))
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// set gives a field of a form a value, as choosing it does.
func (p *tab) set(selector, value string) {
	p.Helper()
	eval[bool](p, fmt.Sprintf(`(() => {
		const field = document.querySelector(%q);
		field.value = %q;
		return field.dispatchEvent(new Event('input', {bubbles: true}));
	})()`, selector, value))
}

// texts are the texts of all elements that match.
func (p *tab) texts(selector string) []string {
	p.Helper()
	return eval[[]string](p, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.textContent.trim())", selector))
}

func (p *tab) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).textContent.trim()", selector))
}

// accessible looks for barriers with axe-core, and for content wider than the window. Of the list's rows, which are all
// alike, it looks at the first and at the one that was opened.
func (p *tab) accessible() {
	p.Helper()
	p.g.Expect(eval[bool](p, "document.documentElement.scrollWidth <= innerWidth")).To(gomega.BeTrue(), "the page is wider than the window")
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		if os.Getenv(browserVariable) == "" {
			p.Log("axe-core is not there: run make axe")
			return
		}
		p.Fatal("axe-core is not there: run make axe")
	}
	if !eval[bool](p, "'axe' in window") {
		eval[bool](p, string(axe)+"\n;true")
	}
	found := eval[[]string](p, `axe.run({exclude: ['#list > li:nth-child(n+20):not(:has(.current))']}, {preload: false}).then((r) => {
		if (r.passes.length < 20) throw new Error('axe-core looked at next to nothing');
		return r.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.target + ': ' + n.failureSummary));
	})`)
	p.g.Expect(found).To(gomega.BeEmpty())
}

func must[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.Helper()
	_, err := chromedp.Call(p.ctx, command, params)
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
}

// page writes a report as an HTML file.
func page(t *testing.T, r *verdict.Report) string {
	t.Helper()
	g := gomega.NewWithT(t)
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(reports.HTML(f, r, false)).To(gomega.Succeed())
	g.Expect(f.Close()).To(gomega.Succeed())
	return file
}
