package reference

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

var withExtension = object{"extensions": object{extTasks: object{}}, "elicitation": object{}}

// start calls a tool that makes a task and returns the handle.
func start(t *testing.T, c modernClient, params object) map[string]any {
	t.Helper()
	reply, _ := c.ask("tools/call", params, withExtension)
	handle := reply.result()
	if handle["resultType"] != "task" {
		t.Fatalf("no task: %v", reply)
	}
	return handle
}

// until asks for a task as often as it takes to reach one of the states.
func until(t *testing.T, c modernClient, id any, states ...any) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		reply, _ := c.ask("tasks/get", object{"taskId": id}, withExtension)
		for _, state := range states {
			if reply.result()["status"] == state {
				return reply.result()
			}
		}
	}
	t.Fatalf("the task never reached %v", states)
	return nil
}

func TestTasks(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		handle := start(t, c, object{"name": "slow_compute", "arguments": object{"seconds": 0, "label": "x"}})
		g.Expect(handle).To(gomega.And(gomega.HaveKeyWithValue("status", extWorking), gomega.HaveKey("createdAt"), gomega.HaveKey("lastUpdatedAt"),
			gomega.HaveKeyWithValue("ttlMs", float64(extLifetime.Milliseconds())), gomega.HaveKey("pollIntervalMs")))
		g.Expect(handle["taskId"]).To(gomega.MatchRegexp(`^[A-Z2-7]{20,}$`))
		for _, member := range []string{"task", "result", "error", "inputRequests", "requestState"} {
			g.Expect(handle).NotTo(gomega.HaveKey(member))
		}
		done := until(t, c, handle["taskId"], extCompleted)
		g.Expect(done).To(gomega.HaveKeyWithValue("resultType", "complete"))
		g.Expect(done["result"]).To(gomega.And(gomega.HaveKey("content"), gomega.HaveKeyWithValue("resultType", "complete")))

		job := until(t, c, start(t, c, object{"name": "run_job", "arguments": object{"duration": 1, "outcome": "error"}})["taskId"], extCompleted, extFailed)
		g.Expect(job).To(gomega.And(gomega.HaveKeyWithValue("status", extFailed), gomega.HaveKeyWithValue("error", gomega.HaveKeyWithValue("code", float64(codeInternalError)))))
		reply, _ := c.ask("tools/call", object{"name": "run_job", "arguments": object{}}, object{})
		g.Expect(reply.result()).To(gomega.And(gomega.HaveKeyWithValue("resultType", "complete"), gomega.HaveKey("content")))

		failing := until(t, c, start(t, c, object{"name": "failing_job"})["taskId"], extCompleted, extFailed)
		g.Expect(failing["status"]).To(gomega.Equal(extCompleted))
		g.Expect(failing["result"]).To(gomega.HaveKeyWithValue("isError", true))
		broken := until(t, c, start(t, c, object{"name": "protocol_error_job"})["taskId"], extCompleted, extFailed)
		g.Expect(broken["status"]).To(gomega.Equal(extFailed))
		g.Expect(broken["error"]).To(gomega.HaveKeyWithValue("code", float64(codeInternalError)))
		g.Expect(broken).NotTo(gomega.HaveKey("result"))

		long := start(t, c, object{"name": "slow_compute", "arguments": object{"seconds": 60}})["taskId"]
		for range 2 {
			reply, _ := c.ask("tasks/cancel", object{"taskId": long}, withExtension)
			g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
			g.Expect(reply.result()).NotTo(gomega.HaveKey("taskId"))
		}
		until(t, c, long, extCancelled)
	})
}

func TestTasksThatAskForInputs(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		id := start(t, c, object{"name": "multi_input"})["taskId"]
		open := until(t, c, id, extInput)["inputRequests"]
		g.Expect(open).To(gomega.And(gomega.HaveLen(2), gomega.HaveKey("first"), gomega.HaveKey("last")))
		update := func(responses any) message {
			reply, _ := c.ask("tasks/update", object{"taskId": id, "inputResponses": responses}, withExtension)
			return reply
		}
		g.Expect(update(object{"unknown": accept(object{})}).result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
		g.Expect(update(object{"first": object{"action": "maybe"}}).code()).To(gomega.Equal(codeInvalidParams))
		g.Expect(update(nil).code()).To(gomega.Equal(codeInvalidParams))
		g.Expect(update(object{"first": accept(object{"name": "Ada"})})).To(gomega.HaveKey("result"))
		g.Expect(until(t, c, id, extInput)["inputRequests"]).To(gomega.And(gomega.HaveLen(1), gomega.HaveKey("last")))
		g.Expect(update(object{"first": accept(object{"name": "Eve"}), "last": accept(object{"name": "Lovelace"})})).To(gomega.HaveKey("result"))
		done := until(t, c, id, extCompleted)["result"].(map[string]any)
		g.Expect(encode(done["content"])).To(gomega.And(gomega.ContainSubstring("Ada"), gomega.ContainSubstring("Lovelace"), gomega.Not(gomega.ContainSubstring("Eve"))))

		// Inputs that are needed before the task come in rounds.
		params := object{"name": "test_tool_with_task"}
		reply, _ := c.ask("tools/call", params, withExtension)
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "input_required"))
		g.Expect(reply.result()).NotTo(gomega.HaveKey("taskId"))
		handle := start(t, c, again(params, reply.result()))
		g.Expect(handle).NotTo(gomega.HaveKey("requestState"))
		until(t, c, handle["taskId"], extCompleted)
	})
}

func TestTasksAreForClientsThatDeclareThem(t *testing.T) {
	bothWays(t, func(t *testing.T, c modernClient) {
		g := gomega.NewWithT(t)
		id := start(t, c, object{"name": "slow_compute", "arguments": object{"seconds": 0}})["taskId"]
		for method, params := range map[string]object{
			"tasks/get": {"taskId": id}, "tasks/cancel": {"taskId": id}, "tasks/update": {"taskId": id, "inputResponses": object{}},
			"subscriptions/listen": {"notifications": object{"taskIds": []any{id}}},
			"tools/call":           {"name": "failing_job"},
		} {
			reply, _ := c.ask(method, params, object{"elicitation": object{}})
			g.Expect(reply.code()).To(gomega.Equal(codeMissingCapability), method)
			g.Expect(data(reply)["requiredCapabilities"]).To(gomega.Equal(map[string]any{"extensions": map[string]any{extTasks: map[string]any{}}}), method)
			if method == "tools/call" || method == "subscriptions/listen" {
				continue
			}
			params["taskId"] = "no-such"
			reply, _ = c.ask(method, params, withExtension)
			g.Expect(reply.code()).To(gomega.Equal(codeInvalidParams), method)
		}
		reply, _ := c.ask("tools/call", object{"name": "slow_compute", "arguments": object{"seconds": 0}}, object{})
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
		reply, _ = c.ask("tools/call", object{"name": "confirm_delete", "arguments": object{"filename": "f"}}, object{"elicitation": object{}})
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "input_required"))
		reply, _ = c.ask("tools/call", object{"name": "greet", "arguments": object{"name": "x"}, "task": object{"ttl": 1}}, withExtension)
		g.Expect(reply.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
	})
}

func TestTasksReportWhereOneListens(t *testing.T) {
	g := gomega.NewWithT(t)
	c := modernWeb{dialHTTP(t)}
	id := start(t, c, object{"name": "confirm_delete", "arguments": object{"filename": "f"}})["taskId"]
	until(t, c, id, extInput)
	stream, ack := listenHTTP(c, object{"taskIds": []any{id, "no-such"}}, withExtension)
	g.Expect(ack["params"]).To(gomega.HaveKeyWithValue("notifications", map[string]any{"taskIds": []any{id}}))
	c.ask("tasks/update", object{"taskId": id, "inputResponses": object{"confirm": accept(object{"confirm": true})}}, withExtension)
	for _, status := range []string{extWorking, extCompleted} {
		_, m := stream.message()
		g.Expect(m["method"]).To(gomega.Equal("notifications/tasks"))
		g.Expect(m["params"]).To(gomega.And(gomega.HaveKeyWithValue("taskId", id), gomega.HaveKeyWithValue("status", status)))
		g.Expect(m["params"]).NotTo(gomega.HaveKey("resultType"))
		g.Expect(subscriptionID(m)).NotTo(gomega.BeNil())
	}
	resp := c.send("tasks/get", withMeta(object{"taskId": id}, withExtension), map[string]string{headerName: "another"})
	g.Expect(resp.StatusCode).To(gomega.Equal(400))
	g.Expect(c.read(resp)[0].code()).To(gomega.Equal(codeHeaderMismatch))
}
