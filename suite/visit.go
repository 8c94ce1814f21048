package suite

import (
	"context"
	"fmt"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/play"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/tour"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// Surveyed is what a look at a server shows.
type Surveyed struct {
	Library  *script.Library
	Options  transcript.Options
	Contexts []*observe.Context // one for each revision that the server speaks, oldest first
	Problems []string
}

// Survey looks at the target without judging it: what it offers at each revision, which tools may be called and what they
// do, who plays which role. The error says that the options are wrong or that no session could be had.
func Survey(ctx context.Context, target Target, opts ...Option) (*Surveyed, error) {
	s, err := prepare(target, opts)
	if err != nil {
		return nil, err
	}
	out := &Surveyed{Library: s.library, Options: s.options}
	out.Contexts, out.Problems = play.Survey(ctx, play.Config{
		Library: s.library, Target: target, Options: s.options, Jobs: s.jobs, Opening: s.opening,
	})
	redactor := s.redactor()
	for i, p := range out.Problems {
		out.Problems[i] = redactor.Text(p)
	}
	switch {
	case len(out.Contexts) > 0:
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(out.Problems) > 0:
		return nil, fmt.Errorf("the server could not be surveyed: %s", out.Problems[0])
	}
	return nil, fmt.Errorf("the server could not be surveyed: no session could be had")
}

// Tour walks the target through the conversation that every client has with it, at the first of the revisions that
// opts name, else at the newest, and tells of each message what it is (see package tour). Events are redacted. The error says that
// the options are wrong, that no session could be had, or how the tour ended early.
func Tour(ctx context.Context, target Target, tell func(tour.Entry), opts ...Option) error {
	s, err := prepare(target, opts)
	if err != nil {
		return err
	}
	var revision script.Revision
	if asked := s.options.Revisions; len(asked) > 0 {
		revision, s.options.Revisions = script.Revision(asked[0]), nil
	}
	redactor := s.redactor()
	err = tour.Walk(ctx, tour.Config{
		Library: s.library, Target: target, Options: s.options, Revision: revision, Opening: s.opening,
		Tell: func(e tour.Entry) {
			if e.Event != nil {
				event := redactor.Event(*e.Event)
				e.Event = &event
			}
			e.Says = redactor.Text(e.Says)
			tell(e)
		},
	})
	if err != nil {
		return redactedError{redactor.Text(err.Error()), err}
	}
	return nil
}

// redactedError is an error whose text shows no secrets.
type redactedError struct {
	text string
	err  error
}

func (e redactedError) Error() string { return e.text }
func (e redactedError) Unwrap() error { return e.err }

// prepare gathers the options and hands the target the token that they hold.
func prepare(target Target, opts []Option) (*settings, error) {
	s, err := gather(opts)
	if err != nil {
		return nil, err
	}
	s.options.Loopback = target.Loopback()
	if t, ok := target.(transport.Authorizer); ok && s.options.Tokens[transcript.ValidToken] != "" {
		t.Authorize("Bearer " + s.options.Tokens[transcript.ValidToken])
	}
	return s, nil
}

func (s *settings) redactor() *transcript.Redactor {
	return transcript.NewRedactor(s.secrets...).Headers(s.hidden...)
}
