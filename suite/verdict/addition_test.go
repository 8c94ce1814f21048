package verdict

import "testing"

func TestAdditions(t *testing.T) {
	text := Addition{"roles", "text-tool", "{name: …, arguments: {…}}"}
	some := Additions{text, {"roles", "text-resource", "{uri: …}"}, {"allow", "", "{name: …}"}, text}
	for _, c := range []struct {
		of          Additions
		line, block string
	}{
		{nil, "", ""},
		{Additions{text}, "roles: {text-tool: {name: …, arguments: {…}}}", "roles:\n  text-tool: {name: …, arguments: {…}}"},
		{
			some[:3], "roles: {text-tool: {name: …, arguments: {…}}, text-resource: {uri: …}}, allow: [{name: …}]",
			"roles:\n  text-tool: {name: …, arguments: {…}}\n  text-resource: {uri: …}\nallow:\n  - {name: …}",
		},
	} {
		if got := c.of.String(); got != c.line {
			t.Errorf("one line is %q, not %q", got, c.line)
		}
		if got := c.of.Block(); got != c.block {
			t.Errorf("a block is %q, not %q", got, c.block)
		}
	}
	if got, want := some.Block(), some[:3].Block(); got != want {
		t.Errorf("what stands twice is %q", got)
	}
}
