package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/trace"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func runCommand() *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run [flags] [-- COMMAND ARGS...]",
		Short: "Judge a server: a command, a URL, or both",
		Long: `Judge a server at every revision that it speaks, and tell which requirements it meets and breaks.

The server is a COMMAND that talks over stdio, a URL that talks Streamable HTTP or the older HTTP+SSE, or both: then the
command is started, the URL driven, and the command stopped. Without either, litmus.yaml names it, or the embedded reference server is judged.

Revisions that this version judges: ` + revisionsJudged() + `.

Exit codes: 0 the server conforms, 1 it does not, 2 wrong usage or files, 3 the run could not be carried out.`,
		Example: `  mcp-litmus run -- node server.js
  mcp-litmus run --url http://127.0.0.1:3000/mcp --junit report.xml
  mcp-litmus run --url http://127.0.0.1:3000/mcp -- node server.js --port 3000
  mcp-litmus run --select 'tools && MUST' -- ./server
  mcp-litmus run --config .mcp.json --server weather
  mcp-litmus run --watch src -- node server.js`,
		Args: commandAfterDash,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.settings(cmd, args)
			if err != nil {
				return err
			}
			if len(o.watch) > 0 {
				return watchAgain(cmd, o, args)
			}
			return run(cmd.Context(), o, c)
		},
	}
	o.register(cmd)
	return cmd
}

// revisionsJudged is "2024-11-05, 2025-11-25".
func revisionsJudged() string {
	var names []string
	for _, r := range script.Revisions {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// commandAfterDash accepts arguments only after --, so that the server's flags are not taken for ours.
func commandAfterDash(cmd *cobra.Command, args []string) error {
	at := cmd.ArgsLenAtDash()
	if at < 0 {
		at = len(args)
	}
	if at == 0 {
		return nil
	}
	if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
		return fmt.Errorf("%s stands where no argument does; write --url %s", args[0], args[0])
	}
	return fmt.Errorf("%q stands before --; write the server's command after it: mcp-litmus run [flags] -- %s", args[0], strings.Join(args, " "))
}

// runOptions are the flags of run.
type runOptions struct {
	over          config.Overrides
	watch         []string
	writeBaseline string // where the baseline goes with which the run passes
	outputs       outputs
}

func (o *runOptions) register(cmd *cobra.Command) {
	targetFlags(cmd, &o.over)
	judgingFlags(cmd, &o.over)
	f := cmd.Flags()
	f.StringSliceVar(&o.over.Revisions, "revision", nil, "judge at these `REVISIONS`, or all (default: every one that the server speaks)")
	f.StringVar(&o.over.Shard, "shard", "", "play only part `I/N` of the run, such as 1/3; mcp-litmus merge joins the JSON reports of the parts")
	f.BoolVar(&o.over.Strict, "strict", false, "a broken SHOULD does not conform, either")
	f.StringVar(&o.writeBaseline, "write-baseline", "", "write to `FILE` the baseline with which this run passes: entries that still hold stay, others go, new ones wait for a reason")
	f.StringArrayVar(&o.watch, "watch", nil, "run again whenever something changes at this `PATH`, a file or a folder; may be repeated; ends with Ctrl-C")
	o.outputs.register(f)
	f.Lookup("verbose").Usage += "; and show the wire as it is used, on standard error"
	f.StringVar(&o.outputs.transcript, "transcript", "", "write the evidence to `FILE` (JSON Lines), for mcp-litmus judge")
	complete(cmd, "revision", revisionNames("all"))
}

// settings joins litmus.yaml and the flags. args is the server's command.
func (o *runOptions) settings(cmd *cobra.Command, args []string) (*config.Config, error) {
	c, err := resolve(cmd, o.over, args)
	if err != nil {
		return nil, err
	}
	o.outputs.source = c.Source()
	o.outputs.fill(c.Reports)
	return c, nil
}

func run(ctx context.Context, o *runOptions, c *config.Config) error {
	s, err := configure(c)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := o.outputs.check(); err != nil {
		return err
	}
	opts := s.Options
	var progress *reports.Progress
	switch {
	case o.outputs.verbose: // what crosses the wire tells how far it is
		opts = append(opts, suite.Wire(trace.NewPrinter(os.Stderr, trace.Style{
			Color: reports.Color(os.Stderr) && !o.outputs.noColor, Longest: longestLive,
		}).Print))
	case !o.outputs.quiet:
		progress = reports.NewProgress(os.Stderr)
		opts = append(opts, suite.Progress(progress.Start, progress.Done))
	}
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer restore()
	out, err := suite.Run(ctx, s.Target, opts...)
	progress.Finish()
	if err != nil {
		return err
	}
	if out.Undriven() && ctx.Err() == nil && !o.outputs.verbose {
		o.outputs.quiet = true // what could not be judged is everything
		o.outputs.silent = !spoke(out.Transcript)
	}
	if err := o.outputs.write(out.Report, out.Strict, out.Transcript); err != nil {
		return err
	}
	if err := o.renewBaseline(c, out.Report); err != nil {
		return err
	}
	return conclusion(out.Report, out.Strict, out.Undriven(), ctx.Err() != nil)
}

// renewBaseline writes the baseline with which the run would have passed.
func (o *runOptions) renewBaseline(c *config.Config, r *verdict.Report) error {
	if o.writeBaseline == "" {
		return nil
	}
	b, err := c.Baseline.Renew(r)
	if err != nil {
		return exit{exitNotPossible, fmt.Sprintf("the baseline %s was not written: %v", o.writeBaseline, err)}
	}
	if err := checkFiles(o.writeBaseline); err != nil {
		return err
	}
	return writeFile(o.writeBaseline, b.Write)
}

// longestLive is how many bytes of a message are shown while a run goes on; its transcript holds all.
const longestLive = 2000

// spoke says whether the server ever said anything.
func spoke(run *transcript.Run) bool {
	said := func(events []transcript.Event) bool {
		return slices.ContainsFunc(events, func(e transcript.Event) bool {
			return e.Kind == transcript.Receive || e.Kind == transcript.Answer
		})
	}
	return slices.ContainsFunc(run.Sessions, func(s *transcript.Session) bool { return said(s.Events) }) ||
		slices.ContainsFunc(run.Plays, func(p *transcript.Play) bool { return said(p.Events) })
}

// conclusion is the exit code of a run: nil for a server that conforms. Undriven: no session was had.
func conclusion(r *verdict.Report, strict, undriven, interrupted bool) error {
	judged := r.Judged()
	switch {
	case interrupted:
		return exit{exitNotPossible, "interrupted; the reports hold what was judged until then"}
	case r.Inapplicable(): // told by the report's last line
		return exit{exitNotPossible, ""}
	case judged == 0 || undriven:
		return exit{exitNotPossible, "the run could not be carried out: " + cmp.Or(strings.Join(r.Problems, "; "), "nothing was judged")}
	case !r.Conforms(strict) || len(r.Baseline) > 0:
		return exit{exitBreaks, ""}
	case len(r.Problems) > 0 || !r.Complete:
		return exit{exitNotPossible, ""}
	}
	return nil
}

var errNoFile = errors.New("name the transcript to judge: mcp-litmus judge FILE")
