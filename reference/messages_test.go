package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestTextThatIsNoMessage(t *testing.T) {
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialStdio(t).open(rev, object{})
			for _, tc := range []struct {
				line string
				code int
				id   any
			}{
				{`{"jsonrpc": "2.0", "id": 1, "method":`, codeParseError, nil},
				{"\"\xff\"", codeParseError, nil},
				{`"text"`, codeInvalidRequest, nil},
				{`null`, codeInvalidRequest, nil},
				{`{}`, codeInvalidRequest, nil},
				{`{"jsonrpc":"2.0","id":"a"}`, codeInvalidRequest, "a"},
				{`{"jsonrpc":"1.0","id":"a","method":"ping"}`, codeInvalidRequest, "a"},
				{`{"id":"a","method":"ping"}`, codeInvalidRequest, "a"},
				{`{"jsonrpc":"2.0","id":"a","method":1}`, codeInvalidRequest, "a"},
				{`{"jsonrpc":"2.0","id":"a","METHOD":"ping"}`, codeInvalidRequest, "a"},
				{`{"jsonrpc":"2.0","id":"a","method":"ping","params":"x"}`, codeInvalidRequest, "a"},
				{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, codeInvalidRequest, nil},
				{`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, codeInvalidRequest, nil},
				{`{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}`, codeInvalidParams, "a"},
				{`{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":{"progressToken":{}}}}`, codeInvalidParams, "a"},
				{strings.Repeat("x", maxMessageBytes+1), codeInvalidRequest, nil},
			} {
				c.write(tc.line)
				m := c.read()
				name := tc.line[:min(len(tc.line), 80)]
				g.Expect(m.code()).To(gomega.Equal(tc.code), name)
				id, has := m["id"]
				if tc.id != nil {
					g.Expect(id).To(gomega.Equal(tc.id), name)
				} else {
					g.Expect(id).To(gomega.BeNil(), name)
					g.Expect(has).To(gomega.Equal(rev < rev2025November), "%s: the id member", name)
				}
			}
			g.Expect(c.request("ping", object{})).To(gomega.HaveKey("result"), "the session goes on")
		})
	}
}

func TestIdsComeBackAsTheyWere(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	for _, id := range []string{`""`, `"1"`, `1`, `0`, `-1`, `9007199254740993`, `1e3`, `"ü<&>\u2028"`} {
		c.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		var reply struct{ ID json.RawMessage }
		g.Expect(json.Unmarshal(c.readLine(), &reply)).To(gomega.Succeed())
		g.Expect(string(reply.ID)).To(gomega.Equal(id))
	}
}

func TestNotificationsAndStrayResponsesAreNotAnswered(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	c.notify("notifications/no-such", object{})
	c.notify("tools/list", object{})
	c.notify("notifications/cancelled", object{"requestId": 99})
	c.notify("notifications/cancelled", object{})
	c.write(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	c.write(`{"jsonrpc":"2.0","id":77,"result":{}}`)
	c.write(`{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}`)
	c.write("")
	c.request("ping", object{})
	g.Expect(c.during).To(gomega.BeEmpty())
}

func TestBatches(t *testing.T) {
	batch := `[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},` +
		`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"echo","arguments":{"message":"m"}}},` +
		`{"jsonrpc":"2.0","id":"c","method":"initialize"},7]`
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialStdio(t).open(rev, object{})
			if rev != rev2025March {
				c.write(batch)
				g.Expect(c.read().code()).To(gomega.Equal(codeInvalidRequest))
				return
			}
			c.write(batch)
			var replies []message
			g.Expect(json.Unmarshal(c.readLine(), &replies)).To(gomega.Succeed())
			g.Expect(replies).To(gomega.HaveLen(4))
			for _, m := range replies {
				switch m["id"] {
				case "a", "b":
					g.Expect(m).To(gomega.HaveKey("result"))
				default:
					g.Expect(m.code()).To(gomega.Equal(codeInvalidRequest))
				}
			}
			c.write(`[]`)
			g.Expect(c.read().code()).To(gomega.Equal(codeInvalidRequest))
			c.write(`[{"jsonrpc":"2.0","method":"notifications/x"}]`)
			c.request("ping", object{})
			g.Expect(c.during).To(gomega.BeEmpty(), "a batch of notifications has no answer")
		})
	}
}

func TestProgressGrowsAndCarriesTheToken(t *testing.T) {
	for _, rev := range handshakeRevisions {
		t.Run(string(rev), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialStdio(t).open(rev, object{})
			for _, token := range []any{"token", float64(7)} {
				reply := c.request("tools/call", object{"name": "slow", "arguments": object{"duration": 20}, "_meta": object{"progressToken": token}})
				g.Expect(reply).To(gomega.HaveKey("result"))
				g.Expect(len(c.during)).To(gomega.BeNumerically(">", 2))
				last := -1.0
				for _, m := range c.during {
					params := m["params"].(map[string]any)
					g.Expect(params["progressToken"]).To(gomega.Equal(token))
					g.Expect(params["progress"]).To(gomega.BeNumerically(">", last))
					g.Expect(params["message"] != nil).To(gomega.Equal(rev >= rev2025March))
					last = params["progress"].(float64)
				}
			}
			c.call("slow", object{"duration": 20})
			g.Expect(c.during).To(gomega.BeEmpty(), "no token, no progress")
		})
	}
}

func TestCancelledRequestIsNotAnswered(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	id := c.send("tools/call", object{"name": "slow", "arguments": object{"duration": 60000}, "_meta": object{"progressToken": "p"}})
	g.Expect(c.read()["method"]).To(gomega.Equal("notifications/progress"), "it runs")
	c.notify("notifications/cancelled", object{"requestId": id, "reason": "test"})
	// The same id is free again only when the call has ended.
	for {
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id))
		if c.await(id)["result"] != nil {
			break
		}
	}
	g.Expect(c.request("ping", object{})).To(gomega.HaveKey("result"))
	g.Expect(c.during).To(gomega.BeEmpty())
}

func TestCancellationReachesTheClient(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{"sampling": object{}})
	id := c.send("tools/call", object{"name": "test_sampling", "arguments": object{"prompt": "p"}})
	asked := c.read()
	g.Expect(asked["method"]).To(gomega.Equal("sampling/createMessage"))
	c.notify("notifications/cancelled", object{"requestId": id})
	told := c.read()
	g.Expect(told["method"]).To(gomega.Equal("notifications/cancelled"))
	g.Expect(told["params"].(map[string]any)["requestId"]).To(gomega.Equal(asked["id"]))
	c.request("ping", object{})
	g.Expect(c.during).To(gomega.BeEmpty())
}

func TestLogMessagesAreFilteredByLevel(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	levels := func() (got []string) {
		c.call("test_log_levels", object{})
		for _, m := range c.during {
			got = append(got, m["params"].(map[string]any)["level"].(string))
		}
		return got
	}
	g.Expect(levels()).To(gomega.Equal(logLevels[levelInfo:]))
	for at, level := range logLevels {
		g.Expect(c.request("logging/setLevel", object{"level": level})).To(gomega.HaveKeyWithValue("result", gomega.BeEmpty()))
		g.Expect(levels()).To(gomega.Equal(logLevels[at:]))
	}
	g.Expect(c.request("logging/setLevel", object{"level": "loud"}).code()).To(gomega.Equal(codeInvalidParams))
}

func TestListsChangeAndSaySo(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	for kind, list := range map[string]struct{ method, member, key, extra string }{
		"tool":     {"tools/list", "tools", "name", "extra_tool"},
		"resource": {"resources/list", "resources", "uri", "test://extra"},
		"prompt":   {"prompts/list", "prompts", "name", "extra_prompt"},
	} {
		for _, want := range []bool{true, false} {
			c.call("toggle_"+kind, object{})
			g.Expect(c.during).To(gomega.HaveLen(1))
			g.Expect(c.during[0]["method"]).To(gomega.Equal("notifications/" + kind + "s/list_changed"))
			items, _ := listAll(t, c, list.method, list.member)
			has := slices.ContainsFunc(items, func(i map[string]any) bool { return i[list.key] == list.extra })
			g.Expect(has).To(gomega.Equal(want), kind)
		}
	}
}

func TestSubscribersHearOfUpdates(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	update := func() []message { c.call("update_watched_resource", object{}); return c.during }
	g.Expect(update()).To(gomega.BeEmpty())
	c.request("resources/subscribe", object{"uri": watchedURI})
	got := update()
	g.Expect(got).To(gomega.HaveLen(1))
	g.Expect(got[0]["method"]).To(gomega.Equal("notifications/resources/updated"))
	g.Expect(got[0]["params"]).To(gomega.Equal(map[string]any{"uri": watchedURI}))
	c.request("resources/unsubscribe", object{"uri": watchedURI})
	g.Expect(update()).To(gomega.BeEmpty())
}

func TestTheClientIsAskedOnlyForWhatItDeclared(t *testing.T) {
	for _, tc := range []struct {
		tool         string
		args         object
		rev          revision
		capabilities object
		asked        string // empty: the tool must fail
	}{
		{"test_sampling", object{"prompt": "p"}, rev2024November, object{"sampling": object{}}, "sampling/createMessage"},
		{"test_sampling", object{"prompt": "p"}, rev2024November, object{}, ""},
		{"test_list_roots", object{}, rev2024November, object{"roots": object{}}, "roots/list"},
		{"test_list_roots", object{}, rev2024November, object{}, ""},
		{"test_elicitation", object{"message": "m"}, rev2025June, object{"elicitation": object{}}, "elicitation/create"},
		{"test_elicitation", object{"message": "m"}, rev2025June, object{}, ""},
		{"test_elicitation", object{"message": "m"}, rev2025November, object{"elicitation": object{}}, "elicitation/create"},
		{"test_elicitation", object{"message": "m"}, rev2025November, object{"elicitation": object{"form": object{}}}, "elicitation/create"},
		{"test_elicitation", object{"message": "m"}, rev2025November, object{"elicitation": object{"url": object{}}}, ""},
		{"test_elicitation_url", object{}, rev2025November, object{"elicitation": object{"url": object{}}}, "elicitation/create"},
		{"test_elicitation_url", object{}, rev2025November, object{"elicitation": object{}}, ""},
	} {
		t.Run(fmt.Sprintf("%s %s %s", tc.tool, tc.rev, encode(tc.capabilities)), func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialStdio(t).open(tc.rev, tc.capabilities)
			c.answer = func(message) object {
				return object{"result": object{
					"role": "assistant", "model": "m",
					"content": object{"type": "text", "text": "hello", "username": "u", "email": "u@example.com"},
					"action":  "accept", "roots": []object{{"uri": "file:///a"}},
				}}
			}
			reply := c.call(tc.tool, tc.args)
			if tc.asked == "" {
				g.Expect(reply.result()).To(gomega.HaveKeyWithValue("isError", true))
				g.Expect(c.during).To(gomega.BeEmpty())
				return
			}
			g.Expect(c.during[0]["method"]).To(gomega.Equal(tc.asked))
			g.Expect(reply.result()).NotTo(gomega.HaveKey("isError"))
			c.answer = func(message) object { return object{"error": object{"code": -1, "message": "no thanks"}} }
			reply = c.call(tc.tool, tc.args)
			g.Expect(reply.result()).To(gomega.HaveKeyWithValue("isError", true))
			g.Expect(reply.firstText()).To(gomega.ContainSubstring("no thanks"))
		})
	}
}

func TestElicitedContentMustFitTheForm(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{"elicitation": object{}})
	for _, tc := range []struct {
		tool    string
		result  object
		isError bool
	}{
		{"test_elicitation_sep1034_defaults", object{"action": "accept", "content": object{"age": 7, "status": "active"}}, false},
		{"test_elicitation_sep1034_defaults", object{"action": "decline"}, false},
		{"test_elicitation_sep1034_defaults", object{"action": "cancel"}, false},
		{"test_elicitation_sep1034_defaults", object{"action": "maybe"}, true},
		{"test_elicitation_sep1034_defaults", object{"action": "accept"}, true},
		{"test_elicitation_sep1034_defaults", object{"action": "accept", "content": object{"age": 7.5}}, true},
		{"test_elicitation_sep1330_enums", object{"action": "accept", "content": object{"titledSingle": "value2", "titledMulti": []string{"value1"}}}, false},
		{"test_elicitation_sep1330_enums", object{"action": "accept", "content": object{"titledSingle": "value4"}}, true},
		{"test_elicitation_sep1330_enums", object{"action": "accept", "content": object{"untitledMulti": []string{}}}, true},
		{"test_elicitation_sep1330_enums", object{"action": "accept", "content": object{"titledMulti": []string{"value1", "x"}}}, true},
	} {
		c.answer = func(message) object { return object{"result": tc.result} }
		_, isError := c.call(tc.tool, object{}).result()["isError"]
		g.Expect(isError).To(gomega.Equal(tc.isError), "%v", tc.result)
	}
}
