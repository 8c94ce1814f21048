//go:build windows

package transport

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Windows has no signals. taskkill reaches the descendants only while their parent lives, so that what a leader left behind
// when it ended cannot be found any more.
func terminateGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/F", "/T", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// groupLives cannot be known; see above.
func groupLives(*exec.Cmd) bool { return false }

func exitStatus(state *os.ProcessState) *transcript.ExitStatus {
	if state == nil {
		return &transcript.ExitStatus{Code: -1}
	}
	return &transcript.ExitStatus{Code: state.ExitCode()}
}
