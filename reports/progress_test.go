package reports

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// clocked is a progress display on a buffer, with a clock that the test moves.
func clocked(live bool, every time.Duration) (*Progress, *bytes.Buffer, *time.Time) {
	out, now := &bytes.Buffer{}, time.Unix(0, 0)
	return &Progress{out: out, live: live, every: every, width: func() int { return 60 }, now: func() time.Time { return now }}, out, &now
}

func TestProgressInALog(t *testing.T) {
	g := gomega.NewWithT(t)
	p, out, now := clocked(false, 5*time.Second)
	p.Start(40)
	for i := range 20 {
		v := verdict.Verdict{Status: verdict.Pass, Revision: "2025-11-25", Transport: "stdio", Exchange: "ping"}
		if i == 3 {
			v.Status = verdict.Fail
		}
		*now = now.Add(time.Second)
		p.Done(v)
	}
	p.Finish()
	g.Expect(out.String()).To(gomega.Equal(strings.Join([]string{
		"mcp-litmus: 5 of 40 exchanges, 1 fail, the last at 2025-11-25 over stdio: ping", "mcp-litmus: 10 of 40 exchanges, 1 fail, the last at 2025-11-25 over stdio: ping", "mcp-litmus: 15 of 40 exchanges, 1 fail, the last at 2025-11-25 over stdio: ping", "mcp-litmus: 20 of 40 exchanges, 1 fail, the last at 2025-11-25 over stdio: ping", ""}, "\n")))
}

func TestProgressOnATerminal(t *testing.T) {
	g := gomega.NewWithT(t)
	p, out, now := clocked(true, time.Second)
	p.Start(2)
	p.Done()
	*now = now.Add(time.Second)
	p.Done(verdict.Verdict{Revision: "2025-11-25", Transport: "stdio", Exchange: "a name that is \x1b[2J longer than the line", Status: verdict.Warn})
	p.Finish()
	p.Finish()
	drawn := strings.Split(out.String(), "\r\x1b[K")
	g.Expect(drawn).To(gomega.HaveLen(4), "%q", out)
	g.Expect(drawn[1]).To(gomega.ContainSubstring("0 of 2 exchanges"))
	g.Expect(drawn[2]).To(gomega.ContainSubstring("2 of 2 exchanges, 1 warn  2025-11-25"))
	g.Expect(drawn[3]).To(gomega.BeEmpty(), "the line goes away")
	for _, d := range drawn {
		g.Expect(columns(d)).To(gomega.BeNumerically("<", 60))
		g.Expect(d).NotTo(gomega.ContainSubstring("\x1b"))
		g.Expect(d).NotTo(gomega.ContainSubstring("\n"))
	}
}

func TestProgressFromManyGoroutinesAndNil(t *testing.T) {
	p, out, _ := clocked(false, 0)
	p.Start(50)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { p.Done(verdict.Verdict{Status: verdict.Error}) })
	}
	wg.Wait()
	p.Finish()
	gomega.NewWithT(t).Expect(out.String()).To(gomega.HaveSuffix("50 of 50 exchanges, 50 error\n"))
	var none *Progress
	none.Start(1)
	none.Done()
	none.Finish()
}

func TestAPipeIsNoTerminal(t *testing.T) {
	g := gomega.NewWithT(t)
	r, w, err := os.Pipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer r.Close()
	defer w.Close()
	g.Expect(Terminal(w)).To(gomega.BeFalse())
	g.Expect(Color(w)).To(gomega.BeFalse())
	g.Expect(Width(w)).To(gomega.BeZero())
	g.Expect(NewProgress(w).live).To(gomega.BeFalse())
}
