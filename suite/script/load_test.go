package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onsi/gomega"
)

// designExchanges and designRequirements are the examples of the documentation, as they stand there.
const designExchanges = `# yaml-language-server: $schema=../exchange.schema.json
- exchange: call a tool that does not exist
  needs: [tools]                      # capabilities or roles; unmet: skip or untested, saying which
  steps:
    - request: tools/call             # era-aware: the session adds ids, handshake or _meta, headers
      params: {name: "${absent.tool}", arguments: {}}
      checks:
        tools.call.unknown-tool: error.code == -32602

- exchange: a notification gets no reply
  steps:
    - notify: notifications/litmus/unknown
    - quiet:                          # a barrier request goes through and only its own reply may come back
      checks:
        base.notification.no-reply: arrived.all(m, has(m.method))

- exchange: a line that is not JSON
  session: own                        # may spoil the session, so it gets one of its own
  steps:
    - raw: '{"jsonrpc": "2.0", "id": 1, "method": '
      checks:
        base.parse-error: error.code == -32700
    - request: tools/list
      checks:
        robustness.survives-garbage: has(result)      # advice: the specification does not ask for it

- exchange: follow the cursors to the last page
  needs: [tools]
  steps:
    - pages: tools/list
      as: listing
      checks:
        tools.list.unique-names: unique(listing.items.map(t, t.name))
        tools.list.input-schema-is-object: {each: listing.items, that: it.inputSchema.type == "object"}
`

const designRequirements = `- id: tools.call.unknown-tool
  level: MUST                          # or {2024-11-05: SHOULD, 2025-06-18: MUST}
  since: 2024-11-05                    # until: the last revision in which it holds, if it ended
  text: A call to a tool that the server does not offer is answered with error -32602.
  spec: {2024-11-05: server/tools#error-handling, 2026-07-28: server/tools#error-handling}
`

// requirementsNamed makes a catalogue of the ids, for exchanges that need them to exist.
func requirementsNamed(ids ...string) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString("- id: " + id + "\n  level: MUST\n  since: 2024-11-05\n  text: Something holds.\n  spec: basic/lifecycle#initialization\n")
	}
	return b.String()
}

func files(of map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range of {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestTheExamplesOfTheDocumentationLoad(t *testing.T) {
	g := gomega.NewWithT(t)
	l, err := Load(files(map[string]string{
		"requirements/server/tools.yaml": designRequirements,
		"requirements/others.yaml": requirementsNamed("base.notification.no-reply", "base.parse-error", "robustness.survives-garbage",
			"tools.list.unique-names", "tools.list.input-schema-is-object"),
		"exchanges/server/tools.yaml": designExchanges,
	}))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(l.Requirements).To(gomega.HaveLen(6))
	g.Expect(l.Exchanges).To(gomega.HaveLen(4))
	q := l.Requirement("tools.call.unknown-tool")
	g.Expect(q.Area).To(gomega.Equal("server/tools"))
	g.Expect(q.LevelAt(R20251125)).To(gomega.Equal(Must))
	g.Expect(q.SpecAt(R20260728)).To(gomega.Equal("server/tools#error-handling"))
	x := l.Exchange("call a tool that does not exist")
	g.Expect(x.Session).To(gomega.Equal(Shared))
	g.Expect(x.Area).To(gomega.Equal("server/tools"))
	step := x.Steps[0]
	g.Expect(step.Verb).To(gomega.Equal(Request))
	g.Expect(step.Method).To(gomega.Equal("tools/call"))
	params, err := step.Params.Render(map[string]any{"absent": map[string]any{"tool": "none"}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(params).To(gomega.Equal(map[string]any{"name": "none", "arguments": map[string]any{}}))
	ok, err := step.Checks[0].That.Bool(map[string]any{"error": map[string]any{"code": int64(-32602)}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(ok).To(gomega.BeTrue())
	line := l.Exchange("a line that is not JSON").Steps[0]
	g.Expect(line.Line).To(gomega.BeTrue())
	g.Expect(line.Writes[0].Source()).To(gomega.Equal(`{"jsonrpc": "2.0", "id": 1, "method": `))
	g.Expect(l.Exchange("follow the cursors to the last page").Steps[0].Checks[1].Each.Source).To(gomega.Equal("listing.items"))
	g.Expect(l.Complaints()).To(gomega.BeEmpty())
}

func TestLineEndsAndByteOrderMarksOfWindowsAreRead(t *testing.T) {
	windows := "\ufeff" + strings.ReplaceAll(designExchanges, "\n", "\r\n")
	_, err := Load(files(map[string]string{
		"requirements/all.yaml": designRequirements + requirementsNamed("base.notification.no-reply", "base.parse-error",
			"robustness.survives-garbage", "tools.list.unique-names", "tools.list.input-schema-is-object"),
		"exchanges/server/tools.yaml": windows,
	}))
	if err != nil {
		t.Error(err)
	}
	_, err = Load(files(map[string]string{"exchanges/a.yaml": "- exchange: x\r\n  when: |\r\n    has(server)\r\n    && srver\r\n"}))
	if err == nil || !strings.Contains(err.Error(), "exchanges/a.yaml:4:8: there is no variable or function \"srver\"") {
		t.Errorf("got %v", err)
	}
}

func TestTextsMayHoldBracketsThatNobodyCloses(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "- exchange: number %d\n  steps:\n    - raw: '{\"a\": [{'\n      checks: {a.one: has(error)}\n", i)
	}
	if _, err := Load(files(map[string]string{"requirements/a.yaml": requirementsNamed("a.one"), "exchanges/a.yaml": b.String()})); err != nil {
		t.Error(err)
	}
}

func TestEveryMistakeIsReportedWhereItStands(t *testing.T) {
	entries, err := os.ReadDir("testdata/mistakes")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range entries {
		name := e.Name()
		if path.Ext(name) != ".yaml" {
			continue
		}
		seen++
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile("testdata/mistakes/" + name)
			if err != nil {
				t.Fatal(err)
			}
			golden := "testdata/mistakes/" + strings.TrimSuffix(name, ".yaml") + ".txt"
			_, err = Load(files(map[string]string{
				"roles.yaml":              "- {role: failing-tool, kind: tool, does: fails, add: a tool that fails}\n",
				"requirements/known.yaml": requirementsNamed("tools.call.unknown-tool", "tools.list.unique-names"),
			}), files(map[string]string{name: string(data)}))
			got := "no mistake found\n"
			if err != nil {
				got = err.Error() + "\n"
			}
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
	if seen == 0 {
		t.Fatal("there are no files of mistakes")
	}
}

func TestTheBuiltInLibraryLoads(t *testing.T) {
	l, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Digest) != 64 || len(l.Roles) == 0 {
		t.Errorf("got %d roles and the digest %q", len(l.Roles), l.Digest)
	}
	for _, part := range []SurveyKind{Offer, Calls, Guard} {
		if l.Survey(part) == nil {
			t.Errorf("no exchange is the survey's %s", part)
		}
	}
}

func TestAnErrorTellsItsPlace(t *testing.T) {
	_, err := Load(files(map[string]string{"requirements/a.yaml": "- id: x.y\n  levle: MUST\n"}))
	var e *Error
	if !errors.As(err, &e) || e.Pos.File != "requirements/a.yaml" {
		t.Errorf("got %v", err)
	}
}
