package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

func listCommand() *cobra.Command {
	var revisions []string
	var filter string
	var exchanges, roles, coverage bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the requirements, exchanges or roles of the catalogue, or what of it is tested",
		Example: `  mcp-litmus list --revision 2025-11-25 --select 'tools && MUST'
  mcp-litmus list --coverage --revision 2025-11-25
  mcp-litmus list --exchanges
  mcp-litmus list --roles`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lib, err := script.Default()
			if err != nil {
				return err
			}
			at, err := parseRevisions(revisions)
			if err != nil {
				return err
			}
			wanted, err := plan.Select(filter)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			switch {
			case coverage:
				if len(revisions) == 0 {
					at = script.Revisions
				}
				return listCoverage(cmd.OutOrStdout(), lib, at)
			case roles:
				listRoles(w, lib)
			case exchanges:
				listExchanges(w, lib)
			default:
				if listRequirements(w, lib, at, wanted) == 0 {
					return plan.Nothing(lib, filter, at, "", wanted)
				}
			}
			return w.Flush()
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&revisions, "revision", nil, "only what is in force at one of these `REVISIONS`")
	f.StringVar(&filter, "select", "", "only what this label `FILTER` wants, such as 'tools && MUST' (docs/litmus-yaml.md: Selecting)")
	f.BoolVar(&exchanges, "exchanges", false, "list the exchanges and what each proves")
	f.BoolVar(&roles, "roles", false, "list the roles that tools, prompts and resources can play (for litmus.yaml)")
	f.BoolVar(&coverage, "coverage", false, "count for each revision what is tested, what is untestable and why, and what is neither")
	complete(cmd, "revision", revisionNames())
	complete(cmd, "select", labels)
	cmd.MarkFlagsMutuallyExclusive("exchanges", "roles", "coverage")
	cmd.MarkFlagsMutuallyExclusive("coverage", "select")
	return cmd
}

func parseRevisions(names []string) ([]script.Revision, error) {
	if len(names) == 0 || len(names) == 1 && names[0] == "all" {
		return script.Revisions, nil
	}
	var out []script.Revision
	for _, name := range names {
		r, err := script.ParseRevision(name)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func listRequirements(w io.Writer, lib *script.Library, at []script.Revision, wanted plan.Selection) (listed int) {
	fmt.Fprintln(w, "REQUIREMENT\tLEVEL\tIN FORCE\tIN WORDS")
	for _, q := range lib.Requirements {
		for _, r := range at {
			if !q.InForce(r) || !overAny(func(transport string) bool { return wanted(plan.Labels(q, r, transport)) }) {
				continue
			}
			text := q.Text
			if q.Extension != "" {
				text += " (of the extension " + q.Extension + ": not counted)"
			}
			if q.Untestable != "" {
				text += " (untestable: " + q.Untestable + ")"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", q.ID, q.LevelAt(r), window(q), text)
			listed++
			break
		}
	}
	return listed
}

// noArguments refuses arguments, in words.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument such as %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// overAny says whether f holds for a transport that a target may have.
func overAny(f func(transport string) bool) bool {
	return slices.ContainsFunc(wire.Transports, f)
}

// window says in which revisions a requirement is in force.
func window(q *script.Requirement) string {
	switch {
	case q.Until == "":
		return "since " + string(q.Since)
	case q.Until == q.Since:
		return "only " + string(q.Since)
	}
	return string(q.Since) + " to " + string(q.Until)
}

func listExchanges(w io.Writer, lib *script.Library) {
	fmt.Fprintln(w, "AREA\tEXCHANGE\tPROVES")
	for _, ex := range lib.Exchanges {
		seen := map[string]bool{}
		list := ""
		for _, c := range ex.AllChecks() {
			if !seen[c.Requirement] {
				seen[c.Requirement] = true
				list += " " + c.Requirement
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", ex.Area, ex.Name, list)
	}
}

func listRoles(w io.Writer, lib *script.Library) {
	fmt.Fprintln(w, "ROLE\tKIND\tDOES; TO GIVE IN LITMUS.YAML UNDER roles:")
	for _, r := range lib.Roles {
		fmt.Fprintf(w, "%s\t%s\t%s;\n\t\t%s\n", r.Name, r.Kind, r.Does, r.Add)
	}
}
