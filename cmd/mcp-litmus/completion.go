package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// completer gives what may stand where a shell's user pressed Tab.
type completer = func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective)

// complete says what a flag can be completed to.
func complete(cmd *cobra.Command, flag string, with completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err) // there is no such flag
	}
}

// words completes to one of these.
func words(all ...string) completer {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// revisionNames completes to the published revisions, and to more.
func revisionNames(more ...string) completer {
	var names []string
	for _, r := range slices.Backward(script.Revisions) {
		names = append(names, string(r))
	}
	return words(append(names, more...)...)
}

// catalogued completes by the catalogue.
func catalogued(names func(*script.Library) []cobra.Completion) completer {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		lib, err := script.Default()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names(lib), cobra.ShellCompDirectiveNoFileComp
	}
}

// explainable completes to requirements, roles and faults, each with what it is.
var explainable = catalogued(func(lib *script.Library) []cobra.Completion {
	var out []cobra.Completion
	for _, q := range lib.Requirements {
		out = append(out, cobra.CompletionWithDesc(q.ID, q.Text))
	}
	for _, r := range lib.Roles {
		out = append(out, cobra.CompletionWithDesc(r.Name, "a role: "+r.Does))
	}
	return append(out, faultNames()...)
})

func faultNames() []cobra.Completion {
	faults, _ := sabotage.All()
	var out []cobra.Completion
	for _, f := range faults {
		out = append(out, cobra.CompletionWithDesc(f.Name, "a fault: "+f.Why))
	}
	return out
}

// labels completes the last label of a filter such as 'tools && MUST'.
func labels(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	lib, err := script.Default()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	at := strings.LastIndexAny(begun, " &|!,()") + 1
	before := begun[:at]
	var out []cobra.Completion
	for _, label := range allLabels(lib) {
		out = append(out, before+label)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// allLabels are those that checks have, as people write them.
func allLabels(lib *script.Library) []string {
	all := map[string]bool{}
	for _, q := range lib.Requirements {
		all[q.Area] = true
		for _, r := range script.Covered {
			if !q.InForce(r) {
				continue
			}
			for _, over := range []string{transport.Stdio, transport.StreamableHTTP, transport.HTTPSSE} {
				for _, label := range plan.Labels(q, r, over) {
					if !strings.Contains(label, "NOT") && (label == q.ID || !strings.Contains(label, ".")) {
						all[label] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// hostServers completes to the servers of the host's file.
func hostServers(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path, _ := cmd.Flags().GetString("config")
	if path == "" {
		path, _ = config.FindHost(".")
	}
	names, err := config.HostServers(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
