package reference

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// modernMeta is what a request of a revision without sessions says of itself.
func modernMeta(capabilities object) object {
	return object{metaVersion: string(rev2026July), metaClient: object{"name": "test", "version": "1"}, metaCapabilities: capabilities}
}

// withMeta adds _meta to params, which may hold some already.
func withMeta(params, capabilities object) object {
	all := modernMeta(capabilities)
	if more, ok := params["_meta"].(object); ok {
		maps.Copy(all, more)
	}
	params = maps.Clone(params)
	params["_meta"] = all
	return params
}

// modernClient does one request at a time, over either transport.
type modernClient interface {
	// ask sends a request and returns its response; before are the messages that came before it.
	ask(method string, params, capabilities object) (response message, before []message)
}

type modernStdio struct{ *stdioClient }

func (c modernStdio) ask(method string, params, capabilities object) (message, []message) {
	c.t.Helper()
	response := c.request(method, withMeta(params, capabilities))
	return response, c.during
}

type modernWeb struct{ *httpClient }

// mirrored are the headers that a request needs.
func mirrored(method string, params object) map[string]string {
	header := map[string]string{headerVersion: string(rev2026July), headerMethod: method}
	if name, ok := params[nameOf[method]].(string); ok {
		header[headerName] = name
	}
	return header
}

// send posts a request; header values override the right ones, an empty value drops one.
func (c modernWeb) send(method string, params object, header map[string]string) *http.Response {
	c.t.Helper()
	c.nextID++
	all := mirrored(method, params)
	maps.Copy(all, header)
	return c.do(http.MethodPost, string(encode(object{"jsonrpc": "2.0", "id": c.nextID, "method": method, "params": params})), all)
}

// read returns all messages of an answer, which is one JSON object or a stream.
func (c modernWeb) read(resp *http.Response) []message {
	c.t.Helper()
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		return c.events(resp).messages()
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return []message{parse(c.t, body)}
}

func (c modernWeb) ask(method string, params, capabilities object) (message, []message) {
	c.t.Helper()
	all := c.read(c.send(method, withMeta(params, capabilities), nil))
	if len(all) == 0 {
		c.t.Fatalf("%s: the stream ended without a message", method)
	}
	return all[len(all)-1], all[:len(all)-1]
}

// bothWays runs a test over stdio and over HTTP, each against a server of its own.
func bothWays(t *testing.T, test func(t *testing.T, c modernClient)) {
	t.Run("stdio", func(t *testing.T) { t.Parallel(); test(t, modernStdio{dialStdio(t)}) })
	t.Run("http", func(t *testing.T) { t.Parallel(); test(t, modernWeb{dialHTTP(t)}) })
}

func data(m message) map[string]any {
	e, _ := m["error"].(map[string]any)
	d, _ := e["data"].(map[string]any)
	return d
}

func text1(m message) string { return strings.TrimSpace(m.firstText()) }
