package verdict

import (
	"slices"
	"testing"
)

func TestStatuses(t *testing.T) {
	if len(weights) != len(Statuses) {
		t.Errorf("%d statuses have a weight, of %d", len(weights), len(Statuses))
	}
	for _, s := range Statuses {
		if s.Description() == "" {
			t.Errorf("%s has no words", s)
		}
		if !slices.Contains(weights, s) {
			t.Errorf("%s has no weight", s)
		}
	}
	for _, c := range [][2]Status{{Fail, Warn}, {Warn, Error}, {Error, Pass}, {Pass, Untested}, {Untested, Skip}} {
		if !c[0].Outweighs(c[1]) || c[1].Outweighs(c[0]) || c[0].Outweighs(c[0]) {
			t.Errorf("%s does not outweigh %s", c[0], c[1])
		}
	}
}
