package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/selftest"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// referenceCommand is the hidden subcommand that serves the embedded reference server over stdio.
const referenceCommand = "reference-server"

var selftestTransports = []string{transport.Stdio, transport.StreamableHTTP, transport.HTTPSSE, selftest.Protected}

func selftestCommand() *cobra.Command {
	var only, over []string
	var jobs int
	var full bool
	var shard string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Prove that each check can fail: run the suite on the reference server, with each fault",
		Long: `Run the suite on the embedded reference server, without a fault and with each of them, over each transport. Without one
nothing must break; with one exactly what the fault names. So a check that could not fail would be found out.`,
		Example: `  mcp-litmus selftest
  mcp-litmus selftest --fault unknown-tool-is-a-result --transport stdio`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lib, err := script.Default()
			if err != nil {
				return err
			}
			for _, name := range over {
				if !slices.Contains(selftestTransports, name) {
					return fmt.Errorf("--transport cannot be %q%s; the self-test runs over %s", name, didYouMean(name, selftestTransports), strings.Join(selftestTransports, ", "))
				}
			}
			part, of := 1, 1
			if shard != "" {
				if part, of, err = verdict.ParseShard(shard); err != nil {
					return fmt.Errorf("--shard: %w", err)
				}
			}
			faults, err := sabotage.All()
			if len(only) > 0 {
				faults, err = sabotage.Find(only...)
			}
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			r, err := selftest.Matrix(cmd.Context(), selftest.Config{
				Library: lib, Faults: faults, Transports: over, Jobs: jobs, Timeout: timeout, Full: full, Part: part, Of: of,
				Stdio: func(faults ...string) []string { return append([]string{self, referenceCommand}, faults...) },
				Done: func(c selftest.Cell) {
					name := c.Fault
					if name == "" {
						name = "(no fault)"
					}
					mark := "ok  "
					if !c.OK() {
						mark = "FAIL"
					}
					did := "killed " + strings.Join(c.Killed, " ")
					if len(c.Killed) == 0 {
						did = "nothing broke"
					}
					fmt.Fprintf(out, "%s %-50s %s %-20s %s\n", mark, name, c.Revision, c.Transport, did)
					for _, line := range []struct {
						what string
						list []string
					}{{"did not break", c.Missing}, {"also broke", c.Collateral}, {"untested", c.Untested}} {
						for _, s := range line.list {
							fmt.Fprintf(out, "     %s: %s\n", line.what, s)
						}
					}
					if c.Problem != "" {
						fmt.Fprintf(out, "     problem: %s\n", c.Problem)
					}
					if c.Retried != "" {
						fmt.Fprintf(out, "     at the second try, alone; at the first: %s\n", c.Retried)
					}
				},
			})
			if err != nil {
				return err
			}
			if len(over) < len(selftestTransports) {
				r.Untried, r.Unkilled = nil, nil
			}
			if len(only) > 0 {
				r.Unkilled = nil
			}
			for _, why := range r.Untried {
				fmt.Fprintf(out, "FAIL %s\n", why)
			}
			for _, id := range r.Unkilled {
				fmt.Fprintf(out, "FAIL no fault kills %s\n", id)
			}
			faulty, retried := 0, 0
			for _, c := range r.Cells {
				switch {
				case !c.OK():
					faulty++
				case c.Retried != "":
					retried++
				}
			}
			fmt.Fprintf(out, "%d faults in %d places (what shows in lines in memory is not run over stdio again): %d as they should be (%d at the second try, alone), %d not\n",
				len(faults), len(r.Cells), len(r.Cells)-faulty, retried, faulty)
			if !r.OK() {
				return exit{exitBreaks, ""}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&only, "fault", nil, "try only these faults")
	cmd.Flags().StringSliceVar(&over, "transport", selftestTransports, "run over these transports")
	cmd.Flags().IntVar(&jobs, "jobs", 0, "faults tried side by side (default: five a processor)")
	cmd.Flags().BoolVar(&full, "full", false, "judge everything with every fault at every revision over every transport (takes long)")
	cmd.Flags().StringVar(&shard, "shard", "", "try only part `I/N` of the faults, such as 1/3; the parts together are the whole matrix")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "bound of each wait (default 10s)")
	complete(cmd, "fault", catalogued(func(*script.Library) []cobra.Completion { return faultNames() }))
	complete(cmd, "transport", words(selftestTransports...))
	return cmd
}
