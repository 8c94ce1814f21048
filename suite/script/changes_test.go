package script

import "testing"

func TestChangesBetweenRevisions(t *testing.T) {
	both := map[Revision]Level{R20241105: Should, R20251125: Must}
	lib := &Library{Requirements: []*Requirement{
		{ID: "stays", Since: R20241105, Levels: map[Revision]Level{R20241105: Must}},
		{ID: "came", Since: R20251125, Levels: map[Revision]Level{R20251125: Must}},
		{ID: "went", Since: R20241105, Until: R20250618, Levels: both},
		{ID: "grew", Since: R20241105, Levels: both},
	}}
	want := []Change{{lib.Requirements[1], "", Must}, {lib.Requirements[2], Should, ""}, {lib.Requirements[3], Should, Must}}
	got := lib.Changes(R20250618, R20251125)
	if len(got) != len(want) {
		t.Fatalf("%d changes: %v", len(got), got)
	}
	for i, c := range got {
		if c != want[i] {
			t.Errorf("change %d is of %s from %q to %q", i, c.Requirement.ID, c.From, c.To)
		}
	}
	if !got[0].Came() || got[0].Went() || !got[1].Went() || got[1].Came() || got[2].Came() || got[2].Went() {
		t.Error("the kinds are confused")
	}
	if len(lib.Changes(R20250618, R20250618)) != 0 {
		t.Error("a revision differs from itself")
	}
}
