package reference

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// taskCall is the params of a tool call as a task.
func taskCall(tool string, args, task object) object {
	return object{"name": tool, "arguments": args, "task": task}
}

func (m message) task() map[string]any { t, _ := m.result()["task"].(map[string]any); return t }

// withTasks runs a test in a session of the revision that has tasks, over each transport.
func withTasks(t *testing.T, test func(t *testing.T, c client)) {
	everywhere(t, func(t *testing.T, rev revision, c client) {
		if rev.hasTasks() {
			test(t, c)
		}
	})
}

func TestTaskFromBeginningToEnd(t *testing.T) {
	withTasks(t, func(t *testing.T, c client) {
		g := gomega.NewWithT(t)
		plain := c.call("run_job", object{}).result()
		for outcome, want := range map[string]string{"result": taskCompleted, "failure": taskFailed, "error": taskFailed} {
			made := c.request("tools/call", taskCall("run_job", object{"outcome": outcome}, object{"ttl": 60000})).task()
			g.Expect(made).To(gomega.HaveKeyWithValue("status", taskWorking))
			g.Expect(made).To(gomega.HaveKeyWithValue("ttl", gomega.BeEquivalentTo(60000)))
			id := object{"taskId": made["taskId"]}
			reply := c.request("tasks/result", id)
			state := c.request("tasks/get", id).result()
			g.Expect(state).To(gomega.HaveKeyWithValue("status", want), outcome)
			g.Expect(state).To(gomega.HaveKeyWithValue("createdAt", made["createdAt"]))
			if outcome == "error" {
				g.Expect(reply.code()).To(gomega.Equal(codeInternalError))
			} else {
				g.Expect(reply.result()["_meta"]).To(gomega.Equal(map[string]any{relatedTask: map[string]any{"taskId": made["taskId"]}}))
			}
			if outcome == "result" {
				g.Expect(reply.result()["content"]).To(gomega.Equal(plain["content"]))
			}
			if outcome == "failure" {
				g.Expect(reply.result()).To(gomega.HaveKeyWithValue("isError", true))
			}
			again := c.request("tasks/result", id)
			g.Expect([]any{again["result"], again["error"]}).To(gomega.Equal([]any{reply["result"], reply["error"]}), "asked for again")
			g.Expect(c.request("tasks/cancel", id).code()).To(gomega.Equal(codeInvalidParams), "over already")
			g.Expect(c.request("tasks/get", id).result()).To(gomega.HaveKeyWithValue("status", want), "for good")
		}
	})
}

func TestWhichToolsAreTasks(t *testing.T) {
	everywhere(t, func(t *testing.T, rev revision, c client) {
		g := gomega.NewWithT(t)
		asTask := c.request("tools/call", taskCall("echo", object{"message": "m"}, object{}))
		if !rev.hasTasks() {
			g.Expect(asTask.firstText()).To(gomega.Equal("m"), "the member is unknown, so ignored")
			g.Expect(c.request("tasks/list", object{}).code()).To(gomega.Equal(codeMethodNotFound))
			return
		}
		g.Expect(asTask.code()).To(gomega.Equal(codeMethodNotFound), "says nothing of tasks")
		g.Expect(c.request("tools/call", taskCall("test_simple_text", object{}, object{})).code()).To(gomega.Equal(codeMethodNotFound), "forbidden")
		g.Expect(c.call("run_job_as_task", object{}).code()).To(gomega.Equal(codeMethodNotFound), "required")
		g.Expect(c.request("tools/call", taskCall("run_job_as_task", object{}, object{})).task()).To(gomega.HaveKey("taskId"))
		g.Expect(c.request("tools/call", taskCall("no_such_tool", object{}, object{})).code()).To(gomega.Equal(codeInvalidParams))
		wrong := c.request("tools/call", taskCall("run_job", object{"outcome": "luck"}, object{})).task()
		g.Expect(c.request("tasks/result", object{"taskId": wrong["taskId"]}).result()).To(gomega.HaveKeyWithValue("isError", true))
		g.Expect(c.request("tools/call", object{"name": "run_job", "task": 7}).code()).To(gomega.Equal(codeInvalidParams))
		g.Expect(c.request("tools/call", taskCall("run_job", object{}, object{"ttl": "long"})).code()).To(gomega.Equal(codeInvalidParams))
	})
}

func TestLifetimesOfTasks(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	for asked, want := range map[string]any{"{}": defaultTTL, `{"ttl":1500.5}`: 1500, `{"ttl":1e300}`: maxTTL, `{"ttl":0}`: defaultTTL} {
		if d, ok := want.(time.Duration); ok {
			want = int(d.Milliseconds())
		}
		v, err := decode([]byte(asked))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(c.request("tools/call", taskCall("run_job", object{}, v.(object))).task()).To(gomega.HaveKeyWithValue("ttl", gomega.BeEquivalentTo(want)), asked)
	}
	list := &taskList{}
	stopped := false
	old := &task{id: "old", created: time.Now().Add(-time.Minute), ttl: time.Second, status: taskWorking,
		cancel: func() { stopped = true }, done: make(chan struct{})}
	g.Expect(list.add(old)).To(gomega.BeTrue())
	g.Expect(list.all()).To(gomega.BeEmpty())
	g.Expect(stopped).To(gomega.BeTrue())
	g.Expect(old.status).To(gomega.Equal(taskCancelled))
}

func TestListOfTasksIsPagedAndOfOneSession(t *testing.T) {
	withTasks(t, func(t *testing.T, c client) {
		g := gomega.NewWithT(t)
		var made []any
		for range 2*tasksPerPage + 1 {
			made = append(made, c.request("tools/call", taskCall("run_job", object{}, object{})).task()["taskId"])
		}
		items, pages := listAll(t, c, "tasks/list", "tasks")
		var listed []any
		for _, item := range items {
			listed = append(listed, item["taskId"])
		}
		g.Expect(listed).To(gomega.Equal(made))
		g.Expect(pages).To(gomega.Equal(3))
		g.Expect(c.request("tasks/list", object{"cursor": "nonsense"}).code()).To(gomega.Equal(codeInvalidParams))
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			for _, params := range []object{{"taskId": "no-such"}, {"taskId": 7}, {}} {
				g.Expect(c.request(method, params).code()).To(gomega.Equal(codeInvalidParams), "%s %v", method, params)
			}
		}
	})
	g := gomega.NewWithT(t)
	one := dialHTTP(t).open(rev2025November, object{})
	id := one.request("tools/call", taskCall("run_job", object{}, object{})).task()["taskId"]
	other := &httpClient{t: t, server: one.server, url: one.url}
	other.open(rev2025November, object{})
	g.Expect(one.request("tasks/get", object{"taskId": id}).result()).To(gomega.HaveKey("status"))
	g.Expect(other.request("tasks/get", object{"taskId": id}).code()).To(gomega.Equal(codeInvalidParams))
	g.Expect(other.request("tasks/list", object{}).result()["tasks"]).To(gomega.BeEmpty())
}

func TestCancelledTaskFreesWhoWaits(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{})
	made := c.request("tools/call", object{"name": "run_job", "arguments": object{"duration": 60000}, "task": object{},
		"_meta": object{"progressToken": "p"}}).task()
	waiting := c.send("tasks/result", object{"taskId": made["taskId"]})
	first := c.read()
	g.Expect(first).To(gomega.HaveKeyWithValue("method", "notifications/progress"))
	g.Expect(fmt.Sprint(first["params"])).To(gomega.ContainSubstring(relatedTask))
	g.Expect(c.request("tasks/get", object{"taskId": made["taskId"]}).result()).To(gomega.HaveKeyWithValue("status", taskWorking))
	cancel := c.send("tasks/cancel", object{"taskId": made["taskId"]})
	replies, notified := map[any]message{}, 0
	for len(replies) < 2 {
		m := c.read()
		switch m["method"] {
		case nil:
			replies[m["id"]] = m
		case "notifications/tasks/status":
			notified++
			g.Expect(m["params"]).To(gomega.HaveKeyWithValue("status", taskCancelled))
		}
	}
	g.Expect(notified).To(gomega.Equal(1))
	g.Expect(replies[float64(cancel)].result()).To(gomega.HaveKeyWithValue("status", taskCancelled))
	g.Expect(replies[float64(waiting)].code()).To(gomega.Equal(codeInternalError))
}

func TestTaskThatNeedsInput(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t).open(rev2025November, object{"elicitation": object{}})
	var during []any
	id := c.request("tools/call", taskCall("run_job_with_input", object{}, object{})).task()["taskId"]
	c.answer = func(m message) object {
		during = append(during, m["method"], m["params"].(map[string]any)["_meta"])
		return object{"result": object{"action": "decline"}}
	}
	g.Expect(c.request("tasks/result", object{"taskId": id}).firstText()).To(gomega.ContainSubstring("decline"))
	g.Expect(during).To(gomega.Equal([]any{"elicitation/create", map[string]any{relatedTask: map[string]any{"taskId": id}}}))
}
