package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// prepare makes a decoded value fit for the validator, which sees no number but json.Number: others pass it unchecked.
// Containers without numbers are used as they are, the rest is copied: encoding and decoding again costs ten times that.
func prepare(value any) (any, error) {
	prepared, _, err := prepareChanged(value)
	return prepared, err
}

func prepareChanged(value any) (prepared any, changed bool, err error) {
	switch v := value.(type) {
	case nil, bool, string:
		return v, false, nil
	case map[string]any:
		return prepareMap(v)
	case []any:
		return prepareSlice(v)
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), true, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false, fmt.Errorf("%v is not a JSON number", v)
		}
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64)), true, nil
	case json.Number:
		return prepareNumber(v)
	case int, int8, int16, int32, uint, uint8, uint16, uint32, uint64, float32:
		return prepareChanged(json.Number(fmt.Sprint(v)))
	default:
		return nil, false, fmt.Errorf("a Go value of type %T is not decoded JSON", value)
	}
}

func prepareMap(m map[string]any) (any, bool, error) {
	var copied map[string]any
	for key, member := range m {
		prepared, changed, err := prepareChanged(member)
		if err != nil {
			return nil, false, err
		}
		if !changed {
			continue
		}
		if copied == nil {
			copied = make(map[string]any, len(m))
			for k, v := range m {
				copied[k] = v
			}
		}
		copied[key] = prepared
	}
	if copied == nil {
		return m, false, nil
	}
	return copied, true, nil
}

func prepareSlice(s []any) (any, bool, error) {
	var copied []any
	for i, item := range s {
		prepared, changed, err := prepareChanged(item)
		if err != nil {
			return nil, false, err
		}
		if !changed {
			continue
		}
		if copied == nil {
			copied = append([]any(nil), s...)
		}
		copied[i] = prepared
	}
	if copied == nil {
		return s, false, nil
	}
	return copied, true, nil
}

// longest is the most digits that a number is passed on with; the validator's arithmetic is exact and slow beyond.
const longest = 400

// prepareNumber keeps a number as it is written, unless it has so many digits or so large an exponent that exact
// arithmetic would take seconds, or panic. That one is rounded to float64, and beyond its range to something as large
// or as small for every bound in the schemas.
func prepareNumber(n json.Number) (any, bool, error) {
	text := string(n)
	if !isNumber(text) {
		return nil, false, fmt.Errorf("%q is not a JSON number", text)
	}
	mantissa, _, hasExponent := strings.Cut(strings.ToLower(text), "e")
	if !hasExponent && len(text) <= longest {
		return n, false, nil
	}
	f, _ := strconv.ParseFloat(text, 64) // the only error left is a range, and then f is ±Inf
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	switch {
	case math.IsInf(f, 0):
		return json.Number(sign + "1e400"), true, nil
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return json.Number(sign + "1e-400"), true, nil
	default:
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), true, nil
	}
}

func isNumber(text string) bool {
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
	return text != "" && (text[0] == '-' || isDigit(text[0])) && isDigit(text[len(text)-1]) && json.Valid([]byte(text))
}
