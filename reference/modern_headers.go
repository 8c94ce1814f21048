package reference

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
	annotation    = "x-mcp-header" // in a tool's input schema
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// headers are those of a POST, which repeat a part of the body. A nil one stands for a transport without headers and
// contradicts nothing.
type headers struct{ http.Header }

func mismatch(format string, args ...any) *rpcError {
	return errorf(codeHeaderMismatch, "Header mismatch: "+format, args...)
}

// single returns the only value of a header. It is an error if the header is missing or there several times.
func (h *headers) single(name string) (string, *rpcError) {
	values := h.Values(name)
	switch {
	case len(values) == 0:
		return "", mismatch("the header %s is missing", name)
	case len(values) > 1:
		return "", mismatch("the header %s is there %d times", name, len(values))
	}
	return values[0], nil
}

func (h *headers) matchVersion(version revision) *rpcError {
	if h == nil {
		return nil
	}
	value, err := h.single(headerVersion)
	if err == nil && value != string(version) {
		err = mismatch("%s says %q, the body %q", headerVersion, value, version)
	}
	return err
}

// nameOf tells which parameter of a method the header Mcp-Name repeats.
var nameOf = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
}

func (h *headers) matchMethod(method string, params object) *rpcError {
	if h == nil {
		return nil
	}
	value, err := h.single(headerMethod)
	if err != nil {
		return err
	}
	if value != method {
		return mismatch("%s says %q, the body %q", headerMethod, value, method)
	}
	name, ok := params[nameOf[method]].(string)
	if !ok {
		return nil // nothing to repeat, or what the method itself refuses
	}
	return h.match(headerName, name)
}

// match compares a header that may be encoded with a value of the body.
func (h *headers) match(name string, want any) *rpcError {
	raw, err := h.single(name)
	if err != nil {
		return err
	}
	value, ok := decodeHeader(raw)
	if !ok {
		return mismatch("%s holds invalid characters", name)
	}
	if !sameValue(value, want) {
		return mismatch("%s says %q, the body %s", name, value, encode(want))
	}
	return nil
}

// decodeHeader returns the value that a header stands for. It is plain ASCII, or Base64 between marks.
func decodeHeader(raw string) (string, bool) {
	inner, begins := strings.CutPrefix(raw, encodedPrefix)
	inner, ends := strings.CutSuffix(inner, encodedSuffix)
	if begins && ends {
		value, err := base64.StdEncoding.Strict().DecodeString(inner)
		return string(value), err == nil && utf8.Valid(value) && !strings.ContainsAny(inner, "\r\n")
	}
	plain := !strings.ContainsFunc(raw, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') })
	return raw, plain
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// sameValue compares the text of a header with a value of the body: numbers as numbers, booleans as they are written.
func sameValue(text string, want any) bool {
	switch want := want.(type) {
	case string:
		return text == want
	case bool:
		return text == map[bool]string{true: "true", false: "false"}[want]
	case json.Number:
		return number.MatchString(text) && equal(json.Number(text), want)
	}
	return false
}

// matchParams compares the headers that a tool's input schema asks for with the arguments of a call.
func (h *headers) matchParams(input *schema, args object) *rpcError {
	if h == nil {
		return nil
	}
	return h.matchProperties(input.root, args)
}

// matchProperties looks into nested objects as well; an argument that is null or not there has no header.
func (h *headers) matchProperties(rule object, values object) *rpcError {
	properties, _ := rule["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(object)
		value := values[name]
		if header, ok := property[annotation].(string); ok {
			header = headerParam + header
			if value == nil {
				if len(h.Values(header)) > 0 {
					return mismatch("%s is there, but the argument %s is not", header, name)
				}
				continue
			}
			if err := h.match(header, value); err != nil {
				return err
			}
			continue
		}
		inner, _ := value.(object)
		if err := h.matchProperties(property, inner); err != nil {
			return err
		}
	}
	return nil
}
