package reference

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// everything is a client that can be asked for anything.
var everything = object{"elicitation": object{"form": object{}, "url": object{}}, "sampling": object{"tools": object{}}, "roots": object{}}

func accept(content object) object { return object{"action": "accept", "content": content} }

// responseTo answers a question of any kind.
func responseTo(request any) object {
	q := request.(map[string]any)
	switch q["method"] {
	case "sampling/createMessage":
		return object{"role": "assistant", "model": "m", "content": object{"type": "text", "text": "sampled"}}
	case "roots/list":
		return object{"roots": []object{{"uri": "file:///a"}}}
	}
	return accept(object{"name": "Alice", "color": "blue", "ok": true, "context": "c", "username": "u", "email": "e", "confirm": true})
}

// again is the retry that answers all that a result asks for.
func again(params object, result map[string]any) object {
	retry := object{}
	for name, value := range params {
		retry[name] = value
	}
	responses := object{}
	for key, request := range result["inputRequests"].(map[string]any) {
		responses[key] = responseTo(request)
	}
	retry["inputResponses"] = responses
	delete(retry, "requestState")
	if state, ok := result["requestState"]; ok {
		retry["requestState"] = state
	}
	return retry
}

func TestInputsInRounds(t *testing.T) {
	call := func(tool string, args object) object { return object{"name": tool, "arguments": args} }
	for _, tc := range []struct {
		name    string
		method  string
		params  object
		rounds  []int // how many inputs are asked for in each
		stately bool
		says    string
	}{
		{"elicitation", "tools/call", call("test_input_required_result_elicitation", object{}), []int{1}, false, "Hello, Alice!"},
		{"sampling", "tools/call", call("test_input_required_result_sampling", object{}), []int{1}, false, "sampled"},
		{"roots", "tools/call", call("test_input_required_result_list_roots", object{}), []int{1}, false, "file:///a"},
		{"state", "tools/call", call("test_input_required_result_request_state", object{}), []int{1}, true, "state-ok"},
		{"several", "tools/call", call("test_input_required_result_multiple_inputs", object{}), []int{3}, true, "Alice"},
		{"rounds", "tools/call", call("test_input_required_result_multi_round", object{}), []int{1, 1}, true, "blue"},
		{"what is declared", "tools/call", call("test_input_required_result_capabilities", object{}), []int{3}, true, "3"},
		{"streaming", "tools/call", call("test_streaming_elicitation", object{}), []int{1}, true, "accept"},
		{"a tool of both eras", "tools/call", call("test_sampling", object{"prompt": "p"}), []int{1}, true, "sampled"},
		{"a form of both eras", "tools/call", call("test_elicitation", object{"message": "m"}), []int{1}, true, "accept"},
		{"roots of both eras", "tools/call", call("test_list_roots", object{}), []int{1}, true, "file:///a"},
		{"a page", "tools/call", call("test_elicitation_url", object{}), []int{1}, true, "accept"},
		{"a prompt", "prompts/get", object{"name": "test_input_required_result_prompt"}, []int{1}, false, ""},
		{"a resource", "resources/read", object{"uri": askingURI}, []int{1}, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, c modernClient) {
				g := gomega.NewWithT(t)
				params := tc.params
				for _, inputs := range tc.rounds {
					reply, _ := c.ask(tc.method, params, everything)
					result := reply.result()
					g.Expect(result["resultType"]).To(gomega.Equal("input_required"))
					g.Expect(result["inputRequests"]).To(gomega.HaveLen(inputs))
					g.Expect(result["requestState"] != nil).To(gomega.Equal(tc.stately))
					g.Expect(result).NotTo(gomega.HaveKey("ttlMs"))
					g.Expect(result).NotTo(gomega.HaveKey("cacheScope"))
					for _, request := range result["inputRequests"].(map[string]any) {
						g.Expect(request).NotTo(gomega.HaveKey("id"))
						asked, _ := request.(map[string]any)["params"].(map[string]any)
						g.Expect(asked).NotTo(gomega.HaveKey("elicitationId"))
					}
					params = again(tc.params, result)
				}
				reply, _ := c.ask(tc.method, params, everything)
				g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "complete"), "%v", reply)
				g.Expect(reply.firstText()).To(gomega.ContainSubstring(tc.says))

				if tc.name == "what is declared" {
					return
				}
				reply, _ = c.ask(tc.method, tc.params, object{})
				g.Expect(reply.code()).To(gomega.Equal(codeMissingCapability))
				g.Expect(data(reply)["requiredCapabilities"]).To(gomega.BeAssignableToTypeOf(map[string]any{}))
			})
		})
	}
}

func TestMissingCapabilitiesAreNamed(t *testing.T) {
	for _, tc := range []struct {
		tool     string
		declared object
		missing  string // JSON; empty: none
	}{
		{"test_input_required_result_elicitation", object{"elicitation": object{}}, ""},
		{"test_input_required_result_elicitation", object{"elicitation": object{"url": object{}}}, `{"elicitation":{"form":{}}}`},
		{"test_elicitation_url", object{"elicitation": object{}}, `{"elicitation":{"url":{}}}`},
		{"test_input_required_result_multiple_inputs", object{"elicitation": object{}}, `{"roots":{},"sampling":{}}`},
		{"test_missing_capability", object{}, `{"sampling":{}}`},
	} {
		g := gomega.NewWithT(t)
		c := modernWeb{dialHTTP(t)}
		resp := c.send("tools/call", withMeta(object{"name": tc.tool}, tc.declared), nil)
		reply := c.read(resp)[0]
		if tc.missing == "" {
			g.Expect(reply).To(gomega.HaveKey("result"), tc.tool)
			continue
		}
		g.Expect(resp.StatusCode).To(gomega.Equal(400), tc.tool)
		g.Expect(reply.code()).To(gomega.Equal(codeMissingCapability))
		g.Expect(encode(data(reply)["requiredCapabilities"])).To(gomega.MatchJSON(tc.missing))
	}
}

func TestOnlyWhatIsDeclaredIsAskedFor(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		reply, _ := c.ask("tools/call", object{"name": "test_input_required_result_capabilities"}, object{"sampling": object{}})
		requests := reply.result()["inputRequests"].(map[string]any)
		g.Expect(requests).To(gomega.HaveLen(1))
		g.Expect(requests["greeting"]).To(gomega.HaveKeyWithValue("method", "sampling/createMessage"))
		reply, _ = c.ask("tools/call", object{"name": "test_input_required_result_capabilities"}, object{})
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
	})
}

func TestResponsesThatDoNotFit(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		params := object{"name": "test_input_required_result_elicitation"}
		for _, tc := range []struct {
			responses any
			kind      string // of the result; empty: an error
		}{
			{object{"wrong": accept(object{})}, "input_required"},
			{object{}, "input_required"},
			{object{"user_name": accept(object{"name": "Bob"}), "more": accept(object{})}, "complete"},
			{object{"user_name": object{"action": "decline"}}, "complete"},
			{object{"user_name": object{"action": "cancel"}}, "complete"},
			{object{"user_name": object{"action": "maybe"}}, ""},
			{object{"user_name": accept(object{"name": 7})}, ""},
			{object{"user_name": object{"action": "accept"}}, ""},
			{object{"user_name": 7}, ""},
			{nil, ""},
			{[]any{}, ""},
		} {
			params["inputResponses"] = tc.responses
			reply, _ := c.ask("tools/call", params, everything)
			if tc.kind == "" {
				g.Expect(reply.code()).To(gomega.Equal(codeInvalidParams), "%v", tc.responses)
			} else {
				g.Expect(reply.result()["resultType"]).To(gomega.Equal(tc.kind), "%v", tc.responses)
			}
		}
		// Part of the answers is remembered in the state; the rest is asked for again.
		params = object{"name": "test_input_required_result_multiple_inputs"}
		reply, _ := c.ask("tools/call", params, everything)
		retry := again(params, reply.result())
		delete(retry["inputResponses"].(object), "greeting")
		reply, _ = c.ask("tools/call", retry, everything)
		g.Expect(reply.result()["inputRequests"]).To(gomega.And(gomega.HaveLen(1), gomega.HaveKey("greeting")))
		reply, _ = c.ask("tools/call", again(params, reply.result()), everything)
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
	})
}

func TestStatesCannotBeForgedOrUsedElsewhere(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		params := object{"name": "test_input_required_result_request_state", "arguments": object{}}
		reply, _ := c.ask("tools/call", params, everything)
		good := again(params, reply.result())
		state := good["requestState"].(string)
		refused := func(params object, why string) {
			t.Helper()
			reply, _ := c.ask("tools/call", params, everything)
			g.Expect(reply.code()).To(gomega.Equal(codeInvalidParams), why)
		}
		with := func(state any) object {
			changed := again(params, reply.result())
			changed["requestState"] = state
			return changed
		}
		payload, signature, _ := strings.Cut(state, ".")
		plain, err := base64.RawURLEncoding.DecodeString(payload)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		forged := strings.Replace(string(plain), `"asked":["confirm"]`, `"asked":["other"]`, 1)
		g.Expect(forged).NotTo(gomega.Equal(string(plain)))
		refused(with(state+"-TAMPERED"), "more behind it")
		refused(with(state[:len(state)-1]), "cut short")
		refused(with(base64.RawURLEncoding.EncodeToString([]byte(forged))+"."+signature), "another payload")
		refused(with(payload), "no signature")
		refused(with(""), "empty")
		refused(with("nonsense"), "nonsense")
		refused(with(7), "no text")
		elsewhere := with(state)
		elsewhere["name"] = "test_input_required_result_tampered_state"
		refused(elsewhere, "another tool")
		elsewhere = with(state)
		elsewhere["arguments"] = object{"x": 1}
		refused(elsewhere, "other arguments")
		reply2, _ := c.ask("prompts/get", object{"name": "test_input_required_result_prompt", "requestState": state}, everything)
		g.Expect(reply2.code()).To(gomega.Equal(codeInvalidParams), "another method")
		reply2, _ = c.ask("tools/call", good, everything)
		g.Expect(reply2.result()).To(gomega.HaveKeyWithValue("resultType", "complete"), "the state itself is good")
	})
}

func TestStatesExpireAndBelongToOnePrincipal(t *testing.T) {
	g := gomega.NewWithT(t)
	s := New()
	c := &call{session: &session{server: s}, params: object{"name": "x"}, modern: &modernRequest{method: "tools/call", principal: "a"}, inputs: &inputs{answers: object{}}}
	sealed := c.seal([]string{"k"})
	state, err := c.unseal(sealed)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(state.Asked).To(gomega.Equal([]string{"k"}))
	c.modern.principal = "b"
	_, err = c.unseal(sealed)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("given out for another request")))
	old := encode(requestState{time.Now().Add(-time.Second).Unix(), c.bound(), nil, object{}})
	text := base64.RawURLEncoding
	_, err = c.unseal(text.EncodeToString(old) + "." + text.EncodeToString(s.all.sign(old)))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("expired")))
	_, err = (&call{session: &session{server: New()}, params: c.params, modern: c.modern}).unseal(sealed)
	g.Expect(err).To(gomega.HaveOccurred(), "another server's state")
}
