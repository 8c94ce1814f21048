// Package transport carries bytes between the suite and the server under test: over the pipes of a child process, over
// streamable HTTP or HTTP+SSE, or inside this process. It records all that crosses, in order, and knows no protocol rules: it
// frames messages, it does not read them.
package transport

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// The names of the transports, as Target.Transport gives them.
const (
	Stdio          = wire.Stdio
	StreamableHTTP = wire.StreamableHTTP
	HTTPSSE        = wire.HTTPSSE
	InMemory       = wire.InMemory
)

// ErrClosed is what Send returns, wrapped, when the conversation is over: the input was closed, or the server is gone.
var ErrClosed = errors.New("the connection to the server is closed")

// Greeter is a Conn that nothing can be sent over before the server has said where to.
type Greeter interface {
	// Greeted says whether it has, which an event before tells; the error is why nothing can be sent there. It takes no
	// lock.
	Greeted() (bool, error)
}

// Switcher is a Target that can be spoken to over more than one transport, as a URL of which nobody has said what
// it speaks.
type Switcher interface {
	// Switch makes later conversations go over the transport. It is false where the target is bound to another one.
	Switch(transport string) bool
}

// Authorizer is a Target that is spoken to over HTTP.
type Authorizer interface {
	// Authorize makes later conversations send the header Authorization with every request, unless the target was
	// made with one. Outgoing.Header overrides it.
	Authorize(value string)
}

// Sink takes the events of one conversation. Record is called from several goroutines, for one stream in the order in
// which things happened. Step, Item and At are for the sink to fill. Send calls it, too: a sink with a lock must not hold that
// lock while it calls Send, and Record must not call back into the Conn.
type Sink interface {
	Record(event transcript.Event)
}

// Outgoing is one thing to send.
type Outgoing struct {
	// Data is a message. On pipes a newline is added, in the same write; on HTTP it is the body.
	Data []byte
	// Writes are raw writes instead of Data: each is given to the pipe on its own, nothing added. On HTTP the body
	// is their concatenation.
	Writes [][]byte
	// Method is the HTTP method, POST by default.
	Method string
	// Header is put in place of the default headers of the same name. An empty list removes the header. Names are
	// written as given.
	Header map[string][]string
	// Path is a reference (RFC 3986, section 4.2) resolved against the endpoint, which is also its default: over HTTP+SSE
	// that is the stream's address for GET, and for all else the one that the server gave. It must stay
	// on the endpoint's scheme, host and port.
	Path string
	// Hold says that the answer is a stream to keep open: it outlives the context of Send.
	Hold bool
	// Host replaces the Host header.
	Host string
	// Note goes into the Send event.
	Note string
}

// Conn is one conversation. Its methods may be called from several goroutines.
type Conn interface {
	// Send hands something over and returns without waiting for an answer. The number counts the HTTP requests of
	// this conversation from 1; on pipes it is 0. A Send event is recorded before anything leaves.
	//
	// An error means that nothing was handed over: the conversation is over (ErrClosed; nothing is recorded), the request
	// cannot be written in HTTP, or too much waits already for a server that does not read (both are recorded as a
	// Failure). What goes wrong later shows in the events: a host that cannot be reached is a Failure and an End.
	//
	// On HTTP the request ends early when ctx does, unless Hold is set. On pipes ctx is not looked at. Over HTTP+SSE the answer to
	// a message does not bring the reply: that comes on the stream transcript.Carrier.
	Send(ctx context.Context, out Outgoing) (stream int, err error)
	// SetHeader sets a header of every later request; "" takes it away. Pipes ignore it.
	SetHeader(name, value string)
	// Abort drops the connection of one HTTP request; its End event follows. Pipes ignore it.
	Abort(stream int)
	// CloseInput closes the server's standard input once all that was sent is written, and records Closed. HTTP
	// ignores it.
	CloseInput()
	// Done is closed when nothing more can come: on pipes when the standard output has ended or the process has, on HTTP
	// by Close only, over HTTP+SSE also when the server has ended its stream (an EOF event tells it).
	Done() <-chan struct{}
	// Close ends the conversation and returns when all is gone; no event is recorded afterwards.
	//
	// Pipes: the input is closed; after Limits.Grace the process group is asked to end (SIGTERM), after another it is
	// killed, as is in any case what the process left behind in its group. HTTP: when SetHeader has set Mcp-Session-Id, a
	// DELETE is sent and given Limits.Grace; then open requests are aborted.
	Close()
}

// Target is the server under test and the way to it.
type Target interface {
	// Transport names the transport: Stdio, StreamableHTTP, HTTPSSE or InMemory. It may change by Switch.
	Transport() string
	// Loopback says whether the server is surely on this machine: a child process, this process, or a URL whose host is
	// a loopback address or localhost.
	Loopback() bool
	// String describes the target to people, without the passwords that stand in a URL.
	String() string
	// Start is called once, before the first Open. It starts what all conversations share.
	Start(ctx context.Context) error
	// Open begins a conversation: on stdio a process of its own. ctx bounds the opening, not the conversation.
	Open(ctx context.Context, sink Sink) (Conn, error)
	// Stop ends what Start began.
	Stop()
}

// Process is what the target of Served tells about its process; get it by a type assertion.
type Process interface {
	// Stderr returns the last 64 KiB of what the process wrote to its standard error and output.
	Stderr() []byte
	// Exit tells how the process ended; nil while it runs or when it was never started.
	Exit() *transcript.ExitStatus
}

// Limits bound what a server can cost. A zero field means its default.
type Limits struct {
	MaxMessage int64         // bytes of one message: 16 MiB. Of a longer one 64 KiB are kept, and Event.Size tells its length
	MaxStderr  int64         // bytes of standard error that are kept in one conversation: 1 MiB
	MaxQueue   int64         // bytes that may wait for a server that does not read: 64 MiB
	Grace      time.Duration // the time for each step of ending a conversation: 2 s
}

func (l Limits) withDefaults() Limits {
	if l.MaxMessage <= 0 {
		l.MaxMessage = 16 << 20
	}
	if l.MaxStderr <= 0 {
		l.MaxStderr = 1 << 20
	}
	if l.MaxQueue <= 0 {
		l.MaxQueue = 64 << 20
	}
	if l.Grace <= 0 {
		l.Grace = 2 * time.Second
	}
	return l
}
