package reference

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	maxSubscriptions = 4096             // open at the same time; more are refused
	keepAliveEvery   = 15 * time.Second // how long a stream may stay silent
)

// subscription is a subscriptions/listen request that is open.
type subscription struct {
	id    json.RawMessage // of the request
	kinds map[string]bool // of lists: "tool", "resource", "prompt"
	uris  map[string]bool
	tasks map[string]bool

	mu    sync.Mutex
	queue [][]byte
	wake  chan struct{}
}

// filterOf names the field of the filter that asks for the changes of a list.
var filterOf = map[string]string{"tool": "toolsListChanged", "prompt": "promptsListChanged", "resource": "resourcesListChanged"}

// readFilter returns the subscription that a filter asks for, as far as the server can serve it, and the filter that says so.
func (c *call) readFilter(filter object) (*subscription, object, error) {
	sub := &subscription{id: c.modern.id, kinds: map[string]bool{}, uris: map[string]bool{}, tasks: map[string]bool{}, wake: make(chan struct{}, 1)}
	agreed := object{}
	for kind, field := range filterOf {
		wanted, ok := filter[field].(bool)
		if _, given := filter[field]; given && !ok {
			return nil, nil, invalidParams("Invalid params: notifications.%s must be a boolean", field)
		}
		if wanted {
			sub.kinds[kind] = true
			agreed[field] = true
		}
	}
	uris, err := texts(filter, "resourceSubscriptions")
	if err != nil {
		return nil, nil, err
	}
	known := []string{}
	for _, uri := range uris {
		asked := *c
		asked.params = object{"uri": uri}
		if _, _, err := asked.find(); err == nil && !sub.uris[uri] {
			sub.uris[uri] = true
			known = append(known, uri)
		}
	}
	if len(known) > 0 {
		agreed["resourceSubscriptions"] = known
	}
	if _, given := filter["taskIds"]; given {
		ids, err := c.tasksToWatch(filter, sub)
		if err != nil {
			return nil, nil, err
		}
		if len(ids) > 0 {
			agreed["taskIds"] = ids
		}
	}
	return sub, agreed, nil
}

// texts returns a member that is a list of strings.
func texts(o object, member string) ([]string, error) {
	raw, given := o[member]
	list, ok := raw.([]any)
	if given && !ok {
		return nil, invalidParams("Invalid params: notifications.%s must be a list of texts", member)
	}
	var all []string
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, invalidParams("Invalid params: notifications.%s must be a list of texts", member)
		}
		all = append(all, s)
	}
	return all, nil
}

// listen keeps a subscription open until the client cancels it or the server ends, and then answers.
func listen(c *call) (any, error) {
	filter, ok := c.params["notifications"].(object)
	if !ok {
		return nil, invalidParams("Invalid params: notifications must be an object")
	}
	sub, agreed, err := c.readFilter(filter)
	if err != nil {
		return nil, err
	}
	a := &c.server.all
	sub.push("notifications/subscriptions/acknowledged", object{"notifications": agreed})
	if !a.open(sub) {
		return nil, errorf(codeInternalError, "Too many subscriptions are open (%d): close some", maxSubscriptions)
	}
	defer a.close(sub)
	idle := time.NewTicker(keepAliveEvery)
	defer idle.Stop()
	for {
		for _, message := range sub.take() {
			c.out.send(message)
		}
		select {
		case <-sub.wake:
		case <-c.ctx.Done():
			return nil, c.ctx.Err() // nobody waits for an answer
		case <-c.modern.end:
			a.close(sub)
			for _, message := range sub.take() {
				c.out.send(message)
			}
			return object{"_meta": object{metaSubscription: sub.id}}, nil
		case <-idle.C:
			if stream, ok := c.out.(interface{ keepAlive() }); ok {
				stream.keepAlive()
			}
		}
	}
}

// push queues a notification on the subscription. A client that takes none for long loses some.
func (s *subscription) push(method string, params object) {
	params = maps.Clone(params)
	if params == nil {
		params = object{}
	}
	params["_meta"] = object{metaSubscription: s.id}
	message := encodeNotification(method, params)
	s.mu.Lock()
	if len(s.queue) < maxBacklog {
		s.queue = append(s.queue, message)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscription) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
}

func (a *commons) open(sub *subscription) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.streams) >= maxSubscriptions {
		return false
	}
	a.streams[sub] = true
	return true
}

func (a *commons) close(sub *subscription) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.streams, sub)
}

// publish queues a notification on every subscription that wants it. The caller holds mu.
func (a *commons) publish(method string, params object, wants func(*subscription) bool) {
	for sub := range a.streams {
		if wants(sub) {
			sub.push(method, params)
		}
	}
}

// change changes the list of a kind and tells those who listen.
func (a *commons) change(kind string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes[kind]++
	a.publish("notifications/"+kind+"s/list_changed", nil, func(s *subscription) bool { return s.kinds[kind] })
}

// changeWatched changes the watched resource and tells those who listen.
func (a *commons) changeWatched() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watched++
	a.publish("notifications/resources/updated", object{"uri": watchedURI}, func(s *subscription) bool { return s.uris[watchedURI] })
}

// tasksToWatch reads the extension's part of the filter. It is there only for clients that declare the extension.
func (c *call) tasksToWatch(filter object, sub *subscription) ([]string, error) {
	if lacking := undeclared(needsTasks, c.clientCaps); lacking != nil {
		return nil, missing(lacking)
	}
	ids, err := texts(filter, "taskIds")
	if err != nil {
		return nil, err
	}
	known := []string{}
	for _, id := range ids {
		if c.server.all.task(id, c.modern.principal) != nil && !slices.Contains(known, id) {
			sub.tasks[id] = true
			known = append(known, id)
		}
	}
	return known, nil
}
