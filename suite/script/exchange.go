package script

import (
	"regexp"
	"slices"
	"strings"
)

// capabilities that a server can declare, with the members that it may say there; nil: any.
var capabilities = map[string][]string{
	"tools":        {"listChanged"},
	"resources":    {"subscribe", "listChanged"},
	"prompts":      {"listChanged"},
	"logging":      {},
	"completions":  {},
	"tasks":        {"list", "cancel", "requests", "requests.tools", "requests.tools.call"},
	"experimental": nil,
	"extensions":   nil, // by identifier, which holds dots itself
}

// Authorization is the need of exchanges that are about a server's authorization: it is met by a server over HTTP that refuses
// what comes without a token.
const Authorization = "authorization"

func (r *reader) need(n *node, text string) {
	name, not := strings.CutPrefix(text, "!")
	root, member, dotted := strings.Cut(name, ".")
	if name == Authorization {
		if not {
			r.add(n.pos, "%s cannot be absent here; write a condition with when: !auth.protected instead", name)
		}
		return
	}
	members, isCapability := capabilities[root]
	if isCapability {
		if dotted && members != nil && !slices.Contains(members, member) {
			r.add(n.pos, "the capability %s has no member %q%s", root, member, DidYouMean(member, members))
		}
		return
	}
	if r.roles[name] {
		if not {
			r.add(n.pos, "only a capability can be absent, and %q is a role; write a condition with when: instead", name)
		}
		return
	}
	var all []string
	for c := range capabilities {
		all = append(all, c)
	}
	for role := range r.roles {
		all = append(all, role)
	}
	hint := DidYouMean(name, all)
	if hint == "" {
		hint = "; name a capability of the server or a role of roles.yaml"
	}
	r.add(n.pos, "nothing is called %q%s", name, hint)
}

// context is the scope of an expression that is evaluated before anything was observed.
func context(extra []string, what string) *scope {
	return &scope{extra: extra, refuse: func(name string) string {
		if slices.Contains(contextVariables, name) || name == presence || !slices.Contains(Variables(), name) {
			return "" // what is no variable at all, such as the type names, is CEL's own
		}
		if name == itemVariable {
			return "`it` is not there; only checks with each:, await: and the steps of each: have an `it`"
		}
		return "`" + name + "` is what a step observes, and " + what
	}}
}

func (r *reader) exchange(n *node, area string) *Exchange {
	r.known(n, "an exchange", "exchange", "needs", "transports", "era", "since", "when", "given", "reason", "add", "session", "client", "survey", "watch", "steps", "checks")
	x := &Exchange{Area: area, Pos: n.pos}
	x.Name = r.text(n.get("exchange"), n.pos, "the name of the exchange", true)
	x.Needs = r.texts(n.get("needs"), "needs", r.need)
	x.Transports = r.transports(n.get("transports"))
	x.Era = r.choice(n.get("era"), "era", "", R20241105.Era(), R20260728.Era())
	if since := n.get("since"); since != nil {
		x.Since = r.revision(since, n.pos, r.text(since, n.pos, "since", true), "since")
	}
	before := context(nil, "this is evaluated before the first step; say it in the checks instead")
	known := before.refuse
	before.refuse = func(name string) string {
		if name == "handshake" {
			return "`handshake` is not known when it is decided whether an exchange applies; use server, or when: at the check"
		}
		return known(name)
	}
	x.When = r.condition(n.get("when"), "when", before)
	x.Given = r.condition(n.get("given"), "given", before)
	x.Reason = r.text(n.get("reason"), n.pos, "reason", false)
	if x.Add = r.additions(n.get("add")); x.Add != nil && x.Given == nil {
		r.add(n.get("add").pos, "add: says what would exercise the exchange, which needs given: beside it")
	}
	x.Session = SessionKind(r.choice(n.get("session"), "session", string(Shared), string(Shared), string(Own), string(Bare)))
	x.Client = r.client(n.get("client"))
	x.Watch = r.yes(n.get("watch"), "watch")
	x.Survey = SurveyKind(r.choice(n.get("survey"), "survey", "", string(Offer), string(Calls), string(Guard)))
	switch steps := n.get("steps"); {
	case x.Watch && steps != nil:
		r.add(steps.pos, "a watch has no steps; leave out watch: or steps:")
	case !x.Watch && steps == nil:
		r.add(n.pos, "the exchange %q has no steps; write steps: or watch: true", x.Name)
	case !x.Watch:
		s := &stepReader{reader: r, shared: x.Session == Shared, names: map[string]int{}, sessions: map[string]bool{}, later: map[string]string{}, inside: map[string]bool{}}
		s.lookAhead(steps)
		x.Steps = s.steps(steps)
		x.Checks = s.checks(n.get("checks"), s.checkScope(nil))
	}
	if x.Watch {
		s := &stepReader{reader: r, watch: true}
		x.Checks = s.checks(n.get("checks"), s.checkScope(nil))
	}
	if s := n.get("survey"); s != nil {
		r.surveyed(s, x)
	}
	if !hasCheck(n) {
		r.add(n.pos, "the exchange %q checks nothing; add checks:, each a requirement's id and an expression", x.Name)
	}
	return x
}

// hasCheck looks at what was written, so that a check that does not compile is not also reported as missing.
func hasCheck(n *node) bool {
	if c := n.get("checks"); c != nil && len(c.entries) > 0 {
		return true
	}
	if s := n.get("steps"); s != nil {
		return slices.ContainsFunc(s.items, hasCheck)
	}
	return false
}

func (r *reader) client(n *node) Client {
	c := Client{}
	if n == nil || n.isNull() {
		return c
	}
	if n.kind != mappingNode {
		r.add(n.pos, "client must be a mapping, not %s", n.what())
		return c
	}
	r.known(n, "client", "capabilities", "answers")
	c.Capabilities = r.plainMap(n.get("capabilities"), "capabilities")
	// The request that is answered is `it`.
	c.Answers = r.values(n.get("answers"), "answers", context([]string{itemVariable}, "an answer is made up when the server asks; what it asked is `it`"))
	return c
}

var stepName = regexp.MustCompile(`^[a-z][A-Za-z0-9_]*$`)

// reservedNames cannot name a step: CEL has them, and close: the first.
var reservedNames = []string{"input", "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while", "bool", "int", "uint", "double", "string",
	"bytes", "list", "map", "type", "null_type", "dyn", "math", "sets", "lists", "strings", "google", "cel", "optional"}
