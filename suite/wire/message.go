// Package wire reads and writes single JSON-RPC messages (https://www.jsonrpc.org/specification).
//
// Reading is lenient and never repairs: the bytes are kept as they came, what they decode to is handed out, and
// what was odd about them is said in words. Whether something odd breaks a rule is for others to judge.
package wire

import (
	"math"
	"strconv"
)

// Kind says what sort of message some bytes are, judged by the members that are present.
type Kind string

// The kinds of messages.
const (
	KindRequest      Kind = "request"      // method and id, whatever their types; an id of null counts
	KindNotification Kind = "notification" // method without id
	KindResult       Kind = "result"       // a reply with result
	KindError        Kind = "error"        // a reply with error
	KindBoth         Kind = "both"         // a reply with result and error, even where one of them is null
	KindBatch        Kind = "batch"        // an array, even an empty one
	KindInvalid      Kind = "invalid"      // JSON, but no JSON-RPC message
	KindNotJSON      Kind = "not-json"     // no JSON text; Oddities says what is wrong and where
)

// Message is what was read of one line, event or body.
type Message struct {
	Raw      []byte   // the bytes as they came; shared with the caller of Read
	Kind     Kind     //
	Value    any      // as Decode gives it; nil when Kind is KindNotJSON
	Oddities []string // what is odd about the bytes as JSON; nothing about JSON-RPC or MCP
}

// Read reads one message. It never fails: bytes that are no JSON give KindNotJSON.
func Read(raw []byte) Message {
	value, oddities, err := Decode(raw)
	m := Message{Raw: raw, Value: value, Oddities: oddities}
	if err != nil {
		m.Kind = KindNotJSON
		m.Value = nil
		m.Oddities = append(m.Oddities, err.Error())
		return m
	}
	m.Kind = kindOf(value)
	return m
}

// kindOf judges a decoded value, such as one message of a batch. It never answers KindNotJSON.
func kindOf(value any) Kind {
	object, ok := value.(map[string]any)
	if !ok {
		if _, ok := value.([]any); ok {
			return KindBatch
		}
		return KindInvalid
	}
	has := func(name string) bool { _, ok := object[name]; return ok }
	switch {
	case has("method") && has("id"):
		return KindRequest
	case has("method"):
		return KindNotification
	case has("result") && has("error"):
		return KindBoth
	case has("result"):
		return KindResult
	case has("error"):
		return KindError
	}
	return KindInvalid
}

// Method returns the message's method, "" when there is none or it is no string.
func (m Message) Method() string {
	object, _ := m.Value.(map[string]any)
	method, _ := object["method"].(string)
	return method
}

// ID returns the message's id, decoded, and whether the member is present. An id of null gives (nil, true).
func (m Message) ID() (any, bool) {
	object, _ := m.Value.(map[string]any)
	id, ok := object["id"]
	return id, ok
}

// IsReply says whether the message is a reply that names its request: one with a result, an error or both, and an id that is not null.
func (m Message) IsReply() bool {
	id, _ := m.ID()
	return id != nil && (m.Kind == KindResult || m.Kind == KindError || m.Kind == KindBoth)
}

// IDKey returns a key by which ids can be compared: equal for equal ids, and only for these. 1 and 1.0 are the same
// number; a string never equals a number. It takes what Decode gives and Go's other number types.
func IDKey(id any) string {
	switch id := normal(id).(type) {
	case nil:
		return "null"
	case string:
		return "string " + id
	case int64:
		return "number " + strconv.FormatInt(id, 10)
	case float64:
		// 2^63 is the first float that no int64 can equal.
		if id == math.Trunc(id) && id >= -1<<63 && id < 1<<63 {
			return "number " + strconv.FormatInt(int64(id), 10)
		}
		return "number " + strconv.FormatFloat(id, 'g', -1, 64)
	default:
		text, err := Encode(id)
		if err != nil {
			return "unreadable"
		}
		return "value " + string(text)
	}
}
