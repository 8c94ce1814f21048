package observe

import (
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Reader remembers what messages it has read, by where their bytes are: who judges a run looks at each several times. The
// bytes, and the values that were read, must not be changed. The zero Reader is ready for use, a nil one remembers
// nothing. It is for one goroutine.
type Reader struct {
	messages   map[*byte]wire.Message
	handshakes map[*transcript.Event]map[string]any
}

func (r *Reader) read(data []byte) wire.Message {
	if r == nil || len(data) == 0 {
		return wire.Read(data)
	}
	if m, ok := r.messages[&data[0]]; ok && len(m.Raw) == len(data) {
		return m
	}
	if r.messages == nil {
		r.messages = map[*byte]wire.Message{}
	}
	m := wire.Read(data)
	r.messages[&data[0]] = m
	return m
}

// handshake is the observation of a session's opening.
func (r *Reader) handshake(opening []transcript.Event) map[string]any {
	if r != nil {
		if doc, ok := r.handshakes[&opening[0]]; ok {
			return doc
		}
	}
	doc := r.step(&script.Step{Verb: script.Request}, opening, nil)
	if r != nil {
		if r.handshakes == nil {
			r.handshakes = map[*transcript.Event]map[string]any{}
		}
		r.handshakes[&opening[0]] = doc
	}
	return doc
}
