package reference

import (
	"context"
	"crypto/rand"
	"errors"
	"log"
	"maps"
	"time"
)

// The tasks extension: a tool call may answer with a handle, by which the client asks for the result later. The
// server decides, for clients that declare the extension.

// extTasks is the extension's identifier.
const extTasks = metaPrefix + "tasks"

var needsTasks = object{"extensions": object{extTasks: object{}}}

const (
	extLifetime = 5 * time.Minute
	extInterval = 100 * time.Millisecond // how often a client is asked to look at most
	maxExtTasks = 4096                   // kept at the same time; more are refused
)

const (
	extWorking   = "working"
	extInput     = "input_required"
	extCompleted = "completed"
	extFailed    = "failed"
	extCancelled = "cancelled"
)

// extTask is a task. All of it but what is set at creation is guarded by commons.mu.
type extTask struct {
	id        string
	principal string
	created   time.Time
	cancel    context.CancelFunc

	updated time.Time
	status  string
	note    string // statusMessage
	result  object
	failure *rpcError
	open    map[string]question // what the client is asked for now
	answers map[string]object
	wake    chan struct{} // closed when nothing is open any more
}

// work is a tool call in progress, in a task or not.
type work struct {
	ctx  context.Context
	call *call    // nil in a task
	task *extTask // nil outside of one
	all  *commons
}

// ask puts questions to the client. In a task it waits for the answers; outside of one the request has to be repeated
// with them.
func (w *work) ask(questions ...question) (map[string]object, error) {
	if w.task == nil {
		return w.call.obtain(true, questions...)
	}
	wake := make(chan struct{})
	w.all.mu.Lock()
	w.task.open, w.task.answers, w.task.wake = map[string]question{}, map[string]object{}, wake
	for _, q := range questions {
		w.task.open[q.key] = q
	}
	w.all.move(w.task, extInput, "Waiting for the client")
	w.all.mu.Unlock()
	select {
	case <-wake:
	case <-w.ctx.Done():
		return nil, w.ctx.Err()
	}
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	return w.task.answers, nil
}

// launch makes a task of the job and returns the result that hands it out.
func (c *call) launch(j job, args object) (*toolResult, error) {
	a := &c.server.all
	ctx, cancel := context.WithTimeout(a.base, extLifetime)
	now := time.Now()
	t := &extTask{id: rand.Text(), principal: c.modern.principal, created: now, updated: now, status: extWorking,
		note: "The work has begun", cancel: cancel}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, old := range a.tasks {
		if old.expired() {
			delete(a.tasks, id)
		}
	}
	if len(a.tasks) >= maxExtTasks {
		cancel()
		return nil, errorf(codeInternalError, "Too many tasks are kept (%d): try again later", maxExtTasks)
	}
	a.tasks[t.id] = t
	handle := t.summary()
	handle["resultType"] = "task"
	a.launched.Go(func() {
		defer cancel()
		result, err := j.safely(&work{ctx: ctx, task: t, all: a}, args)
		a.settle(t, c.rev, result, err)
	})
	return &toolResult{special: handle}, nil
}

// settle notes how the work ended, unless the task was cancelled before.
func (a *commons) settle(t *extTask, rev revision, result *toolResult, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.over() {
		return
	}
	var rpcErr *rpcError
	switch {
	case errors.As(err, &rpcErr):
		t.failure = rpcErr
		a.move(t, extFailed, rpcErr.Message)
		return
	case err != nil:
		result = failed(err.Error())
	}
	t.result = result.at(rev)
	t.result["resultType"] = "complete"
	a.move(t, extCompleted, "Done")
}

// move changes the status and tells those who listen. The caller holds mu.
func (a *commons) move(t *extTask, status, note string) {
	t.status, t.note, t.updated = status, note, time.Now()
	a.publish("notifications/tasks", t.detailed(), func(s *subscription) bool { return s.tasks[t.id] })
}

func (t *extTask) over() bool {
	return t.status == extCompleted || t.status == extFailed || t.status == extCancelled
}

func (t *extTask) expired() bool { return time.Since(t.created) > extLifetime }

const timestamp = "2006-01-02T15:04:05.000Z"

// summary is what every message about the task says.
func (t *extTask) summary() object {
	return object{
		"taskId": t.id, "status": t.status, "statusMessage": t.note,
		"createdAt": t.created.UTC().Format(timestamp), "lastUpdatedAt": t.updated.UTC().Format(timestamp),
		"ttlMs": extLifetime.Milliseconds(), "pollIntervalMs": extInterval.Milliseconds(),
	}
}

// detailed is the summary and what belongs to the status.
func (t *extTask) detailed() object {
	o := t.summary()
	switch t.status {
	case extInput:
		requests := object{}
		for key, q := range t.open {
			requests[key] = q.request()
		}
		o["inputRequests"] = requests
	case extCompleted:
		o["result"] = t.result
	case extFailed:
		o["error"] = t.failure
	}
	return o
}

// task returns the task with this id if it is the principal's and has not expired.
func (a *commons) task(id, principal string) *extTask {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tasks[id]
	if t == nil || t.principal != principal || t.expired() {
		return nil
	}
	return t
}

// findTask returns the task that params.taskId names, for a client that declares the extension.
func (c *call) findTask() (*extTask, error) {
	if lacking := undeclared(needsTasks, c.clientCaps); lacking != nil {
		return nil, missing(lacking)
	}
	id, err := text(c.params, "taskId")
	if err != nil {
		return nil, err
	}
	t := c.server.all.task(id, c.modern.principal)
	if t == nil {
		return nil, invalidParams("Task not found: %s", id)
	}
	return t, nil
}

func getExtTask(c *call) (any, error) {
	t, err := c.findTask()
	if err != nil {
		return nil, err
	}
	c.server.all.mu.Lock()
	defer c.server.all.mu.Unlock()
	return t.detailed(), nil
}

// updateExtTask takes the responses to what is open; others are ignored.
func updateExtTask(c *call) (any, error) {
	t, err := c.findTask()
	if err != nil {
		return nil, err
	}
	responses, ok := c.params["inputResponses"].(object)
	if !ok {
		return nil, invalidParams("Invalid params: inputResponses must be an object")
	}
	a := &c.server.all
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.status != extInput {
		return object{}, nil
	}
	fitting := map[string]object{}
	for key, q := range t.open {
		raw, given := responses[key]
		if !given {
			continue
		}
		response, ok := raw.(object)
		if !ok {
			return nil, invalidParams("Invalid params: inputResponses.%s must be an object", key)
		}
		if err := q.check(response); err != nil {
			return nil, invalidParams("Invalid params: inputResponses.%s does not fit: %v", key, err)
		}
		fitting[key] = response
	}
	maps.Copy(t.answers, fitting)
	for key := range fitting {
		delete(t.open, key)
	}
	switch {
	case len(fitting) == 0:
	case len(t.open) == 0:
		a.move(t, extWorking, "The work goes on")
		close(t.wake)
	default:
		a.move(t, extInput, "Waiting for the client")
	}
	return object{}, nil
}

// cancelExtTask ends the work. A task that is over stays as it is.
func cancelExtTask(c *call) (any, error) {
	t, err := c.findTask()
	if err != nil {
		return nil, err
	}
	a := &c.server.all
	a.mu.Lock()
	defer a.mu.Unlock()
	if !t.over() {
		t.cancel()
		a.move(t, extCancelled, "Cancelled by the client")
	}
	return object{}, nil
}

// job is what a tool does that can run in a task.
type job func(w *work, args object) (*toolResult, error)

// safely runs the job of a task; one that breaks down fails the task.
func (j job) safely(w *work, args object) (result *toolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("reference: a task panicked: %v", p)
			err = errorf(codeInternalError, "Internal error")
		}
	}()
	return j(w, args)
}

// inTask makes a tool of a job: in a task where the client declares the extension, and otherwise at once, unless it has
// to be in one.
func inTask(required bool, j job) func(c *call, args object) (*toolResult, error) {
	return func(c *call, args object) (*toolResult, error) {
		lacking := undeclared(needsTasks, c.clientCaps)
		switch {
		case lacking == nil:
			return c.launch(j, args)
		case required:
			return nil, missing(lacking)
		}
		return j(&work{ctx: c.ctx, call: c, all: &c.server.all}, args)
	}
}
