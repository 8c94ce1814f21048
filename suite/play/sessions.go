package play

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/session"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// opened is a session with its record in the transcript.
type opened struct {
	*session.Session
	record *transcript.Session
	err    error // why the handshake failed; the session is of no use then
}

// open opens a session, and unless it is to be bare does the handshake. The result always has a record; err
// inside says why it cannot be used.
func (p *player) open(ctx context.Context, r script.Revision, client script.Client, bare bool) *opened {
	return p.openWithin(ctx, r, client, bare, p.cfg.Opening)
}

// openWithin is open with another bound of the handshake.
func (p *player) openWithin(ctx context.Context, r script.Revision, client script.Client, bare bool, opening time.Duration) *opened {
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
		Revision: string(r), Capabilities: client.Capabilities, Timeout: opening, Epoch: p.epoch,
		Answer: answers(client), Budget: &p.budget,
	})
	if err != nil {
		o.err = err
		o.record.Events = append(o.record.Events, transcript.Event{Kind: transcript.Failure, At: time.Since(p.epoch), Note: err.Error()})
		o.record.Opened = 1
		return o
	}
	o.Session = s
	p.mu.Lock()
	s.Mirror(p.tools[r])
	p.mu.Unlock()
	if o.err = s.Greet(ctx); o.err == nil && !bare {
		o.err = s.Begin(ctx)
	}
	if o.err != nil || !bare {
		o.record.Events = append(o.record.Events, s.Take()...)
		o.record.Opened = len(o.record.Events)
	}
	return o
}

// answers makes the session's answers to the server's requests from an exchange's client part.
func answers(client script.Client) session.Answerer {
	if len(client.Answers) == 0 {
		return nil
	}
	return func(method string, params any) (session.Answer, bool) {
		value, ok := client.Answers[method]
		if !ok {
			return session.Answer{}, false
		}
		result, err := value.Render(map[string]any{"it": params})
		if err == nil && result == nil {
			return session.Answer{Silent: true}, true
		}
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

// pool tells sessions apart that must not be taken for each other.
type pool struct{ revision, capabilities string }

// acquire gives a clean shared session at the revision in which the client's capabilities were declared, a new one if none
// is idle.
func (p *player) acquire(ctx context.Context, r script.Revision, client script.Client) *opened {
	in := pool{string(r), script.CapabilitiesKey(client.Capabilities)}
	p.mu.Lock()
	for n := len(p.idle[in]); n > 0; n-- {
		o := p.idle[in][n-1]
		p.idle[in] = p.idle[in][:n-1]
		if !o.Gone() {
			p.mu.Unlock()
			return o
		}
		p.closing.Go(o.Close)
	}
	p.mu.Unlock()
	return p.open(ctx, r, client, false)
}

func (p *player) release(o *opened, clean bool) {
	if o.err != nil || !clean || o.Gone() || o.Overflow() != nil {
		p.close(o)
		return
	}
	in := pool{o.record.Revision, script.CapabilitiesKey(o.record.Client)}
	p.mu.Lock()
	p.idle[in] = append(p.idle[in], o)
	p.mu.Unlock()
}

func (p *player) closeShared() {
	p.mu.Lock()
	idle := p.idle
	p.idle = map[pool][]*opened{}
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
