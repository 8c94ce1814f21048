package reference

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// tool is one tool and how it runs.
type tool struct {
	name        string
	title       string
	description string
	since       revision // the first revision that can express what it returns
	until       revision // the last revision that it makes sense in; empty: all
	extra       bool     // there only while toggle_tool has added it
	input       *schema
	output      *schema // nil if it returns no structured content
	effects     bool    // changes something in the session
	tasks       taskSupport
	icons       bool
	run         func(c *call, args object) (*toolResult, error)
}

// toolResult is what a tool returns. structured, if any, is repeated as text for clients that know none.
type toolResult struct {
	content    []object
	structured any
	isError    bool
	special    object // a result of another type, instead of the rest
}

func (t *tool) key() string { return t.name }

func (t *tool) listed(rev revision) any {
	o := object{"name": t.name, "description": t.description, "inputSchema": t.input.text}
	if rev.hasTitles() {
		o["title"] = t.title
		o["_meta"] = object{"io.github.mcp-litmus/fixture": t.name}
	}
	if rev.hasToolAnnotations() {
		hints := object{"title": t.title, "readOnlyHint": !t.effects, "openWorldHint": false}
		if t.effects {
			hints["destructiveHint"] = false
			hints["idempotentHint"] = false
		}
		o["annotations"] = hints
	}
	if rev.hasStructuredOutput() && t.output != nil {
		o["outputSchema"] = t.output.text
	}
	if rev.hasIcons() && t.icons {
		o["icons"] = icons
	}
	if rev.hasTasks() && t.tasks != "" {
		o["execution"] = object{"taskSupport": t.tasks}
	}
	return o
}

// offers tells whether the session has the tool now.
func (c *call) offers(t *tool) bool {
	if c.rev < t.since || (t.until != "" && c.rev > t.until) {
		return false
	}
	if !t.extra {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.extras["tool"]
}

func listTools(c *call) (any, error) {
	return page(c, "tools", toolsPerPage, tools, c.offers)
}

func callTool(c *call) (any, error) {
	name, err := text(c.params, "name")
	if err != nil {
		return nil, err
	}
	args, err := optionalObject(c.params, "arguments")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(tools, func(t *tool) bool { return t.name == name })
	if at < 0 || !c.offers(tools[at]) {
		return nil, invalidParams("Unknown tool: %s", name)
	}
	t := tools[at]
	if c.modern != nil {
		if err := c.modern.headers.matchParams(t.input, args); err != nil {
			return nil, err
		}
	}
	_, asTask := c.params["task"]
	asTask = asTask && c.rev.hasTasks()
	if c.rev.hasTasks() {
		if err := t.tasks.refuses(name, asTask); err != nil {
			return nil, err
		}
	}
	run := func(c *call) (*toolResult, error) { return t.perform(c, args) }
	if asTask {
		return c.beginTask(run)
	}
	result, err := run(c)
	if err != nil {
		return nil, err
	}
	return result.at(c.rev), nil
}

// perform runs the tool with arguments that it checks first. An error is one of the protocol; what goes wrong in the tool
// is a result.
func (t *tool) perform(c *call, args object) (*toolResult, error) {
	if err := t.input.validate(args, "arguments"); err != nil && !c.server.flags[FlagNoInputValidation] {
		if c.rev.badArgumentsAreResults() {
			return failed("Invalid arguments: " + err.Error()), nil
		}
		return nil, invalidParams("Invalid arguments for %s: %v", t.name, err)
	}
	run, err := t.runAt(c)
	if err != nil {
		return nil, err
	}
	result, err := run(c, args)
	if err != nil {
		var rpcErr *rpcError
		var wanting *inputRequired
		if errors.As(err, &rpcErr) || errors.As(err, &wanting) {
			return nil, err
		}
		return failed(err.Error()), nil
	}
	return result, nil
}

// at is the result as the revision knows it.
func (r *toolResult) at(rev revision) object {
	if r.special != nil {
		return r.special
	}
	o := object{"content": r.content}
	if r.structured != nil {
		o["content"] = append(slices.Clone(r.content), textBlock(string(encode(r.structured))))
		if rev.hasStructuredOutput() {
			o["structuredContent"] = r.structured
		}
	}
	if r.isError {
		o["isError"] = true
	}
	return o
}

func returns(content ...object) *toolResult { return &toolResult{content: content} }

func says(text string) *toolResult { return returns(textBlock(text)) }

func failed(text string) *toolResult {
	r := says(text)
	r.isError = true
	return r
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

func imageBlock() object {
	return object{"type": "image", "data": pngBase64, "mimeType": "image/png"}
}

func resourceBlock(uri, mimeType, text string) object {
	return object{"type": "resource", "resource": object{"uri": uri, "mimeType": mimeType, "text": text}}
}

// pause waits, unless the call is cancelled first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// float returns a number argument; 0 if it is none, which only happens when arguments are not validated.
func float(args object, name string) float64 {
	n, _ := args[name].(json.Number)
	f, _ := n.Float64()
	return f
}

func stringArg(args object, name string) string {
	s, _ := args[name].(string)
	return s
}
