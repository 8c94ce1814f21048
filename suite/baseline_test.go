package suite_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

func TestABaselineInTheAPI(t *testing.T) {
	const fault = "unknown-tool-is-a-result"
	known := config.Known{Requirement: "tools.call.unknown-tool", Reason: "issue 42"}
	stale := config.Known{Requirement: "tools.call.responds", Reason: "issue 43"}
	elsewhere := config.Known{Requirement: "prompts.*", Reason: "issue 44"}
	opts := func(more ...suite.Option) []suite.Option {
		return append([]suite.Option{
			suite.Strict(), suite.Revisions("2025-11-25"), suite.Select("tools.call.unknown-tool || tools.call.responds"),
		}, more...)
	}
	for _, c := range []struct {
		name     string
		more     []suite.Option
		conforms bool
		stale    string // what the only complaint about the baseline says; "": there is none
	}{
		{"none", nil, false, ""},
		{"known", []suite.Option{suite.Baseline(config.Baseline{known})}, true, ""},
		{"out of date", []suite.Option{suite.Baseline(config.Baseline{known, stale})}, true, "tools.call.responds is out of date"},
		{"about what was not asked for", []suite.Option{suite.Baseline(config.Baseline{known, elsewhere})}, true, "prompts.* matches nothing"},
		{"narrowed", []suite.Option{suite.Baseline(config.Baseline{known, elsewhere}), suite.Narrowed()}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(o *suite.Outcome) {
				t.Helper()
				problems := strings.Join(o.Report.Baseline, "\n")
				if o.Conforms() != c.conforms || (problems == "") != (c.stale == "") || !strings.Contains(problems, c.stale) || len(o.Report.Baseline) > 1 {
					t.Errorf("conforms: %v, the baseline: %q", o.Conforms(), o.Report.Baseline)
				}
			}
			o, err := suite.Run(t.Context(), sabotaged(t, fault), opts(c.more...)...)
			if err != nil {
				t.Fatal(err)
			}
			check(o)
			var file bytes.Buffer
			if err := transcript.Write(&file, o.Transcript, nil); err != nil {
				t.Fatal(err)
			}
			again, err := suite.Judge(&file, opts(c.more...)...)
			if err != nil {
				t.Fatal(err)
			}
			check(again)
		})
	}
}

// A server's own test goes on while a failure is known.
func TestAKnownFailureInPlainGoTest(t *testing.T) {
	suite.Test(t, sabotaged(t, "unknown-tool-is-a-result"), suite.Strict(), suite.Revisions("2025-11-25"), suite.Select("tools.call.unknown-tool"),
		suite.Baseline(config.Baseline{{Requirement: "tools.call.unknown-tool", Reason: "issue 42"}}))
}
