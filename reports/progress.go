package reports

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Terminal says whether f is a terminal that people look at.
func Terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Color says whether output to f should have colours: f is a terminal that has them, and NO_COLOR is not set.
func Color(f *os.File) bool {
	return Terminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Width is the number of columns of the terminal f, or 0 when f is none: the value for ConsoleOptions.Width.
func Width(f *os.File) int {
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// Progress tells while a run goes on how far it is. On a terminal that is one line, drawn over and over; elsewhere
// (a pipe, a CI log, TERM=dumb) a line for each finished revision and transport, and at most one every few seconds.
// All methods may be called from several goroutines, and on a nil Progress, which stays silent.
type Progress struct {
	mu     sync.Mutex
	out    io.Writer
	live   bool
	color  bool
	width  func() int
	now    func() time.Time
	every  time.Duration // least time between two lines
	last   time.Time
	total  int
	done   int
	counts map[verdict.Status]int
	shown  bool // the live line is on the screen
}

// NewProgress is a progress display on f, as f and the environment (CI, TERM, NO_COLOR) allow.
func NewProgress(f *os.File) *Progress {
	p := &Progress{
		out: f, color: Color(f), width: func() int { return Width(f) }, now: time.Now,
		live: Terminal(f) && !set("CI") && os.Getenv("TERM") != "dumb",
	}
	p.every = 5 * time.Second
	if p.live {
		p.every = 100 * time.Millisecond
	}
	return p
}

// set says whether an environment variable asks for something: CI=false does not.
func set(name string) bool {
	v := os.Getenv(name)
	return v != "" && v != "0" && !strings.EqualFold(v, "false")
}

// Start begins a run of total exchanges, counted over all revisions and transports. Start again for another total.
func (p *Progress) Start(total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.done, p.counts, p.last = total, 0, map[verdict.Status]int{}, p.now()
	if p.live {
		p.draw(nil)
	}
}

// Done tells that one more exchange is over, with its verdicts.
func (p *Progress) Done(vs ...verdict.Verdict) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts == nil {
		p.counts = map[verdict.Status]int{}
	}
	p.done++
	for _, v := range vs {
		if v.Extension == "" {
			p.counts[v.Status]++
		}
	}
	now := p.now()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	if p.live {
		p.draw(vs)
		return
	}
	line := "mcp-litmus: " + p.state(false)
	if len(vs) > 0 && vs[0].Exchange != "" {
		line += ", the last at " + printable(place(vs[0].Revision, vs[0].Transport)+": "+vs[0].Exchange)
	}
	fmt.Fprintln(p.out, line)
}

// Finish ends the display: the live line goes away, since the report follows.
func (p *Progress) Finish() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

func (p *Progress) state(color bool) string {
	s := fmt.Sprintf("%d of %d exchanges", p.done, p.total)
	for _, status := range []verdict.Status{verdict.Fail, verdict.Warn, verdict.Error} {
		if n := p.counts[status]; n > 0 {
			s += ", " + paint(color, statusStyles[status], fmt.Sprintf("%d %s", n, status))
		}
	}
	return s
}

// draw puts the live line on the screen. It never fills the last column: some terminals would wrap there.
func (p *Progress) draw(vs []verdict.Verdict) {
	const bar = 20
	filled := 0
	if p.total > 0 {
		filled = min(bar*p.done/p.total, bar)
	}
	room := p.width() - 1
	if room <= 0 {
		room = 79
	}
	head := strings.Repeat("█", filled) + strings.Repeat("░", bar-filled) + " "
	text := head + p.state(p.color)
	left := room - columns(head+p.state(false))
	switch {
	case left < 0:
		text = fit(p.state(false), room)
	case len(vs) > 0 && left > 10:
		v := vs[0]
		text += paint(p.color, dim, fit("  "+printable(place(v.Revision, v.Transport)+": "+v.Exchange), left))
	}
	fmt.Fprint(p.out, "\r\x1b[K"+text)
	p.shown = true
}
