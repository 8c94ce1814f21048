package trace

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Style is how events are written.
type Style struct {
	Color bool
	// Longest is how many bytes of one message are shown; 0: all. What is left out is counted.
	Longest int
	Secrets *transcript.Redactor // nil: nothing is hidden
}

// Printer writes the events of a run a line each, as they come. Its methods may be called from several goroutines.
type Printer struct {
	mu    sync.Mutex
	w     io.Writer
	style Style
}

// NewPrinter writes to w. An error of w is nobody's: what is shown on the way is no result.
func NewPrinter(w io.Writer, style Style) *Printer { return &Printer{w: w, style: style} }

// Print writes one event of a conversation, if there is anything to see.
func (p *Printer) Print(conversation int, e transcript.Event) {
	text := p.style.Line(e)
	if text == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "%s %s\n", p.style.paint(dim, fmt.Sprintf("%3d", conversation)), text)
}

// Line is an event as one line: an arrow to the server or from it, and the bytes as they are, control characters made
// visible; "" for what people do not see, such as the beginning of a step.
func (s Style) Line(e transcript.Event) string {
	if s.Secrets != nil {
		e = s.Secrets.Event(e)
	}
	data := func() string { return s.clip(strings.TrimRight(string(e.Data), "\r\n"), e.Size) }
	switch e.Kind {
	case transcript.Send:
		text := data()
		if e.HTTP != nil {
			text = strings.TrimSpace(e.HTTP.Method + s.paint(dim, headers(e.HTTP.Headers)) + " " + text)
		}
		return s.paint(out, "→ ") + text
	case transcript.Receive:
		if len(e.Data) == 0 && e.SSE != nil {
			return s.paint(in, "← ") + s.paint(dim, "an event without a message")
		}
		return s.paint(in, "← ") + data()
	case transcript.Answer:
		return s.paint(in, "← ") + s.paint(dim, Answer(e.HTTP))
	case transcript.Stderr:
		var lines []string
		for line := range strings.Lines(string(e.Data)) {
			lines = append(lines, s.paint(aside, "! ")+s.paint(dim, s.clip(strings.TrimRight(line, "\r\n"), 0)))
		}
		return strings.Join(lines, "\n    ")
	case transcript.EOF:
		return s.paint(aside, "× ") + s.paint(dim, "the server closed its output")
	case transcript.Closed:
		return s.paint(aside, "× ") + s.paint(dim, "the client closed the server's input")
	case transcript.Exit:
		return s.paint(aside, "× ") + s.paint(dim, "the server "+e.Exit.String())
	case transcript.Timeout:
		return s.paint(aside, "× ") + "waited in vain for " + reports.Printable(e.Note)
	case transcript.Dropped, transcript.Failure:
		return s.paint(aside, "× ") + reports.Printable(e.Note)
	}
	return ""
}

// Answer is the beginning of an HTTP answer in words: its status, and the headers that the protocol gives a meaning.
func Answer(h *transcript.HTTP) string {
	text := fmt.Sprintf("HTTP %d %s", h.Status, http.StatusText(h.Status))
	for _, name := range []string{"Content-Type", "Mcp-Session-Id", "Www-Authenticate", "Location"} {
		if values := h.Headers[name]; len(values) > 0 {
			text += fmt.Sprintf(", %s: %s", name, reports.Printable(strings.Join(values, ", ")))
		}
	}
	return text
}

// headers are those of a request that the protocol gives a meaning.
func headers(of map[string][]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if strings.HasPrefix(name, "Mcp-") || name == "Last-Event-Id" {
			fmt.Fprintf(&text, " [%s: %s]", name, reports.Printable(strings.Join(of[name], ", ")))
		}
	}
	return text.String()
}

// clip makes text safe to show and no longer than Longest. size is how long it was before the transport cut it, or 0.
func (s Style) clip(text string, size int64) string {
	all := max(int64(len(text)), size)
	if s.Longest > 0 && len(text) > s.Longest {
		text = text[:s.Longest]
		for !utf8.ValidString(text) && len(text) > s.Longest-utf8.UTFMax {
			text = text[:len(text)-1]
		}
	}
	shown := reports.Printable(text)
	if left := all - int64(len(text)); left > 0 {
		shown += s.paint(dim, fmt.Sprintf(" … %d bytes more", left))
	}
	return shown
}

// The colours, as numbers of ANSI's select graphic rendition.
const (
	dim   = "2"
	in    = "36"
	out   = "35"
	aside = "33"
)

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
