package play

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// survey finds out which of the revisions asked for the server speaks, and what it offers at each.
func (p *player) survey(ctx context.Context) []*observe.Context {
	asked := p.revisions()
	var usable []*observe.Context
	failures := map[string][]string{} // revisions by why no session could be had
	answered := ""
	for i, f := range slices.Backward(p.surveyAll(ctx, asked)) {
		r := asked[i]
		switch {
		case f == nil: // not tried any more
		case f.err != nil:
			failures[f.err.Error()] = append(failures[f.err.Error()], string(r))
		case f.context == nil:
			answered = f.spoken
			if len(p.cfg.Options.Revisions) > 0 {
				p.problem("the server does not speak revision %s: it answers with %s", r, f.spoken)
			}
		default:
			usable = append(usable, f.context)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(failures)) {
		slices.Sort(failures[why])
		p.problem("no session at revision %s: %s", list(failures[why]), why)
	}
	if len(usable) == 0 && len(failures) == 0 && len(p.problems) == 0 && ctx.Err() == nil {
		names := make([]string, len(asked))
		for i, r := range asked {
			names[i] = string(r)
		}
		p.problem("the server speaks none of the revisions that were asked for, %s: it answers with %s", list(names), answered)
	}
	if len(usable) == 0 && len(failures) > 0 && !p.unreachable && ctx.Err() == nil {
		// What can be judged without a session still is: how the server answers to initialize.
		usable = append(usable, p.context(asked[len(asked)-1]))
	}
	slices.Reverse(usable)
	return usable
}

// found is what a survey at one revision gave: a context, or the other revision that the server answered with, or why
// no session could be had.
type found struct {
	context *observe.Context
	spoken  string
	err     error
}

// surveyAll surveys at each revision: at the newest first and alone, which pays for the cold start and tells early of a
// target that does not work, then at the others side by side. What was not tried is nil.
func (p *player) surveyAll(ctx context.Context, asked []script.Revision) []*found {
	all := make([]*found, len(asked))
	try := func(i int) {
		f := &found{}
		f.context, f.spoken, f.err = p.surveyAt(ctx, asked[i])
		all[i] = f
	}
	newest := len(asked) - 1
	try(newest)
	p.settled = true
	if p.unreachable {
		return all
	}
	slots := make(chan struct{}, p.cfg.Jobs)
	var others sync.WaitGroup
	for i := range newest {
		others.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if ctx.Err() == nil {
				try(i)
			}
		})
	}
	others.Wait()
	return all
}

// revisions are those asked for, or all covered.
func (p *player) revisions() []script.Revision {
	if len(p.cfg.Options.Revisions) == 0 {
		return script.Covered
	}
	var out []script.Revision
	for _, r := range script.Covered {
		if slices.Contains(p.cfg.Options.Revisions, string(r)) {
			out = append(out, r)
		}
	}
	return out
}

// context is what is known before the survey, as the judge has it.
func (p *player) context(r script.Revision) *observe.Context {
	return &observe.Context{Revision: r, Transport: p.cfg.Target.Transport(), Loopback: p.cfg.Options.Loopback, Absent: plan.Absent(nil)}
}

// surveyAt opens the first session at a revision and plays the survey's exchanges in it. The session is shared
// with later exchanges.
func (p *player) surveyAt(ctx context.Context, r script.Revision) (c *observe.Context, spoken string, err error) {
	o := p.open(ctx, r, script.Client{}, false)
	if o.err != nil {
		if p.fallBack(ctx, r, o) {
			return p.surveyAt(ctx, r)
		}
		if slices.ContainsFunc(o.record.Events, func(e transcript.Event) bool { return e.Kind == transcript.Failure }) {
			p.mu.Lock()
			p.unreachable = true
			p.mu.Unlock()
		}
		p.close(o)
		return nil, "", o.err
	}
	if o.Negotiated() != string(r) {
		p.close(o)
		return nil, o.Negotiated(), nil
	}
	others := p.surveyClients(ctx, r)
	c, offer := p.offered(ctx, r, o)
	calls := p.surveyPlay(ctx, plan.Calls, c, o)
	plan.Context(c, p.cfg.Library, offer, calls, p.cfg.Options)
	p.release(o, !o.Gone())
	c.Clients = map[string]*observe.Context{}
	for key, other := range others() {
		plan.Context(other.context, p.cfg.Library, other.offer, calls, p.cfg.Options)
		c.Clients[key] = other.context
	}
	return c, string(r), nil
}

// offered plays the first exchange of the survey: what the client of the session is offered.
func (p *player) offered(ctx context.Context, r script.Revision, o *opened) (c *observe.Context, offer map[string]any) {
	c = p.context(r)
	c.Server = plan.Server(c.Vars(o.record.Client, o.record.Opening()))
	offer = p.surveyPlay(ctx, plan.Offer, c, o)
	plan.Context(c, p.cfg.Library, offer, nil, p.cfg.Options)
	return c, offer
}

// otherClient is what a client with capabilities was offered.
type otherClient struct {
	context *observe.Context
	offer   map[string]any
}

// surveyClients surveys once for each set of client capabilities with which an exchange is to be played at the revision,
// side by side. The function that comes back waits for what they were offered, by script.CapabilitiesKey; clients for whom
// no session could be had are left out. The sessions are shared with later exchanges.
func (p *player) surveyClients(ctx context.Context, r script.Revision) func() map[string]otherClient {
	clients := map[string]script.Client{}
	for _, ex := range p.cfg.Library.Exchanges {
		if len(ex.Client.Capabilities) == 0 || ex.Session == script.Bare || !plan.Concerns(p.cfg.Library, ex, r, p.cfg.Target.Transport()) ||
			p.cfg.Select != nil && !p.cfg.Select(ex, r) {
			continue
		}
		clients[script.CapabilitiesKey(ex.Client.Capabilities)] = script.Client{Capabilities: ex.Client.Capabilities}
	}
	var mu sync.Mutex
	found := map[string]otherClient{}
	var surveys sync.WaitGroup
	for key, client := range clients {
		surveys.Go(func() {
			o := p.open(ctx, r, client, false)
			if o.err != nil || o.Negotiated() != string(r) {
				p.close(o)
				return
			}
			c, offer := p.offered(ctx, r, o)
			p.release(o, !o.Gone())
			mu.Lock()
			defer mu.Unlock()
			found[key] = otherClient{c, offer}
		})
	}
	return func() map[string]otherClient { surveys.Wait(); return found }
}

// fallBack finds out, where a URL does not take initialize as Streamable HTTP would, whether it speaks HTTP+SSE, and leaves
// the target there if so. refused is the session that failed.
// Source: 2025-11-25, Transports, "Backwards Compatibility"; up to 2025-06-18 for any status from 400 to 499.
func (p *player) fallBack(ctx context.Context, r script.Revision, refused *opened) bool {
	target, ok := p.cfg.Target.(transport.Switcher)
	if !ok || p.settled || p.cfg.Target.Transport() != transport.StreamableHTTP || !slices.ContainsFunc(refused.record.Events, func(e transcript.Event) bool {
		return e.Kind == transcript.Answer && slices.Contains([]int{400, 404, 405}, e.HTTP.Status)
	}) {
		return false
	}
	if !target.Switch(transport.HTTPSSE) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Options.Timeout)
	defer cancel()
	o := p.open(ctx, r, script.Client{}, true)
	spoken := o.err == nil
	p.close(o)
	if !spoken {
		target.Switch(transport.StreamableHTTP)
	} else {
		p.close(refused)
	}
	return spoken
}

func (p *player) surveyPlay(ctx context.Context, name string, c *observe.Context, o *opened) map[string]any {
	ex := p.cfg.Library.Exchange(name)
	vars := c.Vars(o.record.Client, o.record.Opening())
	if ex == nil {
		return vars
	}
	return observe.Replay(ex, vars, p.playIn(ctx, ex, c, o).Events, func(observe.Seen) {})
}

// list joins words for people: a, b and c.
func list(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
