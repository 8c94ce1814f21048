package verdict

import (
	"slices"
	"strings"
)

// Addition is one entry that litmus.yaml lacks for a check to be judged.
type Addition struct {
	Key   string `json:"key"`            // where it goes: roles, allow or auth
	Name  string `json:"name,omitempty"` // its key there; "": Key holds a list, and this is an item of it
	Value string `json:"value"`          // what is to be filled in, such as {name: …, arguments: {…}}
}

// Additions are entries for litmus.yaml. Where there are several of them, one may do: the reason beside them says what is asked for.
type Additions []Addition

// String is the additions in YAML on one line: "roles: {text-tool: {name: …, arguments: {…}}}"; "" for none.
func (a Additions) String() string {
	var keys []string
	for _, key := range a.keys() {
		open, shut := "{", "}"
		var entries []string
		for _, e := range a {
			switch {
			case e.Key != key:
			case e.Name == "":
				open, shut = "[", "]"
				entries = append(entries, e.Value)
			default:
				entries = append(entries, e.Name+": "+e.Value)
			}
		}
		keys = append(keys, key+": "+open+strings.Join(entries, ", ")+shut)
	}
	return strings.Join(keys, ", ")
}

// Block is the additions in YAML, an entry a line, each once; "" for none.
func (a Additions) Block() string {
	var lines []string
	for _, key := range a.keys() {
		lines = append(lines, key+":")
		for i, e := range a {
			switch {
			case e.Key != key || slices.Contains(a[:i], e):
			case e.Name == "":
				lines = append(lines, "  - "+e.Value)
			default:
				lines = append(lines, "  "+e.Name+": "+e.Value)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// keys are the keys of litmus.yaml that are added to, in order of first appearance.
func (a Additions) keys() []string {
	var out []string
	for _, e := range a {
		if !slices.Contains(out, e.Key) {
			out = append(out, e.Key)
		}
	}
	return out
}
