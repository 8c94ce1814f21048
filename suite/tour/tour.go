// Package tour walks one server through the conversation that every client has with it, and tells of each message that
// crosses the wire what it is. It judges nothing.
package tour

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/session"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Config says whom to visit and how.
type Config struct {
	Library  *script.Library
	Target   transport.Target
	Options  transcript.Options // which tools may be called; its Timeout bounds each wait (0: 10 s)
	Revision script.Revision    // to speak; "": the newest that is covered, or an older one that the server answers with
	Opening  time.Duration      // the bound of a handshake, a cold start included; 0: 30 s
	Tell     func(Entry)        // is called with each part of the tour, in order
}

// Entry is one thing to tell: a chapter's title, an event, or what there is to say where nothing happened.
type Entry struct {
	Title string
	Event *transcript.Event // not redacted
	Says  string            // of the event or by itself, one line
}

// ErrEnded is in every error that Walk returns.
var ErrEnded = errors.New("the tour ended early")

// Walk takes the tour. The error says why no session could be had, or how the tour ended early; a server that refuses a
// request is no error.
func Walk(ctx context.Context, cfg Config) error {
	if err := walkAll(ctx, cfg); err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return nil
}

func walkAll(ctx context.Context, cfg Config) error {
	if cfg.Options.Timeout <= 0 {
		cfg.Options.Timeout = 10 * time.Second
	}
	if cfg.Opening <= 0 {
		cfg.Opening = 30 * time.Second
	}
	if err := cfg.Target.Start(ctx); err != nil {
		return err
	}
	defer cfg.Target.Stop()
	w := &walk{cfg: cfg, ctx: ctx}
	if err := w.open(); err != nil {
		return err
	}
	defer w.session.Close()
	for _, chapter := range []func() error{w.tools, w.resources, w.prompts} {
		if err := chapter(); err != nil {
			return err
		}
	}
	return w.close()
}

type walk struct {
	cfg      Config
	ctx      context.Context
	session  *session.Session
	revision script.Revision
	asked    map[string]string // methods of requests, by wire.IDKey
	stderr   bool              // what standard error is was told
	server   map[string]any
}

// open begins a session: at the revision asked for, else at the newest, and where that is of the modern era and the server
// is not, at the newest with a handshake.
func (w *walk) open() error {
	revision := w.cfg.Revision
	if revision == "" {
		revision = script.Revisions[len(script.Revisions)-1]
	}
	err := w.begin(revision)
	if err != nil && w.cfg.Revision == "" && revision.Modern() && w.ctx.Err() == nil {
		i := slices.IndexFunc(script.Revisions, script.Revision.Modern)
		if i == 0 {
			return err
		}
		w.say("That is no answer of a server without a handshake, so the client falls back to the older way, in a new conversation.")
		err = w.begin(script.Revisions[i-1])
	}
	return err
}

// begin opens a session at the revision, over HTTP+SSE where the URL does not take what Streamable HTTP begins with.
func (w *walk) begin(revision script.Revision) error {
	refused, err := w.attempt(revision)
	switcher, ok := w.cfg.Target.(transport.Switcher)
	if err == nil || !refused || !ok || revision.Modern() || w.cfg.Target.Transport() != transport.StreamableHTTP ||
		!switcher.Switch(transport.HTTPSSE) {
		return err
	}
	w.say("The URL does not take messages as Streamable HTTP does, so the client tries HTTP+SSE, as older servers speak it.")
	if _, again := w.attempt(revision); again != nil {
		return fmt.Errorf("%w; over HTTP+SSE: %w", err, again)
	}
	return nil
}

// probe is how long a server may be silent to server/discover, where nobody said that it knows it, before it is taken for one
// with a handshake.
// Source: 2026-07-28, stdio, "Backward Compatibility".
const probe = 10 * time.Second

// attempt opens a session. refused says that the server answered over HTTP as one does that does not speak it here.
func (w *walk) attempt(revision script.Revision) (refused bool, err error) {
	w.revision, w.asked = revision, map[string]string{}
	if revision.Modern() {
		w.title("Discovery: who the server is, and what it offers")
	} else {
		w.title("Handshake: the revision and what each side can do")
	}
	opening := w.cfg.Opening
	if w.cfg.Revision == "" && revision.Modern() {
		opening = min(opening, probe)
	}
	s, err := session.Open(w.ctx, w.cfg.Target, session.Options{Revision: string(revision), Timeout: opening})
	if err != nil {
		return false, err
	}
	w.session = s
	if err = s.Greet(w.ctx); err == nil {
		err = s.Begin(w.ctx)
	}
	events := s.Events()
	w.tell()
	if err == nil {
		err = w.agree(revision, script.Revision(s.Negotiated()))
	}
	if err != nil {
		s.Close()
		return slices.ContainsFunc(events, func(e transcript.Event) bool {
			return e.Kind == transcript.Answer && slices.Contains([]int{400, 404, 405}, e.HTTP.Status)
		}), err
	}
	w.server = plan.Server(map[string]any{"handshake": map[string]any{"result": resultOf(events)}})
	return false, nil
}

// agree says whether the client goes on at the revision that the server speaks.
func (w *walk) agree(asked, spoken script.Revision) error {
	switch {
	case spoken == asked:
	case w.cfg.Revision != "" || asked.Modern():
		return fmt.Errorf("the server does not speak revision %s: it answers with %s; try --revision %s", asked, spoken, spoken)
	default:
		w.say("The server answered with another revision, %s. The client speaks it, too, and goes on.", spoken)
		w.revision = spoken
	}
	return nil
}

// resultOf is the first result among the events.
func resultOf(events []transcript.Event) any {
	for _, e := range events {
		if e.Kind != transcript.Receive {
			continue
		}
		if m := wire.Read(e.Data); m.Kind == wire.KindResult {
			return m.Value.(map[string]any)["result"]
		}
	}
	return nil
}

func (w *walk) tools() error {
	w.title("Tools: what the server can do for a model")
	if !plan.Declares(w.server, "tools") {
		w.say("The server declares no tools, so a client does not ask for any.")
		return nil
	}
	if err := w.list("tools/list", "tools", "tools"); err != nil {
		return err
	}
	tools, _ := w.server["tools"].([]any)
	w.session.Mirror(tools)
	callable := plan.Callable(w.cfg.Library, w.server, w.cfg.Options)
	if len(callable) == 0 {
		w.say("%s", noTool(tools, w.cfg.Options.CallTools))
		return nil
	}
	tool := callable[0].(map[string]any)
	roles, _ := plan.Roles(w.cfg.Library, w.server, callable, nil, w.cfg.Options)
	if r, ok := roles["text-tool"].(map[string]any); ok {
		tool = r
	}
	_, err := w.request("tools/call", map[string]any{"name": tool["name"], "arguments": tool["arguments"]})
	return err
}

func noTool(tools []any, policy string) string {
	switch {
	case len(tools) == 0:
		return "There is no tool to call."
	case policy == "none":
		return "No tool is called: --call-tools none."
	}
	return "No tool is called: none is annotated as read-only (readOnlyHint), so any might change something. " +
		"Name one under allow: in litmus.yaml, or give --call-tools all."
}

func (w *walk) resources() error {
	w.title("Resources: what the server has to read")
	if !plan.Declares(w.server, "resources") {
		w.say("The server declares no resources, so a client does not ask for any.")
		return nil
	}
	if err := w.list("resources/list", "resources", "resources"); err != nil {
		return err
	}
	resources, _ := w.server["resources"].([]any)
	if len(resources) == 0 {
		w.say("There is no resource to read.")
		return nil
	}
	_, err := w.request("resources/read", map[string]any{"uri": resources[0].(map[string]any)["uri"]})
	return err
}

func (w *walk) prompts() error {
	w.title("Prompts: texts that a person can ask for by name")
	if !plan.Declares(w.server, "prompts") {
		w.say("The server declares no prompts, so a client does not ask for any.")
		return nil
	}
	if err := w.list("prompts/list", "prompts", "prompts"); err != nil {
		return err
	}
	prompts, _ := w.server["prompts"].([]any)
	if len(prompts) == 0 {
		w.say("There is no prompt to get.")
		return nil
	}
	params := map[string]any{"name": prompts[0].(map[string]any)["name"]}
	roles, _ := plan.Roles(w.cfg.Library, w.server, nil, nil, w.cfg.Options)
	if r, ok := roles["plain-prompt"].(map[string]any); ok {
		params["name"] = r["name"]
	} else if arguments := required(prompts[0].(map[string]any)); len(arguments) > 0 {
		params["arguments"] = arguments
	}
	_, err := w.request("prompts/get", params)
	return err
}

// required are made-up texts for the arguments that a prompt cannot do without.
func required(prompt map[string]any) map[string]any {
	out := map[string]any{}
	list, _ := prompt["arguments"].([]any)
	for _, a := range list {
		o, _ := a.(map[string]any)
		if name, ok := o["name"].(string); ok && o["required"] == true {
			out[name] = "litmus"
		}
	}
	return out
}

// list asks for the first page of a list, and stores its items in the server document.
func (w *walk) list(method, member, as string) error {
	result, err := w.request(method, nil)
	if err != nil {
		return err
	}
	o, _ := result.(map[string]any)
	items, _ := o[member].([]any)
	w.server[as] = slices.DeleteFunc(slices.Clone(items), func(v any) bool { _, ok := v.(map[string]any); return !ok })
	return nil
}

// request sends a request, tells of all that happens until its reply, and returns the reply's result. An error means that
// the conversation cannot go on; a reply that does not come, or is an error, is told and is none.
func (w *walk) request(method string, params any) (result any, err error) {
	id := w.session.NextID()
	stream, err := w.session.Send(context.WithoutCancel(w.ctx), transport.Outgoing{Data: w.session.Request(id, method, params, nil)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(w.ctx, w.cfg.Options.Timeout)
	defer cancel()
	err = w.session.AwaitReply(ctx, id, stream)
	for _, e := range w.session.Events() {
		if e.Kind != transcript.Receive {
			continue
		}
		if m := wire.Read(e.Data); m.Kind == wire.KindResult {
			if got, ok := m.ID(); ok && wire.IDKey(got) == wire.IDKey(id) {
				result = m.Value.(map[string]any)["result"]
			}
		}
	}
	w.tell()
	switch {
	case errors.Is(err, session.ErrTimeout):
		return nil, nil // told as an event
	case err != nil:
		return nil, fmt.Errorf("at %s: %w", method, err)
	}
	return result, nil
}

func (w *walk) close() error {
	w.title("The end")
	switch {
	case w.revision.Modern():
		w.say("There is no session to end: each request stood by itself.")
	case w.cfg.Target.Transport() == transport.Stdio:
		w.session.Conn().CloseInput()
		ctx, cancel := context.WithTimeout(w.ctx, w.cfg.Options.Timeout)
		defer cancel()
		_ = w.session.AwaitExit(ctx) // one that stays is told as an event, and ended by Close
	default:
		w.say("The client goes; over HTTP it ends the session with DELETE where the server gave one an id.")
	}
	w.tell() // what came last
	return w.ctx.Err()
}

func (w *walk) title(text string) { w.cfg.Tell(Entry{Title: text}) }

func (w *walk) say(format string, args ...any) { w.cfg.Tell(Entry{Says: fmt.Sprintf(format, args...)}) }

// tell tells of the events since the last time.
func (w *walk) tell() {
	if w.session == nil {
		return
	}
	for _, e := range w.session.Take() {
		if says, shown := w.explain(e); shown {
			w.cfg.Tell(Entry{Event: &e, Says: says})
		}
	}
}
