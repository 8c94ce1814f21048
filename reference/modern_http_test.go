package reference

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestHeadersMustRepeatTheBody(t *testing.T) {
	echo := withMeta(object{"name": "echo", "arguments": object{"message": "m"}}, object{})
	read := withMeta(object{"uri": staticTextURI}, object{})
	b64 := func(s string) string {
		return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + encodedSuffix
	}
	for _, tc := range []struct {
		name   string
		method string
		params object
		header map[string]string
		ok     bool
	}{
		{"all is well", "tools/call", echo, nil, true},
		{"no version", "tools/call", echo, map[string]string{headerVersion: ""}, false},
		{"an older version", "tools/call", echo, map[string]string{headerVersion: "2025-11-25"}, false},
		{"an unknown version", "tools/call", echo, map[string]string{headerVersion: "1999-01-01"}, false},
		{"no method", "tools/call", echo, map[string]string{headerMethod: ""}, false},
		{"another method", "tools/call", echo, map[string]string{headerMethod: "tools/list"}, false},
		{"the method in capitals", "tools/call", echo, map[string]string{headerMethod: "TOOLS/CALL"}, false},
		{"the method encoded", "tools/call", echo, map[string]string{headerMethod: b64("tools/call")}, false},
		{"no name", "tools/call", echo, map[string]string{headerName: ""}, false},
		{"another name", "tools/call", echo, map[string]string{headerName: "add"}, false},
		{"the name in capitals", "tools/call", echo, map[string]string{headerName: "ECHO"}, false},
		{"the name between spaces", "tools/call", echo, map[string]string{headerName: "  echo  "}, true},
		{"the name encoded", "tools/call", echo, map[string]string{headerName: b64("echo")}, true},
		{"another name encoded", "tools/call", echo, map[string]string{headerName: b64("add")}, false},
		{"the name encoded, mark in capitals", "tools/call", echo, map[string]string{headerName: strings.ToUpper(encodedPrefix) + "ZWNobw==" + encodedSuffix}, false},
		{"the name encoded, no padding", "tools/call", echo, map[string]string{headerName: encodedPrefix + "ZWNobw" + encodedSuffix}, false},
		{"the name encoded, other characters", "tools/call", echo, map[string]string{headerName: encodedPrefix + "ZW!!obw==" + encodedSuffix}, false},
		{"the name beyond ASCII", "tools/call", withMeta(object{"name": "écho"}, object{}), map[string]string{headerName: "écho"}, false},
		{"the URI", "resources/read", read, nil, true},
		{"no URI", "resources/read", read, map[string]string{headerName: ""}, false},
		{"another URI", "resources/read", read, map[string]string{headerName: "test://other"}, false},
		{"the prompt's name", "prompts/get", withMeta(object{"name": "test_simple_prompt"}, object{}), nil, true},
		{"no prompt's name", "prompts/get", withMeta(object{"name": "test_simple_prompt"}, object{}), map[string]string{headerName: ""}, false},
		{"a list has no name", "tools/list", withMeta(object{}, object{}), nil, true},
		{"a session id means nothing", "tools/list", withMeta(object{}, object{}), map[string]string{headerSession: "no-such"}, true},
		{"an event id means nothing", "tools/list", withMeta(object{}, object{}), map[string]string{headerLastEventID: "1-1"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := modernWeb{dialHTTP(t)}
			resp := c.send(tc.method, tc.params, tc.header)
			g.Expect(resp.Header.Get(headerSession)).To(gomega.BeEmpty())
			reply := c.read(resp)[0]
			if tc.ok {
				g.Expect(resp.StatusCode).To(gomega.Equal(200))
				g.Expect(reply).To(gomega.HaveKey("result"))
				return
			}
			g.Expect(resp.StatusCode).To(gomega.Equal(400))
			g.Expect(reply.code()).To(gomega.Equal(codeHeaderMismatch))
			g.Expect(reply["id"]).To(gomega.Equal(1.0))
		})
	}
}

func TestHeadersMayComeInAnyCase(t *testing.T) {
	g := gomega.NewWithT(t)
	c := modernWeb{dialHTTP(t)}
	body := string(encode(object{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": withMeta(object{}, object{})}))
	for _, spell := range []func(string) string{strings.ToUpper, strings.ToLower} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", c.url, strings.NewReader(body))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for name, value := range map[string]string{headerVersion: string(rev2026July), headerMethod: "tools/list",
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			r.Header[spell(name)] = []string{value} // as it goes onto the wire
		}
		resp, err := http.DefaultClient.Do(r)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		resp.Body.Close()
		g.Expect(resp.StatusCode).To(gomega.Equal(200))
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", c.url, strings.NewReader(body))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header = http.Header{headerVersion: {string(rev2026July)}, headerMethod: {"tools/list", "prompts/list"},
		"Content-Type": {"application/json"}, "Accept": {"*/*"}}
	resp, err := http.DefaultClient.Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(resp.StatusCode).To(gomega.Equal(400), "a header that is there twice")
	resp.Body.Close()
}

func TestMirroredArguments(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   object
		header map[string]string
		ok     bool
	}{
		{"none", object{}, nil, true},
		{"not mirrored", object{"note": "n"}, nil, true},
		{"a text", object{"region": "us west 1"}, map[string]string{"Region": "us west 1"}, true},
		{"a text, missing", object{"region": "a"}, nil, false},
		{"a text, another", object{"region": "a"}, map[string]string{"Region": "b"}, false},
		{"a text in capitals", object{"region": "a"}, map[string]string{"Region": "A"}, false},
		{"a text encoded", object{"region": "Hello, 世界"}, map[string]string{"Region": "=?base64?SGVsbG8sIOS4lueVjA==?="}, true},
		{"a text beyond ASCII, plain", object{"region": "世界"}, map[string]string{"Region": "世界"}, false},
		{"only a prefix is no encoding", object{"region": "=?base64?SGVsbG8="}, map[string]string{"Region": "=?base64?SGVsbG8="}, true},
		{"only Base64 is no encoding", object{"region": "SGVsbG8="}, map[string]string{"Region": "SGVsbG8="}, true},
		{"looks encoded, but is not", object{"region": "=?base64?literal?="}, map[string]string{"Region": "=?base64?literal?="}, false},
		{"looks encoded, and is", object{"region": "=?base64?literal?="}, map[string]string{"Region": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}, true},
		{"null", object{"region": nil}, nil, true},
		{"null, with a header", object{"region": nil}, map[string]string{"Region": "null"}, false},
		{"absent, with a header", object{}, map[string]string{"Region": "a"}, false},
		{"a number", object{"priority": 42}, map[string]string{"Priority": "42"}, true},
		{"a number as another text", object{"priority": 42}, map[string]string{"Priority": "42.0"}, true},
		{"another number", object{"priority": 42}, map[string]string{"Priority": "43"}, false},
		{"a number in words", object{"priority": 42}, map[string]string{"Priority": "x"}, false},
		{"a negative number", object{"priority": -7}, map[string]string{"Priority": "-7"}, true},
		{"a boolean", object{"verbose": false}, map[string]string{"Verbose": "false"}, true},
		{"a boolean in capitals", object{"verbose": false}, map[string]string{"Verbose": "False"}, false},
		{"within an object", object{"options": object{"tenant": "t"}}, map[string]string{"Tenant": "t"}, true},
		{"within an object, missing", object{"options": object{"tenant": "t"}}, nil, false},
		{"of no tool", object{}, map[string]string{"Unheard-Of": "x"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := modernWeb{dialHTTP(t)}
			header := map[string]string{}
			for name, value := range tc.header {
				header[headerParam+name] = value
			}
			params := withMeta(object{"name": headerTool.name, "arguments": tc.args}, object{})
			resp := c.send("tools/call", params, header)
			reply := c.read(resp)[0]
			if tc.ok {
				g.Expect(resp.StatusCode).To(gomega.Equal(200))
				g.Expect(reply).To(gomega.HaveKey("result"))
				return
			}
			g.Expect(resp.StatusCode).To(gomega.Equal(400))
			g.Expect(reply.code()).To(gomega.Equal(codeHeaderMismatch))
			g.Expect(dialStdio(t).request("tools/call", params)).To(gomega.HaveKey("result"), "no headers on stdio")
		})
	}
}

func TestOtherHTTPOfTheModernEra(t *testing.T) {
	for _, tc := range []struct {
		name, method, body string
		header             map[string]string
		status             int
	}{
		{"GET", "GET", "", nil, 405},
		{"DELETE", "DELETE", "", nil, 405},
		{"GET with a session id", "GET", "", map[string]string{headerSession: "no-such"}, 405},
		{"PUT", "PUT", "{}", nil, 405},
		{"a notification", "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, nil, 202},
		{"a response", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400},
		{"a batch", "POST", `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`, nil, 400},
		{"no JSON", "POST", `{`, nil, 400},
		{"no message", "POST", `{"jsonrpc":"2.0","id":7}`, nil, 400},
		{"a foreign origin", "POST", `{}`, map[string]string{"Origin": "https://evil.example"}, 403},
		{"an Accept of half", "POST", `{}`, map[string]string{"Accept": "application/json"}, 406},
	} {
		g := gomega.NewWithT(t)
		c := dialHTTP(t)
		header := map[string]string{headerVersion: string(rev2026July)}
		for name, value := range tc.header {
			header[name] = value
		}
		resp := c.do(tc.method, tc.body, header)
		g.Expect(resp.StatusCode).To(gomega.Equal(tc.status), tc.name)
		g.Expect(resp.Header.Get(headerSession)).To(gomega.BeEmpty())
		if tc.status == 405 {
			g.Expect(resp.Header.Get("Allow")).To(gomega.ContainSubstring("POST"))
		}
	}
}

func TestBothErasOnOneEndpoint(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialHTTP(t)
	modern := modernWeb{&httpClient{t: t, server: c.server, url: c.url}}
	c.open(rev2025November, object{})
	listening := c.get("")
	reply, _ := modern.ask("tools/list", object{}, object{})
	g.Expect(reply.result()).To(gomega.HaveKey("resultType"))
	// A session id beside a request that stands alone is not looked at, even if there is such a session.
	resp := modern.send("tools/call", withMeta(object{"name": "test_trigger_tool_change"}, object{}), map[string]string{headerSession: c.session})
	g.Expect(modern.read(resp)[0].result()).To(gomega.HaveKey("resultType"))
	g.Expect(c.call("toggle_tool", object{}).result()).NotTo(gomega.HaveKey("resultType"))
	_, told := listening.message()
	g.Expect(told["method"]).To(gomega.Equal("notifications/tools/list_changed"))
	g.Expect(told).NotTo(gomega.HaveKey("params"), "the session was told of its own change")
	g.Expect(c.do("GET", "", map[string]string{headerVersion: string(rev2026July), headerSession: ""}).StatusCode).To(gomega.Equal(405))
	g.Expect(c.do("DELETE", "", map[string]string{headerVersion: string(rev2026July), headerSession: ""}).StatusCode).To(gomega.Equal(405))
	g.Expect(c.do("DELETE", "", nil).StatusCode).To(gomega.Equal(204))
}

func TestStreamsOfTheModernEra(t *testing.T) {
	g := gomega.NewWithT(t)
	c := modernWeb{dialHTTP(t)}
	params := withMeta(object{"name": "slow", "arguments": object{"duration": 60000}, "_meta": object{"progressToken": 1}}, object{})
	resp := c.send("tools/call", params, nil)
	g.Expect(resp.Header.Get("X-Accel-Buffering")).To(gomega.Equal("no"))
	stream := c.events(resp)
	event, _ := stream.message()
	g.Expect(event.id).To(gomega.BeEmpty(), "nothing can be resumed")
	resp.Body.Close() // which cancels the call
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g.Expect(c.server.Shutdown(ctx)).To(gomega.Succeed(), "nothing is in progress any more")
}
