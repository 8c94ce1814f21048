package judge

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// busy is the status, 429 or 503, with which the server put a request off instead of answering it, or 0. It tells what was going
// on at the time and nothing of what was asked, so that it neither breaks a rule nor keeps one. A reply with an id as its body
// is an answer like any other.
func busy(events []transcript.Event) int {
	for i, e := range events {
		if e.Kind != transcript.Answer || e.HTTP == nil || e.HTTP.Status != http.StatusTooManyRequests && e.HTTP.Status != http.StatusServiceUnavailable {
			continue
		}
		if !slices.ContainsFunc(events[i:], func(r transcript.Event) bool {
			return r.Kind == transcript.Receive && r.Stream == e.Stream && r.In == e.In && wire.Read(r.Data).IsReply()
		}) {
			return e.HTTP.Status
		}
	}
	return 0
}

// putOff puts into words that the server was busy.
func putOff(status int) string {
	return fmt.Sprintf("the server put a request off (HTTP status %d); with --jobs 1 fewer come at the same time", status)
}
