package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// annotations is how many errors, and how many warnings, GitHub shows of one step.
const annotations = 10

// GitHub writes workflow commands that GitHub Actions shows as annotations of the run: an error for each requirement that is broken, for
// each problem of the run and each entry of the baseline that is out of date; a warning for each SHOULD (with strict: an error). GitHub
// shows ten of a kind: of more, the tenth says how many there are. The error is that of writing to w.
func GitHub(w io.Writer, r *verdict.Report, strict bool) error {
	b := bufio.NewWriter(w)
	var errors, warnings [][2]string
	for _, p := range r.Problems {
		errors = append(errors, [2]string{"mcp-litmus could not carry out the run", p})
	}
	for _, p := range r.Baseline {
		errors = append(errors, [2]string{"The baseline is out of date", p})
	}
	for _, f := range findings(r, func(v *verdict.Verdict) bool {
		return v.Known == "" && v.Extension == "" && (v.Status == verdict.Fail || v.Status == verdict.Warn)
	}) {
		v := f[0]
		one := [2]string{v.Level + " " + v.Requirement, v.Text + "\n" + excerpt(v.Reason, 500) + "\n" + places(f) + "\n" + v.Spec}
		if v.Status == verdict.Fail || strict {
			errors = append(errors, one)
		} else {
			warnings = append(warnings, one)
		}
	}
	for _, kind := range []struct {
		command string
		list    [][2]string
	}{{"error", errors}, {"warning", warnings}} {
		for i, one := range kind.list {
			if i == annotations-1 && len(kind.list) > annotations {
				one = [2]string{"mcp-litmus", fmt.Sprintf("and %s more: see the step's summary or the reports", thousands(len(kind.list)-i))}
			}
			fmt.Fprintf(b, "::%s title=%s::%s\n", kind.command, githubProperty(one[0]), githubData(one[1]))
			if i == annotations-1 {
				break
			}
		}
	}
	return b.Flush()
}

// githubData is s as the text of a workflow command.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(printableLines(s))
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(printable(s))
}
