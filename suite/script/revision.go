package script

import (
	"fmt"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
	"slices"
	"strings"
)

// Revision is a dated version of the protocol, such as "2025-11-25". Revisions order as their texts do.
type Revision string

// The revisions, oldest first.
const (
	R20241105 Revision = "2024-11-05"
	R20250326 Revision = "2025-03-26"
	R20250618 Revision = "2025-06-18"
	R20251125 Revision = "2025-11-25"
	R20260728 Revision = "2026-07-28"
)

// Revisions are all published revisions, oldest first.
var Revisions = []Revision{R20241105, R20250326, R20250618, R20251125, R20260728}

// Modern says whether the revision is of the stateless era, without a handshake.
func (r Revision) Modern() bool { return r >= R20260728 }

// Era names the era of the revision, as the era: of an exchange does.
func (r Revision) Era() string {
	if r.Modern() {
		return "modern"
	}
	return "legacy"
}

// Over says whether servers of the revision are spoken to over the transport: HTTP+SSE has no place in the modern era.
func (r Revision) Over(transport string) bool { return !r.Modern() || transport != wire.HTTPSSE }

// ParseRevision checks that s names a published revision; the error lists them.
func ParseRevision(s string) (Revision, error) {
	if slices.Contains(Revisions, Revision(s)) {
		return Revision(s), nil
	}
	names := make([]string, len(Revisions))
	for i, r := range Revisions {
		names[i] = string(r)
	}
	return "", fmt.Errorf("there is no revision %q; the revisions are %s", s, strings.Join(names, ", "))
}

// InForce says whether the requirement holds at revision r.
func (q *Requirement) InForce(r Revision) bool {
	return r >= q.Since && (q.Until == "" || r <= q.Until)
}

// LevelAt is the requirement's level at revision r: the one of the newest entry that is not newer than r.
func (q *Requirement) LevelAt(r Revision) Level { return newest(q.Levels, r) }

// SpecAt is the page and anchor where revision r states the requirement, or "".
func (q *Requirement) SpecAt(r Revision) string { return newest(q.Spec, r) }

func newest[T any](by map[Revision]T, r Revision) T {
	var best Revision
	var value T
	for from, v := range by {
		if from <= r && from >= best {
			best, value = from, v
		}
	}
	return value
}
