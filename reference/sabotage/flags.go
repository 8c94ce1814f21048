package sabotage

import (
	"maps"
	"slices"
)

// KnownFlags are the flags of the reference server that a fault file may ask for, with what each does when it is true. They exist only for
// violations that nobody could make at the edge, because the server's own state is what is wrong. Each is off by default.
var KnownFlags = map[string]string{
	"session-is-proof":        "a request in an open session needs no token",
	"query-tokens":            "a token in the query of the address is taken",
	"no-signature-check":      "a token is taken whatever its signature is",
	"no-issuer-check":         "a token that names another issuer is taken",
	"no-expiry-check":         "an expired token is taken",
	"no-audience-check":       "a token for another server is taken",
	"disconnect-cancels":      "a lost connection cancels the call that it carried",
	"handshake-only":          "only the revisions with a handshake are spoken",
	"ignore-cancellation":     "a cancelled call runs on and is answered",
	"keep-deleted-sessions":   "a session goes on working after DELETE",
	"modern-only":             "only the revisions without a handshake are spoken",
	"no-host-check":           "any Host header is accepted",
	"no-input-validation":     "tools run whatever their arguments are",
	"no-log-filter":           "log messages below the level that was set are sent too",
	"no-origin-check":         "any Origin header is accepted",
	"predictable-session-ids": "session ids count upwards",
	"replay-foreign-streams":  "resumption replays the other streams of the session as well",
}

func flagNames() []string { return slices.Sorted(maps.Keys(KnownFlags)) }
