package examples

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// Every name of a subtest, as go test prints it, picks that subtest alone when it is given to -run.
func TestNamesOfSubtestsWorkWithRun(t *testing.T) {
	g := gomega.NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	lib, err := script.Default()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	run := func(pattern string) []string {
		out, err := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", pattern).CombinedOutput()
		g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
		var checks []string
		for _, m := range regexp.MustCompile(`(?m)^ *--- (?:PASS|SKIP): (\S+)`).FindAllStringSubmatch(string(out), -1) {
			if lib.Requirement(m[1][strings.LastIndex(m[1], "/")+1:]) != nil {
				checks = append(checks, m[1])
			}
		}
		return checks
	}
	all := run("^TestInProcess$")
	g.Expect(len(all)).To(gomega.BeNumerically(">", 10))
	one := all[len(all)/2]
	g.Expect(run("^" + strings.ReplaceAll(one, "/", "$/^") + "$")).To(gomega.Equal([]string{one}))
	g.Expect(strings.Count(strings.Join(all, "\n")+"\n", one+"\n")).To(gomega.Equal(1))
}

// What a name holds must mean itself in -run, where names are regular expressions split at slashes.
func TestNamesAreNoRegularExpressions(t *testing.T) {
	lib, err := script.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, ex := range lib.Exchanges {
		if strings.ContainsAny(ex.Name, `/*+?()[]{}|^$\`) {
			t.Errorf("the exchange %q has a character in its name that -run takes for something else", ex.Name)
		}
	}
}
