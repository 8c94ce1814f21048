package plan

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// A tool is called as a task only where the server declares that, where the tool says so, and where it may be called at all.
func TestWhatMayBeCalledAsATask(t *testing.T) {
	g := gomega.NewWithT(t)
	lib, err := script.Default()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	tool := func(name, support string, readOnly bool) any {
		return map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"},
			"annotations": map[string]any{"readOnlyHint": readOnly}, "execution": map[string]any{"taskSupport": support}}
	}
	server := func(requests any) map[string]any {
		return map[string]any{
			"capabilities": map[string]any{"tasks": map[string]any{"requests": requests}},
			"tools": []any{tool("optional", "optional", true), tool("required", "required", true), tool("forbidden", "forbidden", true),
				tool("writing", "optional", false)},
		}
	}
	declared := map[string]any{"tools": map[string]any{"call": map[string]any{}}}
	names := func(calls []any) (names []any) {
		for _, c := range calls {
			names = append(names, c.(map[string]any)["name"])
		}
		return names
	}
	safe := transcript.Options{CallTools: "safe"}
	g.Expect(names(Taskable(lib, server(declared), safe))).To(gomega.Equal([]any{"optional", "required"}))
	g.Expect(names(Callable(lib, server(declared), safe))).To(gomega.Equal([]any{"optional", "forbidden"}))
	g.Expect(Taskable(lib, server(map[string]any{}), safe)).To(gomega.BeEmpty())
	g.Expect(Taskable(lib, server(declared), transcript.Options{CallTools: "none"})).To(gomega.BeEmpty())
	g.Expect(names(Taskable(lib, server(declared), transcript.Options{CallTools: "all"}))).To(gomega.Equal([]any{"optional", "required", "writing"}))
}
