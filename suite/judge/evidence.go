package judge

import (
	"fmt"
	"maps"
	"net/http"
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

// headersShown are the HTTP headers that the text of an HTTP line shows; the structured form has all of them.
var headersShown = []string{
	"Accept", "Allow", "Content-Type", "Host", "Last-Event-Id", "Mcp-Protocol-Version", "Mcp-Session-Id", "Origin", "Www-Authenticate",
}

const (
	mostHeaders   = 40  // of one HTTP request or answer
	longestHeader = 500 // bytes of a header's value
)

// wireLines are the events of a step as lines for people.
func wireLines(events []transcript.Event) []verdict.Line {
	var out []verdict.Line
	for _, e := range events {
		out = append(out, eventLines(e)...)
	}
	if n := len(out) - mostLines; n > 0 {
		cut := verdict.Line{At: out[mostLines/2].At, Text: fmt.Sprintf("… %d lines left out …", n)}
		out = slices.Concat(out[:mostLines/2], []verdict.Line{cut}, out[len(out)-mostLines/2:])
	}
	return out
}

func eventLines(e transcript.Event) []verdict.Line {
	line := func(direction, text string) verdict.Line {
		return verdict.Line{At: e.At, Direction: direction, Text: clip(text, longestLine), Stream: e.Stream}
	}
	happened := func(text string) []verdict.Line { return []verdict.Line{line("", text)} }
	switch e.Kind {
	case transcript.Send:
		var out []verdict.Line
		if e.HTTP != nil {
			out = append(out, begins(line("sent", ""), e.HTTP))
		}
		if len(e.Data) > 0 {
			l := line("sent", string(e.Data))
			if e.Note == transcript.Automatic {
				l.About = transcript.Automatic
			}
			out = append(out, l)
		}
		return out
	case transcript.Answer:
		return []verdict.Line{begins(line("received", ""), e.HTTP)}
	case transcript.Receive:
		l := line("received", string(e.Data))
		var about []string
		if e.SSE != nil {
			about = append(about, sseText(e.SSE))
		}
		if e.Size > 0 {
			about = append(about, fmt.Sprintf("the first of %d bytes", e.Size))
		}
		l.About = strings.Join(about, ", ")
		return []verdict.Line{l}
	case transcript.Stderr:
		l := line("", strings.TrimRight(string(e.Data), "\n"))
		l.About = verdict.Stderr
		return []verdict.Line{l}
	case transcript.EOF:
		return happened("the server closed its output")
	case transcript.Closed:
		return happened("the server's input was closed")
	case transcript.Exit:
		return happened("the server " + e.Exit.String())
	case transcript.Timeout:
		return happened("nothing more came in time; awaited was " + e.Note)
	case transcript.Failure:
		return happened(e.Note)
	case transcript.End:
		if e.Note != "" {
			return happened("the HTTP answer broke off: " + e.Note)
		}
	}
	return nil
}

// begins makes l the line with which an HTTP request or answer begins.
func begins(l verdict.Line, h *transcript.HTTP) verdict.Line {
	l.HTTP = &verdict.HTTP{Method: h.Method, URL: clip(h.URL, longestHeader), Status: h.Status}
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		if len(l.HTTP.Headers) == mostHeaders {
			break
		}
		if l.HTTP.Headers == nil {
			l.HTTP.Headers = map[string]string{}
		}
		l.HTTP.Headers[clip(name, longestHeader)] = clip(strings.Join(h.Headers[name], ", "), longestHeader)
	}
	what := strings.TrimSpace(h.Method + " " + h.URL)
	if h.Status > 0 {
		what = fmt.Sprintf("HTTP %d", h.Status)
	}
	l.Text = clip(what+headerText(h.Headers), longestLine)
	return l
}

func sseText(s *transcript.SSE) string {
	text := "event"
	if s.Event != "" {
		text += " " + s.Event
	}
	if s.ID != nil {
		text += fmt.Sprintf(" id=%q", *s.ID)
	}
	return clip(text, longestHeader)
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

// itemLines are the wire lines of a message or an HTTP answer that a watch exchange found wanting. When they crossed
// the wire is not known.
func itemLines(item map[string]any) []verdict.Line {
	if _, ok := item["status"].(int64); ok && item["headers"] != nil {
		return answerLines(item)
	}
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

// answerLines are an HTTP request and its answer, from the document that suite/observe makes of them.
func answerLines(item map[string]any) []verdict.Line {
	method, _ := item["method"].(string)
	status, _ := item["status"].(int64)
	out := []verdict.Line{begins(verdict.Line{Direction: "sent"}, &transcript.HTTP{Method: method, Headers: headerMap(item["request"])})}
	if sent := item["sent"]; sent != nil {
		out = append(out, verdict.Line{Direction: "sent", Text: clip(encode(sent), longestLine)})
	}
	out = append(out, begins(verdict.Line{Direction: "received"}, &transcript.HTTP{Status: int(status), Headers: headerMap(item["headers"])}))
	if body, _ := item["body"].(string); body != "" {
		out = append(out, verdict.Line{Direction: "received", Text: clip(body, longestLine)})
	}
	events, _ := item["events"].([]any)
	for i, e := range events {
		if i == mostLines/2 {
			out = append(out, verdict.Line{Text: fmt.Sprintf("… %d events left out …", len(events)-i)})
			break
		}
		event, _ := e.(map[string]any)
		name, _ := event["event"].(string)
		data, _ := event["data"].(string)
		about := &transcript.SSE{Event: name}
		if id, ok := event["id"].(string); ok {
			about.ID = &id
		}
		out = append(out, verdict.Line{Direction: "received", About: sseText(about), Text: clip(data, longestLine)})
	}
	if broken, _ := item["broken"].(string); broken != "" {
		out = append(out, verdict.Line{Text: "the HTTP answer broke off: " + broken})
	}
	return out
}

// headerMap turns the headers of a document back into those of HTTP.
func headerMap(v any) map[string][]string {
	doc, _ := v.(map[string]any)
	h := http.Header{}
	for name, value := range doc {
		if text, ok := value.(string); ok {
			h.Set(name, text)
		}
	}
	return h
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
