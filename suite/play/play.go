// Package play carries out exchanges: it opens sessions with a target, surveys it, and plays what applies, many
// exchanges side by side. It records what happened and decides nothing about it.
package play

import (
	"context"
	"errors"
	"fmt"
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
	// Jobs is how many exchanges are played side by side; 0: 4. Unless it is 1, those that mostly wait for a slow tool are played
	// beside them: as many again, and over HTTP on this machine, where that starts no process, four times as many.
	Jobs    int
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
	p.tellEnd()
	return p.run, p.problems
}

// tellEnd tells of a server process that all sessions shared and that ended before all was played: what came after is not judged.
func (p *player) tellEnd() {
	process, ok := p.cfg.Target.(transport.Process)
	if !ok || process.Exit() == nil || len(p.run.Sessions) == 0 {
		return
	}
	cut := func(pl *transcript.Play) bool {
		return pl.Problem != "" || slices.ContainsFunc(pl.Events, func(e transcript.Event) bool { return e.Kind == transcript.Exit })
	}
	if len(p.run.Plays) > 0 && !slices.ContainsFunc(p.run.Plays, cut) {
		return // it ended when its last session was closed
	}
	wrote := strings.TrimSpace(string(process.Stderr()))
	if wrote == "" {
		wrote = "it wrote nothing"
	} else {
		wrote = "it wrote at the end: " + session.Tail(wrote)
	}
	p.problem("the server's process %s in the middle of the run, and what was to be played after that is not judged (--jobs 1 may tell by what it was ended); %s", process.Exit(), wrote)
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
	settled     bool                      // which transport the target is spoken to over
	unreachable bool                      // the target could not be started or connected to at all
	barred      bool                      // the target refuses the first initialize by an HTTP status that says nothing of the protocol
	refused     bool                      // the server asked for authorization when a session was to be opened
	tools       map[script.Revision][]any // that the server offers
	idle        map[pool][]*opened        // shared sessions that nobody uses now
	all         []*opened
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
	return &player{cfg: cfg, epoch: time.Now(), run: &transcript.Run{}, idle: map[pool][]*opened{}, tools: map[script.Revision][]any{}}
}

func (p *player) problem(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if what := fmt.Sprintf(format, args...); !slices.Contains(p.problems, what) {
		p.problems = append(p.problems, what)
	}
}

// job is one exchange to be played at one revision.
type job struct {
	context *observe.Context
	ex      *script.Exchange
	session chan *opened // delivers the session of its own; nil: a shared one
}

// waits says whether an exchange is about a tool that stands apart, because a call may take long.
func waits(lib *script.Library, ex *script.Exchange) bool {
	return slices.ContainsFunc(ex.Needs, func(need string) bool {
		role := lib.Role(need)
		return role != nil && role.Apart
	})
}

// lane is what is played side by side.
type lane struct{ shared, own []*job }

// playAll plays what the plan picks for each context.
func (p *player) playAll(ctx context.Context, contexts []*observe.Context) {
	var busy, waiting lane
	planned := 0
	for _, c := range contexts {
		for _, item := range plan.Plan(p.cfg.Library, c) {
			ex := item.Exchange
			if item.Status != "" || ex.Watch || ex.Survey != "" {
				continue
			}
			if p.cfg.Select != nil && !p.cfg.Select(ex, c.Revision) {
				continue
			}
			planned++
			j, l := &job{context: item.Context, ex: ex}, &busy
			if p.cfg.Jobs > 1 && waits(p.cfg.Library, ex) {
				l = &waiting
			}
			if ex.Session == script.Shared {
				l.shared = append(l.shared, j)
			} else {
				j.session = make(chan *opened, 1)
				l.own = append(l.own, j)
			}
		}
	}
	if p.cfg.Planned != nil {
		p.cfg.Planned(planned)
	}
	aside := p.cfg.Jobs
	if t := p.cfg.Target; t.Loopback() && (t.Transport() == transport.StreamableHTTP || t.Transport() == transport.HTTPSSE) {
		aside *= 4
	}
	var lanes sync.WaitGroup
	lanes.Go(func() { p.playLane(ctx, waiting, aside) })
	lanes.Go(func() { p.playLane(ctx, busy, p.cfg.Jobs) })
	lanes.Wait()
}

// playLane plays so many of the lane's jobs at a time. Exchanges on shared sessions come first; meanwhile the sessions that
// others need for themselves are opened.
func (p *player) playLane(ctx context.Context, l lane, sideBySide int) {
	sideBySide = min(sideBySide, len(l.shared)+len(l.own))
	slots := make(chan struct{}, sideBySide)
	stop := p.openAhead(ctx, l.own, slots)
	queue := make(chan *job)
	var workers sync.WaitGroup
	for range sideBySide {
		workers.Go(func() {
			for j := range queue {
				p.playJob(ctx, j, slots)
			}
		})
	}
feed:
	for _, j := range slices.Concat(l.shared, l.own) {
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

func (p *player) playJob(ctx context.Context, j *job, slots chan struct{}) {
	var o *opened
	if j.session == nil {
		o = p.acquire(ctx, j.context.Revision, j.ex.Client)
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
		p.release(o, clean(played.Events))
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
		if o.Gone() { // while it waited, and not by what this exchange does
			pl.Problem = session.ErrGone.Error()
			break
		}
		o.AnswerWith(answers(ex.Client))
		a := &actor{player: p, ctx: ctx, c: c, ex: ex, sessions: map[string]*opened{"": o}}
		walk := observe.Walk{Carry: a.carry}
		_, err := walk.Steps(ex, c.Vars(ex.Client.Capabilities, o.record.Opening()))
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
