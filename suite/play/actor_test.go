package play

import (
	"context"
	"errors"
	"testing"
)

func TestTheTimeOfAStepRunsFromItsFirstMessageOn(t *testing.T) {
	ctx, begin, cancel := lateDeadline(t.Context(), 0)
	defer cancel()
	if err := ctx.Err(); err != nil {
		t.Errorf("over before it began: %v", err)
	}
	begin()
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
		t.Errorf("over because of %v", cause)
	}

	parent, interrupt := context.WithCancel(t.Context())
	ctx, _, cancel = lateDeadline(parent, 0)
	defer cancel()
	interrupt()
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		t.Errorf("interrupted because of %v", cause)
	}
}
