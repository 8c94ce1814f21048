package session

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Request is a request of this session: in the modern era its params get the `_meta` that every request carries,
// where params have no such member themselves. The members of meta are put over it; one that is nil is left out. Params that
// are no object are sent as they are.
func (s *Session) Request(id any, method string, params any, meta map[string]any) []byte {
	return wire.Request(id, method, s.withMeta(params, meta))
}

func (s *Session) withMeta(params any, meta map[string]any) any {
	all := wire.Meta(s.opts.Revision, s.opts.Capabilities)
	if len(all) == 0 && len(meta) == 0 {
		return params
	}
	object, ok := params.(map[string]any)
	if !ok && params != nil {
		return params
	}
	if given, has := object["_meta"]; has {
		own, ok := given.(map[string]any)
		if !ok {
			return params
		}
		maps.Copy(all, own)
	}
	maps.Copy(all, meta)
	maps.DeleteFunc(all, func(name string, v any) bool { _, said := meta[name]; return said && v == nil })
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	out["_meta"] = all
	return out
}

// discover opens a modern session: it asks what the server is. It returns an error when the answer tells no modern
// server; one that does not speak the session's revision is no error (see Negotiated).
// Source: 2026-07-28, Discovery; stdio and Streamable HTTP, "Backward Compatibility".
func (s *Session) discover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	if _, err := s.first(ctx, "server/discover", nil); err != nil {
		return s.explain(err)
	}
	if s.Negotiated() == "" {
		return s.explain(errors.New("the server did not answer server/discover with the versions that it supports"))
	}
	return nil
}

// discovered is the revision that an answer to server/discover leaves: the one asked for when it is among those that the
// server supports, else the first of these; "" where the reply says nothing of the kind.
func discovered(asked string, reply any) string {
	versions := func(v any) string {
		list, _ := v.([]any)
		if slices.Contains(list, any(asked)) {
			return asked
		}
		for _, v := range list {
			if text, ok := v.(string); ok {
				return text
			}
		}
		return ""
	}
	if v := versions(member(member(reply, "result"), "supportedVersions")); v != "" {
		return v
	}
	failure := member(reply, "error")
	if code, ok := member(failure, "code").(int64); ok && code == unsupportedVersion {
		return versions(member(member(failure, "data"), "supported"))
	}
	return ""
}

// The codes of errors that only a server of the modern era gives.
// Source: 2026-07-28, Overview, "Error Codes".
const (
	headerMismatch     = -32020
	missingCapability  = -32021
	unsupportedVersion = -32022
)

// IsModern says whether the event brings an error that only a server of the modern era gives.
// Source: 2026-07-28, Streamable HTTP, "Backward Compatibility".
func IsModern(e transcript.Event) bool {
	if e.Kind != transcript.Receive {
		return false
	}
	code, ok := member(member(wire.Read(e.Data).Value, "error"), "code").(int64)
	return ok && slices.Contains([]int64{headerMismatch, missingCapability, unsupportedVersion}, code)
}

// Mirror tells the session of the tools that the server offers, whose annotated arguments it puts into headers.
func (s *Session) Mirror(tools []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

// mirrored adds to a message of the modern era the headers that repeat what its body says, except those that the message
// comes with. Only HTTP sends them.
// Source: 2026-07-28, Streamable HTTP, "Request Metadata".
func (s *Session) mirrored(out transport.Outgoing) transport.Outgoing {
	if s.opts.Revision < wire.Modern || out.Method != "" && out.Method != http.MethodPost || out.Data == nil {
		return out
	}
	m := wire.Read(out.Data)
	if m.Kind != wire.KindRequest && m.Kind != wire.KindNotification {
		return out
	}
	header := map[string][]string{}
	add := func(name string, v any) {
		if text, ok := v.(string); ok {
			header[name] = []string{headerValue(text)}
		}
	}
	params := member(m.Value, "params")
	add("Mcp-Protocol-Version", member(member(params, "_meta"), wire.MetaVersion))
	add("Mcp-Method", m.Method())
	switch m.Method() {
	case "tools/call", "prompts/get":
		add("Mcp-Name", member(params, "name"))
	case "resources/read":
		add("Mcp-Name", member(params, "uri"))
	case "tasks/get", "tasks/update", "tasks/cancel": // SEP-2663, "Streamable HTTP: Routing Headers"
		add("Mcp-Name", member(params, "taskId"))
	}
	if m.Method() == "tools/call" {
		s.mu.Lock()
		tools := s.tools
		s.mu.Unlock()
		for _, tool := range tools {
			if name := member(tool, "name"); name != nil && name == member(params, "name") {
				parameters(member(tool, "inputSchema"), member(params, "arguments"), add)
			}
		}
	}
	for name, values := range out.Header {
		delete(header, http.CanonicalHeaderKey(name))
		header[name] = values
	}
	out.Header = header
	return out
}

// parameters calls add for each argument whose property the schema annotates with x-mcp-header.
func parameters(schema, arguments any, add func(name string, v any)) {
	properties, _ := member(schema, "properties").(map[string]any)
	for name, property := range properties {
		value := member(arguments, name)
		if value == nil {
			continue
		}
		if header, ok := member(property, "x-mcp-header").(string); ok && header != "" {
			switch v := value.(type) {
			case string:
				add("Mcp-Param-"+header, v)
			case bool, int64:
				add("Mcp-Param-"+header, fmt.Sprint(v))
			case float64:
				add("Mcp-Param-"+header, compact(v))
			}
		}
		parameters(property, value, add)
	}
}

// headerValue is the text as a header carries it: as it is where it can be, else in base64.
// Source: 2026-07-28, Streamable HTTP, "Value Encoding".
func headerValue(text string) string {
	plain := strings.Trim(text, " \t") == text && !strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && (r < 0x20 || r > 0x7e) })
	if plain && !(strings.HasPrefix(text, "=?base64?") && strings.HasSuffix(text, "?=")) {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}
