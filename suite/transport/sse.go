package transport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// eventReader parses an event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html, "parsing an event
// stream") as it comes. It is our own because the evidence needs what parsers for applications hide: whether an id or an
// empty data field was there, retry, events without data, and what was cut off at the end.
type eventReader struct {
	max  int64 // bytes of one line, and of one event's data, that are kept
	emit func(data []byte, size int64, meta transcript.SSE)

	data    []byte
	size    int64
	meta    transcript.SSE
	pending bool   // a field of an event has been read that no blank line has ended yet
	ignored int    // lines that are no field of an event, and no comment
	first   string // the first of these
}

// read parses r to its end. The note says what was lost or ignored; the error is that of r, nil at its end.
func (p *eventReader) read(r io.Reader) (note string, err error) {
	reader := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	size := int64(0)
	start, skipLF := true, false
	for {
		if _, err = reader.Peek(1); err != nil {
			break
		}
		part, _ := reader.Peek(reader.Buffered())
		if skipLF && part[0] == '\n' {
			_, _ = reader.Discard(1)
			skipLF = false
			continue
		}
		skipLF = false
		end := bytes.IndexAny(part, "\r\n")
		ended := end >= 0
		used := len(part)
		if ended {
			used = end + 1
			// A \n after \r belongs to it, but may come much later: the line has ended all the same.
			skipLF = part[end] == '\r'
			part = part[:end]
		}
		size += int64(len(part))
		line = append(line, part[:min(int64(len(part)), max(0, p.max+lineRoom-int64(len(line))))]...)
		_, _ = reader.Discard(used)
		if !ended {
			continue
		}
		cut := size - int64(len(line))
		if start {
			line, start = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
		}
		p.line(line, cut)
		line, size = line[:0], 0
	}
	var notes []string
	if p.pending || size > 0 {
		notes = append(notes, fmt.Sprintf("the stream ended inside an event, which a client drops (data: %s; then: %s)",
			excerpt(p.data), excerpt(line)))
	}
	if p.ignored > 0 {
		notes = append(notes, fmt.Sprintf("%d lines are no field of an event, the first: %s", p.ignored, p.first))
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.Join(notes, "; "), err
}

// lineRoom is what a line may hold beside the value: the name of the field.
const lineRoom = 16

// line takes one line; cut is the number of bytes that are missing at its end.
func (p *eventReader) line(line []byte, cut int64) {
	if len(line) == 0 {
		p.dispatch()
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "": // a comment
		return
	case "data":
		if p.meta.HasData {
			p.keep([]byte("\n"))
		}
		p.meta.HasData = true
		p.keep(value)
		p.size += max(0, cut)
	case "event":
		p.meta.Event = string(value)
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			p.ignore(line)
			return
		}
		id := string(value)
		p.meta.ID = &id
	case "retry":
		milliseconds, err := strconv.Atoi(string(value))
		if err != nil || strings.Trim(string(value), "0123456789") != "" {
			p.ignore(line)
			return
		}
		p.meta.Retry = &milliseconds
	default:
		p.ignore(line)
		return
	}
	p.pending = true
}

func (p *eventReader) keep(data []byte) {
	p.size += int64(len(data))
	p.data = append(p.data, data[:min(int64(len(data)), p.max-int64(len(p.data)))]...)
}

func (p *eventReader) ignore(line []byte) {
	p.ignored++
	if p.ignored == 1 {
		p.first = excerpt(line)
	}
}

func (p *eventReader) dispatch() {
	if p.pending {
		if p.data == nil {
			p.data = []byte{}
		}
		p.emit(p.data, p.size, p.meta)
	}
	p.data, p.size, p.meta, p.pending = nil, 0, transcript.SSE{}, false
}

func excerpt(text []byte) string {
	const most = 100
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + "..."
	}
	return strconv.Quote(string(text))
}
