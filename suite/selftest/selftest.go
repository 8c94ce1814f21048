// Package selftest proves that the suite can tell right from wrong: it runs it on the reference server, as it is
// and with each fault, and compares what broke with what the fault says it breaks. It is the only room that knows
// both the suite and the reference server.
package selftest

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/auth"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Config of a matrix.
type Config struct {
	Library    *script.Library
	Faults     []sabotage.Fault
	Transports []string // stdio, streamable-http, http+sse and Protected
	// Stdio gives the command line of the reference server with the faults, over stdio.
	Stdio   func(faults ...string) []string
	Jobs    int           // faults tried side by side; 0: five a processor, since most of it is waiting
	Timeout time.Duration // of each wait; 0: 10 s
	Full    bool          // judge everything with every fault at every revision over every transport
	Part    int           // with Of above 1: only part Part, from 1, of the faults in Of parts
	Of      int
	Done    func(Cell) // told of each cell, one at a time, in no order

	issuer string // of the tokens for the place Protected
	tokens map[string]string
}

// Protected is the place where the reference server asks for authorization over Streamable HTTP: what is about that is judged
// there, and only there.
const Protected = transport.StreamableHTTP + "+auth"

// Cell is what one fault (or none) did at one revision over one transport.
type Cell struct {
	Fault      string // "": without a fault
	Revision   string
	Transport  string
	Killed     []string // requirements that broke as the fault says
	Missing    []string // requirements that the fault says it breaks, and that did not break, with what became of them
	Collateral []string // requirements that broke although the fault does not say so, with the reason
	Untested   []string // without a fault: requirements that the reference server gave no way to exercise
	Problem    string   // why the run could not be made
	Retried    string   // what went wrong at the first try, among others, where it is not the same; this is the second, alone
}

// OK says whether the cell is as it should be.
func (c Cell) OK() bool {
	return c.Problem == "" && len(c.Missing) == 0 && len(c.Collateral) == 0 && len(c.Untested) == 0
}

// wrongs is all that is not as it should be.
func (c Cell) wrongs() string {
	return strings.TrimPrefix(strings.Join(slices.Concat([]string{c.Problem}, c.Missing, c.Collateral, c.Untested), "; "), "; ")
}

// Result is the whole matrix.
type Result struct {
	Cells    []Cell
	Untried  []string // faults that ran nowhere, although what they break is in force somewhere: no exchange judges it
	Unkilled []string // ids of requirements that an exchange judges and that no fault kills at any revision over any transport
}

// OK says whether every cell is, and every requirement has a fault that kills it.
func (r Result) OK() bool {
	return len(r.Unkilled) == 0 && len(r.Untried) == 0 && !wrong(r.Cells)
}

// Matrix runs the suite without a fault and with each, over each transport, at every covered revision, many side by
// side. What goes wrong there is tried once more, alone, and that counts. It stops early when ctx ends. An error means that the faults do not fit the catalogue.
func Matrix(ctx context.Context, cfg Config) (Result, error) {
	if err := check(cfg); err != nil {
		return Result{}, err
	}
	if cfg.Jobs <= 0 {
		cfg.Jobs = 5 * runtime.GOMAXPROCS(0)
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	if slices.Contains(cfg.Transports, Protected) {
		server, err := auth.Start("")
		if err != nil {
			return Result{}, err
		}
		defer server.Close()
		cfg.issuer = server.Issuer()
		if cfg.tokens, err = server.Tokens(audience, auth.DefaultScope); err != nil {
			return Result{}, err
		}
	}
	type task struct {
		fault     *sabotage.Fault
		transport string
		depth     depth
	}
	var tasks []task
	for _, t := range append(slices.Clone(cfg.Transports), transport.InMemory) {
		tasks = append(tasks, task{nil, t, whole})
	}
	var untried []string
	for i := range cfg.Faults {
		if cfg.Of > 1 && i%cfg.Of != cfg.Part-1 {
			continue
		}
		f, tried := &cfg.Faults[i], false
		shown := map[string]bool{} // what it breaks somewhere already
		for _, t := range cfg.Transports {
			want := expectations(cfg, f, t)
			if len(want) == 0 {
				continue
			}
			// Whether it breaks anything else is seen where everything is judged: over the first transport, and
			// unless all is asked for only at the newest revision.
			d := brief
			switch more := adds(shown, slices.Concat(slices.Collect(maps.Values(want))...)...); {
			case cfg.Full, !tried:
				d = whole
			case more:
				d = ends
			case t == transport.HTTPSSE:
				continue
			}
			tasks = append(tasks, task{f, cheapest(cfg, f, t, want), d})
			tried = true
		}
		if !tried && inForce(cfg, f) {
			untried = append(untried, fmt.Sprintf("%s: the fault %s was tried nowhere: no exchange judges %s where it applies", f.Pos, f.Name, strings.Join(f.Breaks, " or ")))
		}
	}
	results := make([][]Cell, len(tasks))
	queue := make(chan int)
	var mu sync.Mutex
	var again []int // tasks that went wrong among others: a machine that is too busy loses waits, and messages that nobody awaits
	tell := func(cells []Cell) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range cells {
			if cfg.Done != nil {
				cfg.Done(c)
			}
		}
	}
	var workers sync.WaitGroup
	for range cfg.Jobs {
		workers.Go(func() {
			for i := range queue {
				results[i] = try(ctx, cfg, tasks[i].fault, tasks[i].transport, tasks[i].depth)
				if wrong(results[i]) {
					mu.Lock()
					again = append(again, i)
					mu.Unlock()
					continue
				}
				tell(results[i])
			}
		})
	}
	for i := range tasks {
		if ctx.Err() != nil {
			break
		}
		queue <- i
	}
	close(queue)
	workers.Wait()
	for _, i := range again {
		first := results[i]
		results[i] = try(ctx, cfg, tasks[i].fault, tasks[i].transport, tasks[i].depth)
		retried(results[i], first)
		tell(results[i])
	}
	r := Result{Cells: slices.Concat(results...), Untried: untried}
	r.Unkilled = unkilled(cfg, r.Cells)
	return r, ctx.Err()
}

// depth is how much of a fault is tried over a transport.
type depth int

const (
	brief depth = iota // what it breaks, at the newest revision
	ends               // what it breaks, at the ends of its window
	whole              // the same, and everything at the newest
)

// adds notes the requirements that are expected to break, and says whether one of them is new.
func adds(shown map[string]bool, ids ...string) bool {
	found := false
	for _, id := range ids {
		found = found || !shown[id]
		shown[id] = true
	}
	return found
}

// retried notes in the cells of a second try what else was wrong with them at the first.
func retried(second, first []Cell) {
	for i := range second {
		for _, c := range first {
			if c.Revision == second[i].Revision && !c.OK() && c.wrongs() != second[i].wrongs() {
				second[i].Retried = c.wrongs()
			}
		}
	}
}

func wrong(cells []Cell) bool {
	return slices.ContainsFunc(cells, func(c Cell) bool { return !c.OK() })
}

// inForce says whether something that the fault breaks is in force at a covered revision at which the fault applies.
func inForce(cfg Config, f *sabotage.Fault) bool {
	for _, r := range script.Revisions {
		for _, id := range f.Breaks {
			if f.AppliesTo("", string(r)) && cfg.Library.Requirement(id).InForce(r) {
				return true
			}
		}
	}
	return false
}

// check finds faults that name unknown requirements.
func check(cfg Config) error {
	var wrong []string
	for _, f := range cfg.Faults {
		for _, id := range f.Breaks {
			if cfg.Library.Requirement(id) == nil {
				wrong = append(wrong, fmt.Sprintf("%s: fault %s breaks the requirement %s, which does not exist", f.Pos, f.Name, id))
			}
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// judged lists the requirements that exchanges judge at a revision over a transport.
func judged(lib *script.Library, r script.Revision, place string) []string {
	var out []string
	for _, ex := range lib.Exchanges {
		if !concerns(lib, ex, r, place) {
			continue
		}
		for _, q := range plan.InForce(lib, ex, r, spoken(place)) {
			if !slices.Contains(out, q.ID) {
				out = append(out, q.ID)
			}
		}
	}
	return out
}

// concerns says whether the exchange is judged at the place: those that need authorization where it is asked for, the others
// elsewhere.
func concerns(lib *script.Library, ex *script.Exchange, r script.Revision, place string) bool {
	return slices.Contains(ex.Needs, script.Authorization) == (place == Protected) && plan.Concerns(lib, ex, r, spoken(place))
}

// spoken is the transport of a place.
func spoken(place string) string {
	if place == Protected {
		return transport.StreamableHTTP
	}
	return place
}

// aboutAuthorization selects what is judged at the place Protected.
const aboutAuthorization = "basic.authorization"

// audience is whom the tokens for the place Protected are for.
const audience = "https://reference.litmus.example"

// expectations are the requirements that the fault breaks, by covered revision; revisions without any are left out. A
// fault that says it breaks nothing is a peculiarity that must not alarm anybody: it is expected to at every revision.
func expectations(cfg Config, f *sabotage.Fault, transport string) map[script.Revision][]string {
	out := map[script.Revision][]string{}
	for _, r := range script.Revisions {
		if !r.Over(transport) || f != nil && (!f.AppliesTo(edge(transport), string(r)) || transport == Protected && len(f.Breaks) == 0) {
			continue
		}
		all := judged(cfg.Library, r, transport)
		var want []string
		if f != nil {
			for _, id := range f.Breaks {
				if slices.Contains(all, id) {
					want = append(want, id)
				}
			}
			if len(want) == 0 && len(f.Breaks) > 0 {
				continue
			}
		}
		out[r] = want
	}
	return out
}

// edge names the transport as faults know it: what runs in memory are the lines of stdio.
func edge(name string) string {
	if name == transport.InMemory {
		return transport.Stdio
	}
	return spoken(name)
}

// cheapest spares the processes of stdio where lines in memory show the same requirements broken.
func cheapest(cfg Config, f *sabotage.Fault, name string, want map[script.Revision][]string) string {
	if len(f.Breaks) == 0 { // all that is judged over the transport must stay quiet
		return name
	}
	if name != transport.Stdio || !maps.EqualFunc(want, expectations(cfg, f, transport.InMemory), slices.Equal) {
		return name
	}
	return transport.InMemory
}

// target is the reference server with a fault.
func target(cfg Config, f *sabotage.Fault, name string) suite.Target {
	var names []string
	var faults []sabotage.Fault
	if f != nil {
		names, faults = []string{f.Name}, []sabotage.Fault{*f}
	}
	switch name {
	case transport.Stdio:
		return suite.Command(cfg.Stdio(names...)...)
	case transport.InMemory:
		return suite.Pipe(servePipe(faults))
	case transport.HTTPSSE:
		return suite.SSEHandler(SSEHandler(faults))
	case Protected:
		return suite.Handler(ProtectedHandler(faults, reference.Authorization{Issuer: cfg.issuer, Audience: audience, Scope: auth.DefaultScope}))
	}
	return suite.Handler(Handler(faults))
}

// try runs the suite with one fault over one transport: at revisions at which the fault breaks something. With whole,
// everything is judged at the newest of them (with cfg.Full, or without a fault, at all); what the fault breaks is judged at
// the oldest, too, and at the newest of each era: there windows end that end too early or too late. What is seen only where
// everything is played is tried at these only if it has ended before the newest.
func try(ctx context.Context, cfg Config, f *sabotage.Fault, name string, d depth) []Cell {
	want := expectations(cfg, f, name)
	var all, part []string
	tried := map[string]bool{} // requirements
	asked := slices.DeleteFunc(slices.Clone(script.Revisions), func(r script.Revision) bool { _, ok := want[r]; return !ok })
	for i, r := range slices.Backward(asked) {
		newest := i == len(asked)-1 || asked[i+1].Era() != r.Era()
		if f != nil && !cfg.Full && (i > 0 && !newest || d == brief && i < len(asked)-1) {
			continue
		}
		more := adds(tried, want[r]...)
		switch ambient := f != nil && ambient(cfg, want[r], r, name); {
		case f == nil, cfg.Full, (d == whole || ambient && d == ends) && len(all) == 0, ambient && d != brief && more:
			all = append(all, string(r))
		case len(want[r]) > 0 && !ambient:
			part = append(part, string(r))
		}
	}
	var cells []Cell
	run := func(revisions []string, opts ...suite.Option) {
		if len(revisions) == 0 {
			return
		}
		opts = append(opts, suite.Revisions(revisions...), suite.Timeout(cfg.Timeout), suite.Jobs(2))
		if name == Protected {
			for kind, token := range cfg.tokens {
				opts = append(opts, suite.Token(kind, token))
			}
		}
		o, err := suite.Run(ctx, target(cfg, f, name), opts...)
		for _, r := range revisions {
			cells = append(cells, cell(f, name, r, o, err, want[script.Revision(r)]))
		}
	}
	if name == Protected {
		run(all, suite.Select(aboutAuthorization))
	} else {
		run(all)
	}
	if f != nil {
		run(part, suite.Select(strings.Join(f.Breaks, " || ")))
	}
	return cells
}

// ambient says whether some of the requirements are judged by a watch exchange, which sees little unless everything is
// played: these are tried at the newest revision alone, where that is done anyway.
func ambient(cfg Config, ids []string, r script.Revision, place string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		return slices.ContainsFunc(cfg.Library.Exchanges, func(ex *script.Exchange) bool {
			return ex.Watch && concerns(cfg.Library, ex, r, place) && slices.ContainsFunc(
				plan.InForce(cfg.Library, ex, r, spoken(place)), func(q *script.Requirement) bool { return q.ID == id })
		})
	})
}

// cell is what the run did at one revision.
func cell(f *sabotage.Fault, name, revision string, o *suite.Outcome, err error, want []string) Cell {
	c := Cell{Revision: revision, Transport: name}
	if f != nil {
		c.Fault = f.Name
	}
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	c.fill(o.Report, want)
	if f != nil && len(c.Missing) > 0 && name != transport.Stdio && f.Fired() == 0 && len(f.Flags) == 0 {
		c.Missing = append(c.Missing, "(the fault never struck: its condition never held)")
	}
	return c
}

func (c *Cell) fill(report *verdict.Report, want []string) {
	broken := map[string]bool{}
	for _, v := range report.Verdicts {
		if v.Revision != c.Revision {
			continue
		}
		switch v.Status {
		case verdict.Fail, verdict.Warn, verdict.Note:
			broken[v.Requirement] = true
			if !slices.Contains(want, v.Requirement) {
				c.Collateral = append(c.Collateral, fmt.Sprintf("%s in %q: %s: %s", v.Requirement, v.Exchange, v.Status, v.Reason))
			}
		case verdict.Error:
			c.Collateral = append(c.Collateral, fmt.Sprintf("%s in %q: error: %s", v.Requirement, v.Exchange, v.Reason))
		case verdict.Untested:
			if c.Fault == "" {
				c.Untested = append(c.Untested, fmt.Sprintf("%s in %q: %s", v.Requirement, v.Exchange, v.Reason))
			}
		}
	}
	for _, id := range want {
		if broken[id] {
			c.Killed = append(c.Killed, id)
		} else {
			c.Missing = append(c.Missing, id+" ("+c.became(report, id)+")")
		}
	}
	if c.Fault == "" && len(report.Problems) > 0 {
		c.Problem = strings.Join(report.Problems, "; ")
	}
}

// became says what became of a requirement that did not break: its verdicts in each exchange.
func (c *Cell) became(report *verdict.Report, id string) string {
	var out []string
	for _, v := range report.Verdicts {
		if v.Requirement != id || v.Revision != c.Revision {
			continue
		}
		text := fmt.Sprintf("%s in %q", v.Status, v.Exchange)
		if v.Reason != "" {
			text += ": " + v.Reason
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "not judged"
	}
	return strings.Join(out, "; ")
}

// unkilled lists the requirements that some exchange judges and no fault kills. One that is killed at one revision over
// one transport in one exchange counts as killed. Of a part of the faults it can only be said whether a fault names them.
func unkilled(cfg Config, cells []Cell) []string {
	killed := map[string]bool{}
	for _, c := range cells {
		for _, id := range c.Killed {
			killed[id] = true
		}
	}
	if cfg.Of > 1 {
		for _, f := range cfg.Faults {
			for _, id := range f.Breaks {
				killed[id] = true
			}
		}
	}
	var out []string
	for _, t := range cfg.Transports {
		for _, r := range script.Revisions {
			for _, id := range judged(cfg.Library, r, t) {
				if !killed[id] && !slices.Contains(out, id) {
					out = append(out, id)
				}
			}
		}
	}
	return out
}
