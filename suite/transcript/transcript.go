// Package transcript holds the evidence of a run: everything that crossed the wire, in order, with what is
// needed to judge it again without the server. It knows no protocol rules and decides nothing.
//
// A Run is a Header and any number of Sessions and Plays. A session is one conversation with the target; its
// own events are its opening (the handshake) and its ending. A play is one exchange carried out in a session.
package transcript

import (
	"fmt"
	"time"
)

// Kind says what an Event is.
type Kind string

// The kinds of events.
const (
	Step    Kind = "step"    // the player began a step
	Send    Kind = "send"    // the suite wrote a message (Data), or made an HTTP request (HTTP)
	Receive Kind = "receive" // the server wrote a message: a line, an SSE event, or an HTTP body (Data)
	Answer  Kind = "answer"  // an HTTP answer began: status and headers (HTTP)
	End     Kind = "end"     // an HTTP answer or stream ended; Note says why when it broke
	Stderr  Kind = "stderr"  // the server wrote to its standard error (Data)
	EOF     Kind = "eof"     // the server closed its standard output, or over HTTP+SSE the stream that carries its messages
	Closed  Kind = "closed"  // the suite closed the server's standard input
	Exit    Kind = "exit"    // the server's process ended (Exit)
	Timeout Kind = "timeout" // a wait of the suite ran out; Note says what was awaited
	Dropped Kind = "dropped" // a limit of the transport was reached; Note says what is not kept any more
	Failure Kind = "failure" // the suite could not do what a step asks (Note): ours or the network's fault
)

// Carrier is the number (Event.Stream) of the stream on which all messages of the server come over HTTP+SSE: the GET that
// opens the session.
const Carrier = 1

// Event is one thing that happened in a session.
type Event struct {
	Kind   Kind          `json:"kind"`
	Step   int           `json:"step,omitempty"`   // the step it belongs to, counted from 1; 0 outside any step
	Item   int           `json:"item,omitempty"`   // the repetition of a repeated step, counted from 1
	At     time.Duration `json:"at"`               // nanoseconds since the run began
	Stream int           `json:"stream,omitempty"` // the HTTP request of this session, counted from 1; 0 on pipes
	Data   []byte        `json:"-"`                // the bytes, at most the transport's cap
	Size   int64         `json:"size,omitempty"`   // the length of what was received when Data was cut short of it
	HTTP   *HTTP         `json:"http,omitempty"`
	SSE    *SSE          `json:"sse,omitempty"`
	Exit   *ExitStatus   `json:"exit,omitempty"`
	In     string        `json:"in,omitempty"` // the name of the session that an exchange opened beside its own
	Note   string        `json:"note,omitempty"`
}

// HTTP is the metadata of an HTTP request (Method, URL) or answer (Status).
type HTTP struct {
	Method  string              `json:"method,omitempty"`
	URL     string              `json:"url,omitempty"`
	Status  int                 `json:"status,omitempty"`
	Headers map[string][]string `json:"headers,omitempty"` // canonical names
}

// SSE is the metadata of the server-sent event that carried a message. HasData tells an empty data field from none.
type SSE struct {
	Event   string  `json:"event,omitempty"`
	ID      *string `json:"id,omitempty"`
	Retry   *int    `json:"retry,omitempty"` // milliseconds
	HasData bool    `json:"hasData,omitempty"`
}

// ExitStatus is how a process ended: Code, or -1 and the Signal's name.
type ExitStatus struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// String says what became of the process: "exited with code 3" or "was ended by signal killed".
func (e *ExitStatus) String() string {
	if e.Signal != "" {
		return "was ended by signal " + e.Signal
	}
	return fmt.Sprintf("exited with code %d", e.Code)
}

// Session is one conversation with the target.
type Session struct {
	Number     int            `json:"session"` // counted from 1 within the run
	Revision   string         `json:"revision"`
	Transport  string         `json:"transport"`
	Client     map[string]any `json:"client,omitempty"`     // the client capabilities that were declared
	Negotiated string         `json:"negotiated,omitempty"` // the revision that the server answered with
	Exchange   string         `json:"exchange,omitempty"`   // of a session that an exchange opened beside its own: the exchange
	Name       string         `json:"name,omitempty"`       // and the name it gave the session, as in Event.In
	Opened     int            `json:"opened,omitempty"`     // how many of Events are its opening, the handshake
	Events     []Event        `json:"-"`                    // opening (step 0) and ending, without those of its plays
}

// Opening are the events of the session's handshake; none for a session that was opened bare.
func (s *Session) Opening() []Event { return s.Events[:min(s.Opened, len(s.Events))] }

// Play is one exchange carried out in a session.
type Play struct {
	Exchange  string  `json:"exchange"`
	Revision  string  `json:"revision"`
	Transport string  `json:"transport"`
	Session   int     `json:"session"` // 0: no session could be had; Problem says why
	Problem   string  `json:"problem,omitempty"`
	Events    []Event `json:"-"`
}

// Header says what must be known to judge the run again.
type Header struct {
	Format    string    `json:"format"`    // FormatName
	Suite     string    `json:"suite"`     // the version of mcp-litmus
	Catalogue string    `json:"catalogue"` // the digest of requirements, exchanges, roles and schemas
	Started   time.Time `json:"started"`
	Target    string    `json:"target"` // for people; secrets redacted
	Options   Options   `json:"options"`
	// Problems say what kept a part of the run from being carried out, for people.
	Problems []string      `json:"problems,omitempty"`
	Duration time.Duration `json:"duration"` // nanoseconds
}

// Options are the settings that verdicts depend on.
type Options struct {
	Revisions []string        `json:"revisions,omitempty"` // asked for; empty: every one that the server speaks
	CallTools string          `json:"callTools"`           // safe, all or none
	Roles     map[string]Role `json:"roles,omitempty"`     // from litmus.yaml
	Allow     []Role          `json:"allow,omitempty"`     // tools that litmus.yaml allows to be called
	Loopback  bool            `json:"loopback"`            // the target's URL is on this machine
	Select    string          `json:"select,omitempty"`
	Narrowed  bool            `json:"narrowed,omitempty"` // less was asked for than what the baseline is about
	Shard     string          `json:"shard,omitempty"`    // "1/3": only the first of three parts was played; "": all
	Timeout   time.Duration   `json:"timeout"`
	// Tokens for a server that asks for authorization, by kind (ValidToken, "expired"). The Redactor keeps the kinds alone.
	Tokens map[string]string `json:"tokens,omitempty"`
}

// ValidToken is the kind of the token that opens a server.
const ValidToken = "valid"

// Role says which tool, prompt or resource plays a part, and with which arguments.
type Role struct {
	Name      string         `json:"name,omitempty"` // of a tool or prompt
	Arguments map[string]any `json:"arguments,omitempty"`
	URI       string         `json:"uri,omitempty"` // of a resource
}

// Run is a whole transcript.
type Run struct {
	Header   Header
	Sessions []*Session
	Plays    []*Play
	Complete bool // false: interrupted before everything planned was played
}

// BarrierPrefix begins the ids of the pings that the suite sends only to know that the server has read
// everything before them. No exchange uses such an id.
const BarrierPrefix = "litmus-barrier-"

// NeverReached is the Note of an End event of a request over HTTP that reached nobody, because the server's process had ended.
const NeverReached = "the server had ended before this could be sent"

// Automatic is the Note of a Send event with which the session answered a request of the server by itself.
const Automatic = "automatic answer"

// FormatName is the value of Header.Format for the files that this version reads and writes.
const FormatName = "mcp-litmus transcript 1"
