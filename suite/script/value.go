package script

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// native turns a CEL value into a plain Go value: map[string]any, []any, int64, float64, string, bool or nil.
func native(v ref.Val) any {
	switch x := v.(type) {
	case nil, types.Null:
		return nil
	case types.Bool:
		return bool(x)
	case types.Int:
		return int64(x)
	case types.Uint:
		if uint64(x) <= math.MaxInt64 {
			return int64(x)
		}
		return float64(x)
	case types.Double:
		return float64(x)
	case types.String:
		return string(x)
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(x)
	case traits.Mapper:
		return nativeMap(x)
	case traits.Lister:
		return nativeList(x)
	}
	return plain(v.Value())
}

func nativeMap(m traits.Mapper) any {
	if original, ok := m.Value().(map[string]any); ok && isPlainMap(original) {
		return original
	}
	out := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		k := it.Next()
		out[fmt.Sprint(native(k))] = native(m.Get(k))
	}
	return out
}

func nativeList(l traits.Lister) any {
	if original, ok := l.Value().([]any); ok && isPlainList(original) {
		return original
	}
	out := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		out = append(out, native(it.Next()))
	}
	return out
}

// isPlainMap and isPlainList look at the first level only: documents come in plain, and CEL mixes its own values
// in only at the level that it built.
func isPlainMap(m map[string]any) bool {
	for _, v := range m {
		if !isPlain(v) {
			return false
		}
	}
	return true
}

func isPlainList(l []any) bool {
	return !slices.ContainsFunc(l, func(v any) bool { return !isPlain(v) })
}

func isPlain(v any) bool {
	switch v.(type) {
	case nil, bool, int64, float64, string, []any, map[string]any:
		return true
	}
	return false
}

// plain turns other Go values that a caller may put into the variables into the plain kinds.
func plain(v any) any {
	switch x := v.(type) {
	case nil, bool, int64, float64, string, []any, map[string]any:
		return x
	case ref.Val:
		return fmt.Sprint(x)
	case fmt.Stringer:
		return x.String()
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.String {
		return r.String()
	}
	return fmt.Sprint(v)
}

// jsonCut writes a value as JSON, members sorted, and cuts it after limit characters.
func jsonCut(v any, limit int) string {
	w := &cutter{limit: limit}
	w.write(v)
	if w.full() {
		return string([]rune(w.b.String())[:limit]) + "…"
	}
	return w.b.String()
}

type cutter struct {
	b     strings.Builder
	runes int
	limit int
}

func (w *cutter) full() bool { return w.runes > w.limit }

func (w *cutter) text(s string) {
	w.b.WriteString(s)
	w.runes += utf8.RuneCountInString(s)
}

func (w *cutter) write(v any) {
	if w.full() {
		return
	}
	switch x := v.(type) {
	case string:
		if len(x) > 4*w.limit+4 {
			x = x[:4*w.limit+4] // a huge text is never encoded whole only to be cut
		}
		w.text(encodeText(x))
	case []any:
		w.text("[")
		for i, e := range x {
			if w.full() {
				return
			}
			if i > 0 {
				w.text(",")
			}
			w.write(e)
		}
		w.text("]")
	case map[string]any:
		w.text("{")
		for i, k := range slices.Sorted(maps.Keys(x)) {
			if w.full() {
				return
			}
			if i > 0 {
				w.text(",")
			}
			w.write(k)
			w.text(":")
			w.write(x[k])
		}
		w.text("}")
	default:
		data, err := json.Marshal(x)
		if err != nil {
			data = []byte(encodeText(fmt.Sprint(x)))
		}
		w.text(string(data))
	}
}

func encodeText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return fmt.Sprintf("%q", s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
