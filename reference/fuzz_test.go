package reference

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// modernText is the _meta of a request that stands alone.
var modernText = `"_meta":` + string(encode(modernMeta(object{"sampling": object{}, "extensions": object{extTasks: object{}}})))

// FuzzLine sends one arbitrary line in every revision: the server never panics, answers only in whole lines of JSON,
// and still answers afterwards.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{}`, `[]`, `[1]`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `{"id":`, "\xff", ` `, `0`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1e999999999,"b":-0.5}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"duration":1E2147483648}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"test://template/%/data"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt"},"argument":{}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1,"error":null}`, `{"jsonrpc":"2.0","id":"","result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"confirm_delete","inputResponses":{"a":1},` + modernText + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_sampling","arguments":{"prompt":""},"requestState":".",` + modernText + `}}`,
		`{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{"notifications":{"taskIds":[]},` + modernText + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"","params":{"_meta":{"io.modelcontextprotocol/logLevel":[]}}}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, rev := range handshakeRevisions {
			var out writes
			in := string(encode(object{"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": initializeParams(rev, object{})})) +
				"\n" + line + "\n" + `{"jsonrpc":"2.0","id":"last","method":"ping"}`
			if err := New().ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
				t.Fatal(err)
			}
			answered := false
			for _, w := range out.all {
				if !json.Valid([]byte(w)) || strings.Count(w, "\n") != 1 || !strings.HasSuffix(w, "\n") {
					t.Errorf("%s: not one line of JSON: %q", rev, w)
				}
				if strings.Contains(w, "-32603") {
					t.Errorf("%s: an internal error: %q", rev, w)
				}
				answered = answered || bytes.Contains([]byte(w), []byte(`"id":"last","result":{}`))
			}
			if !answered {
				t.Errorf("%s: no answer after %q", rev, line)
			}
		}
	})
}
