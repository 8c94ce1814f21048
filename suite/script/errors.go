package script

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Error is one mistake in a file: where, what, and what to do.
type Error struct {
	Pos  Position
	What string
}

// Error is the mistake as file:line:column: what is wrong; what to do.
func (e *Error) Error() string { return e.Pos.String() + ": " + e.What }

// String is file:line:column, or the file alone when the line is not known.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// mistakes gathers what is wrong in one or several files, so that an author sees all of it at once.
type mistakes struct{ list []*Error }

func (m *mistakes) add(at Position, format string, args ...any) {
	m.list = append(m.list, &Error{at, fmt.Sprintf(format, args...)})
}

// err joins the mistakes in the order of the files, or is nil.
func (m *mistakes) err() error {
	slices.SortStableFunc(m.list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	var all []error
	for i, e := range m.list {
		if i > 0 && *e == *m.list[i-1] {
			continue
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}
