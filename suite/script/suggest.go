package script

import (
	"slices"
	"strings"
)

// DidYouMean is `; did you mean "x"?` for the nearest of the names, or "" when none is near.
func DidYouMean(name string, names []string) string {
	best, at := "", 1+max(1, len([]rune(name))/3)
	for _, n := range slices.Sorted(slices.Values(names)) {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if n != name && d < at {
			best, at = n, d
		}
	}
	if best == "" {
		return ""
	}
	return `; did you mean "` + best + `"?`
}

// distance counts the letters to insert, drop, replace, or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	older, old := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old = old, row
	}
	return old[len(y)]
}

// quoted lists names for people: "a", "b" or "c".
func quoted(names []string, last string) string {
	var b strings.Builder
	for i, n := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(`"` + n + `"`)
	}
	return b.String()
}
