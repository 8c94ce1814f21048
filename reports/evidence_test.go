package reports

import (
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestEvidence(t *testing.T) {
	g := gomega.NewWithT(t)
	var b strings.Builder
	Evidence(&b, unknownTool("x"))
	g.Expect(b.String()).To(gomega.HavePrefix(strings.Join([]string{
		"MUST      A call to a tool that the server does not offer is answered with error -32602.",
		"          tools.call.unknown-tool",
		"spec      server/tools#error-handling",
		"read as   a missing name counts as a tool that is not offered",
		"why       error.code is -32601",
		"check     error.code == -32602",
		"            error.code = -32601",
		"            result.isError has no value: no such key: result",
		"            at server/tools.yaml:12:7",
		`sent      0.120s {"jsonrpc":"2.0"`,
	}, "\n")))
	b.Reset()
	r, _ := hostile()
	Evidence(&b, r.Verdicts[1])
	g.Expect(regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}]`).FindString(b.String())).To(gomega.BeEmpty())
}
