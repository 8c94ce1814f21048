package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/fixtures"
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
			c, err := o.settings(cmd.Flags(), args)
			if err != nil {
				return err
			}
			if len(o.watch) > 0 {
				return watchAgain(cmd, o, args)
			}
			return run(cmd.Context(), cmd, o, c)
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

func run(ctx context.Context, cmd *cobra.Command, o *runOptions, c *config.Config) error {
	stop, err := authorize(c, os.Stderr)
	if err != nil {
		return err
	}
	if stop != nil {
		defer stop()
	}
	t, err := target(c)
	if err != nil {
		return err
	}
	opts, err := suiteOptions(o, c)
	if err != nil {
		return err
	}
	if err := o.outputs.check(); err != nil {
		return err
	}
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
	out, err := suite.Run(ctx, t, opts...)
	progress.Finish()
	if err != nil {
		return err
	}
	if out.Undriven() && ctx.Err() == nil && !o.outputs.verbose {
		o.outputs.quiet = true // what could not be judged is everything
		o.outputs.silent = !spoke(out.Transcript)
	}
	out.Report.Narrowed = len(c.Baseline) > 0 && (cmd.Flags().Changed("select") || cmd.Flags().Changed("revision"))
	c.Baseline.Apply(out.Report)
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

// suiteOptions turns the settings into options of the suite.
func suiteOptions(o *runOptions, c *config.Config) ([]suite.Option, error) {
	opts := append(targetSettings(&o.targetOptions, c), suite.Select(c.Select), suite.Jobs(c.Jobs), suite.Shard(o.shard))
	revisions := o.revisions
	if len(revisions) == 0 {
		for _, r := range c.Revisions {
			revisions = append(revisions, string(r))
		}
	}
	if !(len(revisions) == 1 && revisions[0] == "all") {
		opts = append(opts, suite.Revisions(revisions...))
	}
	if c.Strict {
		opts = append(opts, suite.Strict())
	}
	folders, err := exchangeFolders(c.Exchanges)
	if err != nil {
		return nil, err
	}
	if err := checkRoles(c, folders); err != nil {
		return nil, err
	}
	for _, f := range folders {
		opts = append(opts, suite.Exchanges(f))
	}
	return opts, nil
}

// targetSettings are the options of the suite that are about the server, whatever is done with it.
func targetSettings(o *targetOptions, c *config.Config) []suite.Option {
	opts := []suite.Option{
		suite.Timeout(c.Timeout), suite.StartTimeout(c.StartTimeout), suite.Secrets(c.Secrets...), suite.SecretHeaders(o.secret...),
	}
	if c.CallTools != "" {
		opts = append(opts, suite.CallTools(c.CallTools))
	}
	for _, a := range c.Allow {
		opts = append(opts, suite.Allow(a.Name, a.Arguments))
	}
	for kind, token := range c.Auth.Tokens {
		opts = append(opts, suite.Token(kind, token))
	}
	for name, role := range c.Roles {
		opts = append(opts, suite.Role(name, role))
	}
	return opts
}

// checkRoles tells of roles that there are not, or that cannot be played so, with their place in litmus.yaml.
func checkRoles(c *config.Config, folders []fs.FS) error {
	if len(c.Roles) == 0 {
		return nil
	}
	lib, err := script.Default()
	if len(folders) > 0 { // which may define roles of their own
		lib, err = script.Load(fixtures.FS, folders...)
	}
	if err != nil {
		return err
	}
	return c.CheckRoles(lib.Roles)
}

func exchangeFolders(names []string) ([]fs.FS, error) {
	var out []fs.FS
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("the folder of exchanges cannot be read: %w", err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s is no folder; --exchanges takes a folder of YAML files", name)
		}
		out = append(out, os.DirFS(name))
	}
	return out, nil
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
		return exit{exitNotPossible, "the run could not be carried out: " + orElse(strings.Join(r.Problems, "; "), "nothing was judged")}
	case !r.Conforms(strict) || len(r.Baseline) > 0:
		return exit{exitBreaks, ""}
	case len(r.Problems) > 0 || !r.Complete:
		return exit{exitNotPossible, ""}
	}
	return nil
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

var errNoFile = errors.New("name the transcript to judge: mcp-litmus judge FILE")
