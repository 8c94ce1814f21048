package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// parseJSON reads JSON in which comments and trailing commas are allowed, as editors write it, into values that know where they
// stand. What is no such JSON is a mistake, and nil comes back.
func parseJSON(file string, data []byte, m *mistakes) *value {
	data = plainJSON(data)
	at := func(offset int64) script.Position {
		before := data[:min(offset, int64(len(data)))]
		line := bytes.Count(before, []byte("\n"))
		return script.Position{File: file, Line: line + 1, Column: len(before) - bytes.LastIndexByte(before, '\n')}
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	p := &jsonParser{Decoder: d, at: func() script.Position {
		offset := d.InputOffset()
		for offset < int64(len(data)) && strings.ContainsRune(" \t\r\n:,", rune(data[offset])) {
			offset++
		}
		return at(offset)
	}}
	root, err := p.value(0)
	if err == nil {
		if _, err = d.ReadToken(); errors.Is(err, io.EOF) {
			return root
		}
		m.add(p.at(), "something stands behind the end of the JSON")
		return nil
	}
	what, pos := err.Error(), p.at()
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		what = "it ends too early"
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		what, pos = syntax.Err.Error(), at(syntax.ByteOffset)
	}
	m.add(pos, "this is not JSON: %s", what)
	return nil
}

type jsonParser struct {
	*jsontext.Decoder
	at func() script.Position
}

func (p *jsonParser) value(depth int) (*value, error) {
	v := &value{pos: p.at()}
	if depth > maxDepth {
		return nil, errors.New("values nest too deep")
	}
	t, err := p.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		v.kind = mapKind
		for p.PeekKind() != '}' {
			pos := p.at()
			key, err := p.ReadToken()
			if err != nil {
				return nil, err
			}
			e := entry{key: key.String(), pos: pos}
			if e.value, err = p.value(depth + 1); err != nil {
				return nil, err
			}
			v.entries = append(v.entries, e)
		}
		_, err = p.ReadToken()
	case '[':
		v.kind = listKind
		for p.PeekKind() != ']' {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, err = p.ReadToken()
	case 'n':
	case '0':
		v.scalar, v.text = json.Number(t.String()), t.String()
	case 't', 'f':
		v.scalar, v.text = t.Kind() == 't', t.String()
	default:
		v.scalar, v.text = t.String(), t.String()
	}
	return v, err
}

// plainJSON is data with spaces in place of comments and trailing commas, so that everything else stays where it is.
func plainJSON(data []byte) []byte {
	out := bytes.Clone(data)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	if bytes.HasPrefix(out, []byte("\ufeff")) {
		blank(0, 3)
	}
	comma := -1 // of the last comma behind which nothing has come yet
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			i++
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			end := i + bytes.IndexByte(append(out[i:len(out):len(out)], '\n'), '\n')
			blank(i, end)
			i = end
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			end := len(out)
			if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 {
				end = i + 2 + n + 2
			}
			blank(i, end)
			i = end
		case c == ',':
			comma = i
			i++
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
			i++
		default:
			if !strings.ContainsRune(" \t\r\n", rune(c)) {
				comma = -1
			}
			i++
		}
	}
	return out
}
