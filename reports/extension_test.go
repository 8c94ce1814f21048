package reports

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// extended is a report of a server that meets the core and breaks two requirements of an extension.
func extended() *verdict.Report {
	at := func(id, area, level string, status verdict.Status, extension string) verdict.Verdict {
		return verdict.Verdict{Requirement: id, Exchange: "x", Area: area, Level: level, Revision: "2026-07-28", Transport: "stdio",
			Status: status, Reason: "why " + id, Text: "Text of " + id + ".", Extension: extension}
	}
	const tasks = "io.modelcontextprotocol/tasks"
	return &verdict.Report{
		Complete: true, Runs: []verdict.Run{{Revision: "2026-07-28", Transport: "stdio"}},
		Verdicts: []verdict.Verdict{
			at("tools.a", "server/tools", "MUST", verdict.Pass, ""),
			at("tools.b", "server/tools", "SHOULD", verdict.Warn, ""),
			at("extension.tasks.a", "extensions/tasks", "MUST", verdict.Fail, tasks),
			at("extension.tasks.b", "extensions/tasks", "SHOULD", verdict.Warn, tasks),
			at("extension.tasks.c", "extensions/tasks", "MUST", verdict.Pass, tasks),
			at("prompts.a", "server/prompts", "MUST", verdict.Pass, ""),
		},
	}
}

func TestConsoleTellsExtensionsApart(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	Console(&out, extended(), ConsoleOptions{Width: 80})
	g.Expect(out.String()).To(gomega.ContainSubstring(`
  area              pass  fail  warn error  note untested  skip
  server/tools         1     ·     1     ·     ·        ·     ·
  server/prompts       1     ·     ·     ·     ·        ·     ·
  total                2     ·     1     ·     ·        ·     ·
  extensions, not counted
  extensions/tasks     1     1     1     ·     ·        ·     ·
`))
	g.Expect(out.String()).NotTo(gomega.ContainSubstring("Failures"))
	g.Expect(out.String()).To(gomega.ContainSubstring("\nWarnings (1 requirement)\n"))
	g.Expect(out.String()).To(gomega.ContainSubstring("\nExtension io.modelcontextprotocol/tasks (2 requirements, not counted)\n\n! Text of extension.tasks.a.\n"))
	g.Expect(out.String()).To(gomega.ContainSubstring("\n2 checks passed, 0 untested, 0 skipped as not applicable\nextensions: 1 check passed,"))
	g.Expect(out.String()).To(gomega.HaveSuffix("\nconforms (2 requirements of extensions broken, not counted; 1 SHOULD broken)\n"))

	out.Reset()
	without := extended()
	for i := range without.Verdicts {
		if v := &without.Verdicts[i]; v.Extension != "" {
			v.Status = verdict.Skip
		}
	}
	Console(&out, without, ConsoleOptions{Width: 80})
	g.Expect(out.String()).NotTo(gomega.ContainSubstring("extension")) // of which the server has none
}

func TestMatrixTellsExtensionsApart(t *testing.T) {
	g := gomega.NewWithT(t)
	r := extended()
	r.Runs = append([]verdict.Run{{Revision: "2025-11-25", Transport: "stdio"}}, r.Runs...)
	old := r.Verdicts[0]
	old.Revision, old.Area = "2025-11-25", "basic/utilities/ping"
	r.Verdicts = append(r.Verdicts, old)
	var out bytes.Buffer
	Console(&out, r, ConsoleOptions{Width: 40})
	g.Expect(out.String()).To(gomega.ContainSubstring(`
  area             2025-11-25 2026-07-28
  …/utilities/ping        1/1          ·
  server/prompts            ·        1/1
  server/tools              ·        1/2
  total                   1/1        2/3
  extensions, not counted
  extensions/tasks          ·        1/3
`))
}

// Whatever gates on the counts or on failed test cases must not fail for an extension.
func TestFilesTellExtensionsApart(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	g.Expect(JSON(&out, extended())).To(gomega.Succeed())
	var file struct{ Counts, Extensions map[string]int }
	g.Expect(json.Unmarshal(out.Bytes(), &file)).To(gomega.Succeed())
	g.Expect(file.Counts).To(gomega.And(gomega.HaveKeyWithValue("fail", 0), gomega.HaveKeyWithValue("warn", 1), gomega.HaveKeyWithValue("pass", 2)))
	g.Expect(file.Extensions).To(gomega.And(gomega.HaveKeyWithValue("fail", 1), gomega.HaveKeyWithValue("warn", 1), gomega.HaveKeyWithValue("pass", 1)))

	out.Reset()
	r := extended()
	r.Verdicts[1].Status = verdict.Pass
	g.Expect(JUnit(&out, r, true)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.ContainSubstring(`tests="9" failures="0" errors="0"`))
	g.Expect(out.String()).To(gomega.ContainSubstring(`name="mcp-litmus: 2026-07-28 over stdio, extensions"`))
	g.Expect(out.String()).To(gomega.ContainSubstring(`of the extension io.modelcontextprotocol/tasks, not counted: MUST fail: why extension.tasks.a`))
}

func TestHTMLTellsExtensionsApart(t *testing.T) {
	g := gomega.NewWithT(t)
	var shown []string
	for _, v := range htmlData(t, html(t, extended())).Verdicts {
		shown = append(shown, v.Status)
	}
	g.Expect(shown).To(gomega.Equal([]string{"warn", "extension", "extension", "pass", "pass", "pass"}))
	g.Expect(html(t, extended())).To(gomega.ContainSubstring(`<h2 id="overview-extension">Extensions <span class="quiet">2 requirements; broken of what is optional; not counted</span></h2>`))
	g.Expect(html(t, sample())).NotTo(gomega.ContainSubstring(`href="#status=extension"`))
}
