package sabotage

import (
	"bytes"
	"strings"
)

// cutEvent takes the first whole SSE event, its blank line included, off buffered; nil when there is none yet.
func cutEvent(buffered []byte) (block, rest []byte) {
	for at := 0; at < len(buffered); {
		end := bytes.IndexByte(buffered[at:], '\n')
		if end < 0 {
			return nil, buffered
		}
		line := bytes.TrimSuffix(buffered[at:at+end], []byte("\r"))
		at += end + 1
		if len(line) == 0 {
			return buffered[:at:at], buffered[at:]
		}
	}
	return nil, buffered
}

// event is a parsed SSE event. Its lines are kept so that what no fault touches stays as the server wrote it.
type event struct {
	lines   []string
	name    string
	data    []byte
	hasData bool
	comment bool // nothing but comments and blank lines
}

func parseEvent(block []byte) event {
	e := event{comment: true}
	var data []string
	for line := range strings.Lines(string(block)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		e.lines = append(e.lines, line)
		field, value := cutField(line)
		if field != "" {
			e.comment = false
		}
		switch field {
		case "data":
			data = append(data, value)
			e.hasData = true
		case "event":
			e.name = value
		}
	}
	e.data = []byte(strings.Join(data, "\n"))
	return e
}

func cutField(line string) (field, value string) {
	field, value, _ = strings.Cut(line, ":")
	return field, strings.TrimPrefix(value, " ")
}

// rewritten is e with other data and with the fields that edit changes.
func (e event) rewritten(data []byte, edit sseEdit) []byte {
	var out strings.Builder
	written := map[string]bool{}
	field := func(name string) {
		if change := edit.fields[name]; !written[name] && !change.drop {
			out.WriteString(name + ": " + change.value + "\n")
		}
		written[name] = true
	}
	content := func() {
		if !written["data"] {
			writeData(&out, data)
		}
		written["data"] = true
	}
	added := func() {
		for _, name := range sseFields {
			if _, ok := edit.fields[name]; ok {
				field(name)
			}
		}
	}
	for _, line := range e.lines {
		name, _ := cutField(line)
		_, edited := edit.fields[name]
		switch {
		case edited:
			field(name)
		case name == "data":
			added()
			content()
		default:
			out.WriteString(line + "\n")
		}
	}
	added()
	if e.hasData {
		content()
	}
	out.WriteString("\n")
	return []byte(out.String())
}

// newEvent is a further message, named as the event that it goes with, without an id.
func newEvent(name string, data []byte) []byte {
	var out strings.Builder
	if name != "" {
		out.WriteString("event: " + name + "\n")
	}
	writeData(&out, data)
	out.WriteString("\n")
	return []byte(out.String())
}

func writeData(out *strings.Builder, data []byte) {
	for line := range strings.SplitSeq(string(data), "\n") {
		out.WriteString("data: " + line + "\n")
	}
}
