package reference

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Tasks: a tool call that carries the member task is answered at once, runs on by itself, and is asked for by the id of
// its task. Only revision 2025-11-25 has them, as an experiment.

const (
	maxTasks     = 1024             // tasks kept in one session; more are refused
	tasksPerPage = 3                // of tasks/list
	defaultTTL   = 10 * time.Minute // where the client names none
	maxTTL       = time.Hour        // where it asks for more
	pollInterval = 500              // milliseconds
	relatedTask  = "io.modelcontextprotocol/related-task"
)

// The states of a task. The last three are terminal.
const (
	taskWorking       = "working"
	taskInputRequired = "input_required"
	taskCompleted     = "completed"
	taskFailed        = "failed"
	taskCancelled     = "cancelled"
)

// task is a call that runs on after it was answered. Its messages to the client travel with the answers to tasks/result;
// until the client asks for the result, they wait.
type task struct {
	id      string
	created time.Time
	ttl     time.Duration
	cancel  context.CancelFunc
	tell    sink          // takes the notifications of its state
	done    chan struct{} // closed when the state is terminal

	mu      sync.Mutex
	status  string
	message string
	updated time.Time
	known   bool     // the client has named the task, so it has its id
	held    [][]byte // messages for the next tasks/result
	readers []sink   // where tasks/result is being answered
	result  any      // what the call came to
	err     error
}

// taskList is the tasks of a session, in the order in which they were made.
type taskList struct {
	mu   sync.Mutex
	list []*task
}

func taskCapability() object {
	return object{"list": object{}, "cancel": object{}, "requests": object{"tools": object{"call": object{}}}}
}

// related is the metadata that ties a message to a task.
func (t *task) related() object { return object{relatedTask: object{"taskId": t.id}} }

func (t *task) key() string { return t.id }

func (t *task) listed(revision) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state()
}

// state is the task as the protocol shows it; the caller holds mu.
func (t *task) state() object {
	const layout = "2006-01-02T15:04:05.000Z07:00"
	return object{
		"taskId": t.id, "status": t.status, "statusMessage": t.message,
		"createdAt": t.created.UTC().Format(layout), "lastUpdatedAt": t.updated.UTC().Format(layout),
		"ttl": t.ttl.Milliseconds(), "pollInterval": pollInterval,
	}
}

func terminal(status string) bool {
	return status == taskCompleted || status == taskFailed || status == taskCancelled
}

// become moves the task on, unless it is over, and tells so to a client that knows the task. It says whether it did.
func (t *task) become(status, message string, result any, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if terminal(t.status) {
		return false
	}
	t.status, t.message, t.updated = status, message, time.Now()
	if terminal(status) {
		t.result, t.err, t.held = result, err, nil
		close(t.done)
	}
	if t.known {
		t.tell.send(encodeNotification("notifications/tasks/status", t.state()))
	}
	return true
}

// send makes the task the sink of its own messages: they go to whoever waits for its result, or wait for that.
// Nothing follows a terminal state.
func (t *task) send(message []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case terminal(t.status):
	case len(t.readers) > 0:
		t.readers[len(t.readers)-1].send(message)
	default:
		t.held = append(t.held, message)
	}
}

// read makes out the place where the task's messages go, until the returned function is called.
func (t *task) read(out sink) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, message := range t.held {
		out.send(message)
	}
	t.held = nil
	t.readers = append(t.readers, out)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for i, r := range t.readers {
			if r == out {
				t.readers = append(t.readers[:i:i], t.readers[i+1:]...)
				return
			}
		}
	}
}

// add keeps the task, unless there are too many.
func (l *taskList) add(t *task) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.purge()
	if len(l.list) >= maxTasks {
		return false
	}
	l.list = append(l.list, t)
	return true
}

// purge drops the tasks whose time is over, and stops those that still run; the caller holds mu.
func (l *taskList) purge() {
	var kept []*task
	for _, t := range l.list {
		if time.Since(t.created) < t.ttl {
			kept = append(kept, t)
			continue
		}
		t.become(taskCancelled, "The time to live of the task is over.", nil, errTaskCancelled)
		t.cancel()
	}
	l.list = kept
}

var errTaskCancelled = errorf(codeInternalError, "The task was cancelled before it came to a result")

// all are the tasks that are kept now. The client that asks for them knows them from then on.
func (l *taskList) all() []*task {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.purge()
	return append([]*task(nil), l.list...)
}

// named finds the task that the params of a request name. Metadata beside the id says nothing.
func (c *call) named() (*task, error) {
	id, err := text(c.params, "taskId")
	if err != nil {
		return nil, err
	}
	for _, t := range c.tasks.all() {
		if t.id == id {
			t.mu.Lock()
			t.known = true
			t.mu.Unlock()
			return t, nil
		}
	}
	return nil, invalidParams("Task not found: no task of this session has this id, or its time to live is over")
}

// beginTask makes a task of the call of a tool, and answers it.
func (c *call) beginTask(run func(*call) (*toolResult, error)) (any, error) {
	ttl, err := wantedTTL(c.params["task"])
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(c.session.ctx)
	now := time.Now()
	t := &task{
		id: rand.Text(), created: now, updated: now, ttl: ttl, cancel: cancel, tell: c.unrelated, done: make(chan struct{}),
		status: taskWorking, message: "The tool runs.",
	}
	if !c.tasks.add(t) {
		cancel()
		return nil, errorf(codeInternalError, "Too many tasks (%d): wait until the time to live of some is over", maxTasks)
	}
	answer := object{"task": t.state(), "_meta": t.related()}
	inTask := &call{session: c.session, ctx: ctx, rev: c.rev, out: t, params: c.params, token: c.token, task: t}
	go func() {
		defer cancel()
		t.finish(inTask, run)
	}()
	return answer, nil
}

// wantedTTL is how long the task is kept: what the client asks for, within bounds.
func wantedTTL(raw any) (time.Duration, error) {
	params, ok := raw.(object)
	if !ok {
		return 0, invalidParams("Invalid params: task must be an object")
	}
	wanted, given := params["ttl"]
	if !given {
		return defaultTTL, nil
	}
	number, ok := wanted.(json.Number)
	if !ok {
		return 0, invalidParams("Invalid params: task.ttl must be a number of milliseconds")
	}
	millis, err := number.Float64()
	switch {
	case err != nil || millis > float64(maxTTL.Milliseconds()):
		return maxTTL, nil
	case millis < 1:
		return defaultTTL, nil
	}
	return time.Duration(millis * float64(time.Millisecond)), nil
}

// finish runs the tool and keeps what comes of it.
func (t *task) finish(c *call, run func(*call) (*toolResult, error)) {
	defer func() {
		if p := recover(); p != nil {
			t.become(taskFailed, "The tool broke down.", nil, errorf(codeInternalError, "Internal error"))
		}
	}()
	result, err := run(c)
	switch {
	case err != nil:
		t.become(taskFailed, "The call failed: "+err.Error(), nil, err)
	case result.isError:
		t.become(taskFailed, "The tool failed.", result.at(c.rev), nil)
	default:
		t.become(taskCompleted, "The tool is done.", result.at(c.rev), nil)
	}
}

func getTask(c *call) (any, error) {
	t, err := c.named()
	if err != nil {
		return nil, err
	}
	return t.listed(c.rev), nil
}

// taskResult waits until the task is over and gives what the call would have been answered with.
func taskResult(c *call) (any, error) {
	t, err := c.named()
	if err != nil {
		return nil, err
	}
	stop := t.read(c.out)
	defer stop()
	select {
	case <-t.done:
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
	if t.err != nil {
		return nil, t.err
	}
	result := object{}
	for member, value := range t.result.(object) {
		result[member] = value
	}
	result["_meta"] = t.related()
	return result, nil
}

func listTasks(c *call) (any, error) {
	return page(c, "tasks", tasksPerPage, c.tasks.all(), func(*task) bool { return true })
}

func cancelTask(c *call) (any, error) {
	t, err := c.named()
	if err != nil {
		return nil, err
	}
	if !t.become(taskCancelled, "The client cancelled the task.", nil, errTaskCancelled) {
		return nil, invalidParams("The task is over already and cannot be cancelled")
	}
	t.cancel()
	return t.listed(c.rev), nil
}

// taskSupport says whether a tool can be called as a task, must be, or neither.
type taskSupport string

const (
	taskOptional  taskSupport = "optional"
	taskRequired  taskSupport = "required"
	taskForbidden taskSupport = "forbidden" // as is a tool that says nothing
)

// refuses says why the tool cannot be called in the way that the client chose.
func (s taskSupport) refuses(name string, asTask bool) error {
	switch {
	case asTask && s != taskOptional && s != taskRequired:
		return errorf(codeMethodNotFound, "Method not found: %s cannot be called as a task", name)
	case !asTask && s == taskRequired:
		return errorf(codeMethodNotFound, "Method not found: %s can only be called as a task", name)
	}
	return nil
}

// runJob works for a while, reporting progress, and ends as it is told to.
func runJob(c *call, args object) (*toolResult, error) {
	result, err := slow(c, args)
	if err != nil {
		return nil, err
	}
	return endJob(result, args)
}

// endJob makes the job end as it is told to.
func endJob(result *toolResult, args object) (*toolResult, error) {
	switch stringArg(args, "outcome") {
	case "failure":
		return failed("The job failed, as it was told to."), nil
	case "error":
		return nil, errorf(codeInternalError, "The job ended with a protocol error, as it was told to")
	}
	return result, nil
}

// runJobWithInput asks the user by a form on its way.
func runJobWithInput(c *call, _ object) (*toolResult, error) {
	result, err := c.elicit("The job needs to know whom it is for.", contactForm)
	if err != nil {
		return nil, err
	}
	return says(fmt.Sprintf("The job is done; the user chose to %v.", result["action"])), nil
}
