// Package rejudge holds the promise of the judge in every test that runs the suite: the transcript of a run, written
// to a file and judged again, gives the same verdicts.
package rejudge

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Check writes the outcome's transcript, reads it back, judges it, and fails t where a verdict differs.
func Check(t testing.TB, o *suite.Outcome, opts ...suite.Option) {
	t.Helper()
	var file bytes.Buffer
	if err := transcript.Write(&file, o.Transcript, nil); err != nil {
		t.Fatalf("the transcript cannot be written: %v", err)
	}
	again, err := suite.Judge(&file, opts...)
	if err != nil {
		t.Fatalf("the transcript cannot be judged again: %v", err)
	}
	if diff := cmp.Diff(o.Report, again.Report); diff != "" {
		t.Errorf("judged again, the report differs (-first +again):\n%s", diff)
	}
}
