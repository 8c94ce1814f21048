package script

import (
	"fmt"
	"maps"
	"slices"
)

// stepReader reads the steps of one exchange in reading order.
type stepReader struct {
	*reader
	watch    bool
	shared   bool // the session is used by other exchanges, too
	number   int
	names    map[string]int    // as: by the step's number
	later    map[string]string // names that come later, and where
	sessions map[string]bool   // opened by now
	inside   map[string]bool   // names given within an each: that is over
	inEach   int               // how many each: are around
}

// verbs with the keys that each may have beside those that every step may have.
var verbs = map[Verb][]string{
	Request:  {"params", "meta", "id", "headers", "until", "poll", "malformed"},
	Notify:   {"params", "headers", "malformed"},
	Raw:      {"ids", "headers"},
	HTTP:     {"headers", "until"},
	Pages:    {"params", "meta"},
	Listen:   {"headers"},
	Await:    {},
	Quiet:    {},
	Close:    {},
	Open:     {"bare"},
	Parallel: {"meta", "malformed"},
	Each:     {"steps"},
}

var commonKeys = []string{"as", "in", "when", "timeout", "checks"}

// optionNames are all keys of a step that are no verbs.
func optionNames() []string {
	all := slices.Clone(commonKeys)
	for _, keys := range verbs {
		for _, k := range keys {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return all
}

func verbNames() []string {
	var all []string
	for _, v := range slices.Sorted(maps.Keys(verbs)) {
		all = append(all, string(v))
	}
	return all
}

// lookAhead notes all names of steps, to tell "not known yet" from "unknown".
func (s *stepReader) lookAhead(n *node) {
	if n == nil {
		return
	}
	for _, i := range n.items {
		if as := i.get("as"); as != nil && as.kind == scalarNode {
			s.later[as.text] = fmt.Sprintf("the step on line %d", as.pos.Line)
		}
		s.lookAhead(i.get("steps"))
	}
}

func (s *stepReader) asNames() []string { return slices.Sorted(maps.Keys(s.names)) }

func (s *stepReader) templateScope() *scope {
	extra := s.asNames()
	if s.inEach > 0 {
		extra = append(extra, itemVariable)
	}
	sc := context(extra, "this is evaluated before the step; use the name (as:) of an earlier one")
	sc.later, sc.inside = s.later, s.inside
	return sc
}

// checkScope is the scope of a check of the step, or of a whole exchange when step is nil.
func (s *stepReader) checkScope(step *Step) *scope {
	extra := s.asNames()
	if s.inEach > 0 {
		extra = append(extra, itemVariable)
	}
	return &scope{extra: extra, later: s.later, inside: s.inside, refuse: func(name string) string {
		switch {
		case name == itemVariable:
			return "`it` is not there; add each: with the list whose items it stands for"
		case step == nil && s.watch:
			if name != "lines" && slices.Contains(slices.Concat(observationVariables, pagesVariables), name) {
				return "`" + name + "` is what one step observes, and a watch looks at everything that arrived: messages, requests, lines, answers and sessions"
			}
		case step == nil:
			if slices.Contains(slices.Concat(observationVariables, pagesVariables, watchVariables), name) {
				return "`" + name + "` is not there: the checks of an exchange as a whole see what its steps observed by their names (as:)"
			}
		case slices.Contains(watchVariables, name):
			return "`" + name + "` is there only in an exchange with watch: true"
		case slices.Contains(pagesVariables, name) && step.Verb != Pages:
			return "`" + name + "` is what a pages: step observes, and this is a " + string(step.Verb) + ": step"
		}
		return ""
	}}
}

func (s *stepReader) steps(n *node) []*Step {
	if n == nil || n.kind != listNode || len(n.items) == 0 {
		if n != nil {
			s.add(n.pos, "steps must be a list with at least one step")
		}
		return nil
	}
	var out []*Step
	for _, i := range n.items {
		if st := s.step(i); st != nil {
			out = append(out, st)
		}
	}
	return out
}

func (s *stepReader) verb(n *node) (Verb, *node, bool) {
	var found []entry
	for _, e := range n.entries {
		if _, ok := verbs[Verb(e.key)]; ok {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 1:
		return Verb(found[0].key), found[0].value, true
	case len(found) > 1:
		s.add(found[1].pos, "a step does one thing, and this one has both %s: and %s:; write two steps", found[0].key, found[1].key)
		return "", nil, false
	}
	for _, e := range n.entries {
		if !slices.Contains(optionNames(), e.key) {
			hint := DidYouMean(e.key, verbNames())
			if hint == "" {
				hint = "; the verbs are " + quoted(verbNames(), "and")
			}
			s.add(e.pos, "there is no verb %q%s", e.key, hint)
			return "", nil, false
		}
	}
	s.add(n.pos, "this step does nothing; give it one of the verbs %s", quoted(verbNames(), "or"))
	return "", nil, false
}

func (s *stepReader) step(n *node) *Step {
	s.number++
	st := &Step{Number: s.number, Pos: n.pos}
	if n.kind != mappingNode {
		s.add(n.pos, "a step must be a mapping that starts with a verb, not %s", n.what())
		return nil
	}
	verb, value, ok := s.verb(n)
	if !ok {
		return nil
	}
	st.Verb = verb
	allowed := slices.Concat([]string{string(verb)}, verbs[verb], commonKeys)
	for _, e := range n.entries {
		if slices.Contains(allowed, e.key) {
			continue
		}
		if slices.Contains(optionNames(), e.key) {
			s.add(e.pos, "%s: does not go with %s:; leave it out", e.key, verb)
			continue
		}
		hint := DidYouMean(e.key, allowed)
		if hint == "" {
			hint = "; beside " + string(verb) + ": it may have " + quoted(allowed[1:], "and")
		}
		s.add(e.pos, "a step has no key %q%s", e.key, hint)
	}
	sc := s.templateScope()
	st.When = s.condition(n.get("when"), "when", sc)
	st.Timeout = s.duration(n.get("timeout"))
	st.Malformed = s.yes(n.get("malformed"), "malformed")
	st.Bare = s.yes(n.get("bare"), "bare")
	st.Until = Until(s.choice(n.get("until"), "until", string(UntilReply), string(UntilReply), string(UntilEnd), string(UntilEvent), string(UntilSent)))
	switch until := n.get("until"); {
	case (st.Until == UntilEvent || st.Until == UntilSent) && verb != Request:
		s.add(until.pos, "until: %s is for request:; write end or reply", st.Until)
	case st.Until == UntilSent && s.shared: // a reply that nobody waits for may come during another exchange
		s.add(until.pos, "until: sent may leave a request unanswered in a session that others use; add session: own to the exchange")
	}
	if p := n.get("poll"); p != nil {
		st.Poll = s.condition(p, "poll", s.checkScope(st))
		switch {
		case st.Poll != nil && st.Poll.constant():
			s.add(p.pos, "this is the same for every reply; look at the reply, such as result.status")
		case st.Until == UntilSent || st.Until == UntilEvent:
			s.add(p.pos, "poll: waits for each reply, and does not go with until: %s", st.Until)
		case n.get("id") != nil:
			s.add(p.pos, "poll: asks several times, each time with another id; leave out id:")
		}
	}
	if in := n.get("in"); in != nil {
		st.In = s.text(in, in.pos, "in", true)
		if st.In != "" && !s.sessions[st.In] {
			s.add(in.pos, "no session is called %q here; open it with a step before: - open: %s", st.In, st.In)
		}
	}
	if p := n.get("params"); p != nil {
		st.Params = template(p, sc, s.mistakes)
		if p.kind == scalarNode && isConstant(st.Params.form) && !p.isNull() && !st.Malformed {
			s.add(p.pos, "params must be a mapping; where it is wrong on purpose, add malformed: true")
		}
	}
	st.Meta = s.values(n.get("meta"), "meta", sc)
	if id := n.get("id"); id != nil {
		st.ID = template(id, sc, s.mistakes)
	}
	if h := n.get("headers"); st.Verb == Request && h != nil && h.kind == scalarNode && !h.isNull() {
		st.Headers.Computed = template(h, sc, s.mistakes)
	} else {
		st.Headers.Named = s.values(h, "headers", sc)
	}
	if verb != Each {
		s.as(n, st)
	}
	s.does(st, value, n, sc)
	if st.Verb == Each {
		s.as(n, st) // what a repetition came to is known after it
		if c := n.get("checks"); c != nil {
			s.add(c.pos, "an each: observes nothing itself; put the checks below its steps")
		}
		return st
	}
	st.Checks = s.checks(n.get("checks"), s.checkScope(st))
	return st
}

// as gives the step its name. Its own checks see it, its templates do not.
func (s *stepReader) as(n *node, st *Step) {
	as := n.get("as")
	if as == nil {
		return
	}
	st.As = s.text(as, as.pos, "as", true)
	switch {
	case st.As == "":
	case !stepName.MatchString(st.As):
		s.add(as.pos, "the name %q has the wrong shape; use letters and digits, starting with a lower-case letter, such as firstCall", st.As)
	case slices.Contains(Variables(), st.As) || slices.Contains(reservedNames, st.As):
		s.add(as.pos, "the name %q is taken by the expression language; choose another, such as %s", st.As, st.As+"Step")
	case s.names[st.As] != 0:
		s.add(as.pos, "the name %q is already that of step %d; choose another", st.As, s.names[st.As])
	default:
		s.names[st.As] = st.Number
		delete(s.later, st.As)
		return
	}
	st.As = ""
}

// does reads the verb's own value.
func (s *stepReader) does(st *Step, v, n *node, sc *scope) {
	switch st.Verb {
	case Request, Notify, Pages:
		if st.Method = s.text(v, v.pos, "the method", true); st.Method != "" {
			st.MethodValue = template(v, sc, s.mistakes)
		}
	case Raw:
		s.raw(st, v, n, sc)
	case HTTP:
		s.http(st, v, sc)
	case Listen:
		s.listen(st, v, sc)
	case Await:
		inner := *sc
		inner.extra = append(slices.Clone(sc.extra), itemVariable)
		if st.Where = s.condition(v, "await", &inner); st.Where != nil && st.Where.constant() {
			s.add(v.pos, "this is the same for every message; look at the message, which is `it`")
		}
	case Quiet:
		if !v.isNull() {
			s.add(v.pos, "quiet: takes no value; write quiet: alone")
		}
	case Close:
		if v.isNull() {
			s.add(v.pos, "close: must say what: input or stream")
			break
		}
		st.Target = s.choice(v, "what is closed", Input, append([]string{Input, Stream}, s.asNames()...)...)
	case Open:
		st.Target = s.text(v, v.pos, "the name of the session", true)
		switch {
		case s.inEach > 0:
			s.add(v.pos, "open: cannot be repeated, since each repetition would open the session %q again; open it before the each:", st.Target)
		case s.sessions[st.Target]:
			s.add(v.pos, "a session called %q is already open; choose another name", st.Target)
		}
		s.sessions[st.Target] = true
	case Parallel:
		s.parallel(st, v, sc)
	case Each:
		if v.kind == listNode {
			s.add(v.pos, "each: takes an expression; write a fixed list as a text: '[1, 2]'")
		} else {
			st.List = s.listOf(v, "each", sc)
		}
		steps := n.get("steps")
		if steps == nil {
			s.add(n.pos, "each: needs steps: to repeat")
			return
		}
		if s.inEach > 0 { // events tell one repetition by one number
			s.add(v.pos, "each: cannot stand within another each:; make one list of both")
			return
		}
		outer := maps.Clone(s.names)
		s.inEach++
		st.Steps = s.steps(steps)
		s.inEach--
		for name := range s.names {
			if outer[name] == 0 {
				s.inside[name] = true
			}
		}
		s.names = outer
	}
}

func (s *stepReader) raw(st *Step, v, n *node, sc *scope) {
	switch {
	case v.kind == listNode:
		if len(v.items) == 0 {
			s.add(v.pos, "raw: needs at least one write")
		}
		for _, i := range v.items {
			if i.kind != scalarNode || i.isNull() {
				s.add(i.pos, "a write of raw: must be a text, not %s", i.what())
				continue
			}
			st.Writes = append(st.Writes, template(asText(i), sc, s.mistakes))
		}
	case v.kind == scalarNode && !v.isNull():
		st.Line = true
		st.Writes = []Value{template(asText(v), sc, s.mistakes)}
	default:
		s.add(v.pos, "raw: must be a text (one line) or a list of texts (exact writes), not %s", v.what())
	}
	if ids := n.get("ids"); ids != nil {
		if ids.kind != listNode {
			s.add(ids.pos, "ids must be a list of the ids whose replies are awaited, not %s", ids.what())
			return
		}
		for _, i := range ids.items {
			st.IDs = append(st.IDs, template(i, sc, s.mistakes))
		}
	}
}

// asText makes a text of a scalar such as 5 or true: raw writes what stands there.
func asText(n *node) *node {
	c := *n
	c.scalar = n.text
	return &c
}

func (s *stepReader) http(st *Step, v *node, sc *scope) {
	if v.kind != mappingNode {
		s.add(v.pos, "http: must be a mapping such as {method: GET}, not %s", v.what())
		return
	}
	s.known(v, "http", "method", "path", "headers", "body", "host")
	for name, value := range s.values(v.get("headers"), "headers", sc) {
		if _, twice := st.Headers.Named[name]; twice {
			s.add(v.pos, "the header %s stands both within http: and beside it; keep one", name)
		}
		if st.Headers.Named == nil {
			st.Headers.Named = map[string]Value{}
		}
		st.Headers.Named[name] = value
	}
	read := func(key string) Value {
		if c := v.get(key); c != nil {
			return template(c, sc, s.mistakes)
		}
		return Value{}
	}
	st.HTTP = &HTTPRequest{Method: read("method"), Path: read("path"), Body: read("body"), Host: read("host")}
	if st.HTTP.Method.IsZero() {
		s.add(v.pos, "http: needs a method, such as {method: GET}")
	}
}

func (s *stepReader) listen(st *Step, v *node, sc *scope) {
	if v.isNull() {
		return
	}
	if v.kind != mappingNode {
		s.add(v.pos, "listen: takes nothing or {headers: ...}, not %s", v.what())
		return
	}
	s.known(v, "listen", "headers")
	if !st.Headers.IsZero() && v.get("headers") != nil {
		s.add(v.pos, "headers stand both within listen: and beside it; keep one")
	}
	if h := s.values(v.get("headers"), "headers", sc); h != nil {
		st.Headers.Named = h
	}
}

func (s *stepReader) parallel(st *Step, v *node, sc *scope) {
	st.Requests = template(v, sc, s.mistakes)
	switch {
	case v.kind == listNode:
		if len(v.items) == 0 {
			s.add(v.pos, "parallel: needs at least one request")
		}
		for _, i := range v.items {
			if i.kind != mappingNode {
				s.add(i.pos, "a request of parallel: must be a mapping such as {request: ping}, not %s", i.what())
				continue
			}
			s.known(i, "a request of parallel:", "request", "params", "id")
			s.text(i.get("request"), i.pos, "the method of a request of parallel:", true)
		}
	case v.kind == mappingNode || isConstant(st.Requests.form):
		s.add(v.pos, "parallel: must be a list of requests, or a ${...} that makes one")
	}
}

// checks reads the checks of a step or an exchange.
func (s *stepReader) checks(n *node, sc *scope) []*Check {
	if n == nil || n.isNull() {
		return nil
	}
	if n.kind != mappingNode {
		s.add(n.pos, "checks must be a mapping from a requirement's id to an expression, not %s", n.what())
		return nil
	}
	var out []*Check
	for _, e := range n.entries {
		if _, ok := s.requirements[e.key]; !ok {
			hint := DidYouMean(e.key, slices.Collect(maps.Keys(s.requirements)))
			if hint == "" {
				hint = "; add it to the catalogue"
			}
			s.add(e.pos, "there is no requirement %q%s", e.key, hint)
		}
		several := []*node{e.value}
		if e.value.kind == listNode {
			several = e.value.items
			if len(several) == 0 {
				s.add(e.value.pos, "no check of %s; write an expression", e.key)
			}
		}
		for _, c := range several {
			out = append(out, s.check(c, e, sc))
		}
	}
	return out
}

func (s *stepReader) check(n *node, e entry, sc *scope) *Check {
	c := &Check{Requirement: e.key, Pos: e.pos}
	that := n
	if n.kind == mappingNode {
		c.Pos = n.pos
		s.known(n, "a check", "each", "that", "when", "given", "reason", "add", "survival")
		c.Each = s.listOf(n.get("each"), "each", sc)
		c.When = s.condition(n.get("when"), "when", sc)
		c.Given = s.condition(n.get("given"), "given", sc)
		c.Reason = s.text(n.get("reason"), n.pos, "reason", false)
		c.Add = s.additions(n.get("add"))
		c.Survival = s.yes(n.get("survival"), "survival")
		if that = n.get("that"); that == nil {
			s.add(n.pos, "the check of %s has no that:; write what must hold", e.key)
			return c
		}
		if n.get("each") != nil {
			inner := *sc
			inner.extra = append(slices.Clone(sc.extra), itemVariable)
			sc = &inner
		}
	}
	c.That = s.condition(that, "a check", sc)
	if c.That != nil && c.That.constant() {
		s.add(that.pos, "this check comes out the same whatever the server does; look at what the step observed")
	}
	return c
}
