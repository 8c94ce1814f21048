package script

import (
	"regexp"
	"strings"
	"testing"
)

// A requirement's text says what a server does that meets it, also where the specification says what must not be: the reports
// put it beside the word for its failure.
func TestForbiddenThingsAreSaidAsWhatIsRight(t *testing.T) {
	lib, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	negation := regexp.MustCompile(`(?i)\b(no|not|never|nothing|nobody|none|neither|nor|only|without|alone|cannot)\b`)
	for _, r := range lib.Requirements {
		for _, level := range r.Levels {
			if strings.HasSuffix(string(level), " NOT") && !negation.MatchString(r.Text) {
				t.Errorf("%s:%d: %s: %q reads as what is forbidden; say what is right", r.Pos.File, r.Pos.Line, r.ID, r.Text)
				break
			}
		}
	}
}
