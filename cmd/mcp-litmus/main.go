// Command mcp-litmus tells which requirements of the Model Context Protocol a server meets.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/selftest"
)

// The exit codes.
const (
	exitConforms    = 0
	exitBreaks      = 1 // the server breaks a requirement, or the self-test found a gap
	exitUsage       = 2 // wrong usage, or a file that cannot be read
	exitNotPossible = 3 // it could not be carried out: not started, unreachable, nothing judged
)

// exit is an error that carries its exit code. A message that is empty was told already.
type exit struct {
	code    int
	message string
}

func (e exit) Error() string { return e.message }

func main() {
	// The embedded reference server as a child process; before anything else, so that it starts fast.
	if len(os.Args) > 1 && os.Args[1] == referenceCommand {
		if err := selftest.ServeStdio(context.Background(), os.Args[2:]...); err != nil {
			fmt.Fprintln(os.Stderr, "mcp-litmus:", err)
			os.Exit(exitUsage)
		}
		return
	}
	tuneMemory()
	os.Exit(execute(os.Args[1:]))
}

// tuneMemory trades memory for time: a run is short, and collecting its garbage as often as a server does costs a third
// of the processor time. Above the limit it is collected as usual. The variables GOGC and GOMEMLIMIT come first.
func tuneMemory() {
	const limit = 512 << 20
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

func execute(args []string) int {
	cmd := root()
	cmd.SetArgs(args)
	err := cmd.Execute()
	var e exit
	switch {
	case err == nil:
		return exitConforms
	case errors.As(err, &e):
		if e.message != "" {
			fmt.Fprintln(os.Stderr, "mcp-litmus:", e.message)
		}
		return e.code
	}
	if quoted, unknown := strings.CutPrefix(err.Error(), "unknown command "); unknown { // cobra's own words take five lines
		err = noCommand(cmd, quoted)
	}
	fmt.Fprintln(os.Stderr, "mcp-litmus:", err)
	return exitUsage
}

// noCommand is the error for a command that there is not; quoted begins with its name in quotes.
func noCommand(cmd *cobra.Command, quoted string) error {
	quoted, _ = strconv.QuotedPrefix(quoted)
	name, _ := strconv.Unquote(quoted)
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	hint := script.DidYouMean(name, known)
	if hint == "" {
		hint = "; mcp-litmus --help lists them"
	}
	return fmt.Errorf("there is no command %s%s", quoted, hint)
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp-litmus",
		Short: "Tell which requirements of the Model Context Protocol a server meets",
		Example: `  mcp-litmus run -- node server.js                 judge a server
  mcp-litmus tour -- node server.js                see what it says, message by message
  mcp-litmus init -- node server.js                write a litmus.yaml for it
  mcp-litmus explain tools.call.unknown-tool       what a requirement asks, and where it is stated
  source <(mcp-litmus completion bash)             completion, also for zsh, fish and PowerShell`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       suite.Version,
	}
	cmd.SetVersionTemplate("mcp-litmus {{.Version}}\n")
	cmd.SetFlagErrorFunc(flagError)
	cmd.AddCommand(runCommand(), initCommand(), tourCommand(), judgeCommand(), compareCommand(), mergeCommand(), selftestCommand(), listCommand(),
		explainCommand(), revisionsCommand(), versionCommand())
	return cmd
}

// flagError says what is wrong with a flag and what to write.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	help := cmd.CommandPath() + " --help"
	switch {
	case errors.As(err, &unknown):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return fmt.Errorf("%w%s; see %s", err, didYouMean("--"+unknown.GetSpecifiedName(), known), help)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "duration":
		text := fmt.Sprintf("--%s %s is no time", invalid.GetFlag().Name, invalid.GetValue())
		if _, number := strconv.ParseFloat(invalid.GetValue(), 64); number == nil {
			return fmt.Errorf("%s; write %ss", text, invalid.GetValue())
		}
		return fmt.Errorf("%s; write for example 10s, 500ms or 2m", text)
	}
	return fmt.Errorf("%w; see %s", err, help)
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Tell the version of the suite and of its catalogue",
		Example: "  mcp-litmus version",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lib, err := script.Default()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "mcp-litmus %s, catalogue %.12s (%d requirements, %d exchanges)\n",
				suite.Version, lib.Digest, len(lib.Requirements), len(lib.Exchanges))
			return nil
		},
	}
}
