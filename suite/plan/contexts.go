package plan

import (
	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Surveyed is an exchange of the survey as it was played, or is about to be: then without Events.
type Surveyed struct {
	Kind    script.SurveyKind
	Client  map[string]any     // the capabilities that its session declared
	Opening []transcript.Event // the handshake of its session
	Events  []transcript.Event
}

// Survey draws from the survey, as far as it was played, what exchanges are planned, played and judged by at a revision over
// a transport. The player calls it as the survey goes on, the judge on a transcript: both know the same. base has the
// Revision, the Transport and the Reader. Without a play of script.Offer by the client without capabilities there was no session
// for it: then Server is nil.
func Survey(lib *script.Library, base observe.Context, opts transcript.Options, plays []Surveyed) *observe.Context {
	c := &base
	c.Loopback, c.Absent = opts.Loopback, Absent(nil)
	find := func(kind script.SurveyKind) *Surveyed {
		for i, p := range plays {
			if p.Kind == kind && len(p.Client) == 0 {
				return &plays[i]
			}
		}
		return nil
	}
	offer, guard, called := find(script.Offer), find(script.Guard), find(script.Calls)
	c.Auth = Authorization(nil, false, opts)
	if guard != nil {
		c.Auth = Authorization(replay(lib, c, *guard), offer != nil, opts)
	}
	if offer != nil {
		offered(lib, c, opts, *offer, nil)
	}
	var calls map[string]any
	if offer != nil && called != nil {
		calls = replay(lib, c, *called)
		offered(lib, c, opts, *offer, calls)
	}
	clients := map[string]*observe.Context{}
	for _, p := range plays {
		if p.Kind == script.Offer && len(p.Client) > 0 {
			other := *c
			offered(lib, &other, opts, p, calls)
			clients[script.CapabilitiesKey(p.Client)] = &other
		}
	}
	c.Clients = clients
	return c
}

// offered fills a context with what the client of the play was offered. calls are the variables that script.Calls left, nil when it
// was not played: they are made once, by the client without capabilities.
func offered(lib *script.Library, c *observe.Context, opts transcript.Options, offer Surveyed, calls map[string]any) {
	c.Server = Server(c.Vars(offer.Client, offer.Opening))
	c.Server = Server(replay(lib, c, offer))
	c.Absent = Absent(c.Server)
	c.Callable = Callable(lib, c.Server, opts)
	outcomes, _ := calls[script.CallsStep].([]any)
	c.Roles, c.Unfilled = Roles(lib, c.Server, c.Callable, outcomes, opts)
}

// replay gives the variables that a play left.
func replay(lib *script.Library, c *observe.Context, p Surveyed) map[string]any {
	vars := c.Vars(p.Client, p.Opening)
	ex := lib.Survey(p.Kind)
	if ex == nil {
		return vars
	}
	return c.Reader.Replay(ex, vars, p.Events, nil)
}
