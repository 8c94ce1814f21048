package plan

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

func TestSelect(t *testing.T) {
	q := &script.Requirement{ID: "stdio.lines", Levels: map[script.Revision]script.Level{script.R20241105: script.MustNot}, Area: "basic/transports/stdio"}
	labels := Labels(q, script.R20251125, "stdio")
	for filter, want := range map[string]bool{
		"":                                     true,
		"MUST":                                 true,
		"MUST NOT && stdio":                    true,
		"SHOULD":                               false,
		"basic/transports/stdio":               true,
		"basic/transports":                     true,
		"transports/stdio":                     false,
		"basic/lifecycle":                      false,
		"!basic/transports && MUST":            false,
		"(server/tools || basic/transports)":   true,
		"server/tools, basic/transports/stdio": true,
		"/^stdio\\.l/":                         true,
		"/tools|prompts/ || /lines$/":          true,
		"/a/ || basic/transports":              true,
		"stdio.lines":                          true,
		"2025-11-25":                           true,
	} {
		f, err := Select(filter)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), filter)
		gomega.NewWithT(t).Expect(f(labels)).To(gomega.Equal(want), "%q", filter)
	}
}

func TestAFilterThatIsNoneIsToldInOneLine(t *testing.T) {
	g := gomega.NewWithT(t)
	for filter, want := range map[string]string{
		"tools &&":   `the selection "tools &&" is no label filter: Unexpected EOF; write for example 'tools && MUST'`,
		"tools & x":  `the selection "tools & x" is no label filter: Invalid token '&'.  Did you mean '&&'?; write for example 'tools && MUST'`,
		"(tools":     "Mismatched '('",
		"/[/":        "RegExp compilation error",
		"server/a &": "server/a &",
	} {
		_, err := Select(filter)
		g.Expect(err).To(gomega.HaveOccurred(), filter)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)), filter)
		g.Expect(strings.ContainsAny(err.Error(), "\x1b\n")).To(gomega.BeFalse(), "%q", err)
	}
}

func TestNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	lib, err := script.Default()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	nothing := func(filter, transport string) error {
		f, err := Select(filter)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return Nothing(lib, filter, script.Revisions, transport, f)
	}
	g.Expect(nothing("server/tools", "stdio")).To(gomega.Succeed())
	g.Expect(nothing("", "")).To(gomega.Succeed())
	g.Expect(nothing("promts", "stdio")).To(gomega.MatchError(gomega.HavePrefix(`the selection "promts" wants none of the `)))
	g.Expect(nothing("streamable-http && tools", "stdio")).NotTo(gomega.Succeed(), "no such run")
}
