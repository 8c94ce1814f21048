package play

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/session"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// survey finds out which of the revisions asked for the server speaks, and what it offers at each.
func (p *player) survey(ctx context.Context) []*observe.Context {
	asked := p.revisions()
	var usable []*observe.Context
	failures := map[string][]string{} // revisions by why no session could be had
	answered := ""
	all := p.surveyAll(ctx, asked)
	supported := supportedVersions(all)
	for i, f := range slices.Backward(all) {
		r := asked[i]
		switch {
		case f == nil, f.context == nil && f.err == nil && f.spoken == "": // not tried any more, or found to be of the other era
		case f.err != nil && len(p.cfg.Options.Revisions) == 0 && supported != nil && !slices.Contains(supported, any(string(r))):
			// a server of the modern era that says itself that it does not speak this one
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
	if len(usable) == 0 && len(failures) > 0 && !p.unreachable && !p.barred && ctx.Err() == nil {
		// What can be judged without a session still is: how the server answers to initialize.
		r := asked[firstOf(asked)]
		var plays []plan.Surveyed
		if p.refused {
			plays = p.guard(ctx, r, plays)
		}
		usable = append(usable, p.context(r, plays))
	}
	slices.Reverse(usable)
	return usable
}

// supportedVersions are those that a server of the modern era gave, nil where none did.
func supportedVersions(all []*found) []any {
	for _, f := range all {
		if f != nil && f.context != nil {
			if list, ok := f.context.Server["supportedVersions"].([]any); ok && f.context.Revision.Modern() {
				return list
			}
		}
	}
	return nil
}

// firstOf is the index of the revision that is surveyed first: the newest that begins with initialize, else the newest.
func firstOf(asked []script.Revision) int {
	modern := slices.IndexFunc(asked, script.Revision.Modern)
	if modern < 0 {
		return len(asked) - 1
	}
	return max(0, modern-1)
}

// found is what a survey at one revision gave: a context, or the other revision that the server answered with, or why
// no session could be had.
type found struct {
	context *observe.Context
	spoken  string
	err     error
}

// surveyAll surveys at each revision: at the newest with a handshake first and alone, which pays for the cold start, tells
// early of a target that does not work, and how long a server that never heard of server/discover may be waited for; then at the
// others side by side. What was not tried is nil.
func (p *player) surveyAll(ctx context.Context, asked []script.Revision) []*found {
	all := make([]*found, len(asked))
	try := func(i int, opening time.Duration) {
		f := &found{}
		f.context, f.spoken, f.err = p.surveyAt(ctx, asked[i], opening)
		all[i] = f
	}
	first := firstOf(asked)
	began := time.Now()
	try(first, p.cfg.Opening)
	p.settled = true
	if p.unreachable {
		return all
	}
	probing := p.cfg.Opening
	if all[first].err == nil && len(p.cfg.Options.Revisions) == 0 {
		probing = min(probing, max(shortestProbe, 4*time.Since(began)))
	}
	slots := make(chan struct{}, p.cfg.Jobs)
	var others sync.WaitGroup
	for i, r := range asked {
		if i == first {
			continue
		}
		others.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			opening := p.cfg.Opening
			if r.Modern() {
				opening = probing
			}
			if ctx.Err() == nil {
				try(i, opening)
			}
		})
	}
	others.Wait()
	return all
}

// slowStart is how many times as long as the first session others may take to open: several that start side by side, on a machine that is
// busy, take turns, and a server that is only slow would be told to be silent.
const slowStart = 8

// shortestProbe is how long a server that has answered initialize may be silent to server/discover at least, before it is
// taken for one of the legacy era.
// Source: 2026-07-28, stdio, "Backward Compatibility": "a reasonable timeout".
const shortestProbe = 5 * time.Second

// revisions are those asked for, or all covered.
func (p *player) revisions() []script.Revision {
	if len(p.cfg.Options.Revisions) == 0 {
		return script.Revisions
	}
	var out []script.Revision
	for _, r := range script.Revisions {
		if slices.Contains(p.cfg.Options.Revisions, string(r)) {
			out = append(out, r)
		}
	}
	return out
}

func (p *player) isUnreachable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unreachable
}

// context is what is known of the server at a revision after these plays of the survey, as the judge has it.
func (p *player) context(r script.Revision, plays []plan.Surveyed) *observe.Context {
	base := observe.Context{Revision: r, Transport: p.cfg.Target.Transport()}
	return plan.Survey(p.cfg.Library, base, p.cfg.Options, plays)
}

// surveyAt opens the first session at a revision and plays the survey's exchanges in it. The session is shared
// with later exchanges.
func (p *player) surveyAt(ctx context.Context, r script.Revision, opening time.Duration) (c *observe.Context, spoken string, err error) {
	explicit := len(p.cfg.Options.Revisions) > 0
	if r.Modern() && p.cfg.Target.Transport() == transport.HTTPSSE {
		if explicit {
			err = errors.New("it has no HTTP+SSE transport")
		}
		return nil, "", err
	}
	asked := time.Now()
	o := p.openWithin(ctx, r, script.Client{}, false, opening)
	if o.err == nil && !p.settled { // alone: nobody else reads the bound yet
		p.cfg.Opening = max(p.cfg.Opening, slowStart*time.Since(asked))
	}
	if o.err != nil {
		if p.fallBack(ctx, r, o) {
			return p.surveyAt(ctx, r, opening)
		}
		p.mu.Lock()
		if slices.ContainsFunc(o.record.Events, func(e transcript.Event) bool { return e.Kind == transcript.Failure }) {
			p.unreachable = true
		}
		err := o.err
		if answered(o, 401) {
			p.refused = true
			err = errors.New(plan.Unauthorized(p.context(r, nil).Auth))
		} else if hint, barred := turnedAway(o); barred {
			p.barred = p.barred || !p.settled
			err = fmt.Errorf("%w%s", err, hint)
		}
		p.mu.Unlock()
		p.close(o)
		if r.Modern() && !explicit && !p.isUnreachable() && ctx.Err() == nil {
			return nil, "", nil // any answer but that of a modern server, and none, tells a legacy one
		}
		return nil, "", err
	}
	if o.Negotiated() != string(r) {
		p.close(o)
		return nil, o.Negotiated(), nil
	}
	others := p.surveyClients(ctx, r)
	plays, c := p.offered(ctx, r, o)
	if p.cfg.Options.Tokens[transcript.ValidToken] != "" {
		plays = p.guard(ctx, r, plays)
		c = p.contextOf(r, plays)
	}
	p.mu.Lock()
	p.tools[r], _ = c.Server["tools"].([]any)
	p.mu.Unlock()
	plays = p.surveyPlay(ctx, c, script.Calls, o, plays)
	p.release(o, !o.Gone())
	return p.context(r, append(plays, others()...)), string(r), nil
}

// surveyClients surveys once for each set of client capabilities with which an exchange is to be played at the revision,
// side by side. The function that comes back waits for the plays; clients for whom no session could be had are left out.
// The sessions are shared with later exchanges.
func (p *player) surveyClients(ctx context.Context, r script.Revision) func() []plan.Surveyed {
	clients := map[string]script.Client{}
	for _, ex := range p.cfg.Library.Exchanges {
		if len(ex.Client.Capabilities) == 0 || ex.Session == script.Bare || !plan.Concerns(p.cfg.Library, ex, r, p.cfg.Target.Transport()) ||
			p.cfg.Select != nil && !p.cfg.Select(ex, r) {
			continue
		}
		clients[script.CapabilitiesKey(ex.Client.Capabilities)] = script.Client{Capabilities: ex.Client.Capabilities}
	}
	var mu sync.Mutex
	var plays []plan.Surveyed
	var surveys sync.WaitGroup
	for _, client := range clients {
		surveys.Go(func() {
			o := p.open(ctx, r, client, false)
			if o.err != nil || o.Negotiated() != string(r) {
				p.close(o)
				return
			}
			played, _ := p.offered(ctx, r, o)
			p.release(o, !o.Gone())
			mu.Lock()
			defer mu.Unlock()
			plays = append(plays, played...)
		})
	}
	return func() []plan.Surveyed { surveys.Wait(); return plays }
}

// fallBack finds out, where a URL does not take initialize as Streamable HTTP would, whether it speaks HTTP+SSE, and leaves
// the target there if so. refused is the session that failed.
// Source: 2025-11-25, Transports, "Backwards Compatibility"; up to 2025-06-18 for any status from 400 to 499.
func (p *player) fallBack(ctx context.Context, r script.Revision, refused *opened) bool {
	target, ok := p.cfg.Target.(transport.Switcher)
	if !ok || p.settled || p.cfg.Target.Transport() != transport.StreamableHTTP || !answered(refused, 400, 404, 405) ||
		slices.ContainsFunc(refused.record.Events, session.IsModern) {
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

// answered says whether an HTTP answer in the opening of a session had one of the statuses.
func answered(o *opened, statuses ...int) bool {
	return slices.ContainsFunc(o.record.Events, func(e transcript.Event) bool {
		return e.Kind == transcript.Answer && slices.Contains(statuses, e.HTTP.Status)
	})
}

// turnedAway says whether the opening of a session was refused before anything of the protocol was looked at, as a wrong address, a
// guard of host names or a gateway does, and what a person may try. Nothing can be said of such a server.
func turnedAway(o *opened) (hint string, away bool) {
	replied := slices.ContainsFunc(o.record.Events, func(e transcript.Event) bool {
		return e.Kind == transcript.Receive && wire.Read(e.Data).IsReply()
	})
	switch {
	case replied:
		return "", false
	case answered(o, 404, 405):
		return " (is this the address of the endpoint?)", true
	case answered(o, 403, 421):
		return " (does it serve another host name, such as localhost, or other clients only?)", true
	}
	return "", answered(o, 407, 429, 502, 503, 504)
}

// guard finds out, in a session without a handshake, how the server answers to what comes without a token, and adds that
// to the plays.
func (p *player) guard(ctx context.Context, r script.Revision, plays []plan.Surveyed) []plan.Surveyed {
	ex := p.cfg.Library.Survey(script.Guard)
	if ex == nil || !slices.Contains(ex.Transports, p.cfg.Target.Transport()) {
		return plays
	}
	o := p.open(ctx, r, script.Client{}, true)
	defer p.close(o)
	if o.err != nil {
		return plays
	}
	return p.surveyPlay(ctx, p.context(r, plays), script.Guard, o, plays)
}

// offered plays the exchange of the survey that lists what the session's client is offered, and tells the session of the tools.
// The context is what is known then.
func (p *player) offered(ctx context.Context, r script.Revision, o *opened) ([]plan.Surveyed, *observe.Context) {
	before := []plan.Surveyed{{Kind: script.Offer, Client: o.record.Client, Opening: o.record.Opening()}}
	plays := p.surveyPlay(ctx, p.contextOf(r, before), script.Offer, o, nil)
	c := p.contextOf(r, plays)
	tools, _ := c.Server["tools"].([]any)
	o.Mirror(tools)
	return plays, c
}

// surveyPlay plays an exchange of the survey, with what is known before it, and adds it to the plays.
func (p *player) surveyPlay(ctx context.Context, c *observe.Context, kind script.SurveyKind, o *opened, plays []plan.Surveyed) []plan.Surveyed {
	s := plan.Surveyed{Kind: kind, Client: o.record.Client, Opening: o.record.Opening()}
	if ex := p.cfg.Library.Survey(kind); ex != nil {
		s.Events = p.playIn(ctx, ex, c, o).Events
	}
	return append(plays, s)
}

// contextOf is what is known of the client of the first play after these plays of the survey.
func (p *player) contextOf(r script.Revision, plays []plan.Surveyed) *observe.Context {
	c := p.context(r, plays)
	if other := c.Clients[script.CapabilitiesKey(plays[0].Client)]; other != nil {
		return other
	}
	return c
}

// list joins words for people: a, b and c.
func list(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
