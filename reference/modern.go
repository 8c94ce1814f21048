package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file and its neighbours (modern_*.go) serve the revisions without sessions, in which each request stands alone
// and says in _meta which revision it speaks and what its client can do.

// metaPrefix begins the names in _meta that the protocol itself defines.
const metaPrefix = "io.modelcontextprotocol/"

const (
	metaVersion      = metaPrefix + "protocolVersion"
	metaClient       = metaPrefix + "clientInfo"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaLogLevel     = metaPrefix + "logLevel"
	metaServer       = metaPrefix + "serverInfo"
	metaSubscription = metaPrefix + "subscriptionId"
)

// Error codes of these revisions.
const (
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
	codeUnsupported       = -32022
)

// levelNone is the log level of a request that asks for no log messages.
var levelNone = len(logLevels)

// commons is what all clients of the revisions without sessions have in common.
type commons struct {
	key      []byte // signs request states
	base     context.Context
	stop     context.CancelFunc
	ending   chan struct{} // closed when the server shuts down
	endOnce  sync.Once
	mu       sync.Mutex
	changes  map[string]int // how often a list was changed: "tool", "resource", "prompt"
	watched  int            // how often the watched resource was changed
	streams  map[*subscription]bool
	tasks    map[string]*extTask
	launched sync.WaitGroup // tasks that run
}

// modernHandlers are the methods of a revision without sessions.
var modernHandlers map[string]handler

// cached are the methods whose results say how long they may be kept.
var cached = []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}

func init() {
	modernHandlers = map[string]handler{
		"server/discover":          discover,
		"tools/list":               listTools,
		"tools/call":               callTool,
		"resources/list":           listResources,
		"resources/templates/list": listTemplates,
		"resources/read":           readResource,
		"prompts/list":             listPrompts,
		"prompts/get":              getPrompt,
		"completion/complete":      complete,
		"subscriptions/listen":     listen,
		"tasks/get":                getExtTask,
		"tasks/update":             updateExtTask,
		"tasks/cancel":             cancelExtTask,
	}
}

// isModern tells whether a request is one of a revision without sessions: its _meta holds what only such a one says.
func isModern(msg *incoming) bool {
	var params map[string]json.RawMessage
	var meta map[string]json.RawMessage
	if json.Unmarshal(msg.params, &params) != nil || json.Unmarshal(params["_meta"], &meta) != nil {
		return false
	}
	for _, name := range []string{metaVersion, metaClient, metaCapabilities, metaLogLevel} {
		if _, ok := meta[name]; ok {
			return true
		}
	}
	return false
}

// takesModern tells whether a request that came over the session's transport is to be served on its own.
func (s *session) takesModern(msg *incoming) bool {
	return !s.handshakeOnly && (s.server.flags[FlagModernOnly] || !s.server.flags[FlagHandshakeOnly] && isModern(msg))
}

// metadata is what a request says about itself.
type metadata struct {
	params       object
	meta         object
	version      revision
	capabilities object
	logLevel     int
	token        any // of progress
}

// readVersion reads as much of a request as there must be to tell its revision.
func readVersion(msg *incoming) (*metadata, *rpcError) {
	m := &metadata{logLevel: levelNone}
	params, err := readParams(msg.params)
	if err != nil {
		return nil, invalidParams("Invalid params: not an object")
	}
	meta, ok := params["_meta"].(object)
	if !ok {
		return nil, invalidParams("Invalid params: every request needs an object _meta with %s and %s", metaVersion, metaCapabilities)
	}
	version, ok := meta[metaVersion].(string)
	if !ok {
		return nil, invalidParams("Invalid params: _meta needs the text %s", metaVersion)
	}
	m.params, m.meta, m.version = params, meta, revision(version)
	return m, nil
}

// unsupported names the revisions that a request can state. Those with a handshake are left out: a client takes one from this
// list to send the same request again, which would be refused again.
func unsupported(version revision) *rpcError {
	return &rpcError{Code: codeUnsupported, Message: fmt.Sprintf("Unsupported protocol version: %s; a request can state %s", version, rev2026July),
		Data: object{"supported": requestRevisions, "requested": version}}
}

// askedVersion is the revision that an initialize request asks for.
func askedVersion(msg *incoming) revision {
	params, _ := readParams(msg.params)
	asked, _ := params["protocolVersion"].(string)
	return revision(asked)
}

// readRest reads the rest of _meta.
func (m *metadata) readRest() *rpcError {
	var ok bool
	if m.capabilities, ok = m.meta[metaCapabilities].(object); !ok {
		return invalidParams("Invalid params: _meta needs the object %s", metaCapabilities)
	}
	for _, name := range []string{"roots", "sampling", "elicitation", "experimental", "extensions"} {
		if declared, given := m.capabilities[name]; given && typeOf(declared) != "object" {
			return invalidParams("Invalid params: the client capability %s is not an object", name)
		}
	}
	if info, given := m.meta[metaClient]; given {
		client, _ := info.(object)
		_, hasName := client["name"].(string)
		_, hasVersion := client["version"].(string)
		if !hasName || !hasVersion {
			return invalidParams("Invalid params: %s needs a name and a version", metaClient)
		}
	}
	if level, given := m.meta[metaLogLevel]; given {
		name, _ := level.(string)
		if m.logLevel = slices.Index(logLevels, name); m.logLevel < 0 {
			return invalidParams("Invalid params: %s is not one of the log levels", metaLogLevel)
		}
	}
	token, err := progressToken(m.params)
	if err != nil {
		return invalidParams("Invalid params: _meta.progressToken is neither a string nor a number")
	}
	m.token = token
	return nil
}

// modernRequest is a request of a revision without sessions and the way it came.
type modernRequest struct {
	*metadata
	id        json.RawMessage
	method    string
	headers   *headers        // nil where a transport has none
	principal string          // who asks, as authorization knows it
	end       <-chan struct{} // closed when the server ends what is still open
}

// admit checks what has nothing to do with the method's own parameters, in the order in which one thing explains the
// next: without a version nothing else can be read, and a header that contradicts the body makes both doubtful.
func (r *modernRequest) admit(msg *incoming, modernOnly bool) (handler, *rpcError) {
	m, err := readVersion(msg)
	switch {
	case err != nil && msg.method == "initialize" && modernOnly:
		return nil, unsupported(askedVersion(msg)) // all that an older client can show its user
	case err != nil:
		return nil, err
	}
	r.metadata, r.id, r.method = m, msg.id, msg.method
	if err := r.headers.matchVersion(m.version); err != nil {
		return nil, err
	}
	if !m.version.perRequest() {
		return nil, unsupported(m.version)
	}
	if err := r.headers.matchMethod(msg.method, m.params); err != nil {
		return nil, err
	}
	if err := m.readRest(); err != nil {
		return nil, err
	}
	handle, known := modernHandlers[msg.method]
	if !known {
		return nil, errorf(codeMethodNotFound, "Method not found: %s", msg.method)
	}
	return handle, nil
}

// serve carries an admitted request out. It runs in a session that lasts as long as the request, so that nothing an
// earlier request said can play a part.
func (s *Server) serve(ctx context.Context, r *modernRequest, handle handler, out sink) (object, error) {
	own := newSession(s, ctx, out)
	defer own.cancel()
	own.rev, own.clientCaps, own.logLevel = r.version, r.capabilities, r.logLevel
	own.extras = map[string]bool{"tool": true, "resource": true, "prompt": true}
	own.watched = s.all.timesWatchedChanged()
	c := &call{session: own, ctx: own.ctx, rev: r.version, out: out, params: r.params, token: r.token, modern: r}
	result, err := c.withInputs(handle)
	if err != nil {
		return nil, err
	}
	if slices.Contains(cached, r.method) {
		r.keepable(result)
	}
	s.all.tellChanges(r.method, result)
	result = complement(result)
	if parent, ok := r.meta[metaTrace].(string); ok && traceParent.MatchString(parent) {
		result["_meta"].(object)[metaTrace] = parent // it belongs to the trace of its request
	}
	return result, nil
}

// metaTrace is the name in _meta under which a trace context travels, traceParent its form of version 00.
// Source: W3C Trace Context, section 3.2.
const metaTrace = "traceparent"

var traceParent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// complement adds what every result says: its type, unless it is a special one, and who sent it.
func complement(result object) object {
	if _, typed := result["resultType"]; !typed {
		result["resultType"] = "complete"
	}
	meta, ok := result["_meta"].(object)
	if !ok {
		meta = object{}
		result["_meta"] = meta
	}
	if _, said := meta[metaServer]; !said {
		meta[metaServer] = object{"name": serverName, "title": serverTitle, "version": serverVersion}
	}
	return result
}

// How long results may be kept, in milliseconds.
const (
	keepFixed = 3600_000 // what only another version of this server changes
	keepLists = 60_000   // what a change is told about
)

// keepable says how long and by whom a complete result may be kept. What came about by inputs, or changes, is for the
// asker alone and stale at once.
func (r *modernRequest) keepable(result object) {
	if _, special := result["resultType"]; special {
		return
	}
	ttl, scope := keepLists, "public"
	switch {
	case r.method == "server/discover":
		ttl = keepFixed
	case r.method == "resources/read" && (r.params["uri"] == watchedURI || r.params["inputResponses"] != nil || r.params["requestState"] != nil):
		ttl, scope = 0, "private"
	case r.method == "resources/read":
		ttl = keepFixed
	}
	result["ttlMs"], result["cacheScope"] = ttl, scope
}

// answerModern carries a request out that came over a transport without headers, and returns the encoded response.
func (s *session) answerModern(ctx context.Context, msg *incoming, out sink) []byte {
	r := &modernRequest{end: s.gone}
	handle, refused := r.admit(msg, s.server.flags[FlagModernOnly])
	if refused != nil {
		return encodeError(msg.id, refused, true)
	}
	result, err := s.server.serve(ctx, r, handle, out)
	if err != nil {
		return encodeError(msg.id, asRPC(err), true)
	}
	return encodeResult(msg.id, result)
}

func asRPC(err error) *rpcError {
	var rpcErr *rpcError
	if errors.As(err, &rpcErr) {
		return rpcErr
	}
	return errorf(codeInternalError, "Internal error: %v", err)
}

func discover(c *call) (any, error) {
	return object{
		"_meta":             object{metaServer: infoAt(c.rev)},
		"supportedVersions": requestRevisions,
		"capabilities": object{
			"completions": object{},
			"logging":     object{},
			"prompts":     object{"listChanged": true},
			"resources":   object{"subscribe": true, "listChanged": true},
			"tools":       object{"listChanged": true},
			"extensions":  object{extTasks: object{}},
		},
		"instructions": "Fixtures for conformance testing. Nothing here has an effect outside this server.",
	}, nil
}

// missing is the error about capabilities that a request needs and its client did not declare.
func missing(capabilities object) *rpcError {
	return &rpcError{Code: codeMissingCapability, Message: "Missing required client capability",
		Data: object{"requiredCapabilities": capabilities}}
}

// undeclared returns the part of the needed capabilities that declared lacks, nil if there is none. A client that
// declares elicitation without a mode means forms.
func undeclared(needed, declared object) object {
	lacking := object{}
	for name, want := range needed {
		have, ok := declared[name].(object)
		if !ok {
			lacking[name] = want
			continue
		}
		if name == "elicitation" && len(have) == 0 {
			have = object{"form": object{}}
		}
		if part := undeclared(want.(object), have); part != nil {
			lacking[name] = part
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return lacking
}

func (a *commons) timesWatchedChanged() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.watched
}

// tellChanges makes the changes of a list visible: the item that a change is made to says how many there were. The set
// and the order of the items stay, since whoever pages through them at the same time should not stumble.
func (a *commons) tellChanges(method string, result object) {
	kind, _ := strings.CutSuffix(method, "s/list")
	items, _ := result[kind+"s"].([]any)
	a.mu.Lock()
	times := a.changes[kind]
	a.mu.Unlock()
	for _, i := range items {
		o, ok := i.(object)
		if ok && (o["name"] == "extra_"+kind || o["uri"] == "test://extra") {
			o["description"] = fmt.Sprintf("Changed %d times by test_trigger_%s_change.", times, kind)
		}
	}
}
