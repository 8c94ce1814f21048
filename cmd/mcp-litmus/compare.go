package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// compareFormats are those of --format.
var compareFormats = []string{"text", "markdown", "html", "json"}

func compareCommand() *cobra.Command {
	var over config.Overrides
	var noColor bool
	var format, output string
	var sideBySide []string
	cmd := &cobra.Command{
		Use:   "compare OLD.json NEW.json | --revisions A,B [REPORT.json | -- COMMAND ARGS...]",
		Short: "Tell what came out differently in two runs, or at two revisions of one server",
		Long: `Compare two JSON reports (mcp-litmus run --json FILE): what is broken now and was not, what is mended, what is newly or no longer
tested, and what is broken for another reason. Or hold two revisions of one server side by side, from a run made for it or from its report.

Exit codes: 0 no regression, 1 a requirement is broken now that was not (one that the baseline given to the run expects does not count),
2 wrong usage or files, 3 one of the runs did not reach its end or judged nothing. Of two revisions nothing is a regression.`,
		Example: "  mcp-litmus compare main.json branch.json\n  mcp-litmus compare main.json branch.json --format markdown > comment.md\n  mcp-litmus compare --revisions 2025-06-18,2025-11-25 -- node server.js",
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := comparisonWriter(format, noColor)
			if err != nil {
				return err
			}
			if err := checkFiles(output); err != nil {
				return err
			}
			var c *verdict.Comparison
			if len(sideBySide) > 0 {
				c, err = compareRevisions(cmd, over, sideBySide, args)
			} else {
				c, err = compareReports(cmd, args)
			}
			if err != nil {
				return err
			}
			if output == "" {
				output = "-"
			}
			if err := writeFile(output, func(w io.Writer) error { return write(w, c) }); err != nil {
				return err
			}
			if err := inActions().addSummary(func(w io.Writer) error { return reports.CompareMarkdown(w, c) }); err != nil {
				return err
			}
			switch {
			case !c.Revisions && len(c.Regressions()) > 0:
				return exit{exitBreaks, ""}
			case c.Incomplete:
				return exit{exitNotPossible, ""}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "text", "`FORMAT` of the comparison: "+strings.Join(compareFormats, ", "))
	f.StringVarP(&output, "output", "o", "", "`FILE` to write it to (default: standard output)")
	f.StringSliceVar(&sideBySide, "revisions", nil, "hold these two `REVISIONS` of one server side by side")
	targetFlags(cmd, &over)
	judgingFlags(cmd, &over)
	f.BoolVar(&noColor, "no-color", false, "no colours (as with the environment variable NO_COLOR)")
	return cmd
}

func comparisonWriter(format string, noColor bool) (func(io.Writer, *verdict.Comparison) error, error) {
	switch format {
	case "text":
		return func(w io.Writer, c *verdict.Comparison) error {
			options := reports.ConsoleOptions{}
			if f, ok := w.(*os.File); ok {
				options = reports.ConsoleOptions{Color: reports.Color(f) && !noColor, Width: reports.Width(f)}
			}
			resume := inActions().suspend(w)
			reports.CompareText(w, c, options)
			resume()
			return nil
		}, nil
	case "markdown":
		return reports.CompareMarkdown, nil
	case "html":
		return reports.CompareHTML, nil
	case "json":
		return reports.CompareJSON, nil
	}
	return nil, fmt.Errorf("--format cannot be %q; it is one of %s", format, strings.Join(compareFormats, ", "))
}

func compareReports(cmd *cobra.Command, args []string) (*verdict.Comparison, error) {
	if len(args) != 2 || cmd.ArgsLenAtDash() >= 0 {
		return nil, errors.New("name two JSON reports, as in mcp-litmus compare OLD.json NEW.json; or two revisions of one server: --revisions A,B -- COMMAND")
	}
	var both [2]*verdict.Report
	for i, name := range args {
		r, err := readReport(name)
		if err != nil {
			return nil, err
		}
		both[i] = r
	}
	c := verdict.Compare(both[0], both[1])
	c.OldName, c.NewName = args[0], args[1]
	return c, nil
}

func compareRevisions(cmd *cobra.Command, over config.Overrides, revisions, args []string) (*verdict.Comparison, error) {
	if len(revisions) != 2 || revisions[0] == revisions[1] {
		return nil, errors.New("--revisions takes two, as in --revisions 2025-06-18,2025-11-25")
	}
	if len(args) == 1 && cmd.ArgsLenAtDash() < 0 {
		r, err := readReport(args[0])
		if err != nil {
			return nil, err
		}
		return verdict.CompareRevisions(r, revisions[0], revisions[1]), nil
	}
	if err := commandAfterDash(cmd, args); err != nil {
		return nil, err
	}
	over.Revisions = revisions
	c, err := resolve(cmd, over, args)
	if err != nil {
		return nil, err
	}
	s, err := configure(c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	progress := reports.NewProgress(os.Stderr)
	options := append(s.Options, suite.Progress(progress.Start, progress.Done))
	ctx, restore := signal.NotifyContext(context.WithoutCancel(cmd.Context()), os.Interrupt, syscall.SIGTERM)
	defer restore()
	out, err := suite.Run(ctx, s.Target, options...)
	progress.Finish()
	if err != nil {
		return nil, err
	}
	return verdict.CompareRevisions(out.Report, revisions[0], revisions[1]), nil
}
