// Package suite runs the conformance suite against an MCP server: from a plain go test (Test), inside a Ginkgo
// suite (Describe), or from any program (Run). All three, and the command line, are the same run underneath.
//
//	func TestMyServer(t *testing.T) {
//		suite.Test(t, suite.Command("node", "server.js"))
//	}
package suite

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/fixtures"
	"github.com/mcp-litmus/mcp-litmus/suite/auth"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/judge"
	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/play"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/trace"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Version is the version of the suite, as reports and transcripts name it.
//
// Releases set it when they are linked.
var Version = "0.1.0-dev"

// Target is the server under test and how to reach it.
type Target = transport.Target

// Command is a server that is started as a child process and talks over stdio.
func Command(argv ...string) Target { return transport.Command(argv, transport.CommandOptions{}) }

// URL is a server that runs already and talks Streamable HTTP, or, where it does not take an initialize request, HTTP+SSE.
// The error is about the URL.
func URL(endpoint string) (Target, error) { return transport.URL(endpoint, transport.URLOptions{}) }

// SSE is a server that runs already and talks HTTP+SSE, the transport of 2024-11-05; endpoint is where its stream is opened. The
// error is about the URL.
func SSE(endpoint string) (Target, error) {
	return transport.URL(endpoint, transport.URLOptions{Transport: transport.HTTPSSE})
}

// Handler is an HTTP handler in this process, the MCP endpoint of Streamable HTTP, served on a loopback port during the run.
func Handler(h http.Handler) Target { return transport.Handler(h) }

// SSEHandler is an HTTP handler in this process that talks HTTP+SSE, served on a loopback port during the run: the stream is
// opened at /, and messages are posted to where its endpoint event says.
func SSEHandler(h http.Handler) Target { return transport.SSEHandler(h) }

// Pipe is a server in this process that reads lines from in and writes lines to out until in ends.
func Pipe(serve func(ctx context.Context, in io.Reader, out io.Writer) error) Target {
	return transport.Pipe(serve)
}

type settings struct {
	options   transcript.Options
	exchanges []fs.FS
	secrets   []string
	hidden    []string // names of headers
	jobs      int
	opening   time.Duration
	strict    bool
	planned   func(int)
	played    func(...verdict.Verdict)
	wire      func(int, transcript.Event)
	library   *script.Library
	checks    []func(*script.Library) error // of options, once the library is there
	baseline  config.Baseline
}

// Option changes how a run is done.
type Option func(*settings)

// Revisions are the protocol revisions to judge at; by default all that the server speaks.
func Revisions(revisions ...string) Option {
	return func(s *settings) { s.options.Revisions = revisions }
}

// Select narrows the run by a label filter in Ginkgo's language, such as "tools && MUST".
func Select(filter string) Option { return func(s *settings) { s.options.Select = filter } }

// Shard narrows the run to one part of several, such as "1/3": mcp-litmus merge, or verdict.Merge, joins their reports.
func Shard(shard string) Option { return func(s *settings) { s.options.Shard = shard } }

// CallTools says which tools may be called: "safe" (the default: annotated read-only, allowed or well known),
// "all" or "none".
func CallTools(policy string) Option { return func(s *settings) { s.options.CallTools = policy } }

// Role says which tool, prompt or resource of the server plays a part in exchanges.
func Role(name string, role transcript.Role) Option {
	return func(s *settings) {
		if s.options.Roles == nil {
			s.options.Roles = map[string]transcript.Role{}
		}
		s.options.Roles[name] = role
	}
}

// Allow names a tool that may be called with these arguments.
func Allow(tool string, arguments map[string]any) Option {
	return func(s *settings) {
		s.options.Allow = append(s.options.Allow, transcript.Role{Name: tool, Arguments: arguments})
	}
}

// Timeout bounds each wait for the server; 10 s by default.
func Timeout(d time.Duration) Option { return func(s *settings) { s.options.Timeout = d } }

// StartTimeout bounds a handshake, a cold start of the server included; 30 s by default.
func StartTimeout(d time.Duration) Option { return func(s *settings) { s.opening = d } }

// Jobs is how many exchanges are played side by side; 4 by default. Unless it is 1, those that mostly wait for a slow tool are
// played beside them.
func Jobs(n int) Option { return func(s *settings) { s.jobs = n } }

// Strict makes a broken SHOULD count as a failure.
func Strict() Option { return func(s *settings) { s.strict = true } }

// Baseline names the failures that are known and reviewed: config.LoadBaseline reads them from a file. They count no more, and an entry
// that is out of date fails (see Report.Baseline). Of several options the last one counts.
func Baseline(b config.Baseline) Option { return func(s *settings) { s.baseline = b } }

// Narrowed says that less is asked for, with Select or Revisions, than what the baseline is about: that nothing fails of what an entry
// covers does not make it out of date then.
func Narrowed() Option { return func(s *settings) { s.options.Narrowed = true } }

// Exchanges adds exchanges (and requirements) of one's own from YAML files.
func Exchanges(fsys fs.FS) Option {
	return func(s *settings) { s.exchanges = append(s.exchanges, fsys) }
}

// Secrets are values that must not appear in transcripts and reports.
func Secrets(values ...string) Option {
	return func(s *settings) { s.secrets = append(s.secrets, values...) }
}

// Token gives a token for a server that asks for authorization, by its kind: "valid" is sent with every request, as
// Authorization: Bearer, unless the target was made with that header; the others ("expired", "foreign-audience",
// "insufficient-scope", ...: see package auth) are what the server must refuse. Tokens appear in no transcript or report.
func Token(kind, token string) Option {
	return func(s *settings) {
		if s.options.Tokens == nil {
			s.options.Tokens = map[string]string{}
		}
		s.options.Tokens[kind] = token
	}
}

// SecretHeaders names HTTP headers whose values must not appear in transcripts and reports, however short they are.
// Authorization, cookies and headers whose names speak of keys, tokens or passwords are among them already.
func SecretHeaders(names ...string) Option {
	return func(s *settings) { s.hidden = append(s.hidden, names...) }
}

// Progress is told how many exchanges will be played, and of each that was, as it ends, with its verdicts. These have no Reason and
// no Evidence: both may quote the server, and secrets are redacted only once all of the run is there.
func Progress(planned func(n int), played func(verdicts ...verdict.Verdict)) Option {
	return func(s *settings) { s.planned, s.played = planned, played }
}

// Wire is told of everything that crosses the wire, as it does, secrets redacted: package trace writes it for people. conversation
// counts the sessions from 1. It is called from several goroutines.
func Wire(told func(conversation int, e transcript.Event)) Option {
	return func(s *settings) { s.wire = told }
}

// Outcome is what a run gives.
type Outcome struct {
	Report     *verdict.Report
	Transcript *transcript.Run // the evidence, secrets redacted; judging it again gives the same verdicts
	Strict     bool
	Stale      string // judged again with another catalogue than the run was made with: which; else ""
	undriven   bool
}

// Undriven says whether no revision could be driven: what was judged is only that the server could not be. One that asks for
// authorization and refuses to be driven without is judged on that.
func (o *Outcome) Undriven() bool {
	return o.undriven
}

// Conforms says whether the server meets what was judged.
func (o *Outcome) Conforms() bool { return o.Report.Conforms(o.Strict) }

func gather(opts []Option) (*settings, error) {
	s := &settings{}
	s.options.CallTools = "safe"
	for _, o := range opts {
		o(s)
	}
	switch s.options.CallTools {
	case "safe", "all", "none":
	default:
		return nil, fmt.Errorf("which tools may be called is %q; it must be safe, all or none", s.options.CallTools)
	}
	for _, name := range s.options.Revisions {
		if _, err := script.ParseRevision(name); err != nil {
			return nil, err
		}
	}
	for kind := range s.options.Tokens {
		if !slices.Contains(auth.Kinds(), kind) {
			return nil, fmt.Errorf("there is no kind of token %q; the kinds are %s", kind, strings.Join(auth.Kinds(), ", "))
		}
	}
	if _, err := plan.Select(s.options.Select); err != nil {
		return nil, err
	}
	if _, err := plan.Shard(&script.Library{}, s.options.Shard); err != nil {
		return nil, err
	}
	var err error
	if len(s.exchanges) == 0 {
		s.library, err = script.Default()
	} else {
		s.library, err = script.Load(fixtures.FS, s.exchanges...)
	}
	if err != nil {
		return nil, err
	}
	for _, check := range s.checks {
		if err := check(s.library); err != nil {
			return nil, err
		}
	}
	for name := range s.options.Roles {
		if s.library.Role(name) == nil {
			return nil, fmt.Errorf("there is no role %q; `mcp-litmus list --roles` lists them", name)
		}
	}
	return s, nil
}

// revisions are those asked for, or all.
func (s *settings) revisions() []script.Revision {
	if len(s.options.Revisions) == 0 {
		return script.Revisions
	}
	var out []script.Revision
	for _, r := range s.options.Revisions {
		out = append(out, script.Revision(r))
	}
	return out
}

// Run runs the suite against the target. An error means that the options or files are wrong; whatever the server
// does, even not to start at all, is told by the report (see its Problems and Complete).
func Run(ctx context.Context, target Target, opts ...Option) (*Outcome, error) {
	s, err := prepare(target, opts)
	if err != nil {
		return nil, err
	}
	if s.wire != nil {
		redactor := s.redactor()
		target = trace.Target(target, func(conversation int, e transcript.Event) { s.wire(conversation, redactor.Event(e)) })
	}
	wanted, _ := plan.Select(s.options.Select)
	if err := plan.Nothing(s.library, s.options.Select, s.revisions(), target.Transport(), wanted); err != nil {
		return nil, err
	}
	ours, _ := plan.Shard(s.library, s.options.Shard)
	started := time.Now()
	run, problems := play.Run(ctx, play.Config{
		Library: s.library, Target: target, Options: s.options, Jobs: s.jobs, Opening: s.opening,
		Planned: s.planned, Played: s.judgePlay(),
		Select: func(ex *script.Exchange, r script.Revision) bool {
			if !ours(ex) {
				return false
			}
			for _, q := range plan.InForce(s.library, ex, r, target.Transport()) {
				if wanted(plan.Labels(q, r, target.Transport())) {
					return true
				}
			}
			return false
		},
	})
	if s.options.Timeout == 0 {
		s.options.Timeout = play.DefaultTimeout
	}
	run.Header = transcript.Header{
		Format: transcript.FormatName, Suite: Version, Catalogue: s.library.Digest, Started: started.UTC(),
		Target: target.String(), Options: s.options, Problems: problems, Duration: time.Since(started),
	}
	return conclude(s, s.redactor().Run(run))
}

// judgePlay tells of the verdicts of one play, when someone wants to know. The play is not redacted yet, so what quotes the server
// is left out.
func (s *settings) judgePlay() func(*observe.Context, *transcript.Play, *transcript.Session) {
	if s.played == nil {
		return nil
	}
	return func(c *observe.Context, p *transcript.Play, session *transcript.Session) {
		if s.library.Exchange(p.Exchange).Survey != "" {
			return
		}
		verdicts := judge.Play(s.library, c, p, session)
		for i := range verdicts {
			verdicts[i].Reason, verdicts[i].Evidence = "", nil
		}
		s.played(verdicts...)
	}
}

// Judge judges a recorded run again. The options that the run was made with are in the transcript; of opts, only
// Exchanges, Strict and Baseline matter.
func Judge(r io.Reader, opts ...Option) (*Outcome, error) {
	s, err := gather(opts)
	if err != nil {
		return nil, err
	}
	run, err := transcript.Read(r)
	if err != nil {
		return nil, err
	}
	out, err := conclude(s, run)
	if err == nil && run.Header.Catalogue != s.library.Digest {
		out.Stale = fmt.Sprintf("the run was made with catalogue %.12s by version %s, and is judged with catalogue %.12s", run.Header.Catalogue, run.Header.Suite, s.library.Digest)
	}
	return out, err
}

func conclude(s *settings, run *transcript.Run) (*Outcome, error) {
	verdicts, err := judge.Run(s.library, run)
	if err != nil {
		return nil, err
	}
	h := run.Header
	report := &verdict.Report{
		Suite: h.Suite, Catalogue: h.Catalogue, Target: h.Target, Server: judge.Server(run), Started: h.Started,
		Duration: h.Duration, Complete: run.Complete, Problems: h.Problems, Verdicts: verdicts, Select: h.Options.Select, Shard: h.Options.Shard,
		Runs: judge.Runs(run),
	}
	report.Narrowed = h.Options.Narrowed && len(s.baseline) > 0
	s.baseline.Apply(report)
	driven := slices.ContainsFunc(run.Plays, func(p *transcript.Play) bool {
		ex := s.library.Exchange(p.Exchange)
		return ex != nil && (ex.Survey == script.Offer || ex.Survey == script.Guard)
	})
	return &Outcome{Report: report, Transcript: run, Strict: s.strict, undriven: !driven}, nil
}
