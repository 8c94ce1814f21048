// Package script holds the requirements, exchanges and roles of the fixtures as types, loads and validates
// them, and compiles their CEL expressions. It knows nothing of sessions, transports or verdicts.
package script

import (
	"encoding/json"
	"fmt"
	"time"
)

// Position is a place in a file, for errors and reports. Line and Column count from 1.
type Position struct {
	File   string
	Line   int
	Column int
}

// Level is the weight of a requirement.
type Level string

// The levels. Advice is good practice that the specification does not require.
const (
	Must      Level = "MUST"
	MustNot   Level = "MUST NOT"
	Should    Level = "SHOULD"
	ShouldNot Level = "SHOULD NOT"
	Advice    Level = "advice"
)

// Requirement is one normative statement of the specification, in our own words.
type Requirement struct {
	ID         string
	Levels     map[Revision]Level // by the revision from which the level holds
	Since      Revision           // the first revision in which it is in force
	Until      Revision           // the last one; empty: it still is
	Text       string
	Spec       map[Revision]string // page#anchor below the revision's specification, by the first revision it is right for
	Note       string              // how a doubtful text is read, for people
	Untestable string              // why it cannot be seen from outside; empty: it can
	Transports []string            // the transports that it is about; empty: all
	Extension  string              // the extension that states it, which the core does not depend on; empty: the core
	Area       string              // the page it is from: basic/lifecycle
	Pos        Position
}

// Exchange is a scripted conversation.
type Exchange struct {
	Name       string
	Area       string   // the file it is from: basic/lifecycle
	Needs      []string // capabilities ("tools", "resources.subscribe", "!prompts": not declared) and roles ("failing-tool")
	Transports []string // empty: all
	Era        string   // legacy or modern: said at the revisions of that era only; empty: at all
	Since      Revision // the first revision at which it is said; empty: at all
	When       *Expr    // false: the exchange does not apply (skip)
	Given      *Expr    // false: this server gives no way to exercise it (untested)
	Reason     string   // why, for When and Given
	Add        []string // for Given: what would exercise it, as Library.Addition takes it
	Session    SessionKind
	Client     Client
	Survey     SurveyKind
	Watch      bool // no steps: Checks are judged over everything that arrived at this revision and transport
	Steps      []*Step
	Checks     []*Check // of a Watch exchange, or of the exchange as a whole, after its last step
	Pos        Position
}

// SessionKind says what kind of session an exchange needs.
type SessionKind string

// The kinds of session.
const (
	Shared SessionKind = "shared" // leaves the session clean: it may be used before and after by other exchanges
	Own    SessionKind = "own"    // a fresh session that nobody uses after
	Bare   SessionKind = "bare"   // a fresh connection on which nothing was said: the exchange itself initializes
)

// Client is what the suite is as a client during an exchange.
type Client struct {
	Capabilities map[string]any
	Answers      map[string]Value // by method of the server's request: the result; {error: ...} answers with an error, null not at all
}

// CapabilitiesKey is the same text for the same client capabilities, and "" for none: what a server offers to a client may
// depend on them, and on nothing else of the client's.
func CapabilitiesKey(capabilities map[string]any) string {
	if len(capabilities) == 0 {
		return ""
	}
	b, err := json.Marshal(capabilities)
	if err != nil {
		return fmt.Sprint(capabilities)
	}
	return string(b)
}

// Verb is what a step does.
type Verb string

// The verbs.
const (
	Request  Verb = "request"  // send a request, wait for its reply
	Notify   Verb = "notify"   // send a notification
	Raw      Verb = "raw"      // write text (or several writes) as it is; wait for the replies to IDs, else for a barrier
	HTTP     Verb = "http"     // make an HTTP request, wait for its whole answer
	Pages    Verb = "pages"    // a list request, following nextCursor to the end
	Listen   Verb = "listen"   // open the stream of messages that no request asked for (HTTP GET)
	Await    Verb = "await"    // wait for a message for which an expression holds
	Quiet    Verb = "quiet"    // a barrier request goes through; what else arrives is seen
	Close    Verb = "close"    // close "input" (and wait for the end) or drop a "stream"
	Open     Verb = "open"     // open another session under a name; later steps use it with in:
	Parallel Verb = "parallel" // send many requests without waiting, then wait for all replies
	Each     Verb = "each"     // repeat steps for every item of a list
)

// Step is one step of an exchange. Which fields matter depends on the Verb.
type Step struct {
	Number      int // counted from 1 in reading order, nested steps included; Event.Step
	Verb        Verb
	Method      string           // request, notify, pages: the JSON-RPC method (may hold ${...})
	MethodValue Value            // the same as a template
	Params      Value            // zero: no params member
	Meta        map[string]Value // request, pages, parallel: put over the `_meta` that the session sends; null leaves a member out
	ID          Value            // request: the id to use instead of the session's own
	IDs         []Value          // raw: wait for replies with these ids
	Writes      []Value          // raw: one write each; nothing added. A single text is a line: Line is set
	Line        bool             // raw: the transport ends the text as it ends every message
	Headers     Headers          // request, notify, raw, listen, http: in place of the transport's own of the same names
	HTTP        *HTTPRequest     // http; nil for all others
	Requests    Value            // parallel: a list of {request, params, id}
	Where       *Expr            // await: over `it`, one message
	List        *Expr            // each: the items
	Steps       []*Step          // each: the nested steps
	Target      string           // close: Input, Stream or the name (as:) of the step that opened it; open: the name
	Bare        bool             // open: without the handshake
	In          string           // the session's name; empty: the exchange's own
	As          string           // the name under which later steps and checks see this step's observation
	When        *Expr            // false: the step is left out
	Until       Until            // request, http: what is waited for
	Poll        *Expr            // request: asked again, each time under another id, until this holds of what the step observed by then
	Timeout     time.Duration    // 0: the run's
	Malformed   bool             // this step breaks the protocol on purpose: our own messages are not checked
	Checks      []*Check
	Pos         Position
}

// Until says how long a step waits for the answer to its message.
type Until string

// What a step may wait for. Event and Sent are for requests.
const (
	UntilReply Until = "reply" // the default
	UntilEnd   Until = "end"   // until the HTTP answer is over
	UntilEvent Until = "event" // for its first event; then the connection is dropped
	UntilSent  Until = "sent"  // for nothing
)

// What close: closes, beside what a step with a name opened.
const (
	Input  = "input"  // the standard input of the server
	Stream = "stream" // the newest stream of a listen:
)

// HTTPRequest is what an http step sends, beside its headers.
type HTTPRequest struct{ Method, Path, Body, Host Value }

// Headers are what a step says of HTTP headers. One whose value is null is left out.
type Headers struct {
	Named    map[string]Value
	Computed Value // in place of Named, where the names are computed, too: comes out as a map
}

// IsZero says whether nothing is said of headers.
func (h Headers) IsZero() bool { return len(h.Named) == 0 && h.Computed.IsZero() }

// Check ties a requirement to what must hold.
type Check struct {
	Requirement string
	Each        *Expr    // the items; nil: one judgement
	That        *Expr    // over the observation (and `it` where Each is set)
	When        *Expr    // false: skip
	Given       *Expr    // false: untested
	Reason      string   // why, for When, Given and an empty Each
	Add         []string // for Given and an empty Each: what would give occasion to judge it, as Library.Addition takes it
	Survival    bool     // the check is that the server goes on: that it has ended counts, and excuses nothing
	Pos         Position
}

// RoleDefinition is one part that a tool, prompt or resource can play.
type RoleDefinition struct {
	Name   string
	Kind   string // tool, prompt, resource, template
	Does   string // what it does, for people
	Add    string // what to put into litmus.yaml so that it can be exercised
	Apart  bool   // a call takes long, changes something or asks the client: the survey does not make it
	Known  []KnownRole
	Survey *Expr // picks one from the survey, as an object {name, arguments} or {uri}, or null
	Shows  *Expr // over {tool, arguments, result} of a call that the survey made: it plays this part
	Pos    Position
}

// KnownRole is a well-known fixture that plays the part.
type KnownRole struct {
	Name      string
	URI       string
	Arguments map[string]any
	When      *Expr // over server: narrows generic names to a well-known server; nil: the name alone is enough
}
