package plan

import (
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Coverage is what the catalogue makes of the requirements in force at one revision. Advice is no requirement and
// stands apart. Each list is in the catalogue's order.
type Coverage struct {
	Revision   script.Revision
	Tested     []*script.Requirement // an exchange that concerns the revision judges it, over some transport
	Untested   []*script.Requirement // could be seen from outside, and no exchange judges it there
	Untestable []*script.Requirement // cannot be seen from outside; its Untestable says why
	Advice     []*script.Requirement // good practice, judged or not
}

// Covers draws the coverage of a revision from the catalogue alone: no server is asked. What extensions state is left out.
func Covers(lib *script.Library, r script.Revision) Coverage {
	return covers(lib, r, func(q *script.Requirement) bool { return q.Extension == "" })
}

// CoversExtensions is what Covers is, of what extensions state.
func CoversExtensions(lib *script.Library, r script.Revision) Coverage {
	return covers(lib, r, func(q *script.Requirement) bool { return q.Extension != "" })
}

func covers(lib *script.Library, r script.Revision, about func(*script.Requirement) bool) Coverage {
	judged := map[*script.Requirement]bool{}
	for _, over := range wire.Transports {
		for _, ex := range lib.Exchanges {
			if !Concerns(lib, ex, r, over) {
				continue
			}
			for _, q := range InForce(lib, ex, r, over) {
				judged[q] = true
			}
		}
	}
	c := Coverage{Revision: r}
	for _, q := range lib.Requirements {
		switch {
		case !q.InForce(r) || !about(q):
		case q.LevelAt(r) == script.Advice:
			c.Advice = append(c.Advice, q)
		case q.Untestable != "":
			c.Untestable = append(c.Untestable, q)
		case judged[q]:
			c.Tested = append(c.Tested, q)
		default:
			c.Untested = append(c.Untested, q)
		}
	}
	return c
}

// All is how many requirements are in force.
func (c Coverage) All() int { return len(c.Tested) + len(c.Untested) + len(c.Untestable) }

// Share is the part of those that can be seen from outside that is tested, in percent, rounded down; 0 where there are none.
func (c Coverage) Share() int {
	if visible := len(c.Tested) + len(c.Untested); visible > 0 {
		return 100 * len(c.Tested) / visible
	}
	return 0
}
