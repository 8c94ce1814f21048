package script

import (
	"strings"
	"testing"
)

// What a reader can do about a check that was not judged stands in add:, where reports find it, and not in the words of its reason.
func TestReasonsLeaveToAddWhatToAdd(t *testing.T) {
	lib, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	additions := 0
	look := func(p Position, reason string, add []string) {
		if strings.HasSuffix(reason, "did not answer it") || strings.HasSuffix(reason, "did not answer it with an error") {
			t.Errorf("%s:%d: %q does not say why that is no fault", p.File, p.Line, reason)
		}
		if strings.Contains(reason, "litmus.yaml") {
			t.Errorf("%s:%d: %q speaks of litmus.yaml; say it with add:, such as add: text-tool", p.File, p.Line, reason)
		}
		additions += len(add)
		for _, a := range add {
			if _, _, _, ok := lib.Addition(a); !ok {
				t.Errorf("%s:%d: nothing called %s can be added", p.File, p.Line, a)
			}
		}
		if len(add) > 0 && reason == "" {
			t.Errorf("%s:%d: says what to add, and not why", p.File, p.Line)
		}
	}
	var dead func(checks []*Check, steps []*Step, each bool)
	dead = func(checks []*Check, steps []*Step, each bool) {
		for _, c := range checks {
			if c.Add != nil && c.Given == nil && c.Each == nil && !each {
				t.Errorf("%s:%d: the check is always judged, so nothing needs to be added for it", c.Pos.File, c.Pos.Line)
			}
		}
		for _, st := range steps {
			dead(st.Checks, st.Steps, each || st.Verb == Each)
		}
	}
	for _, ex := range lib.Exchanges {
		dead(ex.Checks, ex.Steps, false)
		look(ex.Pos, ex.Reason, ex.Add)
		for _, c := range ex.AllChecks() {
			look(c.Pos, c.Reason, c.Add)
		}
	}
	if additions < 150 {
		t.Errorf("only %d additions are named", additions)
	}
}

func TestAddition(t *testing.T) {
	lib, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	for add, want := range map[string][3]string{
		"text-tool":       {"roles", "text-tool", "{name: …, arguments: {…}}"},
		"argument-prompt": {"roles", "argument-prompt", "{name: …, arguments: {…}}"},
		"text-resource":   {"roles", "text-resource", "{uri: …}"},
		"allow":           {"allow", "", "{name: …, arguments: {…}}"},
		"auth.expired":    {"auth", "expired", "…"},
	} {
		if key, name, example, ok := lib.Addition(add); !ok || key != want[0] || name != want[1] || example != want[2] {
			t.Errorf("%s is %s, %s, %s (%v), not %v", add, key, name, example, ok, want)
		}
	}
	if _, _, _, ok := lib.Addition("no-such-tool"); ok {
		t.Error("a role that nobody knows can be added")
	}
}
