package script

import (
	"encoding/json"
	"testing"
)

func TestChallenges(t *testing.T) {
	for text, want := range map[string]string{
		``:       `[]`,
		`Bearer`: `[{"params":{},"scheme":"bearer"}]`,
		`Bearer resource_metadata="https://a.example/x,y", Scope="a b",error=invalid_token`: `[{"params":{"error":"invalid_token","resource_metadata":"https://a.example/x,y","scope":"a b"},"scheme":"bearer"}]`,
		`Basic realm="say \"hi\"", BEARER realm = x`:                                        `[{"params":{"realm":"say \"hi\""},"scheme":"basic"},{"params":{"realm":"x"},"scheme":"bearer"}]`,
		`Negotiate YWJj==, Bearer scope="s"`:                                                `[{"params":{},"scheme":"negotiate"},{"params":{"scope":"s"},"scheme":"bearer"}]`,
		`, ,Negotiate,Bearer`:                                                               `[{"params":{},"scheme":"negotiate"},{"params":{},"scheme":"bearer"}]`,
		`Bearer scope="never ends`:                                                          `[{"params":{"scope":"never ends"},"scheme":"bearer"}]`,
		`resource_metadata="https://a.example"`:                                             `[{"params":{},"scheme":"resource_metadata"}]`,
		`"no scheme"`:                                                                       `[]`,
	} {
		got, err := json.Marshal(Challenges(text))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s %v\nwant %s", text, got, err, want)
		}
	}
}

func TestPartsOfURI(t *testing.T) {
	for text, want := range map[string]string{
		"HTTPS://User:pw@Example.com/a%20b?q=1#f": `{"fragment":"f","host":"example.com","loopback":false,"origin":"https://example.com:443","path":"/a%20b","port":"443","query":"q=1","scheme":"https"}`,
		"http://[::1]:8080":                       `{"fragment":"","host":"::1","loopback":true,"origin":"http://[::1]:8080","path":"","port":"8080","query":"","scheme":"http"}`,
	} {
		parts, err := partsOfURI(text)
		got, _ := json.Marshal(parts)
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s %v\nwant %s", text, got, err, want)
		}
	}
	for _, text := range []any{"", "mcp.example.com", "/path", int64(5), "http://[::1"} {
		if parts, err := partsOfURI(text); err == nil {
			t.Errorf("%v is taken for a URI: %v", text, parts)
		}
	}
}
