package script

import "slices"

// SurveyKind says which part of the survey an exchange is; "": none.
type SurveyKind string

// The parts of the survey. Each is one exchange at most, played before all others.
const (
	Offer SurveyKind = "offer" // walks the lists of what the server offers
	Calls SurveyKind = "calls" // calls the tools that may be called
	Guard SurveyKind = "guard" // comes without a token; only where one is to be sent or was asked for
)

// The names of the steps by which the survey is read.
var (
	ListSteps     = []string{"tools", "resources", "templates", "prompts"} // of Offer: each walks one list
	DocumentSteps = []string{"header", "path", "root"}                     // of Guard: where metadata may be found
)

const (
	CallsStep     = "calls"          // of Calls: repeats for each tool
	CallStep      = "call"           // within it: calls the tool
	AnonymousStep = "anonymous"      // of Guard: would open a session
	IssuerStep    = "serverMetadata" // of Guard: where the server may be its own authorization server
)

// surveyed finds the steps that the exchange needs for its part of the survey, and says what is missing.
func (r *reader) surveyed(n *node, x *Exchange) {
	need := func(steps []*Step, verb Verb, name string) *Step {
		i := slices.IndexFunc(steps, func(st *Step) bool { return st.As == name && st.Verb == verb })
		if i < 0 {
			r.add(n.pos, "this part of the survey is read by the names of its steps; add a step %s: with as: %s", verb, name)
			return &Step{}
		}
		return steps[i]
	}
	switch x.Survey {
	case Offer:
		for _, name := range ListSteps {
			need(x.Steps, Pages, name)
		}
	case Calls:
		need(need(x.Steps, Each, CallsStep).Steps, Request, CallStep)
	case Guard:
		need(x.Steps, Request, AnonymousStep)
		for _, name := range append([]string{IssuerStep}, DocumentSteps...) {
			need(x.Steps, HTTP, name)
		}
	}
}

// Survey is the exchange that is this part of the survey, or nil.
func (l *Library) Survey(kind SurveyKind) *Exchange {
	i := slices.IndexFunc(l.Exchanges, func(x *Exchange) bool { return x.Survey == kind })
	if i < 0 || kind == "" {
		return nil
	}
	return l.Exchanges[i]
}
