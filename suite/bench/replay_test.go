package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// mostWait bounds each wait of a replay; one that runs out means that the server did not do what it did before.
const mostWait = 30 * time.Second

// conversation is what one session said and heard, in order.
type conversation []transcript.Event

// tally is what a replay moved.
type tally struct {
	mu       sync.Mutex
	sent     int // bytes of messages and bodies
	received int
	stalls   []string // waits that ran out
}

func (t *tally) add(sent, received int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent += sent
	t.received += received
}

func (t *tally) stall(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stalls = append(t.stalls, fmt.Sprintf(format, args...))
}

// player repeats one conversation and returns when it is over; what remains to be torn down is left to closing.
type player func(c conversation, t *tally, closing *sync.WaitGroup)

// replay repeats the client's bytes of a run: its sessions in the order in which they began, so many side by side. It
// decodes and judges nothing: it waits where the recording shows that something came before the next thing was sent.
func replay(run *transcript.Run, sideBySide int, play player) *tally {
	t := &tally{}
	queue := make(chan conversation)
	var workers, closing sync.WaitGroup
	for range sideBySide {
		workers.Go(func() {
			for c := range queue {
				play(c, t, &closing)
			}
		})
	}
	for _, c := range conversations(run) {
		queue <- c
	}
	close(queue)
	workers.Wait()
	closing.Wait()
	return t
}

// conversations puts each session's opening, plays and ending together again.
func conversations(run *transcript.Run) []conversation {
	type name struct {
		session, play int
		in            string
	}
	all := map[name]conversation{}
	for _, s := range run.Sessions {
		all[name{session: s.Number}] = slices.Clone(s.Events)
	}
	for i, p := range run.Plays {
		for _, e := range p.Events {
			n := name{session: p.Session}
			if e.In != "" {
				n = name{play: i, in: e.In} // its ending stands with a session of its own, and need not be repeated
			}
			all[n] = append(all[n], e)
		}
	}
	var out []conversation
	for _, c := range all {
		slices.SortStableFunc(c, func(a, b transcript.Event) int { return cmp.Compare(a.At, b.At) })
		speaks := func(e transcript.Event) bool {
			return e.Kind == transcript.Send && (e.HTTP == nil || e.HTTP.Method != "DELETE")
		}
		if slices.ContainsFunc(c, speaks) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b conversation) int { return cmp.Compare(a[0].At, b[0].At) })
	return out
}

// isReply tells replies from requests and notifications by their first bytes. Only the number of them is compared.
func isReply(message []byte) bool {
	return !bytes.Contains(message[:min(len(message), 200)], []byte(`"method"`))
}

// isRequest tells requests from notifications by their first and last bytes.
func isRequest(message []byte) bool {
	id := []byte(`"id":`)
	n := min(len(message), 100)
	return !isReply(message) && (bytes.Contains(message[:n], id) || bytes.Contains(message[len(message)-n:], id))
}

// waits is how long the suite waited for what did not come, all sessions together.
func waits(run *transcript.Run) (n int) {
	for _, p := range run.Plays {
		for _, e := range p.Events {
			if e.Kind == transcript.Timeout {
				n++
			}
		}
	}
	return n
}

// counter counts what arrives.
type counter struct {
	mu    sync.Mutex
	n     int
	over  bool
	moved chan struct{}
}

func newCounter() *counter { return &counter{moved: make(chan struct{})} }

func (c *counter) add(n int, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += n
	c.over = c.over || over
	close(c.moved)
	c.moved = make(chan struct{})
}

// await waits until n have arrived or no more can; false when that takes too long.
func (c *counter) await(n int) bool {
	var timer *time.Timer
	for {
		c.mu.Lock()
		ok, moved := c.n >= n || c.over, c.moved
		c.mu.Unlock()
		if ok {
			return true
		}
		if timer == nil {
			timer = time.NewTimer(mostWait)
			defer timer.Stop()
		}
		select {
		case <-moved:
		case <-timer.C:
			return false
		}
	}
}

// short is the beginning of a message, for people.
func short(data []byte) string {
	var o map[string]json.RawMessage
	if json.Unmarshal(data, &o) == nil {
		return fmt.Sprintf("%s %s", o["id"], o["method"])
	}
	return strings.ToValidUTF8(string(data[:min(len(data), 60)]), "?")
}
