package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
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
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(slices.Clone(all), begun), cobra.ShellCompDirectiveNoFileComp
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
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		lib, err := script.Default()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return beginning(names(lib), begun), cobra.ShellCompDirectiveNoFileComp
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
func labels(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	lib, err := script.Default()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	before := begun[:strings.LastIndexAny(begun, " &|!,()")+1]
	var out []cobra.Completion
	for _, label := range plan.AllLabels(lib) {
		out = append(out, before+label)
	}
	return beginning(out, begun), cobra.ShellCompDirectiveNoFileComp
}

// beginning are those that begin with what was written.
func beginning(all []cobra.Completion, begun string) []cobra.Completion {
	return slices.DeleteFunc(all, func(c cobra.Completion) bool { return !strings.HasPrefix(c, begun) })
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
