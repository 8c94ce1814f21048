package script

import (
	"testing"

	"github.com/onsi/gomega"
)

// A repetition is told from others by one number, and a session by one name.
func TestWhatCannotBeRepeated(t *testing.T) {
	for step, want := range map[string]string{
		"open: second": `open: cannot be repeated, since each repetition would open the session "second" again; open it before the each:`,
		"each: '[3]'\n          steps: [{request: ping, checks: {test.a: has(result)}}]": "each: cannot stand within another each:; make one list of both",
	} {
		_, err := Load(files(map[string]string{
			"requirements/a.yaml": requirementsNamed("test.a"),
			"exchanges/a.yaml": "- exchange: a\n  steps:\n    - each: '[1, 2]'\n      steps: [{request: ping, checks: {test.a: has(result)}}]\n" +
				"- exchange: b\n  steps:\n    - each: '[1, 2]'\n      steps:\n        - " + step + "\n        - request: ping\n          checks: {test.a: has(result)}\n",
		}))
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)), step)
	}
}
