package tour

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/trace"
)

// Text gives the function that writes a tour for people, as Config.Tell takes it. width is the number of columns to break
// lines at; 0: none are broken. The bytes of messages are written as they came, but for line breaks.
func Text(w io.Writer, style trace.Style, width int) func(Entry) {
	first := true
	return func(e Entry) {
		switch {
		case e.Title != "":
			if !first {
				fmt.Fprintln(w)
			}
			first = false
			fmt.Fprintln(w, bold(style, e.Title))
		case e.Event != nil:
			fmt.Fprintln(w)
			says := e.Says
			if style.Secrets != nil {
				says = style.Secrets.Text(says)
			}
			if says != "" {
				fmt.Fprintln(w, words(says, width))
			}
			fmt.Fprintln(w, wrap(style.Line(*e.Event), width))
		default:
			fmt.Fprintf(w, "\n%s\n", words(e.Says, width))
		}
	}
}

func bold(style trace.Style, text string) string {
	if !style.Color {
		return text + "\n" + strings.Repeat("─", utf8.RuneCountInString(text))
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

const indent = "  "

// words breaks prose at spaces.
func words(text string, width int) string {
	if width <= 0 {
		return indent + text
	}
	return reports.Fold(width, indent+text, indent)
}

// wrap breaks each line at the width, wherever that is, and hangs what follows behind the arrow. Escape sequences take no
// place.
func wrap(text string, width int) string {
	const hang = indent + "  "
	var out strings.Builder
	column, escape := len(indent), false
	out.WriteString(indent)
	for _, r := range text {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case r == '\n':
			out.WriteRune(r)
			column = 0
			continue
		case width > len(hang)+10 && column >= width:
			out.WriteString("\n" + hang)
			column = len(hang) + 1
		default:
			column++
		}
		out.WriteRune(r)
	}
	return out.String()
}
