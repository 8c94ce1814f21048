package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

const (
	longestLine = 4000 // bytes of one message in a verdict's evidence
	mostLines   = 40   // lines of a verdict's evidence
)

// headersShown are the HTTP headers that evidence shows.
var headersShown = []string{
	"Accept", "Allow", "Content-Type", "Host", "Last-Event-Id", "Mcp-Protocol-Version", "Mcp-Session-Id", "Origin", "Www-Authenticate",
}

// wireLines are the events of a step as lines for people.
func wireLines(events []transcript.Event) []verdict.Line {
	var out []verdict.Line
	add := func(e transcript.Event, direction, text string) {
		out = append(out, verdict.Line{At: e.At, Direction: direction, Text: clip(text, longestLine)})
	}
	for _, e := range events {
		switch e.Kind {
		case transcript.Send:
			if e.HTTP != nil {
				add(e, "sent", fmt.Sprintf("%s %s%s", e.HTTP.Method, e.HTTP.URL, headerText(e.HTTP.Headers)))
			}
			if len(e.Data) > 0 {
				add(e, "sent", string(e.Data))
			}
		case transcript.Answer:
			add(e, "received", fmt.Sprintf("HTTP %d%s", e.HTTP.Status, headerText(e.HTTP.Headers)))
		case transcript.Receive:
			text := string(e.Data)
			if e.Size > 0 {
				text = fmt.Sprintf("(%d bytes in all) %s", e.Size, text)
			}
			if e.SSE != nil {
				text = sseText(e.SSE) + text
			}
			add(e, "received", text)
		case transcript.Stderr:
			add(e, "", "stderr: "+strings.TrimRight(string(e.Data), "\n"))
		case transcript.EOF:
			add(e, "", "the server closed its output")
		case transcript.Closed:
			add(e, "", "the server's input was closed")
		case transcript.Exit:
			if e.Exit.Signal != "" {
				add(e, "", "the server was ended by signal "+e.Exit.Signal)
			} else {
				add(e, "", fmt.Sprintf("the server exited with code %d", e.Exit.Code))
			}
		case transcript.Timeout:
			add(e, "", "nothing more came in time; awaited was "+e.Note)
		case transcript.Failure:
			add(e, "", e.Note)
		case transcript.End:
			if e.Note != "" {
				add(e, "", "the HTTP answer broke off: "+e.Note)
			}
		}
	}
	if n := len(out) - mostLines; n > 0 {
		cut := verdict.Line{At: out[mostLines/2].At, Text: fmt.Sprintf("… %d lines left out …", n)}
		out = slices.Concat(out[:mostLines/2], []verdict.Line{cut}, out[len(out)-mostLines/2:])
	}
	return out
}

func sseText(s *transcript.SSE) string {
	text := "event"
	if s.Event != "" {
		text += " " + s.Event
	}
	if s.ID != nil {
		text += fmt.Sprintf(" id=%q", *s.ID)
	}
	return text + ": "
}

func headerText(h map[string][]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if slices.ContainsFunc(headersShown, func(s string) bool { return strings.EqualFold(s, name) }) {
			parts = append(parts, name+": "+strings.Join(h[name], ", "))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// itemLines are the wire lines of a message that a watch exchange found wanting.
func itemLines(item map[string]any) []verdict.Line {
	var out []verdict.Line
	if sent, ok := item["request"]; ok {
		out = append(out, verdict.Line{Direction: "sent", Text: clip(encode(sent), longestLine)})
	}
	if text, ok := item["text"].(string); ok {
		out = append(out, verdict.Line{Direction: "received", Text: clip(text, longestLine)})
	} else if m, ok := item["message"]; ok {
		out = append(out, verdict.Line{Direction: "sent", Text: clip(encode(m), longestLine)})
	}
	return out
}

func encode(v any) string {
	b, err := wire.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// clip cuts a long text in the middle and says how much is gone.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	half := n / 2
	return strings.ToValidUTF8(s[:half], "") + fmt.Sprintf(" … (%d bytes left out) … ", len(s)-2*half) + strings.ToValidUTF8(s[len(s)-half:], "")
}
