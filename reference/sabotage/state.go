package sabotage

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// state is what is known of one stdio stream or HTTP session.
type state struct {
	mu       sync.Mutex
	revision string // negotiated; "" before it is known
	declared string // by the last request that declared one; it says nothing about a message that belongs to a session
	asked    string // what initialize asked for
	client   any    // the parameters of initialize
	received int
	fired    map[*Fault]int
	matched  map[*Fault]int
	requests map[string]any
	forget   bool // drop a request once it is answered: nothing is replayed on this transport
	shared   bool // stands for many clients: ids and revisions of one mean nothing to another
}

func newState(forget bool) *state {
	return &state{fired: map[*Fault]int{}, matched: map[*Fault]int{}, requests: map[string]any{}, forget: forget}
}

// receive notes a client message (nil: not JSON).
func (s *state) receive(message any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received++
	if s.shared {
		return
	}
	each(message, func(one map[string]any) {
		if _, ok := one["method"].(string); !ok {
			return
		}
		if one["method"] == "initialize" {
			s.asked, _ = dig(one, "params", "protocolVersion").(string)
			s.client = one["params"]
		}
		if declared := declaredRevision(one); declared != "" {
			s.declared = declared
		}
		if id, ok := one["id"]; ok {
			s.requests[string(encodeJSON(id))] = one
		}
	})
}

// name is what the client calls itself.
func (s *state) name() any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return dig(s.client, "clientInfo", "name")
}

// answered is the request that a server message answers, or nil. It also notes the revision that an initialize reply settles.
func (s *state) answered(message any) map[string]any {
	reply, ok := message.(map[string]any)
	if !ok || !isResponse(reply) {
		return nil
	}
	key := string(encodeJSON(reply["id"]))
	s.mu.Lock()
	defer s.mu.Unlock()
	request, _ := s.requests[key].(map[string]any)
	if s.forget {
		delete(s.requests, key)
	}
	s.settle(request, reply)
	return request
}

// related is the request that a message belongs to: the one that it answers, or, where requests declare their revision, the one
// whose subscription or progress it reports.
func (s *state) related(message any) any {
	if request := s.answered(message); request != nil {
		return request
	}
	subscription := dig(message, "params", "_meta", metaPrefix+"subscriptionId")
	token := dig(message, "params", "progressToken")
	if subscription == nil && token == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if request, ok := s.requests[string(encodeJSON(subscription))].(map[string]any); ok && subscription != nil {
		return request
	}
	for _, request := range s.requests {
		own := dig(request, "params", "_meta", "progressToken")
		if object, ok := request.(map[string]any); ok && own != nil && string(encodeJSON(own)) == string(encodeJSON(token)) && declaredRevision(object) != "" {
			return request
		}
	}
	return nil
}

func (s *state) settle(request, reply map[string]any) {
	if request["method"] != "initialize" {
		return
	}
	if version, ok := dig(reply, "result", "protocolVersion").(string); ok {
		s.revision = version
	}
}

// names fills in what every decision has in common.
func (s *state) names(transport string, message, request any) scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := scope{message: message, request: request, transport: transport, client: s.client, revision: s.revision, received: s.received}
	object, _ := request.(map[string]any)
	declared := declaredRevision(object)
	switch {
	case declared != "":
		names.revision, names.client = declared, declaredClient(object)
	case names.revision == "" && object["method"] == "initialize":
		names.revision = s.asked
	case names.revision == "":
		names.revision = s.declared
	}
	if object, ok := message.(map[string]any); ok {
		names.response = isResponse(object)
		_, hasMethod := object["method"]
		_, hasID := object["id"]
		names.notification = hasMethod && !hasID
	}
	return names
}

// strike decides whether fault f strikes and, if so, adds what it does to e. Only actions of the kinds in only are
// carried out; a fault without such an action is not considered.
func (s *state) strike(f *Fault, names scope, e *effect, only kind, problems io.Writer) bool {
	p := f.program
	if p.kinds&only == 0 || !slices.Contains(f.On, names.transport) {
		return false
	}
	if !f.inForce(names.revision) && p.moment != atStart {
		return false
	}
	s.mu.Lock()
	names.count = s.fired[f]
	s.mu.Unlock()
	if p.condition != nil && !p.condition.holds(&names) {
		return false
	}
	s.mu.Lock()
	s.matched[f]++
	spared := s.matched[f] <= f.Skip
	if !spared {
		s.fired[f]++
	}
	s.mu.Unlock()
	if spared {
		return false
	}
	p.fired.Add(1)
	e.struck = true
	for _, a := range p.actions {
		if a.spec.kind&only == 0 {
			continue
		}
		if err := a.apply(e, &names); err != nil {
			fmt.Fprintf(problems, "fault %s (%s): %s: %v; the action has no effect\n", f.Name, f.Pos, a.spec.name, err)
		}
		names.message = e.message
	}
	return true
}

// outgoing lets the faults at one message that the server wrote. A batch is first offered as a whole, then, if no fault took it, element
// by element. requestOf finds what a message answers.
func (s *state) outgoing(faults []*Fault, message any, transport string, only kind, problems io.Writer, requestOf func(any) any, extend func(*scope)) *effect {
	e := &effect{message: message}
	s.offer(e, faults, transport, only, problems, requestOf(message), extend)
	batch, ok := message.([]any)
	if !ok || e.struck {
		return e
	}
	var elements [][]byte
	for _, element := range batch {
		inner := &effect{message: element}
		s.offer(inner, faults, transport, only, problems, requestOf(element), extend)
		elements = append(elements, inner.before...)
		e.struck = e.struck || inner.struck
		e.absorb(inner)
		if !inner.drop {
			rewrite := inner.rewrite
			inner.rewrite = nil
			encoded := inner.encoded(encodeJSON(element))
			inner.rewrite = rewrite
			elements = append(elements, encoded)
			if inner.duplicate {
				elements = append(elements, encoded)
			}
		}
		elements = append(elements, inner.after...)
	}
	if e.struck {
		e.raw, e.isRaw = joinArray(elements), true
		e.drop = len(elements) == 0
	}
	return e
}

func (s *state) offer(e *effect, faults []*Fault, transport string, only kind, problems io.Writer, request any, extend func(*scope)) {
	for _, f := range faults {
		names := s.names(transport, e.message, request)
		if extend != nil {
			extend(&names)
		}
		s.strike(f, names, e, only, problems)
	}
}

// declaredClient is what a request says of its client, in the form of the parameters of initialize.
func declaredClient(message map[string]any) map[string]any {
	client := map[string]any{}
	for name, as := range map[string]string{"protocolVersion": "protocolVersion", "clientInfo": "clientInfo", "clientCapabilities": "capabilities"} {
		if value := dig(message, "params", "_meta", metaPrefix+name); value != nil {
			client[as] = value
		}
	}
	return client
}

// metaPrefix begins the names under which a request declares what a session would know.
const metaPrefix = "io.modelcontextprotocol/"

// declaredRevision is the revision by which a request that carries one is to be handled: "" when it carries none. One
// that the request cannot mean (unknown, or older than the custom of declaring it) is refused by the rules of the
// newest, so that is what a fault has to name.
func declaredRevision(message map[string]any) string {
	declared, ok := dig(message, "params", "_meta", metaPrefix+"protocolVersion").(string)
	capabilities := dig(message, "params", "_meta", metaPrefix+"clientCapabilities")
	switch {
	case !ok && capabilities == nil:
		return ""
	case declared >= firstDeclared && slices.Contains(revisions, declared):
		return declared
	}
	return revisions[len(revisions)-1]
}

func isResponse(message map[string]any) bool {
	if _, ok := message["method"]; ok {
		return false
	}
	_, hasResult := message["result"]
	_, hasError := message["error"]
	return hasResult || hasError
}

// each calls yield for a single message or for every one of a batch.
func each(message any, yield func(map[string]any)) {
	switch message := message.(type) {
	case map[string]any:
		yield(message)
	case []any:
		for _, element := range message {
			if one, ok := element.(map[string]any); ok {
				yield(one)
			}
		}
	}
}

func dig(value any, names ...string) any {
	for _, name := range names {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[name]
	}
	return value
}
