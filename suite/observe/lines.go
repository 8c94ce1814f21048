package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

func lineDoc(m message) map[string]any {
	d := map[string]any{
		"text": string(m.Raw), "kind": string(m.Kind), "oddities": texts(m.Oddities), "size": int64(len(m.Raw)),
		"ended": m.event.Note == "", "cut": m.event.Size > 0, "part": false, "glued": false,
	}
	if m.event.Size > 0 {
		d["size"] = m.event.Size
	}
	return d
}

const (
	mostParts  = 10_000  // lines that one message is looked for in
	framingCap = 8 << 20 // bytes that are read again in search of parts, in all
)

// framing finds out about the lines of one connection that are no JSON what went wrong with the line breaks: it
// sets part where several lines are one JSON object together, and glued where one line holds several.
func framing(lines []map[string]any) {
	left := framingCap
	for i, l := range lines {
		if l["kind"] != string(wire.KindNotJSON) || l["cut"] == true || l["part"] == true {
			continue
		}
		text := l["text"].(string)
		if !strings.HasPrefix(strings.TrimLeft(text, " \t\r"), "{") {
			continue
		}
		if l["glued"] = glued(text); l["glued"] == true {
			continue
		}
		for _, part := range lines[i : i+parts(lines[i:], &left)] {
			part["part"] = true
		}
	}
}

// glued says whether the text is more than one JSON object and nothing else.
func glued(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	for n := 0; ; n++ {
		var value json.RawMessage
		switch err := d.Decode(&value); {
		case errors.Is(err, io.EOF):
			return n > 1
		case err != nil || !bytes.HasPrefix(value, []byte("{")):
			return false
		}
	}
}

// parts says how many of the lines, from the first on, are one JSON object together; 0 when none are. left is
// what may still be read for it.
func parts(lines []map[string]any, left *int) int {
	var joined []byte
	for i, l := range lines[:min(len(lines), mostParts)] {
		switch wire.Kind(l["kind"].(string)) {
		case wire.KindNotJSON, wire.KindInvalid, wire.KindBatch:
		default:
			return 0 // a message of its own: what was broken off before it does not go on
		}
		text := l["text"].(string)
		// A blank may stand where the line break does, between two words of JSON as well as within a text.
		joined = append(append(joined, text...), ' ')
		if i == 0 || !strings.HasSuffix(strings.TrimRight(text, " \t\r"), "}") {
			continue
		}
		if *left -= len(joined); *left < 0 {
			return 0
		}
		if value, _, err := wire.Decode(joined); err == nil {
			if _, ok := value.(map[string]any); ok {
				return i + 1
			}
		}
	}
	return 0
}
