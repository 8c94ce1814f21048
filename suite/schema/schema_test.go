package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"
)

func set(t testing.TB, revision string) *Set {
	t.Helper()
	s, err := For(revision)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value decodes JSON as a reader with int64 and float64 does.
func value(t testing.TB, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return goNumbers(v)
}

func goNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = goNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = goNumbers(v[k])
		}
	}
	return v
}

const (
	handshake = "2024-11-05 2025-11-25" // the revisions that begin with initialize
	modern    = "2026-07-28 2026-07-28"
	all       = "2024-11-05 2026-07-28"
)

// The cases of each definition hold for the revisions from the first named to the last; no problems means valid.
var cases = []struct {
	revisions, name, value string
	problems               []string
}{
	// Tool results.
	{handshake, "CallToolResult", `{"content": []}`, nil},
	{handshake, "CallToolResult", `{"content": [{"type": "text", "text": ""}], "isError": true, "unknown": 5}`, nil},
	{handshake, "CallToolResult", `{}`, []string{`(root): "content" is missing`}},
	{handshake, "CallToolResult", `{"structuredContent": {}}`, []string{`(root): "content" is missing`}},
	{handshake, "CallToolResult", `{"content": null}`, []string{`/content: expected array, found null`}},
	{handshake, "CallToolResult", `{"content": "hello"}`, []string{`/content: expected array, found "hello"`}},
	{handshake, "CallToolResult", `{"content": [], "isError": "yes"}`, []string{`/isError: expected boolean, found "yes"`}},
	{handshake, "CallToolResult", `{"content": [], "_meta": []}`, []string{`/_meta: expected object, found an empty array`}},
	{handshake, "CallToolResult", `{"content": [{"type": "text"}]}`, []string{`/content/0: "text" is missing`}},
	{handshake, "CallToolResult", `{"content": [{"text": "x"}]}`, []string{`/content/0: "type" is missing`}},
	{handshake, "CallToolResult", `{"content": [{"type": "text", "text": 7}, 5]}`,
		[]string{`/content/0/text: expected string, found the number 7`, `/content/1: expected object, found the number 5`}},
	{handshake, "CallToolResult", `{"content": [{"type": "image", "mimeType": "image/png"}]}`, []string{`/content/0: "data" is missing`}},
	{handshake, "CallToolResult", `{"content": [{"type": "image", "data": "not base64!", "mimeType": ""}]}`, nil},
	{handshake, "CallToolResult", `{"content": [{"type": "resource", "resource": {"uri": "no uri at all"}}]}`,
		[]string{`/content/0/resource: "text" is missing (or instead "blob")`}},
	{handshake, "CallToolResult", `{"content": [{"type": "resource", "resource": {"text": "x"}}]}`, []string{`/content/0/resource: "uri" is missing`}},
	{handshake, "CallToolResult", `{"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "x", "blob": "eA=="}}]}`, nil},
	{"2024-11-05 2024-11-05", "CallToolResult", `{"content": [{"type": "audio", "data": "eA==", "mimeType": "audio/wav"}]}`,
		[]string{`/content/0/type: expected one of "text", "image", "resource", found "audio"`}},
	{"2025-03-26 2025-11-25", "CallToolResult", `{"content": [{"type": "audio", "data": "eA==", "mimeType": "audio/wav"}]}`, nil},
	{"2024-11-05 2025-03-26", "CallToolResult", `{"content": [], "structuredContent": 5}`, nil},
	{"2025-06-18 2025-11-25", "CallToolResult", `{"content": [], "structuredContent": []}`,
		[]string{`/structuredContent: expected object, found an empty array`}},
	{"2025-06-18 2025-11-25", "CallToolResult", `{"content": [{"type": "resource_link", "uri": "file:///x", "name": "x", "size": 1.5}]}`, nil},
	{"2025-06-18 2025-11-25", "CallToolResult", `{"content": [{"type": "resource_link", "uri": "file:///x"}]}`, []string{`/content/0: "name" is missing`}},

	// Tools.
	{handshake, "ListToolsResult", `{"tools": [{"name": "", "inputSchema": {"type": "object"}}], "nextCursor": ""}`, nil},
	{handshake, "ListToolsResult", `{"tools": [], "nextCursor": null}`, []string{`/nextCursor: expected string, found null`}},
	{handshake, "ListToolsResult", `{"tools": [{"inputSchema": {"type": "object"}}, {"name": "x"}]}`,
		[]string{`/tools/0: "name" is missing`, `/tools/1: "inputSchema" is missing`}},
	{all, "Tool", `{"name": "x", "inputSchema": {}}`, []string{`/inputSchema: "type" is missing`}},
	{all, "Tool", `{"name": "x", "inputSchema": {"type": "string"}}`, []string{`/inputSchema/type: expected "object", found "string"`}},
	{all, "Tool", `{"name": "x", "description": null, "inputSchema": {"type": "object"}}`, []string{`/description: expected string, found null`}},
	{handshake, "Tool", `{"name": "x", "inputSchema": {"type": "object", "properties": {"a/b~c": 5}}}`,
		[]string{`/inputSchema/properties/a~1b~0c: expected object, found the number 5`}},
	{"2024-11-05 2024-11-05", "Tool", `{"name": "x", "inputSchema": {"type": "object"}, "annotations": 5}`, nil},
	{"2025-03-26 2026-07-28", "Tool", `{"name": "x", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "no"}}`,
		[]string{`/annotations/readOnlyHint: expected boolean, found "no"`}},
	{"2025-06-18 2025-11-25", "Tool", `{"name": "x", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}`,
		[]string{`/outputSchema/type: expected "object", found "array"`}},
	{"2025-11-25 2025-11-25", "Tool", `{"name": "x", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "maybe"}, "icons": [{}]}`,
		[]string{`/execution/taskSupport: expected one of "forbidden", "optional", "required", found "maybe"`, `/icons/0: "src" is missing`}},

	// Handshake.
	{handshake, "InitializeResult", `{"protocolVersion": "", "capabilities": {}, "serverInfo": {"name": "", "version": ""}}`, nil},
	{handshake, "InitializeResult", `{"protocolVersion": 20241105, "serverInfo": {"name": "x"}}`, []string{
		`(root): "capabilities" is missing`, `/protocolVersion: expected string, found the number 20241105`, `/serverInfo: "version" is missing`}},
	{all, "ServerCapabilities", `{"tools": {"listChanged": true, "other": 1}, "logging": {}, "x": 1, "experimental": {"a": {}}}`, nil},
	{all, "ServerCapabilities", `{"tools": true, "logging": null, "experimental": {"a": 1}, "resources": {"subscribe": 1}}`, []string{
		`/experimental/a: expected object, found the number 1`, `/logging: expected object, found null`,
		`/resources/subscribe: expected boolean, found the number 1`, `/tools: expected object, found true`}},
	{"2024-11-05 2024-11-05", "ServerCapabilities", `{"completions": true}`, nil},
	{"2025-03-26 2026-07-28", "ServerCapabilities", `{"completions": true}`, []string{`/completions: expected object, found true`}},
	{"2025-11-25 2025-11-25", "ServerCapabilities", `{"tasks": {"list": {}, "cancel": true, "requests": {"tools": {"call": true}}}}`, nil},
	{"2025-11-25 2025-11-25", "ServerCapabilities", `{"tasks": {"list": 1}}`, []string{`/tasks/list: expected object or boolean, found the number 1`}},

	// Resources, prompts, completion.
	{all, "Resource", `{"uri": "x", "name": "x", "size": 1.5, "annotations": {"audience": ["user"], "priority": 1}}`, nil},
	{all, "Resource", `{"uri": "x", "name": "x", "size": "1", "annotations": {"audience": ["root"], "priority": 1.01}}`, []string{
		`/annotations/audience/0: expected one of "user", "assistant", found "root"`,
		`/annotations/priority: expected at most 1, found the number 1.01`, `/size: expected number, found "1"`}},
	{all, "Annotations", `{"priority": -0.5}`, []string{`/priority: expected at least 0, found the number -0.5`}},
	{handshake, "ReadResourceResult", `{"contents": [{"uri": "x", "blob": 5}]}`, []string{`/contents/0/blob: expected string, found the number 5`}},
	{handshake, "GetPromptResult", `{"messages": [{"role": "system", "content": {"type": "text", "text": "x"}}]}`,
		[]string{`/messages/0/role: expected one of "user", "assistant", found "system"`}},
	{handshake, "GetPromptResult", `{"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}`,
		[]string{`/messages/0/content: expected object, found an array`}},
	{handshake, "CompleteResult", `{"completion": {"values": [], "total": 1.5}}`, nil},
	{handshake, "CompleteResult", `{"completion": {"values": [1], "hasMore": 0}}`, []string{
		`/completion/hasMore: expected boolean, found the number 0`, `/completion/values/0: expected string, found the number 1`}},

	// Envelopes.
	{"2024-11-05 2025-06-18", "JSONRPCError", `{"jsonrpc": "2.0", "error": {"code": -32700, "message": "x"}}`, nil},
	{"2024-11-05 2025-06-18", "JSONRPCError", `{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "x"}}`, nil},
	{"2024-11-05 2025-06-18", "JSONRPCResponse", `{"jsonrpc": "2.0", "id": null, "result": {}}`,
		[]string{`/id: expected string or integer, found null`}},
	{"2025-11-25 2026-07-28", "JSONRPCErrorResponse", `{"jsonrpc": "2.0", "id": null, "error": {"code": 1.5}}`,
		[]string{`/error: "message" is missing`, `/error/code: expected integer, found the number 1.5`}},
	{"2025-11-25 2026-07-28", "JSONRPCResponse", `{"jsonrpc": "2.0", "id": 1}`, []string{`(root): "result" is missing (or instead "error")`}},
	{all, "JSONRPCMessage", `{"jsonrpc": "2.0", "id": 1}`, []string{`(root): "method" is missing (or instead "result" or "error")`}},
	{all, "JSONRPCMessage", `{"jsonrpc": "2.0", "id": 1, "result": []}`, []string{`/result: expected object, found an empty array`}},
	{all, "JSONRPCRequest", `{"jsonrpc": 2.0, "id": 1.5, "method": "x", "params": []}`, []string{
		`/id: expected string or integer, found the number 1.5`, `/jsonrpc: expected string, found the number 2`, `/params: expected object, found an empty array`}},
	{all, "JSONRPCRequest", `{"jsonrpc": "2.0", "id": 9007199254740993, "method": "x"}`, nil},
	{"2025-03-26 2025-03-26", "JSONRPCBatchResponse", `[{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 2}]`,
		[]string{`/1: "result" is missing (or instead "error")`}},
	{"2025-03-26 2025-03-26", "JSONRPCMessage", `[]`, nil},
	{handshake, "EmptyResult", `{"anything": 1}`, nil},
	{handshake, "EmptyResult", `[]`, []string{`(root): expected object, found an empty array`}},

	// Notifications from the server.
	{all, "ProgressNotification", `{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5, "total": 1.5}}`, nil},
	{all, "ProgressNotification", `{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1.5, "progress": "1"}}`, []string{
		`/params/progress: expected number, found "1"`, `/params/progressToken: expected string or integer, found the number 1.5`}},
	{all, "LoggingMessageNotification", `{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": null}}`, nil},
	{all, "LoggingMessageNotification", `{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "warn"}}`, []string{
		`/params: "data" is missing`,
		`/params/level: expected one of "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", found "warn"`}},
	{all, "ServerNotification", `{"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {}}`, []string{`/params: "uri" is missing`}},
	{all, "CancelledNotification", `{"jsonrpc": "2.0", "method": "notifications/cancelled"}`, []string{`(root): "params" is missing`}},
	{"2024-11-05 2025-06-18", "CancelledNotification", `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}`,
		[]string{`/params: "requestId" is missing`}},
	{modern, "CancelledNotification", `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}`,
		[]string{`/params: "requestId" is missing`}},
	{"2025-11-25 2025-11-25", "CancelledNotification", `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}`, nil},

	// Requests from the server.
	{handshake, "ServerRequest", `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`, nil},
	{handshake, "CreateMessageRequest", `{"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"maxTokens": 1.5,
		"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]}}`, nil},
	{handshake, "CreateMessageRequest", `{"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": []}}`,
		[]string{`/params: "maxTokens" is missing`}},
	{"2024-11-05 2025-06-18", "SamplingMessage", `{"role": "user", "content": []}`, []string{`/content: expected object, found an empty array`}},
	{"2025-11-25 2026-07-28", "SamplingMessage", `{"role": "user", "content": [{"type": "tool_use", "id": "1", "name": "x"}]}`,
		[]string{`/content/0: "input" is missing`}},
	{"2025-06-18 2025-11-25", "ElicitRequest", `{"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "?", "requestedSchema": {
		"type": "object", "properties": {"a": {"type": "string", "pattern": "x", "minLength": 1.5}, "b": {"type": "object"}, "c": {"type": "number", "minimum": 0.5}}}}}`,
		[]string{`/params/requestedSchema/properties/b/type: expected one of "string", "number", "integer", "boolean"`}},
	{"2025-11-25 2025-11-25", "ElicitRequestParams", `{"mode": "url", "message": "x", "url": "x"}`, []string{`(root): "elicitationId" is missing`}},
	{"2025-11-25 2026-07-28", "ElicitRequestParams", `{"mode": "page", "message": "x"}`, []string{`/mode: expected one of "form", "url", found "page"`}},

	// Tasks.
	{"2025-11-25 2025-11-25", "GetTaskResult", `{"taskId": "1", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": null, "pollInterval": 1.5}`, nil},
	{"2025-11-25 2025-11-25", "CreateTaskResult", `{"task": {"taskId": "1", "status": "done", "createdAt": "", "lastUpdatedAt": ""}}`, []string{
		`/task: "ttl" is missing`,
		`/task/status: expected one of "working", "input_required", "completed", "failed", "cancelled", found "done"`}},

	// 2026-07-28: the type of a result, and caching hints.
	{modern, "EmptyResult", `{"resultType": "complete", "anything": 1}`, nil},
	{modern, "EmptyResult", `{}`, []string{`(root): "resultType" is missing`}},
	{modern, "EmptyResult", `{"resultType": null}`, []string{`/resultType: expected string, found null`}},
	{modern, "Result", `{"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "x"}}}`,
		[]string{`/_meta/io.modelcontextprotocol~1serverInfo: "version" is missing`}},
	{modern, "ListToolsResult", `{"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": []}`, nil},
	{modern, "ListToolsResult", `{"tools": []}`, []string{
		`(root): "cacheScope" is missing`, `(root): "resultType" is missing`, `(root): "ttlMs" is missing`}},
	{modern, "ListToolsResult", `{"resultType": "input_required", "ttlMs": -1, "cacheScope": "shared", "tools": []}`, []string{
		`/cacheScope: expected one of "public", "private", found "shared"`, `/resultType: expected "complete", found "input_required"`,
		`/ttlMs: expected at least 0, found the number -1`}},
	{modern, "ListToolsResult", `{"resultType": "of an extension", "ttlMs": 1.5, "cacheScope": "private", "tools": []}`,
		[]string{`/ttlMs: expected integer, found the number 1.5`}},
	{modern, "DiscoverResult", `{"resultType": "complete", "ttlMs": 5, "cacheScope": "public", "supportedVersions": [], "capabilities": {"extensions": {"a/b": {"c": [null, 1.5]}}}}`, nil},
	{modern, "DiscoverResult", `{"resultType": "complete", "ttlMs": 5, "cacheScope": "public", "supportedVersions": "2026-07-28", "capabilities": {"extensions": {"a/b": true}}}`,
		[]string{`/capabilities/extensions/a~1b: expected object, found true`, `/supportedVersions: expected array, found "2026-07-28"`}},
	{modern, "ReadResourceResult", `{"resultType": "complete", "contents": []}`, []string{`(root): "cacheScope" is missing`, `(root): "ttlMs" is missing`}},
	{modern, "CompleteResult", `{"resultType": "complete", "completion": {"values": [], "total": 1.5}}`, nil},

	// 2026-07-28: tools.
	{modern, "Tool", `{"name": "x", "execution": 5, "inputSchema": {"type": "object", "properties": {"a": {"x-mcp-header": 5}}}, "outputSchema": {"type": "array"}}`, nil},
	{modern, "Tool", `{"name": "x", "inputSchema": {"type": "object"}, "outputSchema": {}}`, nil},
	{modern, "Tool", `{"name": "x", "inputSchema": {"type": "object"}, "outputSchema": true}`, []string{`/outputSchema: expected object, found true`}},
	{modern, "CallToolResult", `{"resultType": "complete", "content": [], "structuredContent": null}`, nil},
	{modern, "CallToolResult", `{"resultType": "complete", "content": [], "structuredContent": 0}`, nil},
	{modern, "CallToolResult", `{"resultType": "complete", "structuredContent": []}`, []string{`(root): "content" is missing`}},

	// 2026-07-28: requests for input.
	{modern, "CallToolResultOrInputRequired", `{"resultType": "complete", "content": []}`, nil},
	{modern, "CallToolResultOrInputRequired", `{"content": []}`, []string{`(root): "resultType" is missing`}},
	{modern, "CallToolResultOrInputRequired", `{"resultType": 5, "content": []}`, []string{`/resultType: expected string, found the number 5`}},
	{modern, "CallToolResultOrInputRequired", `{"resultType": "complete", "requestState": "x"}`, []string{`(root): "content" is missing`}},
	{modern, "CallToolResultOrInputRequired", `{"resultType": "input_required", "requestState": "x"}`, nil},
	{modern, "CallToolResultOrInputRequired", `{"resultType": "input_required", "requestState": {}, "inputRequests": []}`, []string{
		`/inputRequests: expected object, found an empty array`, `/requestState: expected string, found an empty object`}},
	{modern, "CallToolResultOrInputRequired", `{"resultType": "task", "taskId": "x"}`, nil},
	{modern, "CallToolResultOrInputRequired", `{"resultType": "task", "_meta": 5}`, []string{`/_meta: expected object, found the number 5`}},
	{modern, "GetPromptResultOrInputRequired", `{"resultType": "complete"}`, []string{`(root): "messages" is missing`}},
	{modern, "ReadResourceResultOrInputRequired", `{"resultType": "complete", "ttlMs": 0, "cacheScope": "public", "contents": [{"uri": "x"}]}`,
		[]string{`/contents/0: "text" is missing (or instead "blob")`}},
	{modern, "ReadResourceResultOrInputRequired", `{"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}}`, nil},
	{modern, "InputRequiredResult", `{"resultType": "complete"}`, []string{`/resultType: expected "input_required", found "complete"`}},
	{modern, "InputRequests", `{"a": {"method": "roots/list", "params": []}, "b": {"method": "sampling/createMessage", "params": {"messages": []}},
		"c": {"method": "elicitation/create", "params": {"mode": "url", "message": "x"}}, "d": {"method": "ping"}, "e": {"method": "elicitation/create"}}`, []string{
		`/a/params: expected object, found an empty array`, `/b/params: "maxTokens" is missing`, `/c/params: "url" is missing`,
		`/d/method: expected one of "elicitation/create", "sampling/createMessage", "roots/list", found "ping"`, `/e: "params" is missing`}},
	{modern, "InputRequests", `{"": {"method": "elicitation/create", "params": {"message": "x", "requestedSchema": {"type": "object", "properties": {"a": {"type": "object"}}}}}}`,
		[]string{`//params/requestedSchema/properties/a/type: expected one of "string", "number", "integer", "boolean"`}},

	// 2026-07-28: errors.
	{modern, "MissingRequiredClientCapabilityError", `{"jsonrpc": "2.0", "id": 1, "error": {"code": -32021, "message": "x", "data": {"requiredCapabilities": {"elicitation": {}}}}}`, nil},
	{modern, "MissingRequiredClientCapabilityError", `{"jsonrpc": "2.0", "id": 1, "error": {"code": -32021, "message": "x", "data": {"requiredCapabilities": ["elicitation"]}}}`,
		[]string{`/error/data/requiredCapabilities: expected object, found an array`}},
	{modern, "UnsupportedProtocolVersionError", `{"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "x", "data": {"supported": "2026-07-28"}}}`, []string{
		`/error/code: expected -32022, found the number -32602`, `/error/data: "requested" is missing`, `/error/data/supported: expected array, found "2026-07-28"`}},
	{modern, "HeaderMismatchError", `{"jsonrpc": "2.0", "id": 1, "error": {"code": -32020, "message": "x"}}`, nil},
	{modern, "InvalidParamsError", `{"code": -32602, "message": "x", "data": null}`, nil},

	// 2026-07-28: subscriptions.
	{modern, "SubscriptionsListenResult", `{"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}`, nil},
	{modern, "SubscriptionsListenResult", `{"resultType": "complete"}`, []string{`(root): "_meta" is missing`}},
	{modern, "SubscriptionsListenResult", `{"resultType": "complete", "_meta": {}}`, []string{`/_meta: "io.modelcontextprotocol/subscriptionId" is missing`}},
	{modern, "ServerNotification", `{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": {"resourceSubscriptions": true}}}`,
		[]string{`/params/notifications/resourceSubscriptions: expected array, found true`}},
	{modern, "ServerNotification", `{"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "x"}}`,
		[]string{`/method: expected one of`}},
	{modern, "ToolListChangedNotification", `{"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": null}}}`,
		[]string{`/params/_meta/io.modelcontextprotocol~1subscriptionId: expected string or integer, found null`}},
}

func TestValidate(t *testing.T) {
	for _, c := range cases {
		for _, revision := range Revisions() {
			if !within(c.revisions, revision) {
				continue
			}
			t.Run(revision+" "+c.name, func(t *testing.T) {
				g := gomega.NewWithT(t)
				problems, err := set(t, revision).Validate(c.name, value(t, c.value))
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(problems).To(gomega.HaveLen(len(c.problems)), "%s: %q", c.value, problems)
				for i, want := range c.problems {
					g.Expect(problems[i]).To(gomega.HavePrefix(want), c.value)
				}
			})
		}
	}
}

func TestMethods(t *testing.T) {
	for _, revision := range Revisions() {
		s := set(t, revision)
		for what, messages := range map[string]map[string]string{
			"result": s.messages.Results, "notification": s.messages.Notifications, "request": s.messages.Requests,
		} {
			if revision >= "2026-07-28" && what == "request" {
				if len(messages) > 0 {
					t.Errorf("%s: a server sends no requests, but there are %v", revision, messages)
				}
				continue
			}
			if len(messages) < 3 {
				t.Errorf("%s: only %d %s methods", revision, len(messages), what)
			}
			for method, name := range messages {
				if !s.Has(name) {
					t.Errorf("%s: %s of %s is %s, which is not defined", revision, what, method, name)
				}
			}
		}
	}
	g := gomega.NewWithT(t)
	old, latest, stateless := set(t, "2024-11-05"), set(t, "2025-11-25"), set(t, "2026-07-28")
	g.Expect(old.ResultOf("tools/list")).To(gomega.Equal("ListToolsResult"))
	g.Expect(old.ResultOf("tasks/get")).To(gomega.BeEmpty())
	g.Expect(latest.ResultOf("tasks/get")).To(gomega.Equal("GetTaskResult"))
	g.Expect(latest.ResultOf("sampling/createMessage")).To(gomega.BeEmpty(), "a client gives that result")
	g.Expect(latest.NotificationOf("notifications/message")).To(gomega.Equal("LoggingMessageNotification"))
	g.Expect(latest.NotificationOf("notifications/initialized")).To(gomega.BeEmpty(), "a client sends that")
	g.Expect(latest.RequestOf("elicitation/create")).To(gomega.Equal("ElicitRequest"))
	g.Expect(old.RequestOf("elicitation/create")).To(gomega.BeEmpty())
	g.Expect(stateless.ResultOf("tools/list")).To(gomega.Equal("ListToolsResult"))
	g.Expect(stateless.ResultOf("tools/call")).To(gomega.Equal("CallToolResultOrInputRequired"))
	g.Expect(stateless.ResultOf("server/discover")).To(gomega.Equal("DiscoverResult"))
	for _, removed := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/get", "tasks/list"} {
		g.Expect(stateless.ResultOf(removed)).To(gomega.BeEmpty(), removed)
	}
	g.Expect(stateless.NotificationOf("notifications/subscriptions/acknowledged")).To(gomega.Equal("SubscriptionsAcknowledgedNotification"))
	g.Expect(stateless.NotificationOf("notifications/elicitation/complete")).To(gomega.BeEmpty())
}

// TestMethodConstants: what the definition of a method says about "method" is that method.
func TestMethodConstants(t *testing.T) {
	for _, revision := range Revisions() {
		s := set(t, revision)
		for method, name := range s.messages.Notifications {
			checkMethod(t, s, name, method)
		}
		for method, name := range s.messages.Requests {
			checkMethod(t, s, name, method)
		}
	}
}

func checkMethod(t *testing.T, s *Set, name, method string) {
	t.Helper()
	for _, sent := range []string{method, method + "x"} {
		problems, err := s.Validate(name, map[string]any{"method": sent})
		if err != nil {
			t.Fatal(err)
		}
		about := slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, "/method: ") })
		if about != (sent != method) {
			t.Errorf("%s %s with method %q: %q", s.revision, name, sent, problems)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, revision := range []string{"2020-01-01", "", "../x", "/"} {
		_, err := For(revision)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no message schemas for revision")), revision)
	}
	s := set(t, "2025-11-25")
	_, err := s.Validate("Toool", nil)
	g.Expect(err).To(gomega.MatchError(`revision 2025-11-25 has no schema definition "Toool"`))
	g.Expect(s.Has("Toool")).To(gomega.BeFalse())
	g.Expect(s.Has("Tool")).To(gomega.BeTrue())
	g.Expect(slices.IsSorted(s.Names())).To(gomega.BeTrue())
	again, err := For("2025-11-25")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again).To(gomega.BeIdenticalTo(s))
}

func TestNumbers(t *testing.T) {
	s := set(t, "2025-11-25")
	for _, c := range []struct {
		value any
		name  string
		valid bool
	}{
		{7, "RequestId", true},
		{int64(math.MinInt64), "RequestId", true},
		{uint64(math.MaxUint64), "RequestId", true},
		{7.0, "RequestId", true},
		{1e300, "RequestId", true},
		{7.5, "RequestId", false},
		{float32(0.5), "RequestId", false},
		{json.Number("7"), "RequestId", true},
		{json.Number("7e0"), "RequestId", true},
		{json.Number("70e-1"), "RequestId", true},
		{json.Number("75e-1"), "RequestId", false},
		{json.Number("1e999999999"), "RequestId", true},
		{json.Number("0e999999999"), "RequestId", true},
		{json.Number("1e-999999999"), "RequestId", false},
		{json.Number(strings.Repeat("9", 100_000)), "RequestId", true},
		{map[string]any{"priority": json.Number("1e999999999")}, "Annotations", false},
		{map[string]any{"priority": json.Number("-1e999999999")}, "Annotations", false},
		{map[string]any{"priority": json.Number("1e-999999999")}, "Annotations", true},
		{map[string]any{"priority": json.Number("-1e-999999999")}, "Annotations", false},
		{map[string]any{"priority": int64(2)}, "Annotations", false},
		{map[string]any{"priority": int64(1)}, "Annotations", true},
	} {
		problems, err := s.Validate(c.name, c.value)
		if err != nil || (len(problems) == 0) != c.valid {
			t.Errorf("%.60v as %s: %.100q, %v; expected valid: %v", c.value, c.name, problems, err, c.valid)
		}
	}
	for _, bad := range []any{math.NaN(), math.Inf(1), json.Number(""), json.Number("true"), json.Number("1 "), []string{"x"}, struct{}{}} {
		for _, value := range []any{bad, map[string]any{"a": bad}, []any{bad}} {
			if _, err := s.Validate("Result", value); err == nil {
				t.Errorf("%#v was taken for decoded JSON", value)
			}
		}
	}
}

func TestValueIsNotChanged(t *testing.T) {
	g := gomega.NewWithT(t)
	text := `{"tools": [{"name": 7, "inputSchema": {"type": "object", "maximum": 1.5}}], "_meta": {"a": [1, "x", [2]]}}`
	v := value(t, text)
	problems, err := set(t, "2025-11-25").Validate("ListToolsResult", v)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(problems).To(gomega.HaveLen(1))
	g.Expect(reflect.DeepEqual(v, value(t, text))).To(gomega.BeTrue())
}

func TestManyProblemsAreCutAndOrdered(t *testing.T) {
	g := gomega.NewWithT(t)
	tools := make([]any, 200)
	for i := range tools {
		tools[i] = map[string]any{"name": "x"}
	}
	s := set(t, "2025-06-18")
	problems, err := s.Validate("ListToolsResult", map[string]any{"tools": tools})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(problems).To(gomega.HaveLen(maxProblems + 1))
	g.Expect(problems[2]).To(gomega.Equal(`/tools/2: "inputSchema" is missing`))
	g.Expect(problems[10]).To(gomega.Equal(`/tools/10: "inputSchema" is missing`))
	g.Expect(problems[maxProblems]).To(gomega.Equal("and 150 more problems"))
}

func TestConcurrentUse(t *testing.T) {
	fresh, err := load("2025-11-25") // nothing compiled yet
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		wg.Go(func() {
			for _, name := range fresh.Names() {
				problems, err := fresh.Validate(name, map[string]any{"content": int64(5)})
				results[i] += fmt.Sprintln(name, problems, err)
			}
		})
	}
	wg.Wait()
	for _, result := range results {
		if result != results[0] {
			t.Fatalf("results differ:\n%s\n%s", results[0], result)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	tool := `{"name": "add", "description": "Adds", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}}`
	for _, c := range []struct{ label, name, value string }{
		{"text", "CallToolResult", `{"content": [{"type": "text", "text": "hello"}], "isError": false}`},
		{"broken", "CallToolResult", `{"content": [{"type": "text"}], "isError": 0}`},
		{"progress", "ProgressNotification", `{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5}}`},
		{"response", "JSONRPCMessage", `{"jsonrpc": "2.0", "id": 1, "result": {}}`},
		{"tools-100", "ListToolsResult", `{"tools": [` + strings.Repeat(tool+",", 99) + tool + `]}`},
	} {
		b.Run(c.label, func(b *testing.B) {
			s, v := set(b, "2025-11-25"), value(b, c.value)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Validate(c.name, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
