package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// printable makes text from the server safe to show: control characters become their pictures (ESC is ␛, a line
// feed ␊), which no JSON escape can be mistaken for; what would reorder or hide text becomes ‹U+202E›, and a byte
// that is not UTF-8 becomes ‹FF›.
func printable(s string) string { return visible(s, false) }

// excerpt is s cut in its middle to about max bytes and made printable.
func excerpt(s string, max int) string { return printable(cutMiddle(s, max)) }

// printableLines is printable, but line feeds stay.
func printableLines(s string) string { return visible(s, true) }

func visible(s string, lines bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "‹%02X›", s[i])
		case r == '\n' && lines:
			b.WriteByte('\n')
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r):
			b.WriteRune(r)
		default: // C1 controls, format characters (bidi, zero width), line separators, unassigned and non-characters
			fmt.Fprintf(&b, "‹U+%04X›", r)
		}
		i += n
	}
	return b.String()
}

// cutMiddle shortens s to about max bytes, keeping two thirds of them from its beginning and one from its end, and
// says how many bytes it left out. It never cuts within a character.
func cutMiddle(s string, max int) string {
	if len(s) <= max {
		return s
	}
	head, tail := max*2/3, len(s)-max/3
	for range utf8.UTFMax - 1 { // no more: in what is not UTF-8 there may be no beginning for long
		if head > 0 && !utf8.RuneStart(s[head]) {
			head--
		}
		if tail < len(s) && !utf8.RuneStart(s[tail]) {
			tail++
		}
	}
	return fmt.Sprintf("%s … %s cut … %s", s[:head], plural(tail-head, "byte"), s[tail:])
}

// columns is how many cells of a terminal s takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit shortens s to at most max cells, its last one being … when something was left out.
func fit(s string, max int) string {
	if columns(s) <= max {
		return s
	}
	n := 0
	for i, r := range s {
		if n += cells(r); n > max-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// Fold breaks text at spaces into lines of at most width characters, where words are no longer. Runs of blanks become one; those
// before the first word stay, and the lines after the first begin with indent.
func Fold(width int, text, indent string) string {
	line := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines, line = append(lines, line), indent+word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// wrap breaks s into lines of at most max cells: at spaces, else behind a comma, else anywhere. An address or path stays
// whole, even when it is wider than the line: broken, it could be neither followed nor copied. max of 0 or less: no
// limit. Line feeds always break.
func wrap(s string, max int) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		if max <= 0 || columns(line) <= max {
			out = append(out, line)
			continue
		}
		out = append(out, wrapLine(line, max)...)
	}
	return out
}

func wrapLine(line string, max int) []string {
	var out []string
	for columns(line) > max {
		end := breakAt(line, max)
		out, line = append(out, line[:end]), strings.TrimPrefix(line[end:], " ")
	}
	if line == "" && len(out) > 0 {
		return out
	}
	return append(out, line)
}

// breakAt is where a line that is wider than max cells is broken, in bytes; more than 0.
func breakAt(line string, max int) int {
	n, end := 0, 0
	for i, r := range line {
		if n += cells(r); n > max {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	if end == 0 { // a character wider than the whole line
		_, end = utf8.DecodeRuneInString(line)
	}
	if end == len(line) || line[end] == ' ' {
		return end
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	space := strings.LastIndexByte(line[:end], ' ')
	tail := strings.IndexByte(line[end:], ' ')
	if tail < 0 {
		tail = len(line) - end
	}
	word := line[space+1 : end+tail] // what stands across the end of the line
	comma := 0
	for i := range line[:end] { // not the one of 1,234
		if line[i] == ',' && !unicode.IsDigit(rune(line[i+1])) {
			comma = i + 1
		}
	}
	switch {
	case space > indent && (columns(word) <= max || whole(word)):
		return space
	case whole(word):
		return end + tail
	case comma > end/2 && comma > space:
		return comma
	case space > end/2:
		return space
	}
	return end
}

// whole says whether a word is an address or a path.
func whole(word string) bool {
	return strings.Contains(word, "/") && !strings.ContainsAny(word, `{}"<>`) && len(word) <= 400
}

// plural is "1 check", "2 checks", "1,234 checks".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// style is how a piece of text looks on a terminal with colours.
type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "1;31"
	green  style = "32"
	yellow style = "33"
	blue   style = "36"
	purple style = "35"
)

// paint wraps s in the codes of st, when colours are wanted.
func paint(color bool, st style, s string) string {
	if !color || st == "" || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// fitArea cuts the name of an area to n columns, from its front, since pages of one folder differ in their ends.
func fitArea(s string, n int) string {
	for rest := s; columns(s) > n; {
		_, after, found := strings.Cut(rest, "/")
		if !found {
			return fit(s, n)
		}
		rest, s = after, "…/"+after
	}
	return s
}

// Printable makes text that comes from a server safe to show on a terminal: control characters become their pictures, what
// would reorder or hide text becomes ‹U+202E›, and a byte that is not UTF-8 ‹FF›.
func Printable(s string) string { return printable(s) }
