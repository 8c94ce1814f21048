package script

import (
	"regexp"
	"strings"
	"testing"
)

// What a reader can do about a check that was not judged stands at the end of its reason, ready to be filled in.
func TestReasonsSayWhatToAdd(t *testing.T) {
	lib, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`([a-z]+(?:-[a-z]+)+): \{(name|uri): …`)
	hints := 0
	look := func(p Position, reason string) {
		_, hint, found := strings.Cut(reason, "litmus.yaml")
		if !found {
			if strings.HasSuffix(reason, "did not answer it") || strings.HasSuffix(reason, "did not answer it with an error") {
				t.Errorf("%s:%d: %q does not say why that is no fault", p.File, p.Line, reason)
			}
			return
		}
		hints++
		if !strings.Contains(reason, "; add to litmus.yaml: ") || !strings.HasPrefix(hint, ": roles: {") && !strings.HasPrefix(hint, ": allow: [") && !strings.HasPrefix(hint, ": auth: {") {
			t.Errorf("%s:%d: %q does not end with what to add, such as: add to litmus.yaml: roles: {text-tool: {name: …, arguments: {…}}}", p.File, p.Line, reason)
		}
		for _, m := range named.FindAllStringSubmatch(hint, -1) {
			role := lib.Role(m[1])
			if role == nil {
				t.Errorf("%s:%d: there is no role %s", p.File, p.Line, m[1])
			} else if (role.Kind == "resource") != (m[2] == "uri") {
				t.Errorf("%s:%d: the role %s is a %s, which is not given by its %s", p.File, p.Line, m[1], role.Kind, m[2])
			}
		}
	}
	for _, ex := range lib.Exchanges {
		look(ex.Pos, ex.Reason)
		for _, c := range ex.AllChecks() {
			look(c.Pos, c.Reason)
		}
	}
	if hints < 50 {
		t.Errorf("only %d reasons say what to add", hints)
	}
}
