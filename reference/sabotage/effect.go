package sabotage

import (
	"bytes"
	"time"
	"unicode/utf16"
)

// effect is what the faults that struck ask for. Actions fill it in; each transport carries out its part.
type effect struct {
	struck  bool
	message any  // the outgoing message, nil when there is none
	changed bool // message differs from the bytes that the server wrote
	raw     []byte
	isRaw   bool
	rewrite []func([]byte) []byte // applied in order to the encoded bytes

	before, after            [][]byte // further messages, encoded
	drop, duplicate, reorder bool
	delay                    time.Duration

	// stdio
	prefix, suffix  []byte
	split, join     bool
	stdout, stderr  []byte
	exit            *int
	hang, ignoreEOF bool
	swallow         bool

	// HTTP
	status  int
	headers []headerEdit
	body    []byte
	isBody  bool
	close   bool
	stream  string // "", "other" or "both"
	sse     sseEdit
}

// headerEdit sets one response header, or drops it when values is nil.
type headerEdit struct {
	name   string
	values []string
}

// sseEdit changes the fields around an event's data.
type sseEdit struct {
	keepOpen bool
	fields   map[string]fieldEdit // by name, of sseFields
}

// sseFields are the fields that can be changed, in the order in which new ones are written.
var sseFields = []string{"event", "id", "retry"}

type fieldEdit struct {
	value string
	drop  bool
}

func (s *sseEdit) put(name string, edit fieldEdit) {
	if s.fields == nil {
		s.fields = map[string]fieldEdit{}
	}
	s.fields[name] = edit
}

// encoded is the message as it goes out, given the bytes that the server wrote for it.
func (e *effect) encoded(written []byte) []byte {
	data := written
	switch {
	case e.isRaw:
		data = e.raw
	case e.changed:
		data = encodeJSON(e.message)
	}
	for _, rewrite := range e.rewrite {
		data = rewrite(data)
	}
	return data
}

// absorb takes over everything of an element's effect that is not confined to the element.
func (e *effect) absorb(inner *effect) {
	e.rewrite = append(e.rewrite, inner.rewrite...)
	e.delay += inner.delay
	e.prefix = append(e.prefix, inner.prefix...)
	e.suffix = append(e.suffix, inner.suffix...)
	e.split = e.split || inner.split
	e.join = e.join || inner.join
	e.stdout = append(e.stdout, inner.stdout...)
	e.stderr = append(e.stderr, inner.stderr...)
	if inner.exit != nil {
		e.exit = inner.exit
	}
	e.hang = e.hang || inner.hang
	e.ignoreEOF = e.ignoreEOF || inner.ignoreEOF
	if inner.status != 0 {
		e.status = inner.status
	}
	e.headers = append(e.headers, inner.headers...)
	if inner.isBody {
		e.body, e.isBody = inner.body, true
	}
	e.close = e.close || inner.close
	e.reorder = e.reorder || inner.reorder
	if inner.stream != "" {
		e.stream = inner.stream
	}
	e.sse.keepOpen = e.sse.keepOpen || inner.sse.keepOpen
	for name, edit := range inner.sse.fields {
		e.sse.put(name, edit)
	}
}

// joinArray writes a JSON array from encoded elements, which need not be JSON when a fault says so.
func joinArray(elements [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(elements, []byte(","))...), ']')
}

// splitLine puts a newline inside the JSON, behind its first brace or bracket, where it is mere white space for a parser.
func splitLine(data []byte) []byte {
	at := bytes.IndexAny(data, "{[") + 1
	if at == 0 {
		at = len(data) / 2
	}
	return append(append(append([]byte{}, data[:at]...), '\n'), data[at:]...)
}

func toLatin1(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for _, r := range string(data) {
		if r > 0xff {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return out
}

// toUTF16 encodes as little-endian UTF-16 behind a byte order mark.
func toUTF16(data []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(string(data))) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}
