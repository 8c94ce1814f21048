package suite

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Conform is a Gomega matcher over a verdict.Verdict: it holds unless the requirement is broken (with strict, a
// SHOULD counts, too) or could not be judged for an error of the suite or the network. It always holds for a requirement
// of an extension, which does not decide whether a server conforms. Its failure message is
// the whole story: the requirement, what was sent, what came back, and the value of each part of the expression.
func Conform(strict bool) types.GomegaMatcher { return conform{strict} }

type conform struct{ strict bool }

func (m conform) Match(actual any) (bool, error) {
	v, ok := actual.(verdict.Verdict)
	if !ok {
		return false, fmt.Errorf("Conform matches a verdict.Verdict, not a %T", actual)
	}
	return !broken(v, m.strict), nil
}

func broken(v verdict.Verdict, strict bool) bool {
	if v.Known != "" && v.Status != verdict.Error || v.Extension != "" {
		return false
	}
	return v.Status == verdict.Fail || v.Status == verdict.Error || strict && v.Status == verdict.Warn
}

func (m conform) FailureMessage(actual any) string {
	var b strings.Builder
	reports.Evidence(&b, actual.(verdict.Verdict))
	return b.String()
}

func (m conform) NegatedFailureMessage(actual any) string {
	v := actual.(verdict.Verdict)
	return fmt.Sprintf("expected the server to break %s in %q, but the verdict is %s", v.Requirement, v.Exchange, v.Status)
}

// aside says what a test tells of a verdict that is no assertion: why it is skipped, or what there is to remark about one that
// does not count. Both are "" for a verdict that Conform decides.
func aside(v verdict.Verdict, strict bool) (skip, remark string) {
	switch v.Status {
	case verdict.Skip:
		return cmp.Or(v.Reason, "does not apply"), ""
	case verdict.Untested:
		return "untested: " + v.Why(), ""
	case verdict.Fail, verdict.Warn, verdict.Note, verdict.Error:
		if !broken(v, strict) {
			remark = string(v.Status) + ": " + v.Text + ": " + v.Reason
			if v.Known != "" {
				remark += "; known: " + v.Known
			}
			return "", remark
		}
	}
	return "", ""
}
