package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
)

func judgeCommand() *cobra.Command {
	var o outputs
	var over config.Overrides
	cmd := &cobra.Command{
		Use:   "judge FILE",
		Short: "Judge a recorded run again, offline",
		Long: `Judge the transcript of an earlier run (mcp-litmus run --transcript FILE) again: without the server, at the same
verdicts, as long as the catalogue is the same one. What the run had beside its server goes with it: --baseline (or --config litmus.yaml, which
names one), --strict and --exchanges.`,
		Example: "  mcp-litmus run --transcript run.jsonl -- ./server\n  mcp-litmus judge run.jsonl --junit report.xml\n  mcp-litmus judge run.jsonl --config litmus.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errNoFile
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("the transcript cannot be read: %w", err)
			}
			defer f.Close()
			if info, err := f.Stat(); err == nil && info.IsDir() {
				return fmt.Errorf("%s is a folder; name the transcript in it", args[0])
			}
			c, err := config.ResolveForJudge(over)
			if err != nil {
				return err
			}
			opts, err := suite.Options(c)
			if err != nil {
				return err
			}
			out, err := suite.Judge(f, opts...)
			if err != nil {
				if _, no := readReport(args[0]); no == nil {
					return fmt.Errorf("%s is a JSON report, from which nothing can be judged again; name the transcript of the run (mcp-litmus run --transcript FILE)", args[0])
				}
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if out.Stale != "" {
				fmt.Fprintln(os.Stderr, "mcp-litmus: note:", out.Stale)
			}
			if err := o.check(); err != nil {
				return err
			}
			if err := o.write(out.Report, out.Strict, out.Transcript); err != nil {
				return err
			}
			return conclusion(out.Report, out.Strict, out.Undriven(), false)
		},
	}
	o.register(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&over.Config, "config", "", "`FILE` with the settings of the run, such as litmus.yaml: its baseline, strict and exchanges count (default: none)")
	f.StringVar(&over.Baseline, "baseline", "", "`FILE` of known failures, in the place of those in the settings")
	f.BoolVar(&over.Strict, "strict", false, "a broken SHOULD does not conform, either")
	f.StringArrayVar(&over.Exchanges, "exchanges", nil, "`DIR` with the exchanges of your own that the run was made with; may be repeated")
	return cmd
}
