package reference

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestDiscover(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		reply, before := c.ask("server/discover", object{}, object{})
		g.Expect(before).To(gomega.BeEmpty())
		result := reply.result()
		g.Expect(result["supportedVersions"]).To(gomega.Equal([]any{"2026-07-28"}))
		g.Expect(result["resultType"]).To(gomega.Equal("complete"))
		g.Expect(result["ttlMs"]).To(gomega.BeNumerically(">", 0))
		g.Expect(result["cacheScope"]).To(gomega.Equal("public"))
		capabilities := result["capabilities"].(map[string]any)
		g.Expect(capabilities).NotTo(gomega.HaveKey("tasks"))
		g.Expect(capabilities["extensions"]).To(gomega.Equal(map[string]any{extTasks: map[string]any{}}))
		g.Expect(result["_meta"].(map[string]any)[metaServer]).To(gomega.HaveKeyWithValue("name", serverName))
	})
}

func TestMalformedMetadata(t *testing.T) {
	without := func(name string) object { m := modernMeta(object{}); delete(m, name); return m }
	with := func(name string, value any) object { m := modernMeta(object{}); m[name] = value; return m }
	for name, meta := range map[string]object{
		"no version":                   without(metaVersion),
		"a version that is no text":    with(metaVersion, 7),
		"no capabilities":              without(metaCapabilities),
		"capabilities that are a list": with(metaCapabilities, []string{}),
		"a capability that is true":    with(metaCapabilities, object{"roots": true}),
		"a client without a name":      with(metaClient, object{"version": "1"}),
		"a client that is a text":      with(metaClient, "me"),
		"an unknown log level":         with(metaLogLevel, "loud"),
		"a token that is an object":    with("progressToken", object{}),
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			pipes, web := dialStdio(t), modernWeb{dialHTTP(t)}
			g.Expect(pipes.request("tools/list", object{"_meta": meta}).code()).To(gomega.Equal(codeInvalidParams))
			resp := web.send("tools/list", object{"_meta": meta}, nil)
			g.Expect(resp.StatusCode).To(gomega.Equal(400))
			reply := web.read(resp)[0]
			g.Expect(reply.code()).To(gomega.Equal(codeInvalidParams))
			g.Expect(reply["id"]).To(gomega.Equal(1.0))
		})
	}
	g := gomega.NewWithT(t)
	g.Expect(dialStdio(t).request("server/discover", object{}).code()).To(gomega.Equal(codeInvalidParams), "no _meta on a fresh connection")
	web := modernWeb{dialHTTP(t)}
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":1}}`} {
		resp := web.do("POST", body, mirrored("server/discover", object{}))
		g.Expect(resp.StatusCode).To(gomega.Equal(400), body)
		g.Expect(web.read(resp)[0].code()).To(gomega.Equal(codeInvalidParams), body)
	}
	reply, _ := modernStdio{dialStdio(t)}.ask("tools/list", object{"_meta": object{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"}}, object{"extensions": object{"com.example/x": object{}}})
	g.Expect(reply).To(gomega.HaveKey("result"), "metadata of others")
}

func TestUnsupportedVersions(t *testing.T) {
	for _, version := range []string{"1900-01-01", "2025-11-25", "2099-01-01", "", "nonsense"} {
		g := gomega.NewWithT(t)
		params := object{"_meta": object{metaVersion: version, metaCapabilities: object{}}}
		reply := dialStdio(t).request("tools/list", params)
		g.Expect(reply.code()).To(gomega.Equal(codeUnsupported), version)
		g.Expect(data(reply)).To(gomega.Equal(map[string]any{"supported": []any{"2026-07-28"}, "requested": version}))
		if version == "" {
			continue // no header says that
		}
		web := modernWeb{dialHTTP(t)}
		resp := web.send("tools/list", params, map[string]string{headerVersion: version})
		g.Expect(resp.StatusCode).To(gomega.Equal(400), version)
		g.Expect(web.read(resp)[0].code()).To(gomega.Equal(codeUnsupported), version)
		resp = web.send("tools/list", params, nil)
		g.Expect(resp.StatusCode).To(gomega.Equal(400), version)
		g.Expect(web.read(resp)[0].code()).To(gomega.Equal(codeHeaderMismatch), "the header says another version than %s", version)
	}
}

func TestRemovedAndUnknownMethods(t *testing.T) {
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
		"tasks/list", "tasks/result", "no/such/method", ""} {
		g := gomega.NewWithT(t)
		reply, _ := modernStdio{dialStdio(t)}.ask(method, object{}, object{})
		g.Expect(reply.code()).To(gomega.Equal(codeMethodNotFound), method)
		if method == "" {
			continue
		}
		web := modernWeb{dialHTTP(t)}
		resp := web.send(method, withMeta(object{}, object{}), nil)
		g.Expect(resp.StatusCode).To(gomega.Equal(404), method)
		g.Expect(resp.Header.Get(headerSession)).To(gomega.BeEmpty())
		g.Expect(web.read(resp)[0].code()).To(gomega.Equal(codeMethodNotFound), method)
	}
}

func TestEveryResultSaysItsTypeAndItsServer(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		for method, params := range map[string]object{
			"server/discover": {}, "tools/list": {}, "resources/list": {}, "resources/templates/list": {}, "prompts/list": {},
			"tools/call":          {"name": "echo", "arguments": object{"message": "m"}},
			"resources/read":      {"uri": staticTextURI},
			"prompts/get":         {"name": "test_simple_prompt"},
			"completion/complete": {"ref": object{"type": "ref/prompt", "name": "code_review"}, "argument": object{"name": "language", "value": ""}},
		} {
			reply, _ := c.ask(method, params, object{})
			result := reply.result()
			g.Expect(result["resultType"]).To(gomega.Equal("complete"), method)
			g.Expect(result["_meta"].(map[string]any)[metaServer]).To(gomega.And(gomega.HaveKey("name"), gomega.HaveKey("version")), method)
			_, hinted := result["ttlMs"].(float64)
			g.Expect(hinted).To(gomega.Equal(strings.HasSuffix(method, "/list") || method == "resources/read" || method == "server/discover"), method)
			if hinted {
				g.Expect(result["cacheScope"]).To(gomega.BeElementOf("public", "private"), method)
			}
		}
	})
}

func TestListsAreTheSameForEveryone(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		names := func(method, member, key string, capabilities object) (all []any) {
			params := object{}
			for {
				reply, _ := c.ask(method, params, capabilities)
				for _, i := range reply.result()[member].([]any) {
					all = append(all, i.(map[string]any)[key])
				}
				cursor, more := reply.result()["nextCursor"].(string)
				if !more {
					return all
				}
				params = object{"cursor": cursor}
			}
		}
		for method, list := range map[string][2]string{"tools/list": {"tools", "name"}, "resources/list": {"resources", "uri"},
			"resources/templates/list": {"resourceTemplates", "uriTemplate"}, "prompts/list": {"prompts", "name"}} {
			first := names(method, list[0], list[1], object{})
			for _, kind := range []string{"tool", "resource", "prompt"} {
				c.ask("tools/call", object{"name": "test_trigger_" + kind + "_change"}, object{})
			}
			g.Expect(names(method, list[0], list[1], object{"sampling": object{}, "extensions": object{extTasks: object{}}})).To(gomega.Equal(first), method)
			g.Expect(first).NotTo(gomega.ContainElement("toggle_tool"))
		}
	})
}

func TestNothingIsCarriedOver(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		sampling := object{"name": "test_missing_capability"}
		reply, _ := c.ask("tools/call", sampling, object{"sampling": object{}})
		g.Expect(reply).To(gomega.HaveKey("result"))
		reply, _ = c.ask("tools/call", sampling, object{})
		g.Expect(reply.code()).To(gomega.Equal(codeMissingCapability))
		g.Expect(data(reply)).To(gomega.Equal(map[string]any{"requiredCapabilities": map[string]any{"sampling": map[string]any{}}}))

		loud := object{"name": "test_log_levels", "_meta": object{metaLogLevel: "debug", "progressToken": "t"}}
		_, before := c.ask("tools/call", loud, object{})
		g.Expect(before).To(gomega.HaveLen(len(logLevels)))
		_, before = c.ask("tools/call", object{"name": "test_log_levels"}, object{})
		g.Expect(before).To(gomega.BeEmpty(), "no log level, no message")
		for at, level := range logLevels {
			_, before = c.ask("tools/call", object{"name": "test_log_levels", "_meta": object{metaLogLevel: level}}, object{})
			g.Expect(before).To(gomega.HaveLen(len(logLevels)-at), level)
			for _, m := range before {
				g.Expect(m["params"]).NotTo(gomega.HaveKey("_meta"))
			}
		}
	})
}

func TestProgressComesBeforeTheResponse(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		params := object{"name": "slow", "arguments": object{"duration": 20}}
		_, before := c.ask("tools/call", params, object{})
		g.Expect(before).To(gomega.BeEmpty())
		params["_meta"] = object{"progressToken": "token"}
		reply, before := c.ask("tools/call", params, object{})
		g.Expect(reply).To(gomega.HaveKey("result"))
		last := -1.0
		g.Expect(len(before)).To(gomega.BeNumerically(">", 2))
		for _, m := range before {
			g.Expect(m["method"]).To(gomega.Equal("notifications/progress"))
			progress := m["params"].(map[string]any)
			g.Expect(progress["progressToken"]).To(gomega.Equal("token"))
			g.Expect(progress["progress"]).To(gomega.BeNumerically(">", last))
			last = progress["progress"].(float64)
		}
	})
}

func TestStructuredContentOfAnyKind(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		for name, want := range map[string]string{"array": `[{"id":"1"},{"id":"2"}]`, "number": `0`, "boolean": `false`, "text": `""`, "null": `null`} {
			reply, _ := c.ask("tools/call", object{"name": "test_structured_" + name}, object{})
			content, there := reply.result()["structuredContent"]
			g.Expect(there).To(gomega.BeTrue(), name)
			raw, err := json.Marshal(content)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(raw).To(gomega.MatchJSON(want), name)
			g.Expect(text1(reply)).To(gomega.MatchJSON(want), name)
		}
	})
}

func TestErrorsWithoutASession(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		for _, tc := range []struct {
			method string
			params object
			code   int
		}{
			{"tools/call", object{"name": "no-such-tool"}, codeInvalidParams},
			{"tools/call", object{"name": "toggle_tool"}, codeInvalidParams},
			{"tools/call", object{}, codeInvalidParams},
			{"tools/call", object{"name": "echo", "arguments": 7}, codeInvalidParams},
			{"prompts/get", object{"name": "no-such-prompt"}, codeInvalidParams},
			{"resources/read", object{"uri": "test://no-such"}, codeInvalidParams},
			{"tools/list", object{"cursor": "nonsense"}, codeInvalidParams},
			{"subscriptions/listen", object{}, codeInvalidParams},
			{"subscriptions/listen", object{"notifications": object{"toolsListChanged": 1}}, codeInvalidParams},
		} {
			reply, _ := c.ask(tc.method, tc.params, object{})
			g.Expect(reply.code()).To(gomega.Equal(tc.code), "%s %v", tc.method, tc.params)
		}
		reply, _ := c.ask("resources/read", object{"uri": "test://no-such"}, object{})
		g.Expect(data(reply)).To(gomega.Equal(map[string]any{"uri": "test://no-such"}))
		reply, _ = c.ask("tools/call", object{"name": "echo", "arguments": object{}}, object{})
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("isError", true))
	})
}

func TestBothErasInOneProcess(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t)
	modern := modernStdio{c}
	listed := func() string {
		reply, _ := modern.ask("tools/list", object{}, object{})
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
		return fmt.Sprint(reply.result()["tools"])
	}
	before := listed()
	c.open(rev2025June, object{})
	g.Expect(listed()).To(gomega.Equal(before))
	legacy := c.request("tools/list", object{}).result()
	g.Expect(legacy).NotTo(gomega.HaveKey("resultType"))
	g.Expect(legacy).NotTo(gomega.HaveKey("ttlMs"))
	c.call("toggle_tool", object{})
	g.Expect(c.during).To(gomega.HaveLen(1), "a session's own list changes")
	g.Expect(listed()).To(gomega.Equal(before))
	g.Expect(c.request("server/discover", object{}).code()).To(gomega.Equal(codeMethodNotFound), "a session has no such method")
	g.Expect(c.request("ping", object{})).To(gomega.HaveKey("result"))
}

func TestCancelledOnStdio(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t)
	id := c.send("tools/call", withMeta(object{"name": "slow", "arguments": object{"duration": 60000}, "_meta": object{"progressToken": "p"}}, object{}))
	g.Expect(c.read()["method"]).To(gomega.Equal("notifications/progress"), "it runs")
	c.notify("notifications/cancelled", object{"requestId": id})
	g.Expect(c.request("server/discover", withMeta(object{}, object{}))).To(gomega.HaveKey("result"))
	g.Expect(c.during).To(gomega.BeEmpty())
	c.in.Close()
	for line := range c.lines {
		t.Errorf("after the cancellation: %s", line)
	}
}
