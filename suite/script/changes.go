package script

// Change is how a requirement differs between two revisions: From and To are its levels there, "" where it is not in
// force.
type Change struct {
	Requirement *Requirement
	From, To    Level
}

// Came says whether the requirement is in force at the second revision alone.
func (c Change) Came() bool { return c.From == "" }

// Went says whether the requirement is in force at the first revision alone.
func (c Change) Went() bool { return c.To == "" }

// Changes lists the requirements that came, went or changed their level from one revision to another, in the order of
// the catalogue.
func (l *Library) Changes(from, to Revision) []Change {
	var out []Change
	at := func(q *Requirement, r Revision) Level {
		if !q.InForce(r) {
			return ""
		}
		return q.LevelAt(r)
	}
	for _, q := range l.Requirements {
		if c := (Change{q, at(q, from), at(q, to)}); c.From != c.To {
			out = append(out, c)
		}
	}
	return out
}
