package play

import (
	"context"
	"maps"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// pollInterval is how long to wait before a request is made again where the server suggests nothing.
const pollInterval = 100 * time.Millisecond

// poll makes the request again and again, until the step's condition holds, until there is no result, or as long as the step
// may take. Of what is nowhere announced nobody can wait for a message: this alone waits for time to pass, as the server asks.
func (a *actor) poll(ctx context.Context, st *script.Step, s *opened) error {
	for {
		from := len(s.Events())
		if err := a.request(ctx, st, s); err != nil {
			return err
		}
		seen := observe.Step(st, s.Events()[from:], nil)
		result, ok := seen["result"].(map[string]any)
		if !ok {
			return nil
		}
		vars := maps.Clone(a.vars)
		maps.Copy(vars, seen)
		if done, err := st.Poll.Bool(vars); err == nil && done {
			return nil
		}
		wait := time.NewTimer(suggested(result))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil // every request was answered: no wait for the server ran out
		}
	}
}

// suggested is how long the server wants to be left alone.
func suggested(result map[string]any) time.Duration {
	millis := 0.0
	switch v := result["pollIntervalMs"].(type) {
	case int64:
		millis = float64(v)
	case float64:
		millis = v
	}
	if millis <= 0 {
		return pollInterval
	}
	return time.Duration(min(millis, float64(time.Hour.Milliseconds())) * float64(time.Millisecond))
}
