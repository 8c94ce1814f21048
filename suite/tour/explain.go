package tour

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// requests says what a client wants that sends a request or notification.
var requests = map[string]string{
	"initialize":                "The client opens the session: the revision it speaks, what it can do, and who it is.",
	"notifications/initialized": "The client has understood; from here on both sides may ask. A notification gets no reply.",
	"server/discover":           "The client asks what the server speaks and offers. There is no handshake: each request says in _meta who asks.",
	"tools/list":                "The client asks for the tools: names, what they do, and the schema of their arguments.",
	"tools/call":                "The client calls a tool, as a model would have it done.",
	"resources/list":            "The client asks what there is to read.",
	"resources/read":            "The client reads one of them, by its URI.",
	"prompts/list":              "The client asks for the prompts and the arguments they take.",
	"prompts/get":               "The client gets one of them, as when a person picks it from a menu.",
}

// demands says what a server wants that sends a request or notification.
var demands = map[string]string{
	"ping":                                 "The server asks whether the client is still there.",
	"roots/list":                           "The server asks which folders the client lets it see.",
	"sampling/createMessage":               "The server asks the client's model for text.",
	"elicitation/create":                   "The server asks the person for something.",
	"notifications/message":                "The server logs something.",
	"notifications/progress":               "The server tells how far it is.",
	"notifications/tools/list_changed":     "The server tells that its list of tools has changed.",
	"notifications/resources/list_changed": "The server tells that its list of resources has changed.",
	"notifications/resources/updated":      "The server tells that a resource has changed.",
	"notifications/prompts/list_changed":   "The server tells that its list of prompts has changed.",
	"notifications/cancelled":              "The server does not want the answer any more.",
}

// explain is what an event means, in one line, and whether it is worth showing.
func (w *walk) explain(e transcript.Event) (says string, shown bool) {
	switch e.Kind {
	case transcript.Send:
		return w.sent(e), true
	case transcript.Receive:
		return w.received(e), true
	case transcript.Answer:
		switch {
		case e.HTTP.Status == 202:
			return "The server took the message; there is nothing to say to it.", true
		case e.HTTP.Status == 401:
			return "The server asks for authorization: give a token, as in --header 'Authorization: Bearer …'.", true
		case e.HTTP.Status >= 400:
			return "The server refuses the HTTP request.", true
		case wire.MediaType(strings.Join(e.HTTP.Headers["Content-Type"], "")) == wire.EventStream:
			return "The answer is a stream of events, each of which carries one message.", true
		}
		return "The answer begins.", true
	case transcript.Stderr:
		if w.stderr {
			return "", true
		}
		w.stderr = true
		return "The server writes to its standard error, which is for people and no part of the protocol.", true
	case transcript.Closed:
		return "The client closes the server's input, which tells it to end.", true
	case transcript.Exit:
		if e.Exit.Code == 0 {
			return "The server has ended, as it should.", true
		}
		return "The server has ended.", true
	case transcript.EOF: // told by what comes with it: the process ends, or a request fails
		return "", false
	case transcript.Dropped, transcript.Failure, transcript.Timeout:
		return "", true
	}
	return "", false
}

func (w *walk) sent(e transcript.Event) string {
	m := wire.Read(e.Data)
	id, _ := m.ID()
	switch m.Kind {
	case wire.KindRequest:
		w.asked[wire.IDKey(id)] = m.Method()
		return requests[m.Method()]
	case wire.KindNotification:
		return requests[m.Method()]
	case wire.KindError:
		return "The client answers that it will not: it did not declare that capability, or nobody is there to agree."
	case wire.KindResult:
		return "The client answers what the server asked."
	}
	if e.HTTP != nil && e.HTTP.Method == "GET" {
		return "The client opens a stream, on which the server sends what it has to say."
	}
	return ""
}

func (w *walk) received(e transcript.Event) string {
	m := wire.Read(e.Data)
	id, _ := m.ID()
	object, _ := m.Value.(map[string]any)
	switch m.Kind {
	case wire.KindRequest, wire.KindNotification:
		if says, ok := demands[m.Method()]; ok {
			return says
		}
		return "The server sends a message of its own: " + reports.Printable(m.Method()) + "."
	case wire.KindError:
		failure, _ := object["error"].(map[string]any)
		return fmt.Sprintf("The server refuses %s with error %v.", cmp.Or(w.asked[wire.IDKey(id)], "the message"), failure["code"])
	case wire.KindResult:
		result, _ := object["result"].(map[string]any)
		return reports.Printable(outcome(w.asked[wire.IDKey(id)], result))
	case wire.KindBatch:
		return "Several messages at once."
	case wire.KindNotJSON:
		if e.SSE != nil && e.SSE.Event == "endpoint" {
			return "The server says where the client is to post its messages."
		}
		if e.SSE != nil && len(e.Data) == 0 {
			return "An event without a message, from which a broken stream can be resumed."
		}
		return "This is no JSON: it breaks the protocol on the server's side."
	}
	return "This is no message of JSON-RPC."
}

// outcome says what a result holds.
func outcome(method string, result map[string]any) string {
	if result["resultType"] == "input_required" {
		return "Before it answers, the server needs something of the client; a client would ask again and bring it."
	}
	switch method {
	case "initialize":
		return fmt.Sprintf("%s speaks %v and offers %s.", name(result["serverInfo"]), result["protocolVersion"], capabilities(result))
	case "server/discover":
		meta, _ := result["_meta"].(map[string]any)
		info := result["serverInfo"]
		if info == nil {
			info = meta[wire.MetaServer]
		}
		var versions []string
		list, _ := result["supportedVersions"].([]any)
		for _, v := range list {
			versions = append(versions, fmt.Sprint(v))
		}
		return fmt.Sprintf("%s speaks %s and offers %s.", name(info), some(versions, "nothing"), capabilities(result))
	case "tools/list":
		return counted(result, "tools", "tool", "name")
	case "resources/list":
		return counted(result, "resources", "resource", "uri")
	case "prompts/list":
		return counted(result, "prompts", "prompt", "name")
	case "tools/call":
		if result["isError"] == true {
			return "The tool failed, and says so in its result, so that the model can read why."
		}
		return "The tool answers with " + content(result["content"], "type") + "."
	case "resources/read":
		return "The server gives the contents: " + content(result["contents"], "mimeType") + "."
	case "prompts/get":
		return "The server gives messages for the model: " + content(result["messages"], "role") + "."
	}
	return "The server answers."
}

func name(info any) string {
	o, _ := info.(map[string]any)
	text := "The server"
	if n, ok := o["name"].(string); ok {
		text = n
		if v, ok := o["version"].(string); ok {
			text += " " + v
		}
	}
	return text
}

func capabilities(result map[string]any) string {
	o, _ := result["capabilities"].(map[string]any)
	var names []string
	for n := range o {
		names = append(names, n)
	}
	slices.Sort(names)
	return some(names, "nothing")
}

// some lists words, at most a handful.
func some(words []string, none string) string {
	const most = 6
	switch {
	case len(words) == 0:
		return none
	case len(words) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most-1], ", "), len(words)-most+1)
	}
	return strings.Join(words, ", ")
}

// counted tells how many items a list holds, and what they are called.
func counted(result map[string]any, member, noun, called string) string {
	items, ok := result[member].([]any)
	if !ok {
		return "The answer holds no list of " + member + "."
	}
	var names []string
	for _, item := range items {
		o, _ := item.(map[string]any)
		if n, ok := o[called].(string); ok {
			names = append(names, n)
		}
	}
	plural := "s"
	if len(items) == 1 {
		plural = ""
	}
	text := fmt.Sprintf("%d %s%s", len(items), noun, plural)
	if len(names) > 0 {
		text += ": " + some(names, "")
	}
	if result["nextCursor"] != nil {
		return text + ". There is another page, at nextCursor."
	}
	return text + "."
}

// content tells of what kinds the items of a list are.
func content(v any, by string) string {
	items, _ := v.([]any)
	var kinds []string
	for _, item := range items {
		o, _ := item.(map[string]any)
		if kind, ok := o[by].(string); ok {
			kinds = append(kinds, kind)
		} else {
			kinds = append(kinds, "one part")
		}
	}
	return some(kinds, "nothing")
}
