package propose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/propose"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// written is the proposal as text, and read again as a run would read it.
func written(t *testing.T, p propose.Proposal) (string, *config.Config) {
	t.Helper()
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	g.Expect(p.Write(&out)).To(gomega.Succeed())
	var document any
	g.Expect(yaml.Unmarshal(out.Bytes(), &document)).To(gomega.Succeed(), out.String())
	asJSON, err := json.Marshal(document)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(config.Schema), gojsonschema.NewBytesLoader(asJSON))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(result.Errors()).To(gomega.BeEmpty(), out.String())
	path := filepath.Join(t.TempDir(), "litmus.yaml")
	g.Expect(os.WriteFile(path, out.Bytes(), 0o644)).To(gomega.Succeed())
	c, err := config.Load(path)
	g.Expect(err).NotTo(gomega.HaveOccurred(), out.String())
	g.Expect(c.CheckRoles(p.Library.Roles)).To(gomega.Succeed())
	return out.String(), c
}

func TestWhatIsProposedForTheReferenceServer(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("API_KEY", "from the environment")
	seen, err := suite.Survey(t.Context(), suite.Pipe(reference.New().ServeStdio))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(seen.Contexts)).To(gomega.Equal(len(script.Revisions)))
	text, c := written(t, propose.Proposal{
		Target: propose.Target{
			Command: []string{"node", "server.js", "${not} a reference", "yes"},
			Env:     propose.References(map[string]string{"API_KEY": "hunter2-hunter2"}), Cwd: "..",
		},
		Library: seen.Library, Options: seen.Options, Contexts: seen.Contexts,
	})
	g.Expect(c.Target.Command).To(gomega.Equal([]string{"node", "server.js", "${not} a reference", "yes"}))
	g.Expect(text).NotTo(gomega.ContainSubstring("hunter2"))
	g.Expect(c.Target.Env).To(gomega.HaveKeyWithValue("API_KEY", "from the environment"))
	g.Expect(c.Roles).To(gomega.HaveKey("text-tool"))
	g.Expect(c.Roles).To(gomega.HaveKey("text-resource"))
	for _, def := range seen.Library.Roles {
		g.Expect(text).To(gomega.ContainSubstring(def.Name), "every role is spoken of")
	}

	// With the file, the run is the same as without: what was found is found.
	var opts []suite.Option
	for name, role := range c.Roles {
		opts = append(opts, suite.Role(name, role))
	}
	with, err := suite.Run(t.Context(), suite.Pipe(reference.New().ServeStdio), append(opts, suite.Revisions("2025-11-25"), suite.Select("tools || resources || prompts"))...)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	without, err := suite.Run(t.Context(), suite.Pipe(reference.New().ServeStdio), suite.Revisions("2025-11-25"), suite.Select("tools || resources || prompts"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, v := range with.Report.Verdicts {
		if v.Status != verdict.Pass {
			t.Logf("%s in %q: %s: %s", v.Requirement, v.Exchange, v.Status, v.Reason)
		}
	}
	g.Expect(with.Report.Count()).To(gomega.Equal(without.Report.Count()))
}

func TestToolsThatWereLeftAlone(t *testing.T) {
	g := gomega.NewWithT(t)
	lib, err := script.Default()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	schema := func(required ...any) map[string]any { return map[string]any{"type": "object", "required": required} }
	c := &observe.Context{Revision: "2025-11-25", Transport: "stdio"}
	offer := map[string]any{
		"handshake": map[string]any{"result": map[string]any{
			"serverInfo":   map[string]any{"name": "evil\n# name", "version": "1"},
			"capabilities": map[string]any{"tools": map[string]any{}},
		}},
		"tools": map[string]any{"items": []any{
			map[string]any{"name": "look", "inputSchema": schema(), "annotations": map[string]any{"readOnlyHint": true}},
			map[string]any{"name": "delete all: now", "inputSchema": schema("path"), "annotations": map[string]any{"destructiveHint": true}},
			map[string]any{"name": "write", "inputSchema": schema("a\nb: c"), "annotations": map[string]any{"readOnlyHint": false}},
			map[string]any{"name": "unsaid\ntarget: {}", "inputSchema": schema()},
			map[string]any{"name": "impossible", "inputSchema": map[string]any{"not": map[string]any{}}},
		}},
	}
	p := propose.Proposal{Library: lib, Contexts: []*observe.Context{c}}
	p.Options.CallTools = "safe"
	c.Server = plan.Server(offer)
	c.Absent, c.Callable = plan.Absent(c.Server), plan.Callable(lib, c.Server, p.Options)
	c.Roles, c.Unfilled = plan.Roles(lib, c.Server, c.Callable, nil, p.Options)
	var names []string
	for _, l := range p.LeftAlone() {
		names = append(names, l.Name+": "+l.Why)
	}
	g.Expect(names[:3]).To(gomega.Equal([]string{
		"delete all: now: says that it may destroy something (destructiveHint)",
		"write: says that it changes something (readOnlyHint: false)",
		"unsaid\ntarget: {}: does not say that it only reads (readOnlyHint: true)",
	}))
	p.Target.URL = "http://127.0.0.1:3000/mcp"
	text, loaded := written(t, p)
	g.Expect(loaded.Allow).To(gomega.BeEmpty(), "nothing is allowed that nobody has read")
	g.Expect(text).To(gomega.ContainSubstring(`# - {name: "delete all: now", arguments: {path: litmus}}   # says that it may destroy something`))
	g.Expect(text).To(gomega.ContainSubstring("Called without being asked, since they say that they only read, or are well-known fixtures: look."))
	g.Expect(text).To(gomega.ContainSubstring("Of no use here, since the server does not declare what they are about:"))

	// Uncommented, each is an entry.
	open := strings.ReplaceAll(text, "  # - {", "  - {")
	path := filepath.Join(t.TempDir(), "litmus.yaml")
	g.Expect(os.WriteFile(path, []byte(open), 0o644)).To(gomega.Succeed())
	loaded, err = config.Load(path)
	g.Expect(err).NotTo(gomega.HaveOccurred(), open)
	g.Expect(len(loaded.Allow)).To(gomega.Equal(4))
	g.Expect(loaded.Allow[2].Name).To(gomega.Equal("unsaid\ntarget: {}"))
}

func TestASurveyThatCannotBe(t *testing.T) {
	_, err := suite.Survey(context.Background(), suite.Command("sh", "-c", "echo hunter2-hunter2 >&2; exit 1"), suite.Secrets("hunter2-hunter2"))
	g := gomega.NewWithT(t)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("could not be surveyed")))
	g.Expect(err.Error()).NotTo(gomega.ContainSubstring("hunter2"))
}
