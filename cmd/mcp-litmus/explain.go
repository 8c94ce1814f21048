package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/suite/judge"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain REQUIREMENT",
		Short:   "Tell all about a requirement: words, levels, where it is stated, what proves and what breaks it",
		Example: "  mcp-litmus explain tools.call.unknown-tool",
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			lib, err := script.Default()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return ids(lib), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, err := script.Default()
			if err != nil {
				return err
			}
			q := lib.Requirement(args[0])
			if q == nil {
				return fmt.Errorf("there is no requirement %q%s; mcp-litmus list lists them", args[0], didYouMean(args[0], ids(lib)))
			}
			faults, err := sabotage.All()
			if err != nil {
				return err
			}
			explain(cmd.OutOrStdout(), lib, q, faults)
			return nil
		},
	}
}

func ids(lib *script.Library) []string {
	out := make([]string, len(lib.Requirements))
	for i, q := range lib.Requirements {
		out[i] = q.ID
	}
	return out
}

// didYouMean names the nearest of the known words, when one is near.
func didYouMean(word string, known []string) string {
	best, at := "", len(word)/3+2
	for _, k := range known {
		d := levenshtein.ComputeDistance(word, k)
		if strings.Contains(k, word) {
			d = min(d, 1)
		}
		if d < at {
			best, at = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

func explain(w io.Writer, lib *script.Library, q *script.Requirement, faults []sabotage.Fault) {
	fmt.Fprintf(w, "%s\n\n  %s\n\n", q.ID, q.Text)
	if q.Note != "" {
		fmt.Fprintf(w, "  Read as: %s\n\n", q.Note)
	}
	for _, r := range script.Revisions {
		if !q.InForce(r) {
			fmt.Fprintf(w, "  %s  not in force\n", r)
			continue
		}
		spec := q.SpecAt(r)
		if spec != "" {
			spec = judge.SpecificationURL + string(r) + "/" + spec
		}
		fmt.Fprintf(w, "  %s  %-10s  %s\n", r, q.LevelAt(r), spec)
	}
	if len(q.Transports) > 0 {
		fmt.Fprintf(w, "\n  About %s only.\n", strings.Join(q.Transports, " and "))
	}
	fmt.Fprintf(w, "\n  Stated in %s:%d\n", q.Pos.File, q.Pos.Line)
	if q.Untestable != "" {
		fmt.Fprintf(w, "\n  It cannot be tested from outside: %s\n", q.Untestable)
	}
	for _, ex := range lib.Exchanges {
		var checks []*script.Check
		for _, c := range ex.AllChecks() {
			if c.Requirement == q.ID {
				checks = append(checks, c)
			}
		}
		if len(checks) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n  Proven by the exchange %q\n", ex.Name)
		for _, c := range checks {
			fmt.Fprintf(w, "    %s:%d\n", c.Pos.File, c.Pos.Line)
			for _, part := range []struct {
				name string
				expr *script.Expr
			}{{"when", c.When}, {"given", c.Given}, {"each", c.Each}, {"that", c.That}} {
				if part.expr != nil {
					fmt.Fprintf(w, "      %-6s %s\n", part.name, part.expr.Source)
				}
			}
		}
	}
	for _, f := range faults {
		if slices.Contains(f.Breaks, q.ID) {
			fmt.Fprintf(w, "\n  Broken by the fault %s\n    %s\n", f.Name, f.Why)
		}
	}
}
