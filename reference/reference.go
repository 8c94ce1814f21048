// Package reference is an MCP server that keeps to the letter of every revision of the protocol: those with a handshake,
// from 2024-11-05 to 2025-11-25, over stdio, Streamable HTTP and HTTP+SSE, and 2026-07-28, in which each request stands alone,
// over stdio and Streamable HTTP; all in one process and on one endpoint. It is the known-good end of mcp-litmus: a suite
// that finds fault with it has found a fault of its own. It shares no code with the suite, so that one misreading of the
// specification cannot hide in both.
//
// Which era a message belongs to is decided message by message: a request whose _meta states a revision stands alone,
// whatever came before it; initialize begins a session. On HTTP the version header decides for what has no _meta, such as
// GET, unless a session that is there is named. The files modern_*.go hold what serves 2026-07-28.
//
// What it offers (tools, resources, prompts, completions) are the fixtures that the official conformance suite asks
// for, and a few more that other exchanges need: paged lists, a slow tool that can be cancelled, tools that change
// the lists.
package reference

import (
	"context"
	"crypto/rand"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	serverName    = "mcp-litmus-reference"
	serverTitle   = "mcp-litmus reference server"
	serverVersion = "0.1.0"
)

// Limits. They are generous: a conforming client does not meet them.
const (
	maxMessageBytes = 4 << 20          // one message: a line on stdio, a body on HTTP
	maxCalls        = 4096             // tool calls in progress in one session; more are refused
	maxSessions     = 4096             // HTTP sessions; the least recently used makes room
	maxStreams      = 256              // SSE streams kept for resumption in one session
	maxBacklog      = 1024             // messages waiting for a GET stream in one session
	clientTimeout   = 60 * time.Second // how long a request to the client may take
	drainTime       = 2 * time.Second  // how long work in progress may take to end after the end of stdin
)

// Flag names a deviation that only the inside of the server can show, for [WithFlags]. All are off by default. The last two
// are no violations: a server may speak the revisions of one era only.
const (
	FlagNoOriginCheck         = "no-origin-check"         // any Origin header is accepted
	FlagNoHostCheck           = "no-host-check"           // any Host header is accepted
	FlagKeepDeletedSessions   = "keep-deleted-sessions"   // a session goes on working after DELETE
	FlagPredictableSessionIDs = "predictable-session-ids" // session ids count upwards
	FlagIgnoreCancellation    = "ignore-cancellation"     // a cancelled call runs on and is answered
	FlagNoInputValidation     = "no-input-validation"     // tools run whatever their arguments are
	FlagReplayForeignStreams  = "replay-foreign-streams"  // resumption replays the other streams of the session as well
	FlagDisconnectCancels     = "disconnect-cancels"      // a lost connection cancels the call that it carried
	FlagNoLogFilter           = "no-log-filter"           // log messages below the level that was set are sent too
	FlagHandshakeOnly         = "handshake-only"          // only the revisions with a handshake are spoken: a server of the older era
	FlagModernOnly            = "modern-only"             // only the revisions without one are: a server of the newer era

	// Of a protected server.
	FlagNoAudienceCheck  = "no-audience-check"  // a token for another server is taken
	FlagNoExpiryCheck    = "no-expiry-check"    // an expired token is taken
	FlagNoIssuerCheck    = "no-issuer-check"    // a token that names another issuer is taken
	FlagNoSignatureCheck = "no-signature-check" // a token is taken whatever its signature is
	FlagQueryTokens      = "query-tokens"       // a token in the query of the address is taken
	FlagSessionIsProof   = "session-is-proof"   // a request in an open session needs no token
)

// Flags returns the names that [WithFlags] knows, sorted.
func Flags() []string {
	flags := []string{
		FlagNoOriginCheck, FlagNoHostCheck, FlagKeepDeletedSessions, FlagPredictableSessionIDs,
		FlagIgnoreCancellation, FlagNoInputValidation, FlagReplayForeignStreams, FlagDisconnectCancels, FlagNoLogFilter,
		FlagNoAudienceCheck, FlagNoExpiryCheck, FlagNoIssuerCheck, FlagNoSignatureCheck, FlagQueryTokens, FlagSessionIsProof,
		FlagHandshakeOnly, FlagModernOnly,
	}
	slices.Sort(flags)
	return flags
}

// Server is one reference server. It may serve any number of stdio sessions and HTTP sessions at the same time;
// sessions share nothing: what a tool changes (a list, a watched resource), it changes for its own session only. Clients
// without a session share what there is to change, and tasks.
type Server struct {
	flags map[string]bool
	hosts map[string]bool // host names accepted beside the loopback ones, lower case

	mu       sync.Mutex
	sessions map[string]*httpSession // over Streamable HTTP
	sse      map[string]*sseSession  // over HTTP+SSE
	created  int
	closing  bool
	requests sync.WaitGroup // HTTP requests of clients that are still being answered

	all commons // of all clients that have no session
}

// Option changes what [New] makes.
type Option func(*Server)

// WithFlags turns deviations on, by the names that [Flags] returns. Other names have no effect.
func WithFlags(flags map[string]bool) Option {
	return func(s *Server) {
		for name, on := range flags {
			s.flags[name] = on
		}
	}
}

// WithAllowedHosts accepts these host names (without a port) in the Host and Origin headers, beside the loopback
// names and addresses, which are always accepted.
func WithAllowedHosts(hosts ...string) Option {
	return func(s *Server) {
		for _, host := range hosts {
			if host != "" {
				s.hosts[strings.ToLower(host)] = true
			}
		}
	}
}

// New makes a server. It is cheap and starts nothing.
func New(opts ...Option) *Server {
	s := &Server{
		flags:    map[string]bool{},
		hosts:    map[string]bool{},
		sessions: map[string]*httpSession{},
		sse:      map[string]*sseSession{},
	}
	s.all = commons{key: make([]byte, 32), ending: make(chan struct{}), changes: map[string]int{},
		streams: map[*subscription]bool{}, tasks: map[string]*extTask{}}
	_, _ = rand.Read(s.all.key) // which never fails
	s.all.base, s.all.stop = context.WithCancel(context.Background())
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// Shutdown ends the HTTP side: streams opened by GET close at once, subscriptions are answered, no new session is accepted, and
// requests in progress may finish until ctx is done; then they are cancelled, and tasks are. It returns ctx's error if some had to be.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	sessions := make([]*httpSession, 0, len(s.sessions))
	for _, hs := range s.sessions {
		sessions = append(sessions, hs)
	}
	streams := slices.Collect(maps.Values(s.sse))
	s.mu.Unlock()
	s.all.endOnce.Do(func() { close(s.all.ending) })
	for _, hs := range sessions {
		hs.closeListeners()
	}
	done := make(chan struct{})
	go func() { s.requests.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	for _, hs := range sessions {
		hs.end()
	}
	for _, ss := range streams {
		ss.cancel()
	}
	s.all.stop()
	s.all.launched.Wait()
	return err
}

// begin counts a request that is being answered, so that Shutdown waits for it. It is false while shutting down.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.requests.Add(1)
	}
	return !s.closing
}

// hostAllowed tells whether host, without a port, is a loopback name or one that WithAllowedHosts named.
func (s *Server) hostAllowed(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if host == "localhost" || s.hosts[host] {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
