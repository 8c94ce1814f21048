//go:build unix

package transport

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// The leader's pid is the group's id. An error means that nobody is left.
func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
func killGroup(cmd *exec.Cmd)      { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// groupLives tells whether anybody is in the group.
func groupLives(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }

func exitStatus(state *os.ProcessState) *transcript.ExitStatus {
	if state == nil {
		return &transcript.ExitStatus{Code: -1}
	}
	status := &transcript.ExitStatus{Code: state.ExitCode()}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		status.Signal = unix.SignalName(ws.Signal())
	}
	return status
}
