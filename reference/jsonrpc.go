package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// object is a JSON object. Numbers in it are json.Number, so that what a client sent goes back unchanged.
type object = map[string]any

// Error codes of JSON-RPC 2.0 and of MCP.
const (
	codeParseError       = -32700
	codeInvalidRequest   = -32600
	codeMethodNotFound   = -32601
	codeInvalidParams    = -32602
	codeInternalError    = -32603
	codeResourceNotFound = -32002

	codeURLElicitationRequired = -32042
)

// rpcError is the error member of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

func errorf(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalidParams(format string, args ...any) *rpcError {
	return errorf(codeInvalidParams, format, args...)
}

type messageKind int

const (
	kindRequest messageKind = iota
	kindNotification
	kindResponse
)

// incoming is a message from the client. Member names are matched exactly, which a Go struct would not do.
type incoming struct {
	kind   messageKind
	id     json.RawMessage // as it was written, for requests and responses
	method string
	params json.RawMessage // nil if absent
	result json.RawMessage
	error  json.RawMessage
}

// refusal is a message that could not be taken, and the id that could be read from it, if any.
type refusal struct {
	id  json.RawMessage
	err *rpcError
}

// parseText checks that raw is JSON in UTF-8 and tells whether it is an array.
func parseText(raw []byte) (isArray bool, err *rpcError) {
	if !utf8.Valid(raw) {
		return false, errorf(codeParseError, "Parse error: the message is not valid UTF-8")
	}
	if !json.Valid(raw) {
		return false, errorf(codeParseError, "Parse error: the message is not valid JSON")
	}
	return bytes.TrimLeft(raw, " \t\r\n")[0] == '[', nil
}

// parseMessage reads one message from valid JSON. What is neither a request, a notification nor a response is refused.
func parseMessage(raw []byte) (*incoming, *refusal) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, &refusal{err: errorf(codeInvalidRequest, "Invalid request: a message is a JSON object")}
	}
	rawID, hasID := members["id"]
	id, idOK := readID(rawID)
	refuse := func(why string) (*incoming, *refusal) {
		return nil, &refusal{id: id, err: errorf(codeInvalidRequest, "Invalid request: %s", why)}
	}
	if version, ok := asString(members["jsonrpc"]); !ok || version != "2.0" {
		return refuse(`jsonrpc is not "2.0"`)
	}
	rawMethod, hasMethod := members["method"]
	result, hasResult := members["result"]
	errorMember, hasError := members["error"]
	switch {
	case hasMethod && (hasResult || hasError):
		return refuse("method stands beside result or error")
	case hasMethod:
		method, ok := asString(rawMethod)
		if !ok {
			return refuse("method is not a string")
		}
		params, hasParams := members["params"]
		if hasParams && !isStructured(params) {
			return refuse("params is not an object")
		}
		if !hasID {
			return &incoming{kind: kindNotification, method: method, params: params}, nil
		}
		if !idOK {
			return refuse("id is neither a string nor a number")
		}
		return &incoming{kind: kindRequest, id: id, method: method, params: params}, nil
	case hasResult && hasError:
		return refuse("result stands beside error")
	case hasResult || hasError:
		if hasResult && !idOK {
			return refuse("a response has no id")
		}
		return &incoming{kind: kindResponse, id: id, result: result, error: errorMember}, nil
	}
	return refuse("no method, result or error")
}

// readID returns the id as it was written if it is a string or a number.
func readID(raw json.RawMessage) (json.RawMessage, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, false
	}
	if c := raw[0]; c == '"' || c == '-' || (c >= '0' && c <= '9') {
		return raw, true
	}
	return nil, false
}

// idKey is the same for all ways to write the same id, and different for different ids.
func idKey(id json.RawMessage) string {
	if s, ok := asString(id); ok {
		return `"` + s
	}
	return string(id)
}

func asString(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

func isStructured(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && (raw[0] == '{' || raw[0] == '[')
}

// decode reads valid JSON, keeping numbers as they were written.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// encode writes v as JSON on one line.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("reference: a message of the server's own making cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func encodeResult(id json.RawMessage, result any) []byte {
	return encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result})
}

// encodeError writes an error response. Without an id the member is left out if leaveOutID says so, else
// null.
func encodeError(id json.RawMessage, e *rpcError, leaveOutID bool) []byte {
	if id == nil && !leaveOutID {
		id = json.RawMessage("null")
	}
	return encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Error   *rpcError       `json:"error"`
	}{"2.0", id, e})
}

func encodeNotification(method string, params object) []byte {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  object `json:"params,omitempty"`
	}{"2.0", method, params})
}

func encodeRequest(id int64, method string, params object) []byte {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  object `json:"params,omitempty"`
	}{"2.0", id, method, params})
}
