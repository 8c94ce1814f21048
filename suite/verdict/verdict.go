// Package verdict holds what became of one check, in the form that reports are written from.
package verdict

import (
	"slices"
	"time"
)

// Status is what became of one check.
type Status string

// The statuses.
const (
	Fail     Status = "fail"     // a MUST or MUST NOT is broken
	Warn     Status = "warn"     // a SHOULD or SHOULD NOT is broken
	Error    Status = "error"    // the suite could not carry it out: never counted against the server
	Note     Status = "note"     // advice not followed; never counted
	Untested Status = "untested" // applies, but this server gave no way to exercise it; Add says what to add
	Skip     Status = "skip"     // does not apply; Reason says why
	Pass     Status = "pass"
)

// Statuses are all of them in the order in which reports tell of them: what is wrong comes first.
var Statuses = []Status{Fail, Warn, Error, Note, Untested, Skip, Pass}

// Description is what the status means, in a few words.
func (s Status) Description() string {
	return map[Status]string{
		Fail: "a MUST is broken", Warn: "a SHOULD is broken",
		Error: "the suite could not carry it out; not counted against the server", Note: "advice that is not followed; never counted",
		Untested: "applies, but this server gave no way to exercise it", Skip: "does not apply", Pass: "held",
	}[s]
}

// Outweighs says whether of two checks of one requirement in one exchange the one that came to s counts, and not the one that
// came to other. It is not the order of Statuses: what is known of the server outweighs that something could not be carried out, and
// a pass outweighs skip and untested, because then the requirement was judged.
func (s Status) Outweighs(other Status) bool {
	return slices.Index(weights, s) > slices.Index(weights, other)
}

var weights = []Status{Skip, Untested, Pass, Error, Note, Warn, Fail}

// Verdict is what became of one requirement in one exchange, at one revision over one transport.
type Verdict struct {
	Requirement string        `json:"requirement"`
	Exchange    string        `json:"exchange"`
	Area        string        `json:"area"`  // the requirement's page: basic/lifecycle
	Level       string        `json:"level"` // MUST, MUST NOT, SHOULD, SHOULD NOT or advice, at Revision
	Revision    string        `json:"revision"`
	Transport   string        `json:"transport"` // stdio, streamable-http, http+sse or in-memory
	Status      Status        `json:"status"`
	Reason      string        `json:"reason"`              // one sentence; empty for a pass
	Add         Additions     `json:"add,omitempty"`       // for untested: what in litmus.yaml would let it be judged
	Text        string        `json:"text"`                // the requirement in words
	Spec        string        `json:"spec"`                // the URL of the section
	Note        string        `json:"note,omitempty"`      // how a doubtful text is read
	Evidence    *Evidence     `json:"evidence,omitempty"`  // for fail, warn, note and error
	Extension   string        `json:"extension,omitempty"` // the extension that states the requirement: then it does not count
	Known       string        `json:"known,omitempty"`     // for fail and warn: why the baseline expects it; then it does not count
	Flaky       bool          `json:"flaky,omitempty"`     // with Known: the baseline says that it fails now and then
	Duration    time.Duration `json:"duration"`            // that the exchange took; seconds in JSON
}

// Why is the reason, and what to add to litmus.yaml against it, in one text.
func (v *Verdict) Why() string {
	if len(v.Add) == 0 {
		return v.Reason
	}
	return v.Reason + "; add to litmus.yaml: " + v.Add.String()
}

// Evidence shows why a verdict is what it is.
type Evidence struct {
	Expression string `json:"expression,omitempty"`  // the check, as it stands in the exchange
	Position   string `json:"position,omitempty"`    // file:line:column of the check
	Parts      []Part `json:"parts,omitempty"`       // the expression's parts with their values
	Item       string `json:"item,omitempty"`        // the item that failed, as JSON
	Problems   int    `json:"failedItems,omitempty"` // how many items failed
	Wire       []Line `json:"wire,omitempty"`        // what was sent and what came back in the step
}

// Part is a sub-expression and its value as JSON, or why it has none.
type Part struct {
	Source string `json:"source"`
	Value  string `json:"value,omitempty"`
	Err    string `json:"error,omitempty"`
}

// Line is one thing that crossed the wire, for people: cut when long, made printable.
type Line struct {
	At        time.Duration `json:"at"`              // since the run began; seconds in JSON
	Direction string        `json:"direction"`       // "sent", "received", or "" for what happened (exit, timeout, stderr)
	About     string        `json:"about,omitempty"` // what Text came as, where that is not plain: "stderr", "event message id=…"
	Text      string        `json:"text"`
	HTTP      *HTTP         `json:"http,omitempty"`   // of a line with which an HTTP request or answer begins
	Stream    int           `json:"stream,omitempty"` // the HTTP request of its session that it belongs to, counted from 1; 0: none
}

// Stderr is the About of a line that the server wrote to its standard error.
const Stderr = "stderr"

// HTTP is how an HTTP request (Method, URL) or answer (Status) begins. Secrets are redacted, long values cut.
type HTTP struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"` // canonical names
}

// Report is everything that reports are written from.
type Report struct {
	Suite     string        `json:"suite"`     // the version of mcp-litmus
	Catalogue string        `json:"catalogue"` // the digest of the catalogue
	Target    string        `json:"target"`
	Server    string        `json:"server"` // name and version as the server says, or ""
	Started   time.Time     `json:"started"`
	Select    string        `json:"select,omitempty"`   // what the run was narrowed to; empty: everything that applies
	Narrowed  bool          `json:"narrowed,omitempty"` // less was asked for than litmus.yaml asks: the baseline cannot be out of date
	Shard     string        `json:"shard,omitempty"`    // "1/3": the first of three parts of one run; empty: the whole
	Duration  time.Duration `json:"duration"`           // seconds in JSON
	Complete  bool          `json:"complete"`           // false: interrupted, or the server could not be driven to the end
	Problems  []string      `json:"problems,omitempty"` // what kept the run from being carried out
	Baseline  []string      `json:"baseline,omitempty"` // entries of the baseline that are out of date; any of them fails the run
	Runs      []Run         `json:"runs"`               // the revisions and transports that were tried, in order
	Verdicts  []Verdict     `json:"verdicts"`
}

// Run is one revision over one transport.
type Run struct {
	Revision   string `json:"revision"`
	Transport  string `json:"transport"`
	Negotiated string `json:"negotiated,omitempty"` // what the server answered, when it is another revision: nothing was judged
}
