package reference

import "slices"

// revision is a protocol version. Revisions are dates, so they compare as strings; the empty one, before
// negotiation, comes before all others.
type revision string

const (
	rev2024November revision = "2024-11-05"
	rev2025March    revision = "2025-03-26"
	rev2025June     revision = "2025-06-18"
	rev2025November revision = "2025-11-25"
	rev2026July     revision = "2026-07-28"

	latestHandshake = rev2025November
)

// handshakeRevisions are the ones that begin with an initialize request.
var handshakeRevisions = []revision{rev2024November, rev2025March, rev2025June, rev2025November}

// requestRevisions are the ones without a session: each request states one of them.
var requestRevisions = []revision{rev2026July}

// negotiable: an initialize request can ask for it. perRequest: a request can state it.
func (r revision) negotiable() bool { return slices.Contains(handshakeRevisions, r) }
func (r revision) perRequest() bool { return slices.Contains(requestRevisions, r) }

// What differs between revisions, by the question that the code asks.

func (r revision) hasBatches() bool          { return r == rev2025March }
func (r revision) hasToolAnnotations() bool  { return r >= rev2025March }
func (r revision) hasProgressMessage() bool  { return r >= rev2025March }
func (r revision) hasCompletionsCap() bool   { return r >= rev2025March }
func (r revision) hasTitles() bool           { return r >= rev2025June }
func (r revision) hasStructuredOutput() bool { return r >= rev2025June }
func (r revision) hasLastModified() bool     { return r >= rev2025June }
func (r revision) hasElicitation() bool      { return r >= rev2025June }
func (r revision) hasVersionHeader() bool    { return r >= rev2025June }
func (r revision) hasIcons() bool            { return r >= rev2025November }
func (r revision) hasElicitationModes() bool { return r >= rev2025November }
func (r revision) hasPrimingEvents() bool    { return r >= rev2025November }
func (r revision) hasTasks() bool            { return r == rev2025November }

// badArgumentsAreResults: arguments that do not fit a tool's schema are the tool's error, which a model can read,
// and no longer a protocol error.
func (r revision) badArgumentsAreResults() bool { return r >= rev2025November }

// hasSessions: what a client says in initialize, and changes later, holds for what follows. Without sessions a request
// stands alone, the server sends no requests, and what changes, changes for everyone.
func (r revision) hasSessions() bool { return r <= latestHandshake }

// resourceNotFound is the code of the error about a resource that is not there.
func (r revision) resourceNotFound() int {
	if r.hasSessions() {
		return codeResourceNotFound
	}
	return codeInvalidParams
}

// errorsMayLackID: the schema lets an error response leave its id out. Before, JSON-RPC's null stands there.
func (r revision) errorsMayLackID() bool { return r >= rev2025November }
