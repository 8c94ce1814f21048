// Package judge turns a transcript into verdicts. It is a pure function of the transcript and the catalogue: it
// reads no clock, no file and no socket, so that a recorded run can be judged again at the same result.
package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// SpecificationURL is where revision r states the requirement, or "".
func SpecificationURL(q *script.Requirement, r script.Revision) string {
	const site = "https://modelcontextprotocol.io"
	switch spec := q.SpecAt(r); {
	case spec == "":
		return ""
	case spec[0] == '/': // an extension's page, which has no revisions
		return site + spec
	default:
		return site + "/specification/" + string(r) + "/" + spec
	}
}

// Run judges a whole transcript: verdicts by revision and transport, oldest revision first, in the catalogue's
// order. What was planned and selected but not played is an error verdict. An error comes back for a selection
// or a shard that cannot be read.
func Run(lib *script.Library, run *transcript.Run) ([]verdict.Verdict, error) {
	wanted, err := plan.Select(run.Header.Options.Select)
	if err != nil {
		return nil, err
	}
	ours, err := plan.Shard(lib, run.Header.Options.Shard)
	if err != nil {
		return nil, err
	}
	pairs := Pairs(run)
	verdicts := make([][]verdict.Verdict, len(pairs))
	var judging sync.WaitGroup
	for i, pair := range pairs {
		judging.Go(func() { verdicts[i] = judgePair(lib, run, pair, wanted, ours) })
	}
	judging.Wait()
	return slices.Concat(verdicts...), nil
}

// judgePair judges what was played at one revision over one transport.
func judgePair(lib *script.Library, run *transcript.Run, pair Pair, wanted plan.Selection, ours func(*script.Exchange) bool) []verdict.Verdict {
	j := &judge{lib: lib, run: run, pair: pair, sessions: map[int]*transcript.Session{}, unwanted: map[*script.Requirement]bool{}}
	for _, q := range lib.Requirements {
		if q.InForce(pair.Revision) && !wanted(plan.Labels(q, pair.Revision, pair.Transport)) {
			j.unwanted[q] = true
		}
	}
	for _, s := range run.Sessions {
		j.sessions[s.Number] = s
	}
	j.context = j.survey()
	var out []verdict.Verdict
	for _, item := range plan.Plan(lib, j.context) {
		if !ours(item.Exchange) {
			continue
		}
		out = append(out, j.item(item)...)
	}
	return out
}

// Play judges one play alone, for those who cannot wait for the whole run: c is what it was played in, s its session.
func Play(lib *script.Library, c *observe.Context, p *transcript.Play, s *transcript.Session) []verdict.Verdict {
	ex := lib.Exchange(p.Exchange)
	if ex == nil {
		return nil
	}
	j := &judge{lib: lib, pair: Pair{c.Revision, c.Transport}, context: c}
	t := newTally(j, ex)
	t.play(p, s)
	return t.verdicts(plan.InForce(lib, ex, c.Revision, c.Transport))
}

// Pair is one revision over one transport.
type Pair struct {
	Revision  script.Revision
	Transport string
}

// Pairs lists the revisions and transports at which something was played, oldest revision first.
func Pairs(run *transcript.Run) []Pair {
	var out []Pair
	for _, p := range run.Plays {
		pair := Pair{script.Revision(p.Revision), p.Transport}
		if !slices.Contains(out, pair) {
			out = append(out, pair)
		}
	}
	slices.SortFunc(out, func(a, b Pair) int {
		return cmp.Or(strings.Compare(string(a.Revision), string(b.Revision)), strings.Compare(a.Transport, b.Transport))
	})
	return out
}

// Runs are the revisions and transports for a report, oldest revision first: those at which something was played, and those at
// which the server answered the handshake with another revision, so that nothing was.
func Runs(run *transcript.Run) []verdict.Run {
	var out []verdict.Run
	for _, p := range Pairs(run) {
		out = append(out, verdict.Run{Revision: string(p.Revision), Transport: p.Transport})
	}
	for _, s := range run.Sessions {
		if s.Negotiated != "" && s.Negotiated != s.Revision && !slices.ContainsFunc(out, func(r verdict.Run) bool {
			return r.Revision == s.Revision && r.Transport == s.Transport
		}) {
			out = append(out, verdict.Run{Revision: s.Revision, Transport: s.Transport, Negotiated: s.Negotiated})
		}
	}
	slices.SortStableFunc(out, func(a, b verdict.Run) int {
		return cmp.Or(strings.Compare(a.Revision, b.Revision), strings.Compare(a.Transport, b.Transport))
	})
	return out
}

type judge struct {
	lib      *script.Library
	run      *transcript.Run
	pair     Pair
	context  *observe.Context
	sessions map[int]*transcript.Session
	unwanted map[*script.Requirement]bool // what the run does not select
	watched  map[string]any               // what watch exchanges see; made once
	reader   observe.Reader
	ended    *bool // endedForSeveral, once it is known
}

// endedForSeveral says whether the server is one process for all sessions, and ended while several exchanges were played: any of them
// may have ended it.
func (j *judge) endedForSeveral() bool {
	if j.ended == nil {
		plays := 0
		if j.run != nil && j.pair.Transport != wire.Stdio && j.pair.Transport != wire.InMemory {
			for _, p := range j.run.Plays {
				if slices.ContainsFunc(p.Events, exited) {
					plays++
				}
			}
		}
		several := plays > 1
		j.ended = &several
	}
	return *j.ended
}

// play finds the exchange's play at the pair, or nil. Of the survey, which is played for clients with other capabilities
// too, it is the one for the client without any.
func (j *judge) play(ex *script.Exchange) *transcript.Play {
	for _, p := range j.run.Plays {
		if p.Exchange == ex.Name && p.Revision == string(j.pair.Revision) && p.Transport == j.pair.Transport &&
			(ex.Survey == "" || j.client(p) == "") {
			return p
		}
	}
	return nil
}

// client is the key of the capabilities that were declared in the play's session.
func (j *judge) client(p *transcript.Play) string {
	if s := j.sessions[p.Session]; s != nil {
		return script.CapabilitiesKey(s.Client)
	}
	return ""
}

// survey draws the context from the survey's plays, as the player did.
func (j *judge) survey() *observe.Context {
	var plays []plan.Surveyed
	for _, p := range j.run.Plays {
		s, ex := j.sessions[p.Session], j.lib.Exchange(p.Exchange)
		if p.Revision != string(j.pair.Revision) || p.Transport != j.pair.Transport || s == nil || p.Problem != "" ||
			ex == nil || ex.Survey == "" {
			continue
		}
		plays = append(plays, plan.Surveyed{Kind: ex.Survey, Client: s.Client, Opening: s.Opening(), Events: p.Events})
	}
	base := observe.Context{Revision: j.pair.Revision, Transport: j.pair.Transport, Reader: &j.reader}
	return plan.Survey(j.lib, base, j.run.Header.Options, plays)
}

// item judges one planned exchange.
func (j *judge) item(item plan.Item) []verdict.Verdict {
	ex := item.Exchange
	requirements := slices.DeleteFunc(plan.InForce(j.lib, ex, j.pair.Revision, j.pair.Transport), func(q *script.Requirement) bool { return j.unwanted[q] })
	if len(requirements) == 0 {
		return nil
	}
	t := newTally(j, ex)
	t.context = item.Context
	switch {
	case item.Status != "":
		for _, q := range requirements {
			t.add(q, outcome{status: item.Status, reason: item.Reason, add: item.Add})
		}
	case ex.Watch:
		if j.watched == nil {
			j.watched = j.reader.Watch(j.pair.Revision, j.stretches())
		}
		t.watch(j.watched)
	default:
		p := j.play(ex)
		switch {
		case p == nil && j.run.Complete && j.run.Header.Options.Select != "":
			return nil
		case p == nil:
			for _, q := range requirements {
				t.add(q, outcome{status: verdict.Error, reason: "it was not played: the run was interrupted"})
			}
		default:
			t.play(p, j.sessions[p.Session])
		}
	}
	return t.verdicts(requirements)
}

// stretches gathers all that happened at the pair, for watch exchanges.
func (j *judge) stretches() []observe.Stretch {
	var out []observe.Stretch
	carried := j.pair.Transport == wire.HTTPSSE
	for _, s := range j.run.Sessions {
		if s.Revision == string(j.pair.Revision) && s.Transport == j.pair.Transport {
			out = append(out, observe.Stretch{Session: s.Number, Of: s.Exchange, As: s.Name, Negotiated: s.Negotiated, Carried: carried, Events: s.Events})
		}
	}
	for _, p := range j.run.Plays {
		if p.Revision != string(j.pair.Revision) || p.Transport != j.pair.Transport {
			continue
		}
		s := observe.Stretch{Name: p.Exchange, Session: p.Session, Carried: carried, Events: p.Events, Malformed: map[int]bool{}}
		if session := j.sessions[p.Session]; session != nil {
			s.Negotiated = session.Negotiated
		}
		if ex := j.lib.Exchange(p.Exchange); ex != nil {
			malformed(ex.Steps, s.Malformed)
		}
		out = append(out, s)
	}
	return out
}

// malformed marks the steps in which the suite itself may break the protocol.
func malformed(steps []*script.Step, into map[int]bool) {
	for _, st := range steps {
		into[st.Number] = st.Malformed || st.Verb == script.Raw || st.Verb == script.HTTP
		malformed(st.Steps, into)
	}
}

// Server is the name and version that the server gave itself in the first handshake that was answered, or "".
func Server(run *transcript.Run) string {
	for _, s := range run.Sessions {
		doc := observe.Step(&script.Step{Verb: script.Request}, s.Opening(), nil)
		info, _ := plan.Server(map[string]any{"handshake": doc})["serverInfo"].(map[string]any)
		if name, ok := info["name"].(string); ok {
			version, _ := info["version"].(string)
			return strings.TrimSpace(name + " " + version)
		}
	}
	return ""
}

// reasonFor puts a play's problem into words.
func reasonFor(p *transcript.Play) string {
	if p.Problem != "" {
		return "the exchange could not be played to its end: " + p.Problem
	}
	return "the exchange ended before this step"
}

func position(p script.Position) string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }
