package transport

import (
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// process is a child that leads a process group of its own.
type process struct {
	cmd    *exec.Cmd
	gone   chan struct{}          // closed when it has ended
	status *transcript.ExitStatus // valid once gone is closed
	heirs  bool                   // likewise: others of its group outlived it

	mu    sync.Mutex
	ended string // what the suite did to end it
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the command %s cannot be started: %w", commandLine(cmd.Args), err)
	}
	p := &process{cmd: cmd, gone: make(chan struct{})}
	go func() {
		// The error says no more than the state, or that output was cut off.
		_ = cmd.Wait()
		p.status = exitStatus(cmd.ProcessState)
		p.heirs = groupLives(cmd)
		close(p.gone)
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// end asks the group to end and, when grace has passed, kills it. It returns when the leader has ended, or when even the
// kill did nothing within grace.
func (p *process) end(grace time.Duration) {
	p.say("asked to end (SIGTERM) by the suite")
	terminateGroup(p.cmd)
	if within(grace, p.gone) {
		return
	}
	p.say("killed by the suite")
	p.killGroup()
	within(grace, p.gone)
}

// killGroup kills all that is left of the group. When nobody was left with the leader's end, the group's number may belong
// to others by now.
func (p *process) killGroup() {
	select {
	case <-p.gone:
		if !p.heirs {
			return
		}
	default:
	}
	killGroup(p.cmd)
}

func (p *process) say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = what
}

// why says what the suite did to end the process; "" when it ended by itself.
func (p *process) why() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}
