package wire

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestReadJudgesTheKindByMembers(t *testing.T) {
	for text, want := range map[string]Kind{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:    KindRequest,
		`{"jsonrpc":"1.0","id":null,"method":"ping"}`: KindRequest,
		`{"id":[],"method":7}`:                        KindRequest,
		`{"method":"notifications/initialized"}`:      KindNotification,
		`{"id":1,"result":null}`:                      KindResult,
		`{"result":{}}`:                               KindResult,
		`{"id":null,"error":{"code":-32700}}`:         KindError,
		`{"id":1,"result":{},"error":null}`:           KindBoth,
		`[]`:                                          KindBatch,
		`[{"method":"x"}]`:                            KindBatch,
		`{}`:                                          KindInvalid,
		`{"id":1}`:                                    KindInvalid,
		`"text"`:                                      KindInvalid,
		` null `:                                      KindInvalid,
		``:                                            KindNotJSON,
		"\r":                                          KindNotJSON,
		`Server listening on port 3000`:               KindNotJSON,
		`{"id":1,"result":{}}{"id":2,"result":{}}`: KindNotJSON,
		`{"id":1,`:              KindNotJSON,
		`{"id":01}`:             KindNotJSON,
		`{'id':1}`:              KindNotJSON,
		`{"a":1,}`:              KindNotJSON,
		`{"a":NaN}`:             KindNotJSON,
		"{\"a\":\"tab\there\"}": KindNotJSON,
		"\xef\xbb\xbf" + `{"id":1,"method":"x"}` + " \r\n": KindRequest,
	} {
		m := Read([]byte(text))
		if m.Kind != want {
			t.Errorf("Read(%q) is %s, want %s (%v)", text, m.Kind, want, m.Oddities)
		}
		if string(m.Raw) != text {
			t.Errorf("Read(%q) changed the bytes to %q", text, m.Raw)
		}
		if m.Kind == KindNotJSON && (len(m.Oddities) == 0 || m.Value != nil) {
			t.Errorf("Read(%q) is no JSON, but says nothing about why: %v", text, m.Oddities)
		}
	}
}

func TestDecodeNamesOddities(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                                 "",
		`{"params":{"name":"a","name":"b"}}`:      `duplicate member name "name" at /params/name`,
		"\xef\xbb\xbf{}":                          "byte order mark",
		"{\"a\":\"\xff\"}":                        "invalid UTF-8 at byte 6",
		"\xef\xbb\xbf[\"\xff\"]":                  "byte order mark; invalid UTF-8 at byte 5",
		`["\ud800"]`:                              "lone surrogate at /0",
		`["\ud83d\ude00", "\u00e9", "\ufffd"]`:    "",
		`{"n":1e400}`:                             "number out of range at /n",
		`{"maximum":18446744073709551615}`:        "",
		`{"a":1,"a":2,"\u0061":3}`:                `duplicate member name "a" at /a; duplicate member name "a" at /a`,
		`[{"x":{"y":1}},{"x":{"y":1,"y":"two"}}]`: `duplicate member name "y" at /1/x/y`,
	} {
		_, oddities, err := Decode([]byte(text))
		if err != nil {
			t.Errorf("Decode(%q): %v", text, err)
		}
		if got := strings.Join(oddities, "; "); got != want {
			t.Errorf("Decode(%q) notes %q, want %q", text, got, want)
		}
	}
}

func TestDecodeSaysWhereItBreaks(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,`:         "not JSON: it ends in the middle, after 8 bytes",
		`{"a":1} x`:        "not JSON: something follows the end of the value at byte 8",
		" \n":              "not JSON: nothing but white space",
		"Listening":        "not JSON: invalid character 'L' at start of value at byte 0",
		"\xef\xbb\xbfOops": "not JSON: invalid character 'O' at start of value at byte 3",
	} {
		_, _, err := Decode([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("Decode(%q) says %v, want %q", text, err, want)
		}
	}
}

func TestDecodeNumbers(t *testing.T) {
	g := gomega.NewWithT(t)
	value, _, err := Decode([]byte(`[1, 1.0, -0, 1e2, 9223372036854775807, 9223372036854775808, -1.5, 1e400, -1e400]`))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(value).To(gomega.Equal([]any{int64(1), 1.0, int64(0), 100.0, int64(math.MaxInt64), float64(1 << 63), -1.5,
		math.MaxFloat64, -math.MaxFloat64}))
}

func TestDepthBombs(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		strings.Repeat("[", 100_000),
		strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		strings.Repeat(`{"a":`, 7_000),
	} {
		m := Read([]byte(text))
		if m.Kind != KindNotJSON || strings.Join(m.Oddities, "") != "nested deeper than 5000 levels" {
			t.Errorf("Read(%.10q...) is %s: %v", text, m.Kind, m.Oddities)
		}
	}
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	value, _, err := Decode([]byte(deep))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Encode(value); err != nil || string(again) != deep {
		t.Errorf("the deepest value that is read cannot be written: %v", err)
	}
	var bomb any
	for range 100_000 {
		bomb = []any{bomb}
	}
	if _, err := Encode(bomb); err == nil {
		t.Error("Encode wrote a value 100000 levels deep")
	}
}

func TestManyOdditiesAreCutShort(t *testing.T) {
	m := Read([]byte("{" + strings.Repeat(`"a":1,`, 1000) + `"a":1}`))
	if len(m.Oddities) != maxOddities+1 || m.Oddities[maxOddities] != "and more" {
		t.Errorf("%d oddities, the last: %s", len(m.Oddities), m.Oddities[len(m.Oddities)-1])
	}
}

func TestMethodAndID(t *testing.T) {
	g := gomega.NewWithT(t)
	m := Read([]byte(`{"id":null,"method":"tools/list"}`))
	g.Expect(m.Method()).To(gomega.Equal("tools/list"))
	id, present := m.ID()
	g.Expect(id).To(gomega.BeNil())
	g.Expect(present).To(gomega.BeTrue())

	m = Read([]byte(`{"method":5}`))
	g.Expect(m.Method()).To(gomega.BeEmpty())
	_, present = m.ID()
	g.Expect(present).To(gomega.BeFalse())

	m = Read([]byte(`[1]`))
	g.Expect(m.Method()).To(gomega.BeEmpty())
	_, present = m.ID()
	g.Expect(present).To(gomega.BeFalse())
}

func TestIDKey(t *testing.T) {
	same := [][]any{
		{1, int64(1), 1.0, uint64(1), json.Number("1")},
		{"1"},
		{"number 1"},
		{""},
		{nil},
		{"null"},
		{0, 0.0, math.Copysign(0, -1)},
		{1.5},
		{int64(math.MaxInt64)},
		{float64(1 << 63), uint64(1 << 63)},
		{float64(math.MinInt64), int64(math.MinInt64)},
		{true},
		{[]any{int64(1)}, []any{1}},
		{map[string]any{}},
	}
	seen := map[string]int{}
	for group, ids := range same {
		key := IDKey(ids[0])
		if other, ok := seen[key]; ok {
			t.Errorf("%v and %v share the key %q", ids[0], same[other][0], key)
		}
		seen[key] = group
		for _, id := range ids {
			if IDKey(id) != key {
				t.Errorf("%T %v has the key %q, %v has %q", id, id, IDKey(id), ids[0], key)
			}
		}
	}
}

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{map[string]any{"b": 1, "a": []any{nil, true, "<&>\u2028é"}}, `{"a":[null,true,"<&>` + "\u2028" + `é"],"b":1}`},
		{1.0, `1.0`},
		{-0.5, `-0.5`},
		{1e21, `1e+21`},
		{1e-7, `1e-07`},
		{float64(1 << 53), `9007199254740992.0`},
		{uint8(7), `7`},
		{"\xff", `"` + "\ufffd" + `"`},
		{[]byte("hi"), `"aGk="`},
		{struct {
			B int            `json:"b"`
			A map[string]int `json:"a"`
		}{1, map[string]int{"x": 1}}, `{"a":{"x":1},"b":1}`},
		{[]string{"<"}, `["<"]`},
		{json.RawMessage(`{"b": 1, "a": 1.50}`), `{"a":1.5,"b":1}`},
	} {
		got, err := Encode(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("Encode(%v) = %s, %v; want %s", c.value, got, err, c.want)
		}
	}
	for _, bad := range []any{math.NaN(), []any{math.Inf(1)}, make(chan int), map[string]any{"f": func() {}}} {
		if got, err := Encode(bad); err == nil {
			t.Errorf("Encode(%T) = %s, want an error", bad, got)
		}
	}
}

func TestBuilders(t *testing.T) {
	for got, want := range map[string]string{
		string(Request("a", "ping", nil)):                          `{"jsonrpc":"2.0","id":"a","method":"ping"}`,
		string(Request(1, "tools/list", map[string]any{})):         `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`,
		string(Request(nil, "x", []any{})):                         `{"jsonrpc":"2.0","id":null,"method":"x","params":[]}`,
		string(Notification("notifications/x", nil)):               `{"jsonrpc":"2.0","method":"notifications/x"}`,
		string(Notification("n", map[string]any{"a": "\""})):       `{"jsonrpc":"2.0","method":"n","params":{"a":"\""}}`,
		string(Result(int64(3), map[string]any{"roots": []any{}})): `{"jsonrpc":"2.0","id":3,"result":{"roots":[]}}`,
		string(Result("r", nil)):                                   `{"jsonrpc":"2.0","id":"r","result":null}`,
		string(ErrorReply(4, -32601, "no <such> method")):          `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no <such> method"}}`,
	} {
		if got != want {
			t.Errorf("built %s, want %s", got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a request whose params have no JSON form was built")
		}
	}()
	Request(1, "x", math.NaN())
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,1.0,-0,1e-9,"\ud800"]}}`, `[]`, `{"a":1,"a":2}`, "\xef\xbb\xbf{}",
		"{\"\xff\":\"\xfe\"}", `1e400`, `-1e-400`, `9223372036854775808`, `"\u0000\ud83d\ude00"`, `{"id":1}{"id":2}`, ``, `nul`, `{"":{"":{}}}`,
		strings.Repeat("[", 200), `123456789012345678901234567890`, `0.1e1`, "[1,\t2\r\n]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := Read(raw)
		if m.Kind == KindNotJSON {
			if len(m.Oddities) == 0 {
				t.Fatal("no JSON, but no reason given")
			}
			if json.Valid(raw) && len(raw) < maxDepth {
				t.Fatalf("encoding/json reads it: %v", m.Oddities)
			}
			return
		}
		if rest := strings.TrimPrefix(string(raw), "\xef\xbb\xbf"); !json.Valid([]byte(rest)) {
			t.Fatal("encoding/json does not read it")
		}
		text, err := Encode(m.Value)
		if err != nil {
			t.Fatal(err)
		}
		again, oddities, err := Decode(text)
		if err != nil || len(oddities) > 0 {
			t.Fatalf("what was encoded is odd: %s: %v %v", text, oddities, err)
		}
		if !reflect.DeepEqual(m.Value, again) {
			t.Fatalf("%#v came back as %#v", m.Value, again)
		}
		if kindOf(again) != m.Kind {
			t.Fatalf("the kind changed from %s to %s", m.Kind, kindOf(again))
		}
		if id, ok := m.ID(); ok {
			other, _ := Read(Result(id, nil)).ID()
			if IDKey(other) != IDKey(id) {
				t.Fatalf("the id %v came back as %v", id, other)
			}
		}
	})
}

func TestIsReply(t *testing.T) {
	for text, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`:             true,
		`{"id":"a","error":{}}`:                            true,
		`{"id":1,"result":{},"error":null}`:                true,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32}}`: false,
		`{"error":"slow down"}`:                            false,
		`{"id":1,"method":"ping"}`:                         false,
		`{"id":"7f3a","message":"Forbidden"}`:              false,
		`[{"id":1,"result":{}}]`:                           false,
		`no`:                                               false,
	} {
		if got := Read([]byte(text)).IsReply(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
