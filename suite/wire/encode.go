package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Encode writes a value as compact JSON: members sorted by name, nothing escaped that JSON does not ask for. It takes
// what Decode gives and Go's other number types; anything else goes through encoding/json first, []byte as base64.
// A float64 always has a fraction or an exponent, so that Decode gives a float64 again. Invalid UTF-8 is
// written as U+FFFD.
//
// The error says which value cannot be written: NaN, an infinity, a type without a JSON form, or one nested deeper
// than 5000 levels.
func Encode(v any) ([]byte, error) {
	return appendValue(nil, v, 0)
}

func appendValue(out []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("cannot be written as JSON: nested deeper than %d levels", maxDepth)
	}
	switch v := normal(v).(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case string:
		return appendString(out, v), nil
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case float64:
		return appendFloat(out, v)
	case []byte:
		return appendString(out, base64.StdEncoding.EncodeToString(v)), nil
	case json.RawMessage:
		value, _, err := Decode(v)
		if err != nil {
			return nil, err
		}
		return appendValue(out, value, depth)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = appendValue(out, item, depth+1); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		out = append(out, '{')
		for i, name := range names {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, name), ':')
			var err error
			if out, err = appendValue(out, v[name], depth+1); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	default:
		var buffer bytes.Buffer
		encoder := json.NewEncoder(&buffer)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			return nil, fmt.Errorf("cannot be written as JSON: %w", err)
		}
		return appendValue(out, json.RawMessage(buffer.Bytes()), depth)
	}
}

func appendString(out []byte, s string) []byte {
	out, _ = jsontext.AppendQuote(out, s) // its only error is invalid UTF-8, which it has replaced
	return out
}

func appendFloat(out []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("cannot be written as JSON: a number that is infinite or not a number")
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	start := len(out)
	out = strconv.AppendFloat(out, f, format, -1, 64)
	if !bytes.ContainsAny(out[start:], ".e") {
		out = append(out, ".0"...)
	}
	return out, nil
}

// normal turns Go's other number types into int64 and float64.
func normal(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case uint:
		return unsigned(uint64(v))
	case uint8:
		return int64(v)
	case uint16:
		return int64(v)
	case uint32:
		return int64(v)
	case uint64:
		return unsigned(v)
	case float32:
		return float64(v)
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}

func unsigned(v uint64) any {
	if v <= math.MaxInt64 {
		return int64(v)
	}
	return float64(v)
}

// Normal returns a copy of a value as Decode would give it after Encode: with int64 and float64 as its only numbers.
// Errors are those of Encode.
func Normal(v any) (any, error) {
	text, err := Encode(v)
	if err != nil {
		return nil, err
	}
	value, _, err := Decode(text)
	return value, err
}

// Request builds a request. A nil id is written as null; nil params leave the member out. It panics when a
// value has no JSON form, as Encode says; what Decode gave always has one.
func Request(id any, method string, params any) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), mustEncode(id)...)
	out = appendString(append(out, `,"method":`...), method)
	return appendParams(out, params)
}

// Notification builds a notification. Nil params leave the member out. It panics as Request does.
func Notification(method string, params any) []byte {
	return appendParams(appendString([]byte(`{"jsonrpc":"2.0","method":`), method), params)
}

// Result builds a reply with a result. A nil result is written as null. It panics as Request does.
func Result(id, result any) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), mustEncode(id)...)
	out = append(append(out, `,"result":`...), mustEncode(result)...)
	return append(out, '}')
}

// ErrorReply builds a reply with an error. It panics as Request does.
func ErrorReply(id any, code int64, message string) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), mustEncode(id)...)
	out = strconv.AppendInt(append(out, `,"error":{"code":`...), code, 10)
	out = appendString(append(out, `,"message":`...), message)
	return append(out, "}}"...)
}

func appendParams(out []byte, params any) []byte {
	if params != nil {
		out = append(append(out, `,"params":`...), mustEncode(params)...)
	}
	return append(out, '}')
}

func mustEncode(v any) []byte {
	out, err := Encode(v)
	if err != nil {
		panic("wire: " + err.Error())
	}
	return out
}
