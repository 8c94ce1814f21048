package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/suite/judge"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

func revisionsCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "revisions FROM TO",
		Short: "Tell what changes for a server from one revision to another: requirements that came, went or changed their level",
		Example: `  mcp-litmus revisions 2025-11-25 2026-07-28
  mcp-litmus revisions 2025-06-18 2025-11-25 --markdown > changes.md`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("name two revisions, as in mcp-litmus revisions 2025-11-25 2026-07-28")
			}
			return nil
		},
		ValidArgsFunction: revisionNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			lib, err := script.Default()
			if err != nil {
				return err
			}
			at := make([]script.Revision, 2)
			for i, name := range args {
				if at[i], err = script.ParseRevision(name); err != nil {
					return err
				}
			}
			if markdown {
				changesMarkdown(cmd.OutOrStdout(), at[0], at[1], lib.Changes(at[0], at[1]))
			} else {
				changesText(cmd.OutOrStdout(), at[0], at[1], lib.Changes(at[0], at[1]))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "write Markdown")
	return cmd
}

// changeKinds are the parts of the list, in order.
var changeKinds = []struct {
	title string
	is    func(script.Change) bool
}{
	{"came", script.Change.Came},
	{"went", script.Change.Went},
	{"changed their level", func(c script.Change) bool { return !c.Came() && !c.Went() }},
}

// levelOf is the level in words: the one in force, or both.
func levelOf(c script.Change) string {
	switch {
	case c.Came():
		return string(c.To)
	case c.Went():
		return string(c.From)
	}
	return string(c.From) + " → " + string(c.To)
}

// place is where the change can be read: at the newer of the two revisions at which the requirement is in force.
func place(c script.Change, from, to script.Revision) string {
	if c.Went() {
		return judge.SpecificationURL(c.Requirement, from)
	}
	return judge.SpecificationURL(c.Requirement, to)
}

// byArea calls area for each page with changes of a kind, in the order of the catalogue.
func byArea(changes []script.Change, is func(script.Change) bool, area func(name string, of []script.Change)) (total int) {
	var names []string
	of := map[string][]script.Change{}
	for _, c := range changes {
		if !is(c) {
			continue
		}
		a := c.Requirement.Area
		if of[a] == nil {
			names = append(names, a)
		}
		of[a] = append(of[a], c)
		total++
	}
	for _, name := range names {
		area(name, of[name])
	}
	return total
}

func changesText(w io.Writer, from, to script.Revision, changes []script.Change) {
	fmt.Fprintf(w, "From %s to %s: %d requirements on a server differ.\n", from, to, len(changes))
	for _, kind := range changeKinds {
		var b strings.Builder
		total := byArea(changes, kind.is, func(name string, of []script.Change) {
			fmt.Fprintf(&b, "\n  %s\n", name)
			for _, c := range of {
				fmt.Fprintf(&b, "    %-10s %s\n%s\n", levelOf(c), c.Requirement.ID, fold("      "+c.Requirement.Text, "      "))
				if url := place(c, from, to); url != "" {
					fmt.Fprintf(&b, "      %s\n", url)
				}
			}
		})
		if total > 0 {
			fmt.Fprintf(w, "\n%d %s\n%s", total, kind.title, b.String())
		}
	}
}

func changesMarkdown(w io.Writer, from, to script.Revision, changes []script.Change) {
	fmt.Fprintf(w, "# From %s to %s\n\n%d requirements on a server differ.\n", from, to, len(changes))
	for _, kind := range changeKinds {
		var b strings.Builder
		total := byArea(changes, kind.is, func(name string, of []script.Change) {
			fmt.Fprintf(&b, "\n### %s\n\n| level | requirement | in words |\n| --- | --- | --- |\n", name)
			for _, c := range of {
				id := "`" + c.Requirement.ID + "`"
				if url := place(c, from, to); url != "" {
					id = "[" + id + "](" + url + ")"
				}
				fmt.Fprintf(&b, "| %s | %s | %s |\n", levelOf(c), id, strings.ReplaceAll(c.Requirement.Text, "|", "\\|"))
			}
		})
		if total > 0 {
			fmt.Fprintf(w, "\n## %d %s\n%s", total, kind.title, b.String())
		}
	}
}
