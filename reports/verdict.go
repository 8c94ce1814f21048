package reports

import (
	"io"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Evidence writes everything that is known of one verdict as plain text of several lines.
func Evidence(w io.Writer, v verdict.Verdict) {
	_, _ = io.WriteString(w, evidenceText(&v, longEvidence))
}
