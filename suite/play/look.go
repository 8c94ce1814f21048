package play

import (
	"context"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
)

// Survey only looks at the target: what it offers at each revision that it speaks, oldest first, and what the tools do that
// may be called. Problems are as with Run; without any context they say why nothing could be seen.
func Survey(ctx context.Context, cfg Config) (contexts []*observe.Context, problems []string) {
	p := newPlayer(cfg)
	if err := cfg.Target.Start(ctx); err != nil {
		return nil, []string{err.Error()}
	}
	defer cfg.Target.Stop()
	for _, c := range p.survey(ctx) {
		if c.Server != nil { // else no session could be had
			contexts = append(contexts, c)
		}
	}
	p.closeShared()
	p.closing.Wait()
	return contexts, p.problems
}
