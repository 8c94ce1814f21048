package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/judge"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain REQUIREMENT|ROLE|FAULT",
		Short: "Tell all about a requirement: words, levels, where it is stated, what proves and what breaks it; or about a role or fault",
		Example: `  mcp-litmus explain tools.call.unknown-tool
  mcp-litmus explain failing-tool
  mcp-litmus explain unknown-tool-is-a-result`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one requirement, role or fault, as in mcp-litmus explain tools.call.unknown-tool; mcp-litmus list lists the requirements")
			}
			return nil
		},
		ValidArgsFunction: explainable,
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, err := script.Default()
			if err != nil {
				return err
			}
			faults, err := sabotage.All()
			if err != nil {
				return err
			}
			if q := lib.Requirement(args[0]); q != nil {
				explain(cmd.OutOrStdout(), lib, q, faults)
				return nil
			}
			if r := lib.Role(args[0]); r != nil {
				explainRole(cmd.OutOrStdout(), lib, r)
				return nil
			}
			known := ids(lib)
			for _, r := range lib.Roles {
				known = append(known, r.Name)
			}
			for _, f := range faults {
				if f.Name == args[0] {
					explainFault(cmd.OutOrStdout(), lib, f)
					return nil
				}
				known = append(known, f.Name)
			}
			hint := didYouMean(args[0], known)
			if slices.Contains(plan.AllLabels(lib), args[0]) {
				hint = fmt.Sprintf("; mcp-litmus list --select %s lists its requirements", args[0])
			}
			if hint == "" {
				hint = "; mcp-litmus list lists the requirements"
			}
			return fmt.Errorf("there is no requirement, role or fault %q%s", args[0], hint)
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
	fmt.Fprintf(w, "%s\n\n%s\n\n", q.ID, fold("  "+q.Text, "  "))
	if q.Note != "" {
		fmt.Fprintf(w, "%s\n\n", fold("  Read as: "+q.Note, "    "))
	}
	for _, r := range script.Revisions {
		if !q.InForce(r) {
			fmt.Fprintf(w, "  %s  not in force\n", r)
			continue
		}
		fmt.Fprintf(w, "  %s  %-10s  %s\n", r, q.LevelAt(r), judge.SpecificationURL(q, r))
	}
	if q.Extension != "" {
		fmt.Fprintf(w, "\n  Of the extension %s: reported, and never counted.\n", q.Extension)
	}
	if len(q.Transports) > 0 {
		fmt.Fprintf(w, "\n  About %s only.\n", strings.Join(q.Transports, " and "))
	}
	fmt.Fprintf(w, "\n  Stated in %s:%d\n", q.Pos.File, q.Pos.Line)
	if q.Untestable != "" {
		fmt.Fprintf(w, "\n%s\n", fold("  It cannot be tested from outside: "+q.Untestable, "    "))
	}
	proven, broken := false, false
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
		proven = true
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
	if !proven && q.Untestable == "" {
		fmt.Fprint(w, "\n  No exchange proves it.\n")
	}
	for _, f := range faults {
		if slices.Contains(f.Breaks, q.ID) {
			broken = true
			fmt.Fprintf(w, "\n  Broken by the fault %s\n%s\n", f.Name, fold("    "+f.Why, "    "))
		}
	}
	if proven && !broken {
		fmt.Fprint(w, "\n  No fault breaks it.\n")
	}
}

func explainFault(w io.Writer, lib *script.Library, f sabotage.Fault) {
	fmt.Fprintf(w, "%s, a fault of the reference server\n\n%s\n\n", f.Name, fold("  "+f.Why, "  "))
	fmt.Fprintf(w, "  On %s\n  Stated in faults/%s\n", strings.Join(f.On, ", "), f.Pos)
	for _, id := range f.Breaks {
		text := ""
		if q := lib.Requirement(id); q != nil {
			text = "\n" + fold("    "+q.Text, "    ")
		}
		fmt.Fprintf(w, "\n  Breaks %s%s\n", id, text)
	}
	if len(f.Breaks) == 0 {
		fmt.Fprint(w, "\n  Breaks nothing: with it, every requirement is met.\n")
	}
	fmt.Fprintf(w, "\n  mcp-litmus selftest --fault %s shows it\n", f.Name)
}

func explainRole(w io.Writer, lib *script.Library, r *script.RoleDefinition) {
	fmt.Fprintf(w, "%s, a role for a %s: it %s\n\n", r.Name, r.Kind, r.Does)
	fmt.Fprintf(w, "  To give in litmus.yaml: roles: {%s: %s}\n%s\n", r.Name, r.Example(), fold("    "+r.Add, "    "))
	if r.Apart {
		fmt.Fprintln(w, "\n  What plays it is called in exchanges of its own only, since it takes long or changes something.")
	}
	if len(r.Known) > 0 {
		var known []string
		for _, k := range r.Known {
			known = append(known, k.Name+k.URI)
		}
		fmt.Fprintf(w, "\n%s\n", fold("  Well-known fixtures that play it: "+strings.Join(known, ", "), "    "))
	}
	for _, expr := range []struct {
		what string
		expr *script.Expr
	}{{"the lists of the server", r.Survey}, {"what a call returns", r.Shows}} {
		if expr.expr != nil {
			fmt.Fprintf(w, "\n%s\n", fold("  Found by "+expr.what+": "+expr.expr.Source, "    "))
		}
	}
	for _, ex := range lib.Exchanges {
		if slices.Contains(ex.Needs, r.Name) {
			fmt.Fprintf(w, "\n  Needed by the exchange %q\n", ex.Name)
		}
	}
}

// fold breaks text at spaces into lines of at most 100 characters; those after the first begin with indent.
func fold(text, indent string) string { return reports.Fold(100, text, indent) }
