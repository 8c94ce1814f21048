package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// outcome is what became of one check.
type outcome struct {
	status   verdict.Status
	reason   string
	add      verdict.Additions
	evidence *verdict.Evidence
}

// tally gathers the outcomes of one exchange's checks: the worst one of each requirement counts.
type tally struct {
	j        *judge
	ex       *script.Exchange
	context  *observe.Context
	by       map[string]outcome
	duration time.Duration
	// unreachable: the session could not be opened for a fault of ours or the network's
	unreachable bool
}

func failed(e transcript.Event) bool { return e.Kind == transcript.Failure }

func exited(e transcript.Event) bool { return e.Kind == transcript.Exit }

func newTally(j *judge, ex *script.Exchange) *tally {
	return &tally{j: j, ex: ex, context: j.context, by: map[string]outcome{}}
}

func (t *tally) add(q *script.Requirement, o outcome) {
	if old, ok := t.by[q.ID]; !ok || o.status.Outweighs(old.status) {
		t.by[q.ID] = o
	}
}

// verdicts gives one verdict for each requirement, in order.
func (t *tally) verdicts(requirements []*script.Requirement) []verdict.Verdict {
	r := t.j.pair.Revision
	var out []verdict.Verdict
	for _, q := range requirements {
		o, ok := t.by[q.ID]
		if !ok {
			o = outcome{status: verdict.Untested, reason: "no step that checks it was reached"}
		}
		v := verdict.Verdict{
			Requirement: q.ID, Exchange: t.ex.Name, Area: q.Area, Level: string(q.LevelAt(r)),
			Revision: string(r), Transport: t.j.pair.Transport, Status: o.status, Reason: o.reason, Add: o.add,
			Text: q.Text, Note: q.Note, Extension: q.Extension, Evidence: o.evidence, Duration: t.duration,
		}
		v.Spec = SpecificationURL(q, r)
		out = append(out, v)
	}
	return out
}

// play judges the checks of a played exchange.
func (t *tally) play(p *transcript.Play, s *transcript.Session) {
	if n := len(p.Events); n > 0 {
		t.duration = p.Events[n-1].At - p.Events[0].At
	}
	var opening []transcript.Event
	var client map[string]any
	if s != nil {
		opening, client = s.Opening(), s.Client
		t.unreachable = slices.ContainsFunc(opening, failed)
	}
	vars := t.context.Vars(client, opening)
	var gone []string // the names of steps that came after the server had ended the conversation
	vars = t.j.reader.Replay(t.ex, vars, p.Events, func(seen observe.Seen) {
		if (seen.Gone || neverReached(seen.Events)) && seen.Step.As != "" {
			gone = append(gone, seen.Step.As)
		}
		for _, c := range seen.Step.Checks {
			if q := t.force(c); q != nil {
				t.add(q, t.step(c, q, seen, p))
			}
		}
	})
	for _, c := range t.ex.Checks {
		if q := t.force(c); q != nil {
			o := t.excuse(t.check(c, q, vars, p.Events), p)
			if (o.status == verdict.Fail || o.status == verdict.Warn) && !c.Survival && speaksOf(c, gone) {
				o = outcome{status: verdict.Untested, reason: "the server had ended the conversation before a step that it is about"}
			}
			t.add(q, o)
		}
	}
}

// speaksOf says whether a check asks for what one of the steps observed.
func speaksOf(c *script.Check, steps []string) bool {
	return slices.ContainsFunc(steps, func(name string) bool {
		return slices.ContainsFunc([]*script.Expr{c.That, c.Each, c.When, c.Given}, func(e *script.Expr) bool { return e != nil && e.Uses(name) })
	})
}

// undone is the outcome of what the play did not come to: an error where the suite or the network was at fault.
func (t *tally) undone(p *transcript.Play) outcome {
	if t.unreachable || slices.ContainsFunc(p.Events, failed) {
		return outcome{status: verdict.Error, reason: reasonFor(p)}
	}
	return outcome{status: verdict.Untested, reason: reasonFor(p)}
}

// endedByAny says whether the process ended during the events, and any of several exchanges may have ended it.
func (t *tally) endedByAny(events []transcript.Event) bool {
	return slices.ContainsFunc(events, exited) && t.j.endedForSeveral()
}

const byWhichCannotBeTold = "the server's process ended while this and other exchanges were under way, and by which cannot be told; --jobs 1 may tell"

// excuse takes back what a check of the exchange as a whole holds against the server, when a step that it may be about
// was not carried out: that was not the server's doing.
func (t *tally) excuse(o outcome, p *transcript.Play) outcome {
	switch o.status {
	case verdict.Fail, verdict.Warn, verdict.Note:
	default:
		return o
	}
	if p.Problem != "" {
		return t.undone(p)
	}
	if t.endedByAny(p.Events) {
		return outcome{status: verdict.Untested, reason: byWhichCannotBeTold}
	}
	for _, e := range p.Events {
		if e.Kind == transcript.Failure {
			return outcome{status: verdict.Error, reason: "the suite could not carry a step out: " + e.Note, evidence: o.evidence}
		}
	}
	if status := busy(p.Events); status != 0 {
		return outcome{status: verdict.Untested, reason: putOff(status)}
	}
	return o
}

// force gives the check's requirement when it is in force here.
func (t *tally) force(c *script.Check) *script.Requirement {
	q := t.j.lib.Requirement(c.Requirement)
	if q == nil || !q.InForce(t.j.pair.Revision) || t.j.unwanted[q] {
		return nil
	}
	return q
}

// step judges a check of one step.
func (t *tally) step(c *script.Check, q *script.Requirement, seen observe.Seen, p *transcript.Play) outcome {
	gone := seen.Gone || neverReached(seen.Events)
	switch {
	case seen.Empty:
		return t.unseen(c, "there was nothing to repeat the step for")
	case seen.Err != nil:
		return outcome{status: verdict.Untested, reason: "an earlier step did not bring what this one needs: " + seen.Err.Error()}
	case seen.Left:
		return outcome{status: verdict.Skip, reason: cmp.Or(c.Reason, fmt.Sprintf("the step does not apply: not %s", seen.Step.When.Source))}
	case seen.Doc == nil:
		return t.undone(p)
	case gone && !c.Survival && q.LevelAt(t.j.pair.Revision) != script.Advice:
		return outcome{status: verdict.Untested, reason: "the server had ended the conversation before this step"}
	}
	if seen.Doc["reply"] == nil && (gone || slices.ContainsFunc(seen.Events, exited)) && t.endedByAny(p.Events) {
		return outcome{status: verdict.Untested, reason: byWhichCannotBeTold}
	}
	if status := busy(seen.Events); status != 0 {
		return outcome{status: verdict.Untested, reason: putOff(status)}
	}
	for _, e := range seen.Events {
		if e.Kind == transcript.Failure {
			return outcome{
				status: verdict.Error, reason: "the suite could not carry the step out: " + e.Note,
				evidence: &verdict.Evidence{Expression: c.That.Source, Position: position(c.Pos), Wire: wireLines(seen.Events)},
			}
		}
	}
	return t.check(c, q, seen.Vars, seen.Events)
}

// neverReached says whether nothing that a step sent could reach the server, because its process had ended.
func neverReached(events []transcript.Event) bool {
	sent := map[int]bool{} // the streams of the step itself: others that it finds open end with the process
	never := false
	for _, e := range events {
		switch {
		case e.Kind == transcript.Send:
			sent[e.Stream] = true
		case e.Kind == transcript.End && sent[e.Stream] && e.Note != transcript.NeverReached:
			return false
		case e.Kind == transcript.End && sent[e.Stream]:
			never = true
		}
	}
	return never
}

// unseen is the outcome of a check that found nothing to judge: for the check's reason, else as told.
func (t *tally) unseen(c *script.Check, told string) outcome {
	return outcome{status: verdict.Untested, reason: cmp.Or(c.Reason, told), add: plan.Additions(t.j.lib, c.Add)}
}

// check judges one check over the variables that it sees.
func (t *tally) check(c *script.Check, q *script.Requirement, vars map[string]any, events []transcript.Event) outcome {
	if c.When != nil {
		if ok, err := c.When.Bool(vars); err != nil || !ok {
			return outcome{status: verdict.Skip, reason: cmp.Or(c.Reason, "does not apply: not "+c.When.Source)}
		}
	}
	if c.Given != nil {
		if ok, err := c.Given.Bool(vars); err != nil || !ok {
			return t.unseen(c, "there was no occasion to judge it: not "+c.Given.Source)
		}
	}
	if c.Each == nil {
		ok, err := c.That.Bool(vars)
		if err == nil && ok {
			return outcome{status: verdict.Pass}
		}
		return t.broken(c, q, vars, events, nil)
	}
	v, err := c.Each.Value(vars)
	items, isList := v.([]any)
	if err != nil || !isList {
		return t.unseen(c, "what it is about was not seen: "+c.Each.Source)
	}
	if len(items) == 0 {
		return t.unseen(c, nothing(c.Each.Source))
	}
	var bad []any
	inner := maps.Clone(vars)
	for _, it := range items {
		inner["it"] = it
		if ok, err := c.That.Bool(inner); err != nil || !ok {
			bad = append(bad, it)
		}
	}
	if len(bad) == 0 {
		return outcome{status: verdict.Pass}
	}
	inner["it"] = bad[0]
	o := t.broken(c, q, inner, events, bad[0])
	o.evidence.Problems = len(bad)
	o.reason = fmt.Sprintf("%d of %d break it: %s", len(bad), len(items), o.reason)
	return o
}

// broken is the outcome of a check that does not hold, with its evidence.
func (t *tally) broken(c *script.Check, q *script.Requirement, vars map[string]any, events []transcript.Event, item any) outcome {
	e := &verdict.Evidence{Expression: c.That.Source, Position: position(c.Pos), Wire: wireLines(events)}
	parts := c.That.Explain(vars)
	absent := map[string]bool{} // what is not there is told once, not of everything around it, too
	for _, part := range parts {
		if part.Absent && !part.Whole && absent[part.Err] {
			continue
		}
		absent[part.Err] = part.Absent
		e.Parts = append(e.Parts, verdict.Part{Source: part.Source, Value: part.Value, Err: part.Err})
	}
	if item != nil {
		e.Item = clip(encode(item), 2000)
		if o, ok := item.(map[string]any); ok && len(events) == 0 {
			e.Wire = itemLines(o)
		}
	}
	status := map[script.Level]verdict.Status{
		script.Must: verdict.Fail, script.MustNot: verdict.Fail, script.Should: verdict.Warn,
		script.ShouldNot: verdict.Warn, script.Advice: verdict.Note,
	}[q.LevelAt(t.j.pair.Revision)]
	return outcome{status: status, reason: because(c.That, vars, parts), evidence: e}
}

// nothing says that there is nothing to judge; a long expression tells people no more.
func nothing(source string) string {
	if len(source) > shortSource {
		return "nothing that it is about was seen"
	}
	return "nothing to judge: " + source + " is empty"
}

// watch judges checks over everything that crossed the wire. Where a run broke off, what belongs together may have come
// apart: nothing is held against the server then.
func (t *tally) watch(everything map[string]any) {
	vars := t.j.context.Vars(nil, nil)
	maps.Copy(vars, everything)
	for _, c := range t.ex.Checks {
		if q := t.force(c); q != nil {
			o := t.check(c, q, vars, nil)
			if o.evidence != nil && !t.j.run.Complete {
				o = outcome{status: verdict.Error, reason: "it cannot be judged: the run was interrupted"}
			}
			t.add(q, o)
		}
	}
}
