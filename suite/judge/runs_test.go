package judge

import (
	"slices"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func TestRunsTellOfRevisionsAnsweredWithAnother(t *testing.T) {
	session := func(revision, negotiated string) *transcript.Session {
		return &transcript.Session{Revision: revision, Transport: "stdio", Negotiated: negotiated}
	}
	got := Runs(&transcript.Run{
		Sessions: []*transcript.Session{
			session("2025-11-25", "2025-06-18"), session("2024-11-05", "2025-06-18"), session("2025-06-18", "2025-06-18"),
			session("2024-11-05", "2025-06-18"), session("2026-07-28", ""),
			session("2025-06-18", "2024-11-05"), // one session of several
		},
		Plays: []*transcript.Play{{Revision: "2025-06-18", Transport: "stdio"}},
	})
	want := []verdict.Run{
		{Revision: "2024-11-05", Transport: "stdio", Negotiated: "2025-06-18"}, {Revision: "2025-06-18", Transport: "stdio"},
		{Revision: "2025-11-25", Transport: "stdio", Negotiated: "2025-06-18"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("the runs are %v, not %v", got, want)
	}
}
