package play

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// mostPages ends the walk of a list that never ends.
const mostPages = 1000

// do is the verbs. Its errors are the session's, or say why the step could not be put into bytes.
func (a *actor) do(ctx context.Context, st *script.Step, s *opened) error {
	switch st.Verb {
	case script.Request:
		if st.Poll != nil {
			return a.poll(ctx, st, s)
		}
		return a.request(ctx, st, s)
	case script.Notify:
		data, err := a.notification(st)
		if err != nil {
			return err
		}
		stream, err := a.send(st, s, transport.Outgoing{Data: data})
		if err != nil {
			return err
		}
		return s.AwaitEnd(ctx, stream)
	case script.Raw:
		return a.raw(ctx, st, s)
	case script.HTTP:
		return a.http(ctx, st, s)
	case script.Pages:
		return a.pages(ctx, st, s)
	case script.Parallel:
		return a.parallel(ctx, st, s)
	case script.Listen:
		if s.Carried() {
			return nil // the session's own stream is open already
		}
		stream, err := a.send(st, s, transport.Outgoing{Method: "GET", Hold: true})
		if err != nil {
			return err
		}
		a.held = append(a.held, held{st, stream})
		return s.AwaitAnswer(ctx, stream)
	case script.Await:
		return s.AwaitMessage(ctx, "a message for which "+st.Where.Source, func(m wire.Message) bool {
			vars := maps.Clone(a.vars)
			vars["it"] = m.Value
			ok, err := st.Where.Bool(vars)
			return err == nil && ok
		})
	case script.Quiet:
		return s.Barrier(ctx)
	case script.Close:
		if st.Target != script.Input {
			return a.drop(ctx, st, s)
		}
		s.Conn().CloseInput()
		return s.AwaitExit(ctx)
	}
	return fmt.Errorf("the verb %q cannot be played", st.Verb)
}

// held is an HTTP answer that a step left open.
type held struct {
	step   *script.Step
	stream int
}

// drop drops the connection of the newest stream that a listen: of the session opened, or of the step that is named.
func (a *actor) drop(ctx context.Context, st *script.Step, s *opened) error {
	for i, h := range slices.Backward(a.held) {
		if named := h.step.As == st.Target; h.step.In != st.In || !named && (st.Target != script.Stream || h.step.Verb != script.Listen) {
			continue
		}
		a.held = slices.Delete(a.held, i, i+1)
		if h.stream == 0 {
			return nil
		}
		s.Conn().Abort(h.stream)
		return s.AwaitEnd(ctx, h.stream)
	}
	return nil
}

// send adds the step's own headers and hands over.
func (a *actor) send(st *script.Step, s *opened, out transport.Outgoing) (int, error) {
	if !st.Headers.IsZero() {
		h, err := a.headers(st.Headers)
		if err != nil {
			return 0, err
		}
		out.Header = h
	}
	a.begin()
	return s.Send(a.ctx, out)
}

// headers are what the step says of headers; one without values is to be left out.
func (a *actor) headers(h script.Headers) (map[string][]string, error) {
	values := make(map[string]any, len(h.Named))
	for name, value := range h.Named {
		v, err := value.Render(a.vars)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		values[name] = v
	}
	if !h.Computed.IsZero() {
		v, err := h.Computed.Render(a.vars)
		if err != nil {
			return nil, fmt.Errorf("headers: %w", err)
		}
		computed, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("headers: %s gives no map", h.Computed.Source())
		}
		values = computed
	}
	out := make(map[string][]string, len(values))
	for name, v := range values {
		switch v := v.(type) {
		case nil:
			out[name] = nil
		case []any:
			for _, x := range v {
				out[name] = append(out[name], fmt.Sprint(x))
			}
		default:
			out[name] = []string{fmt.Sprint(v)}
		}
	}
	return out, nil
}

func (a *actor) request(ctx context.Context, st *script.Step, s *opened) error {
	method, params, err := a.methodAndParams(st)
	if err != nil {
		return err
	}
	var id any = s.NextID()
	if !st.ID.IsZero() {
		if id, err = st.ID.Render(a.vars); err != nil {
			return err
		}
	}
	stream, err := a.ask(st, s, id, method, params)
	if err != nil {
		return err
	}
	if st.Until == script.UntilSent {
		a.held = append(a.held, held{st, stream})
		return nil
	}
	if st.Until == script.UntilEvent && stream > 0 {
		err := s.AwaitEvent(ctx, stream)
		s.Conn().Abort(stream)
		if err != nil {
			return err
		}
		return s.AwaitEnd(ctx, stream)
	}
	if err := s.AwaitReply(ctx, id, stream); err != nil {
		return err
	}
	if method == "initialize" {
		s.AdoptHeaders(stream)
	}
	if st.Until == script.UntilEnd {
		return s.AwaitEnd(ctx, stream)
	}
	return nil
}

// ask sends a request as the session does, with what the step says of its `_meta`.
func (a *actor) ask(st *script.Step, s *opened, id any, method string, params any) (stream int, err error) {
	meta := make(map[string]any, len(st.Meta))
	for name, value := range st.Meta {
		v, err := value.Render(a.vars)
		if err != nil {
			return 0, fmt.Errorf("meta: %s: %w", name, err)
		}
		meta[name] = v
	}
	return a.send(st, s, transport.Outgoing{Data: s.Request(id, method, params, meta)})
}

func (a *actor) methodAndParams(st *script.Step) (string, any, error) {
	method := st.Method
	if !st.MethodValue.IsZero() {
		v, err := st.MethodValue.Render(a.vars)
		if err != nil {
			return "", nil, err
		}
		method = fmt.Sprint(v)
	}
	if st.Params.IsZero() {
		return method, nil, nil
	}
	params, err := st.Params.Render(a.vars)
	return method, params, err
}

func (a *actor) notification(st *script.Step) ([]byte, error) {
	method, params, err := a.methodAndParams(st)
	if err != nil {
		return nil, err
	}
	return wire.Notification(method, params), nil
}

func (a *actor) raw(ctx context.Context, st *script.Step, s *opened) error {
	var out transport.Outgoing
	for _, w := range st.Writes {
		v, err := w.Render(a.vars)
		if err != nil {
			return err
		}
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("raw: %s gives no text", w.Source())
		}
		out.Writes = append(out.Writes, []byte(text))
	}
	if st.Line {
		out = transport.Outgoing{Data: out.Writes[0]}
	}
	stream, err := a.send(st, s, out)
	if err != nil {
		return err
	}
	if len(st.IDs) > 0 {
		ids := make([]any, len(st.IDs))
		streams := make([]int, len(st.IDs))
		for i, v := range st.IDs {
			if ids[i], err = v.Render(a.vars); err != nil {
				return err
			}
			streams[i] = stream
		}
		return s.AwaitReplies(ctx, ids, streams)
	}
	if stream > 0 {
		if err := s.AwaitEnd(ctx, stream); err != nil || !s.Carried() {
			return err
		}
	}
	return s.Barrier(ctx)
}

func (a *actor) http(ctx context.Context, st *script.Step, s *opened) error {
	h := st.HTTP
	texts := map[string]string{}
	for name, value := range map[string]script.Value{"method": h.Method, "path": h.Path, "body": h.Body, "host": h.Host} {
		if value.IsZero() {
			continue
		}
		v, err := value.Render(a.vars)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s, ok := v.(string); ok {
			texts[name] = s
			continue
		}
		b, err := wire.Encode(v)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		texts[name] = string(b)
	}
	out := transport.Outgoing{Method: texts["method"], Path: texts["path"], Host: texts["host"], Data: []byte(texts["body"])}
	out.Hold = out.Method == "GET"
	stream, err := a.send(st, s, out)
	if err != nil {
		return err
	}
	if out.Hold {
		if err := s.AwaitAnswer(ctx, stream); err != nil {
			return err
		}
		if st.Until != script.UntilEnd && observe.IsStream(s.Events(), stream) {
			if s.Carried() { // a session is opened, and the server speaks first
				err = s.AwaitEvent(ctx, stream)
			}
			s.Conn().Abort(stream)
			if err != nil {
				return err
			}
		}
	} else if id, ok := wire.Read(out.Data).ID(); ok && id != nil && st.Until != script.UntilEnd {
		return s.AwaitReply(ctx, id, stream)
	}
	return s.AwaitEnd(ctx, stream)
}

func (a *actor) pages(ctx context.Context, st *script.Step, s *opened) error {
	method, params, err := a.methodAndParams(st)
	if err != nil {
		return err
	}
	base, _ := params.(map[string]any)
	seen := map[string]bool{}
	for cursor := any(nil); ; {
		with := maps.Clone(base)
		if cursor != nil {
			if with == nil {
				with = map[string]any{}
			}
			with["cursor"] = cursor
		}
		var sent any
		if with != nil {
			sent = with
		}
		id, from := s.NextID(), len(s.Events())
		stream, err := a.ask(st, s, id, method, sent)
		if err != nil {
			return err
		}
		if err := s.AwaitReply(ctx, id, stream); err != nil {
			return err
		}
		result := observe.ResultOf(s.Events()[from:], id)
		next, ok := result["nextCursor"].(string)
		if !ok || seen[next] || len(seen) >= mostPages {
			return nil
		}
		seen[next] = true
		cursor = next
	}
}

func (a *actor) parallel(ctx context.Context, st *script.Step, s *opened) error {
	v, err := st.Requests.Render(a.vars)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("parallel: %s is no list", st.Requests.Source())
	}
	var ids []any
	var streams []int
	for _, item := range list {
		o, _ := item.(map[string]any)
		method, ok := o["request"].(string)
		if !ok {
			return fmt.Errorf("parallel: an item of %s names no request", st.Requests.Source())
		}
		id, ok := o["id"]
		if !ok {
			id = s.NextID()
		}
		var params any
		if p, ok := o["params"]; ok {
			params = p
		}
		stream, err := a.ask(st, s, id, method, params)
		if err != nil {
			return err
		}
		ids, streams = append(ids, id), append(streams, stream)
	}
	return s.AwaitReplies(ctx, ids, streams)
}

// open opens a further session of the exchange under the step's name, a bare one without its handshake. Its
// events are those of the step.
func (a *actor) open(st *script.Step) ([]transcript.Event, error) {
	o := a.player.open(a.ctx, a.c.Revision, a.ex.Client, true)
	o.record.Exchange, o.record.Name = a.ex.Name, st.Target
	a.sessions[st.Target] = o
	if o.err != nil {
		return nil, o.err
	}
	o.At(st.Number, 0)
	if !st.Bare {
		if err := o.Begin(a.ctx); err != nil {
			return nil, err
		}
	}
	return o.Over(), nil
}
