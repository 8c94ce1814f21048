package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth bounds the nesting that Decode and Encode follow. No MCP message comes near it.
	maxDepth = 5000
	// maxOddities bounds what is said about one message.
	maxOddities = 20
	// maxPath bounds the length of one place that is named.
	maxPath = 200
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Decode decodes one JSON text (RFC 8259) with nothing but white space around it. Objects come as map[string]any,
// arrays as []any; numbers as int64 where they are written as an integer that fits, otherwise as float64.
//
// Oddities name what is unwise or forbidden, yet readable: a byte order mark, invalid UTF-8 and lone surrogates
// (both read as U+FFFD), duplicate member names (the last one counts) and numbers beyond the range of a float64 (read
// as the largest). An integer that a float64 rounds is no oddity: schemas of servers are full of 64-bit limits.
//
// The error says what is wrong and at which byte, counted from 0. Arrays and objects nested deeper than 5000
// levels are an error, too.
func Decode(raw []byte) (any, []string, error) {
	d := decoder{}
	text := raw
	if bytes.HasPrefix(text, byteOrderMark) {
		text = text[len(byteOrderMark):]
		d.note("byte order mark")
	}
	if at := invalidUTF8(text); at >= 0 {
		d.note("invalid UTF-8 at byte %d", at+len(raw)-len(text))
	}
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return nil, d.oddities, errors.New("not JSON: nothing but white space")
	}
	d.Decoder = jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value, err := d.value(0)
	if err == nil {
		end := d.InputOffset()
		rest := text[end:]
		if trimmed := bytes.TrimLeft(rest, " \t\r\n"); len(trimmed) > 0 {
			at := len(raw) - len(trimmed)
			return nil, d.oddities, fmt.Errorf("not JSON: something follows the end of the value at byte %d", at)
		}
		return value, d.oddities, nil
	}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, errDepth):
		err = fmt.Errorf("nested deeper than %d levels", maxDepth)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		err = fmt.Errorf("not JSON: it ends in the middle, after %d bytes", len(raw))
	case errors.As(err, &syntax):
		at := int(syntax.ByteOffset) + len(raw) - len(text)
		err = fmt.Errorf("not JSON: %w at byte %d", syntax.Err, at)
	default:
		err = fmt.Errorf("not JSON: %w", err)
	}
	return nil, d.oddities, err
}

var errDepth = errors.New("too deep")

type decoder struct {
	*jsontext.Decoder
	oddities []string
}

func (d *decoder) note(format string, args ...any) {
	switch {
	case len(d.oddities) < maxOddities:
		d.oddities = append(d.oddities, fmt.Sprintf(format, args...))
	case len(d.oddities) == maxOddities:
		d.oddities = append(d.oddities, "and more")
	}
}

func (d *decoder) value(depth int) (any, error) {
	switch d.PeekKind() {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		return d.str()
	case '0':
		raw, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		return d.number(string(raw)), nil
	case 't', 'f':
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		return token.Bool(), nil
	default: // null, or an error that ReadToken gives
		_, err := d.ReadToken()
		return nil, err
	}
}

func (d *decoder) object(depth int) (any, error) {
	if depth >= maxDepth {
		return nil, errDepth
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	object := map[string]any{}
	for d.PeekKind() != '}' {
		if d.PeekKind() != '"' { // lets the decoder word the error
			if _, err := d.ReadToken(); err != nil {
				return nil, err
			}
			return nil, errors.New("a member name is missing")
		}
		name, err := d.str()
		if err != nil {
			return nil, err
		}
		if _, twice := object[name]; twice {
			d.note("duplicate member name %s at %s", quoteShort(name), d.place())
		}
		value, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	_, err := d.ReadToken()
	return object, err
}

func (d *decoder) array(depth int) (any, error) {
	if depth >= maxDepth {
		return nil, errDepth
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	array := []any{}
	for d.PeekKind() != ']' {
		value, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := d.ReadToken()
	return array, err
}

func (d *decoder) str() (string, error) {
	raw, err := d.ReadValue()
	if err != nil {
		return "", err
	}
	// Plain strings, by far the most, need no second look.
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && utf8.Valid(raw) {
		d.note("lone surrogate at %s", d.place())
	}
	return string(text), nil
}

func (d *decoder) number(text string) any {
	if !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) {
		d.note("number out of range at %s", d.place())
		return math.Copysign(math.MaxFloat64, n)
	}
	return n
}

// place is the JSON pointer of what was read last.
func (d *decoder) place() string {
	if d.StackDepth() > 100 {
		return fmt.Sprintf("a place %d levels deep", d.StackDepth())
	}
	place := string(d.StackPointer())
	if len(place) > maxPath {
		place = strings.ToValidUTF8(place[:maxPath], "") + "..."
	}
	return place
}

func quoteShort(name string) string {
	if len(name) > maxPath {
		name = strings.ToValidUTF8(name[:maxPath], "") + "..."
	}
	return strconv.Quote(name)
}

// invalidUTF8 returns the place of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}
