package reference

import (
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
)

// listAll follows the cursors of a list to its end.
func listAll(t *testing.T, c client, method, member string) (items []map[string]any, pages int) {
	t.Helper()
	params := object{}
	for {
		result := c.request(method, params).result()
		page, ok := result[member].([]any)
		if !ok {
			t.Fatalf("%s: no %s in %v", method, member, result)
		}
		pages++
		for _, item := range page {
			items = append(items, item.(map[string]any))
		}
		cursor, more := result["nextCursor"].(string)
		if !more {
			return items, pages
		}
		params = object{"cursor": cursor}
	}
}

func TestListsArePagedWithoutLossOrRepetition(t *testing.T) {
	everywhere(t, func(t *testing.T, rev revision, c client) {
		g := gomega.NewWithT(t)
		for method, list := range map[string]struct {
			member, key string
			size        int
		}{
			"tools/list":               {"tools", "name", len(slices.DeleteFunc(slices.Clone(tools), func(x *tool) bool { return x.extra || rev < x.since }))},
			"resources/list":           {"resources", "uri", len(resources) - 1},
			"resources/templates/list": {"resourceTemplates", "uriTemplate", len(templates)},
			"prompts/list":             {"prompts", "name", len(slices.DeleteFunc(slices.Clone(prompts), func(x *prompt) bool { return x.extra || rev < x.since }))},
		} {
			items, pages := listAll(t, c, method, list.member)
			g.Expect(pages).To(gomega.BeNumerically(">=", 3), method)
			seen := map[any]bool{}
			for _, item := range items {
				seen[item[list.key]] = true
			}
			g.Expect(seen).To(gomega.HaveLen(list.size), method)
			g.Expect(items).To(gomega.HaveLen(list.size), method)
		}
	})
}

func TestCursorsThatWereNotGivenOutAreRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, _ revision, c client) {
		g := gomega.NewWithT(t)
		foreign := c.request("prompts/list", object{}).result()["nextCursor"]
		for _, cursor := range []any{"nonsense", "", 7, foreign} {
			g.Expect(c.request("tools/list", object{"cursor": cursor}).code()).To(gomega.Equal(codeInvalidParams), "%v", cursor)
		}
	})
}

func TestMembersFollowTheRevision(t *testing.T) {
	everywhere(t, func(t *testing.T, rev revision, c client) {
		g := gomega.NewWithT(t)
		items, _ := listAll(t, c, "tools/list", "tools")
		byName := map[string]map[string]any{}
		for _, item := range items {
			byName[item["name"].(string)] = item
		}
		present := func(tool, member string, since revision) {
			_, has := byName[tool][member]
			g.Expect(has).To(gomega.Equal(rev >= since), "%s.%s", tool, member)
		}
		present("echo", "inputSchema", rev2024November)
		present("echo", "annotations", rev2025March)
		present("echo", "title", rev2025June)
		present("add", "outputSchema", rev2025June)
		present("echo", "icons", rev2025November)
		for tool, since := range map[string]revision{"test_audio_content": rev2025March, "test_resource_link": rev2025June,
			"test_elicitation": rev2025June, "test_elicitation_sep1330_enums": rev2025November} {
			_, listed := byName[tool]
			g.Expect(listed).To(gomega.Equal(rev >= since), tool)
			args := object{}
			if tool == "test_elicitation" {
				args["message"] = "m"
			}
			g.Expect(c.call(tool, args).code() == codeInvalidParams).To(gomega.Equal(rev < since), tool)
		}
		sum := c.call("add", object{"a": 1, "b": 2.5})
		g.Expect(sum.firstText()).To(gomega.MatchJSON(`{"sum":3.5}`))
		if rev >= rev2025June {
			g.Expect(sum.result()["structuredContent"]).To(gomega.Equal(map[string]any{"sum": 3.5}))
		} else {
			g.Expect(sum.result()).NotTo(gomega.HaveKey("structuredContent"))
		}
	})
}

func TestNegotiation(t *testing.T) {
	for asked, want := range map[string]revision{
		"2024-11-05": rev2024November, "2025-03-26": rev2025March, "2025-06-18": rev2025June, "2025-11-25": rev2025November,
		"1999-01-01": rev2025November, "2026-07-28": rev2025November, "nonsense": rev2025November,
	} {
		t.Run(asked, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := dialStdio(t)
			result := c.request("initialize", initializeParams(revision(asked), object{})).result()
			g.Expect(result["protocolVersion"]).To(gomega.BeEquivalentTo(want))
			capabilities := result["capabilities"].(map[string]any)
			g.Expect(capabilities).To(gomega.HaveKey("tools"))
			g.Expect(capabilities["completions"] != nil).To(gomega.Equal(want >= rev2025March))
			info := result["serverInfo"].(map[string]any)
			g.Expect(info["title"] != nil).To(gomega.Equal(want >= rev2025June))
			g.Expect(info["icons"] != nil).To(gomega.Equal(want >= rev2025November))
			g.Expect(c.request("initialize", initializeParams(want, object{})).code()).To(gomega.Equal(codeInvalidRequest), "a second time")
		})
	}
}

func TestInitializeNeedsItsParams(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t)
	for _, member := range []string{"protocolVersion", "capabilities", "clientInfo"} {
		params := initializeParams(rev2025November, object{})
		delete(params, member)
		g.Expect(c.request("initialize", params).code()).To(gomega.Equal(codeInvalidParams), member)
	}
	g.Expect(c.request("initialize", initializeParams(rev2025June, object{})).result()).To(gomega.HaveKey("protocolVersion"))
}

func TestBeforeInitializeOnlyPingIsAnswered(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t)
	g.Expect(c.request("ping", object{})).To(gomega.HaveKeyWithValue("result", gomega.BeEmpty()))
	g.Expect(c.request("tools/list", object{}).code()).To(gomega.Equal(codeInvalidParams))
}

func TestErrorsOfToolCalls(t *testing.T) {
	everywhere(t, func(t *testing.T, rev revision, c client) {
		g := gomega.NewWithT(t)
		g.Expect(c.call("no-such-tool", object{}).code()).To(gomega.Equal(codeInvalidParams))
		g.Expect(c.request("tools/call", object{}).code()).To(gomega.Equal(codeInvalidParams), "no name")
		g.Expect(c.request("tools/call", object{"name": "echo", "arguments": "x"}).code()).To(gomega.Equal(codeInvalidParams), "arguments no object")
		g.Expect(c.request("no/such/method", object{}).code()).To(gomega.Equal(codeMethodNotFound))
		for _, args := range []object{{}, {"message": 7}, {"message": "m", "more": 1}} {
			reply := c.call("echo", args)
			if rev >= rev2025November {
				g.Expect(reply.result()).To(gomega.HaveKeyWithValue("isError", true), "%v", args)
				g.Expect(reply.firstText()).To(gomega.ContainSubstring("arguments."))
			} else {
				g.Expect(reply.code()).To(gomega.Equal(codeInvalidParams), "%v", args)
			}
		}
		g.Expect(c.call("test_error_handling", object{}).result()).To(gomega.HaveKeyWithValue("isError", true))
		g.Expect(c.call("test_sampling", object{"prompt": "p"}).result()).To(gomega.HaveKeyWithValue("isError", true), "not declared")
	})
}

func TestResources(t *testing.T) {
	everywhere(t, func(t *testing.T, _ revision, c client) {
		g := gomega.NewWithT(t)
		read := func(uri string) map[string]any {
			contents, _ := c.request("resources/read", object{"uri": uri}).result()["contents"].([]any)
			g.Expect(contents).To(gomega.HaveLen(1), uri)
			return contents[0].(map[string]any)
		}
		g.Expect(read("test://static-text")).To(gomega.HaveKey("text"))
		g.Expect(read("test://static-binary")).To(gomega.HaveKeyWithValue("blob", pngBase64))
		g.Expect(read("test://empty")).To(gomega.HaveKeyWithValue("text", ""))
		g.Expect(read("test://template/1%2F2/data")["text"]).To(gomega.MatchJSON(`{"id":"1/2","templateTest":true,"data":"Data for ID: 1/2"}`))
		for _, method := range []string{"resources/read", "resources/subscribe", "resources/unsubscribe"} {
			for _, uri := range []string{"test://no-such", "test://template//data", "test://extra", "test://greeting/Klingon"} {
				reply := c.request(method, object{"uri": uri})
				g.Expect(reply.code()).To(gomega.Equal(codeResourceNotFound), "%s %s", method, uri)
				g.Expect(reply["error"].(map[string]any)["data"]).To(gomega.Equal(map[string]any{"uri": uri}))
			}
			g.Expect(c.request(method, object{}).code()).To(gomega.Equal(codeInvalidParams))
		}
	})
}

func TestPrompts(t *testing.T) {
	everywhere(t, func(t *testing.T, _ revision, c client) {
		g := gomega.NewWithT(t)
		got := c.request("prompts/get", object{"name": "test_prompt_with_arguments", "arguments": object{"arg1": "x", "arg2": "y"}})
		g.Expect(got.result()["messages"]).To(gomega.ConsistOf(map[string]any{"role": "user",
			"content": map[string]any{"type": "text", "text": "Prompt with arguments: arg1='x', arg2='y'"}}))
		for _, params := range []object{{"name": "no-such-prompt"}, {}, {"name": "test_prompt_with_arguments"},
			{"name": "test_prompt_with_arguments", "arguments": object{"arg1": "x", "arg2": 1}}} {
			g.Expect(c.request("prompts/get", params).code()).To(gomega.Equal(codeInvalidParams), "%v", params)
		}
	})
}

func TestCompletion(t *testing.T) {
	everywhere(t, func(t *testing.T, _ revision, c client) {
		g := gomega.NewWithT(t)
		ask := func(ref object, name, value string, known object) message {
			return c.request("completion/complete", object{"ref": ref, "argument": object{"name": name, "value": value},
				"context": object{"arguments": known}})
		}
		values := func(m message) any { return m.result()["completion"].(map[string]any)["values"] }
		review := object{"type": "ref/prompt", "name": "code_review"}
		g.Expect(values(ask(review, "language", "PY", object{}))).To(gomega.Equal([]any{"python"}))
		g.Expect(values(ask(review, "framework", "", object{"language": "go"}))).To(gomega.Equal([]any{"echo", "gin"}))
		many := ask(object{"type": "ref/resource", "uri": "test://template/{id}/data"}, "id", "", object{}).result()["completion"]
		g.Expect(many).To(MatchAllKeys(Keys{"values": gomega.HaveLen(100), "total": gomega.BeEquivalentTo(150), "hasMore": gomega.BeTrue()}))
		for _, wrong := range []message{
			ask(object{"type": "ref/prompt", "name": "no-such"}, "x", "", object{}), ask(review, "no-such", "", object{}),
			ask(object{"type": "ref/resource", "uri": "no-such://"}, "x", "", object{}), ask(object{"type": "ref/x"}, "x", "", object{}),
			c.request("completion/complete", object{}),
		} {
			g.Expect(wrong.code()).To(gomega.Equal(codeInvalidParams))
		}
	})
}

func TestSchemaWithReferencesAndConditions(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	accepted := func(args object) bool {
		return !strings.Contains(c.call("json_schema_2020_12_tool", args).firstText(), "Invalid")
	}
	g.Expect(accepted(object{"email": "a@example.com"})).To(gomega.BeTrue())
	g.Expect(accepted(object{"contactMethod": "phone", "phone": "1"})).To(gomega.BeTrue())
	g.Expect(accepted(object{"contactMethod": "phone", "email": "a@example.com"})).To(gomega.BeFalse(), "then")
	g.Expect(accepted(object{"phone": "1"})).To(gomega.BeFalse(), "else")
	g.Expect(accepted(object{})).To(gomega.BeFalse(), "anyOf")
	g.Expect(accepted(object{"email": "e", "address": object{"city": 1}})).To(gomega.BeFalse(), "$ref")
	g.Expect(accepted(object{"email": "e", "contactMethod": "fax"})).To(gomega.BeFalse(), "enum")
	g.Expect(c.call("slow", object{"duration": 60001}).firstText()).To(gomega.ContainSubstring("maximum"))
	g.Expect(c.call("slow", object{"duration": 0.5}).firstText()).To(gomega.ContainSubstring("integer"))
	g.Expect(c.call("slow", object{"duration": 0.0}).firstText()).To(gomega.ContainSubstring("0 ms"))
}
