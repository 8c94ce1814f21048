package reference

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
)

// call is a request that is being carried out. It has its own revision: a revision without sessions states it with
// every request.
type call struct {
	*session
	ctx    context.Context
	rev    revision
	out    sink // takes the messages that relate to this request
	params object
	token  any            // progress token, nil if the client wants no progress
	task   *task          // the task that the call runs in, nil if the client waits for its answer
	modern *modernRequest // nil in a session
	inputs *inputs        // nil in a session
}

type handler func(c *call) (any, error)

// handlers are the methods of an initialized session; taskHandlers those that only a revision with tasks has.
var handlers, taskHandlers map[string]handler

// takesTime tells whether other requests are carried out while one of this method is.
func takesTime(method string) bool {
	return method == "tools/call" || method == "tasks/result" || method == "subscriptions/listen"
}

func init() {
	handlers = map[string]handler{
		"tools/list":               listTools,
		"tools/call":               callTool,
		"resources/list":           listResources,
		"resources/templates/list": listTemplates,
		"resources/read":           readResource,
		"resources/subscribe":      subscribe,
		"resources/unsubscribe":    unsubscribe,
		"prompts/list":             listPrompts,
		"prompts/get":              getPrompt,
		"completion/complete":      complete,
		"logging/setLevel":         setLevel,
	}
	taskHandlers = map[string]handler{
		"tasks/get": getTask, "tasks/result": taskResult, "tasks/list": listTasks, "tasks/cancel": cancelTask,
	}
}

func (s *session) dispatch(ctx context.Context, msg *incoming, out sink) (any, error) {
	params, err := readParams(msg.params)
	if err != nil {
		return nil, err
	}
	c := &call{session: s, ctx: ctx, rev: s.revision(), out: out, params: params}
	if c.token, err = progressToken(params); err != nil {
		return nil, err
	}
	switch msg.method {
	case "initialize":
		return initialize(c)
	case "ping":
		return object{}, nil
	}
	if c.rev == "" {
		return nil, invalidParams("Invalid params: no protocol version in _meta, and %s before initialize", msg.method)
	}
	handle, known := handlers[msg.method]
	if !known && c.rev.hasTasks() {
		handle, known = taskHandlers[msg.method]
	}
	if !known {
		return nil, errorf(codeMethodNotFound, "Method not found: %s", msg.method)
	}
	return handle(c)
}

func readParams(raw json.RawMessage) (object, error) {
	if raw == nil {
		return object{}, nil
	}
	if bytes.TrimSpace(raw)[0] != '{' {
		return nil, invalidParams("Invalid params: not an object")
	}
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return v.(object), nil
}

// progressToken returns the token of params._meta, or nil. It is a string or a number.
func progressToken(params object) (any, error) {
	rawMeta, given := params["_meta"]
	if !given {
		return nil, nil
	}
	meta, ok := rawMeta.(object)
	if !ok {
		return nil, invalidParams("Invalid params: _meta is not an object")
	}
	switch token := meta["progressToken"].(type) {
	case string, json.Number:
		return token, nil
	case nil:
		if _, given := meta["progressToken"]; !given {
			return nil, nil
		}
	}
	return nil, invalidParams("Invalid params: _meta.progressToken is neither a string nor a number")
}

// text returns the string member of o, and an error that names it if it is missing or of another type.
func text(o object, member string) (string, error) {
	s, ok := o[member].(string)
	if !ok {
		return "", invalidParams("Invalid params: %s must be a string", member)
	}
	return s, nil
}

// optionalObject returns the object member of o, an empty one if it is missing.
func optionalObject(o object, member string) (object, error) {
	v, given := o[member]
	if !given {
		return object{}, nil
	}
	m, ok := v.(object)
	if !ok {
		return nil, invalidParams("Invalid params: %s must be an object", member)
	}
	return m, nil
}

// initialize negotiates: the revision that was asked for if it is known, else the latest.
func initialize(c *call) (any, error) {
	if c.rev != "" {
		return nil, errorf(codeInvalidRequest, "Invalid request: the session is already initialized")
	}
	asked, err := text(c.params, "protocolVersion")
	if err != nil {
		return nil, err
	}
	capabilities, ok := c.params["capabilities"].(object)
	if !ok {
		return nil, invalidParams("Invalid params: capabilities must be an object")
	}
	info, ok := c.params["clientInfo"].(object)
	if !ok {
		return nil, invalidParams("Invalid params: clientInfo must be an object")
	}
	for _, member := range []string{"name", "version"} {
		if _, ok := info[member].(string); !ok {
			return nil, invalidParams("Invalid params: clientInfo.%s must be a string", member)
		}
	}
	rev := revision(asked)
	if !rev.negotiable() {
		rev = latestHandshake
	}
	c.mu.Lock()
	c.session.rev = rev
	c.clientCaps = capabilities
	c.mu.Unlock()
	return object{
		"protocolVersion": rev,
		"capabilities":    capabilitiesAt(rev),
		"serverInfo":      infoAt(rev),
		"instructions":    "Fixtures for conformance testing. Nothing here has an effect outside the session.",
	}, nil
}

func capabilitiesAt(rev revision) object {
	capabilities := object{
		"logging":   object{},
		"prompts":   object{"listChanged": true},
		"resources": object{"subscribe": true, "listChanged": true},
		"tools":     object{"listChanged": true},
	}
	if rev.hasCompletionsCap() {
		capabilities["completions"] = object{}
	}
	if rev.hasTasks() {
		capabilities["tasks"] = taskCapability()
	}
	return capabilities
}

func infoAt(rev revision) object {
	info := object{"name": serverName, "version": serverVersion}
	if rev.hasTitles() {
		info["title"] = serverTitle
	}
	if rev.hasIcons() {
		info["description"] = "A conforming server to test conformance suites with."
		info["websiteUrl"] = "https://github.com/mcp-litmus/mcp-litmus"
		info["icons"] = icons
	}
	return info
}

// Log levels, from the least to the most severe.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// levelInfo is the level of a session in which the client set none.
const levelInfo = 1

func setLevel(c *call) (any, error) {
	name, err := text(c.params, "level")
	if err != nil {
		return nil, err
	}
	level := slices.Index(logLevels, name)
	if level < 0 {
		return nil, invalidParams("Invalid params: unknown log level %q", name)
	}
	c.mu.Lock()
	c.logLevel = level
	c.mu.Unlock()
	return object{}, nil
}

// log sends a log message if its level is not below the one that the client set.
func (c *call) log(level string, data any) {
	c.mu.Lock()
	wanted := slices.Index(logLevels, level) >= c.logLevel || (c.server.flags[FlagNoLogFilter] && c.logLevel != levelNone)
	c.mu.Unlock()
	if wanted && c.ctx.Err() == nil {
		c.notify("notifications/message", object{"level": level, "logger": "fixtures", "data": data})
	}
}

// progress reports to a client that asked for it. Values must grow from report to report.
func (c *call) progress(done, total int, message string) {
	if stream, ok := c.out.(interface{ open() }); ok {
		stream.open() // what has progress takes a while
	}
	if c.token == nil || c.ctx.Err() != nil {
		return
	}
	params := object{"progressToken": c.token, "progress": done, "total": total}
	if c.rev.hasProgressMessage() {
		params["message"] = message
	}
	c.notify("notifications/progress", params)
}

// notify tells the client something that belongs to the call.
func (c *call) notify(method string, params object) {
	c.out.send(encodeNotification(method, c.tied(params)))
}

// ask sends the client a request that the call needs an answer to. A task waits for input meanwhile.
func (c *call) ask(method string, params object) (object, error) {
	if c.task == nil {
		return c.request(c.ctx, c.out, method, params)
	}
	c.task.become(taskInputRequired, "The client is asked for "+method+".", nil, nil)
	defer c.task.become(taskWorking, "The tool runs.", nil, nil)
	return c.request(c.ctx, c.out, method, c.tied(params))
}

// tied adds to params that the message belongs to the call's task, if there is one.
func (c *call) tied(params object) object {
	if c.task != nil {
		if params == nil {
			params = object{}
		}
		params["_meta"] = c.task.related()
	}
	return params
}
