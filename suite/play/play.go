// Package play carries out exchanges: it opens sessions with a target, surveys it, and plays what applies, many
// exchanges side by side. It records what happened and decides nothing about it.
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
)

// Config says what to play and how.
type Config struct {
	Library *script.Library
	Target  transport.Target
	Options transcript.Options
	Jobs    int           // exchanges played side by side; 0: 4
	Opening time.Duration // the bound of a handshake, a cold start of the server included; 0: 30 s
	// Select says whether an exchange is wanted at a revision; nil: all are. The survey is always played.
	Select func(ex *script.Exchange, r script.Revision) bool
	// Planned is told how many exchanges will be played; Played of each that was, as it ends (one at a time), with
	// what it was played in.
	Planned func(n int)
	Played  func(c *observe.Context, p *transcript.Play, s *transcript.Session)
}

// Run plays everything that applies and gives back the transcript, without header. It is incomplete when ctx
// ended before all was played. Problems say, for people, what kept a part from being carried out: the target
// could not be started, or does not speak a revision that was asked for.
func Run(ctx context.Context, cfg Config) (run *transcript.Run, problems []string) {
	p := newPlayer(cfg)
	if err := cfg.Target.Start(ctx); err != nil {
		return p.run, []string{err.Error()}
	}
	defer cfg.Target.Stop()
	defer p.closing.Wait()
	contexts := p.survey(ctx)
	p.playAll(ctx, contexts)
	p.closeShared()
	p.closing.Wait()
	p.run.Complete = ctx.Err() == nil
	p.finishSessions()
	return p.run, p.problems
}

// DefaultTimeout bounds each wait unless the options say otherwise.
const DefaultTimeout = 10 * time.Second

type player struct {
	cfg     Config
	epoch   time.Time
	budget  session.Budget
	closing sync.WaitGroup

	telling     sync.Mutex // whoever is told of plays is told of one at a time, and keeps no other play waiting
	mu          sync.Mutex
	run         *transcript.Run
	problems    []string
	settled     bool                          // which transport the target is spoken to over
	unreachable bool                          // the target could not be started or connected to at all
	idle        map[script.Revision][]*opened // shared sessions that nobody uses now
	all         []*opened
}

// opened is a session with its record in the transcript.
type opened struct {
	*session.Session
	record *transcript.Session
	err    error // why the handshake failed; the session is of no use then
}

func newPlayer(cfg Config) *player {
	if cfg.Jobs <= 0 {
		cfg.Jobs = 4
	}
	if cfg.Opening <= 0 {
		cfg.Opening = 30 * time.Second
	}
	if cfg.Options.Timeout <= 0 {
		cfg.Options.Timeout = DefaultTimeout
	}
	return &player{cfg: cfg, epoch: time.Now(), run: &transcript.Run{}, idle: map[script.Revision][]*opened{}}
}

// open opens a session, and unless it is to be bare does the handshake. The result always has a record; err
// inside says why it cannot be used.
func (p *player) open(ctx context.Context, r script.Revision, client script.Client, bare bool) *opened {
	o := &opened{record: &transcript.Session{Revision: string(r), Transport: p.cfg.Target.Transport(), Client: client.Capabilities}}
	p.mu.Lock()
	p.all = append(p.all, o)
	o.record.Number = len(p.all)
	p.run.Sessions = append(p.run.Sessions, o.record)
	p.mu.Unlock()
	if o.err = p.budget.Spent(); o.err != nil {
		return o
	}
	s, err := session.Open(ctx, p.cfg.Target, session.Options{
		Revision: string(r), Capabilities: client.Capabilities, Timeout: p.cfg.Opening, Epoch: p.epoch,
		Answer: answers(client), Budget: &p.budget,
	})
	if err != nil {
		o.err = err
		o.record.Events = append(o.record.Events, transcript.Event{Kind: transcript.Failure, At: time.Since(p.epoch), Note: err.Error()})
		o.record.Opened = 1
		return o
	}
	o.Session = s
	if o.err = s.Greet(ctx); o.err == nil && !bare {
		o.err = s.Initialize(ctx)
	}
	if o.err != nil || !bare {
		o.record.Events = append(o.record.Events, s.Take()...)
		o.record.Opened = len(o.record.Events)
	}
	return o
}

// answers makes the session's answers to the server's requests from an exchange's client part.
func answers(client script.Client) func(string, any) (session.Answer, bool) {
	if len(client.Answers) == 0 {
		return nil
	}
	return func(method string, params any) (session.Answer, bool) {
		value, ok := client.Answers[method]
		if !ok {
			return session.Answer{}, false
		}
		result, err := value.Render(map[string]any{"it": params})
		if err != nil {
			return session.Answer{Err: &session.Error{Code: -32603, Message: err.Error()}}, true
		}
		if o, ok := result.(map[string]any); ok {
			if e, ok := o["error"].(map[string]any); ok && len(o) == 1 {
				code, _ := e["code"].(int64)
				message, _ := e["message"].(string)
				return session.Answer{Err: &session.Error{Code: code, Message: message}}, true
			}
		}
		return session.Answer{Result: result}, true
	}
}

// close ends a session in the background.
func (p *player) close(o *opened) {
	if o.Session == nil {
		return
	}
	if err := o.Overflow(); err != nil {
		p.problem("%v", err)
	}
	p.closing.Go(o.Close)
}

// acquire gives a clean shared session at the revision, a new one if none is idle.
func (p *player) acquire(ctx context.Context, r script.Revision) *opened {
	p.mu.Lock()
	if n := len(p.idle[r]); n > 0 {
		o := p.idle[r][n-1]
		p.idle[r] = p.idle[r][:n-1]
		p.mu.Unlock()
		return o
	}
	p.mu.Unlock()
	return p.open(ctx, r, script.Client{}, false)
}

func (p *player) release(r script.Revision, o *opened, clean bool) {
	if o.err != nil || !clean || o.Gone() || o.Overflow() != nil {
		p.close(o)
		return
	}
	p.mu.Lock()
	p.idle[r] = append(p.idle[r], o)
	p.mu.Unlock()
}

func (p *player) closeShared() {
	p.mu.Lock()
	idle := p.idle
	p.idle = map[script.Revision][]*opened{}
	p.mu.Unlock()
	for _, sessions := range idle {
		for _, o := range sessions {
			p.close(o)
		}
	}
}

// finishSessions adds to each session's record what happened after its last play: how it ended.
func (p *player) finishSessions() {
	for _, o := range p.all {
		if o.Session == nil {
			continue
		}
		o.record.Events = append(o.record.Events, o.Take()...)
		o.record.Negotiated = o.Negotiated()
	}
}

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

func (p *player) problem(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if what := fmt.Sprintf(format, args...); !slices.Contains(p.problems, what) {
		p.problems = append(p.problems, what)
	}
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
	c = p.context(r)
	opening := o.record.Opening()
	c.Server = plan.Server(c.Vars(nil, opening))
	offer := p.surveyPlay(ctx, plan.Offer, c, o)
	plan.Context(c, p.cfg.Library, offer, nil, p.cfg.Options)
	calls := p.surveyPlay(ctx, plan.Calls, c, o)
	plan.Context(c, p.cfg.Library, offer, calls, p.cfg.Options)
	p.release(r, o, !o.Gone())
	return c, string(r), nil
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
	if ex == nil {
		return c.Vars(nil, o.record.Opening())
	}
	opening := o.record.Opening()
	played := p.playIn(ctx, ex, c, o)
	return observe.Replay(ex, c.Vars(nil, opening), played.Events, func(observe.Seen) {})
}

// job is one exchange to be played at one revision.
type job struct {
	context *observe.Context
	ex      *script.Exchange
	session chan *opened // delivers the session of its own; nil: a shared one
}

// playAll plays what the plan picks for each context. Exchanges on shared sessions come first; meanwhile the
// sessions that others need for themselves are opened.
func (p *player) playAll(ctx context.Context, contexts []*observe.Context) {
	var shared, own []*job
	for _, c := range contexts {
		for _, item := range plan.Plan(p.cfg.Library, c) {
			ex := item.Exchange
			if item.Status != "" || ex.Watch || ex.Name == plan.Offer || ex.Name == plan.Calls {
				continue
			}
			if p.cfg.Select != nil && !p.cfg.Select(ex, c.Revision) {
				continue
			}
			j := &job{context: c, ex: ex}
			if ex.Session == script.Shared && ex.Client.Capabilities == nil && ex.Client.Answers == nil {
				shared = append(shared, j)
			} else {
				j.session = make(chan *opened, 1)
				own = append(own, j)
			}
		}
	}
	if p.cfg.Planned != nil {
		p.cfg.Planned(len(shared) + len(own))
	}
	slots := make(chan struct{}, p.cfg.Jobs)
	stop := p.openAhead(ctx, own, slots)
	queue := make(chan *job)
	var workers sync.WaitGroup
	for range p.cfg.Jobs {
		workers.Go(func() {
			for j := range queue {
				p.playJob(ctx, j, slots)
			}
		})
	}
feed:
	for _, j := range slices.Concat(shared, own) {
		select {
		case queue <- j:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	workers.Wait()
	stop()
}

// openAhead opens the own sessions of the jobs in order, as many ahead of need as there are slots; who takes a
// session frees its slot. stop ends it and closes what nobody took.
func (p *player) openAhead(ctx context.Context, jobs []*job, slots chan struct{}) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var opening sync.WaitGroup
	opening.Go(func() {
		for _, j := range jobs {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			opening.Go(func() {
				j.session <- p.open(ctx, j.context.Revision, j.ex.Client, j.ex.Session == script.Bare)
			})
		}
	})
	return func() {
		cancel()
		opening.Wait()
		for _, j := range jobs {
			select {
			case o := <-j.session:
				p.close(o)
			default:
			}
		}
	}
}

func (p *player) playJob(ctx context.Context, j *job, slots chan struct{}) {
	var o *opened
	if j.session == nil {
		o = p.acquire(ctx, j.context.Revision)
	} else {
		select {
		case o = <-j.session:
			<-slots
		case <-ctx.Done():
			return
		}
	}
	played := p.playIn(ctx, j.ex, j.context, o)
	if j.session == nil {
		p.release(j.context.Revision, o, clean(played.Events))
	} else {
		p.close(o)
	}
}

// clean says whether a play left its session fit for others: no wait ran out, nothing failed.
func clean(events []transcript.Event) bool {
	return !slices.ContainsFunc(events, func(e transcript.Event) bool {
		return e.Kind == transcript.Timeout || e.Kind == transcript.Failure
	})
}

// playIn plays an exchange in a session and adds it to the run.
func (p *player) playIn(ctx context.Context, ex *script.Exchange, c *observe.Context, o *opened) *transcript.Play {
	pl := &transcript.Play{Exchange: ex.Name, Revision: string(c.Revision), Transport: c.Transport, Session: o.record.Number}
	switch {
	case o.err != nil:
		pl.Problem = o.err.Error()
	default:
		if o.Negotiated() != string(c.Revision) && ex.Session != script.Bare {
			pl.Problem = fmt.Sprintf("the server answered another session at this revision with %q", o.Negotiated())
			break
		}
		o.record.Events = append(o.record.Events, o.Take()...)
		a := &actor{player: p, ctx: ctx, c: c, ex: ex, sessions: map[string]*opened{"": o}, vars: c.Vars(ex.Client.Capabilities, o.record.Opening())}
		err := a.steps(ex.Steps, 0)
		pl.Events = a.take()
		if err != nil && !errors.Is(err, context.Canceled) {
			pl.Problem = err.Error()
		}
	}
	if ctx.Err() != nil {
		return pl // interrupted: half a play is no evidence
	}
	p.mu.Lock()
	p.run.Plays = append(p.run.Plays, pl)
	p.mu.Unlock()
	if p.cfg.Played != nil {
		p.telling.Lock()
		defer p.telling.Unlock()
		p.cfg.Played(c, pl, o.record)
	}
	return pl
}

// list joins words for people: a, b and c.
func list(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
