package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func mergeCommand() *cobra.Command {
	var o outputs
	var strict bool
	var baseline string
	cmd := &cobra.Command{
		Use:   "merge A.json B.json ...",
		Short: "Join the JSON reports of one server: shards of a run, or runs at other revisions or over other transports",
		Long: `Join the JSON reports of one server to one, and write it in any format.

The parts were made with the same catalogue: the shards of one run (run --shard 1/3, 2/3, 3/3), or runs at other revisions or
over other transports. A shard that is missing is told, and the exit code is 3. With --baseline, the baseline is held against the whole:
give it here, not to the single runs.`,
		Example: "  mcp-litmus run --shard 1/2 --json a.json -- ./server\n  mcp-litmus run --shard 2/2 --json b.json -- ./server\n  mcp-litmus merge a.json b.json --junit report.xml --html report.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("name the JSON reports to join: mcp-litmus merge A.json B.json")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var parts []*verdict.Report
			for _, name := range args {
				r, err := readReport(name)
				if err != nil {
					return err
				}
				parts = append(parts, r)
			}
			r, err := verdict.Merge(parts...)
			if err != nil {
				return err
			}
			if baseline != "" {
				b, err := config.LoadBaseline(baseline)
				if err != nil {
					return err
				}
				b.Apply(r)
			}
			if err := o.check(); err != nil {
				return err
			}
			if err := o.write(r, strict, nil); err != nil {
				return err
			}
			return conclusion(r, strict, false, false)
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().BoolVar(&strict, "strict", false, "a broken SHOULD does not conform, either")
	cmd.Flags().StringVar(&baseline, "baseline", "", "`FILE` of known failures, in the place of what the parts were run with")
	return cmd
}

// readReport reads a JSON report.
func readReport(name string) (*verdict.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the report cannot be read: %w", err)
	}
	defer f.Close()
	r, err := reports.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
