package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// maxTail is how much of a served process's output is kept.
const maxTail = 64 << 10

// Served is a server that Start starts, that is spoken to over HTTP as soon as something accepts connections at the endpoint,
// and that Stop ends. It has ready (30 s when that is 0) to get there. The target is a Process and a Switcher, too. When the
// server ends during a conversation, that conversation gets an Exit event.
//
// Errors are those of URL. Start says when something else is listening at the endpoint already, when the command cannot
// be started, and when it ended or the time passed before it was ready, with the end of what it wrote.
func Served(argv []string, cmd CommandOptions, endpoint string, opts URLOptions, ready time.Duration) (Target, error) {
	u, err := newURL(endpoint, opts)
	if err != nil {
		return nil, err
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("no command to start: name the server's program")
	}
	if ready <= 0 {
		ready = 30 * time.Second
	}
	cmd.Limits = cmd.withDefaults()
	return &served{urlTarget: u, argv: argv, cmd: cmd, ready: ready}, nil
}

type served struct {
	*urlTarget
	argv  []string
	cmd   CommandOptions
	ready time.Duration
	out   tail
	stdin *os.File
}

func (t *served) String() string { return t.urlTarget.String() + " served by " + commandLine(t.argv) }

func (t *served) Start(ctx context.Context) error {
	address := t.endpoint.Host
	if t.endpoint.Port() == "" {
		port := map[string]string{"http": "80", "https": "443"}[t.endpoint.Scheme]
		address = net.JoinHostPort(t.endpoint.Hostname(), port)
	}
	if accepts(ctx, address) {
		return fmt.Errorf("something is listening at %s before the server is started: end it, or choose another port", address)
	}
	cmd, err := newCommand(t.argv, t.cmd)
	if err != nil {
		return err
	}
	// An open standard input: many programs end when theirs does.
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, &t.out, &t.out
	cmd.WaitDelay = t.cmd.Grace
	p, err := startProcess(cmd)
	if err != nil {
		w.Close()
		return err
	}
	t.stdin, t.process = w, p
	if err := t.await(ctx, address); err != nil {
		t.Stop()
		return err
	}
	return nil
}

func (t *served) await(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.ready, fmt.Errorf("within %s", t.ready))
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		if accepts(ctx, address) {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-t.process.gone:
			timer.Stop()
			return fmt.Errorf("the server ended before it accepted a connection at %s: %s%s", address, describe(t.process.status), t.wrote())
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("the server did not accept a connection at %s: %w%s", address, context.Cause(ctx), t.wrote())
		}
	}
}

func (t *served) wrote() string {
	const most = 2 << 10
	text := t.out.bytes()
	if len(text) == 0 {
		return "; it wrote nothing"
	}
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return fmt.Sprintf("; it wrote at the end:\n%s", text)
}

func (t *served) Stop() {
	if t.process == nil {
		return
	}
	t.stdin.Close()
	select {
	case <-t.process.gone:
	default:
		t.process.end(t.cmd.Grace)
	}
	t.process.killGroup()
	within(t.cmd.Grace, t.process.gone)
}

func (t *served) Stderr() []byte { return t.out.bytes() }

func (t *served) Exit() *transcript.ExitStatus {
	if t.process == nil || !t.process.hasEnded() {
		return nil
	}
	return t.process.status
}

func accepts(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func describe(status *transcript.ExitStatus) string {
	if status.Signal != "" {
		return "killed by " + status.Signal
	}
	return fmt.Sprintf("exit code %d", status.Code)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, data...)
	if len(t.data) > 2*maxTail {
		t.data = append([]byte(nil), t.data[len(t.data)-maxTail:]...)
	}
	return len(data), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.data[max(0, len(t.data)-maxTail):]...)
}
