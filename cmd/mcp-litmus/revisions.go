package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reports"
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
			changes := lib.Changes(at[0], at[1])
			if markdown {
				changesMarkdown(cmd.OutOrStdout(), at[0], at[1], changes)
			} else {
				width := 100
				if out, ok := cmd.OutOrStdout().(*os.File); ok && reports.Width(out) > 0 {
					width = min(max(reports.Width(out), 40), width)
				}
				changesText(cmd.OutOrStdout(), at[0], at[1], changes, width)
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

// parts are the changes of the core and those of extensions, which are no matter of conformance.
func parts(changes []script.Change) (core, beside []script.Change) {
	for _, c := range changes {
		if c.Requirement.Extension == "" {
			core = append(core, c)
		} else {
			beside = append(beside, c)
		}
	}
	return core, beside
}

// inNumbers is "12 came, 3 went, 1 changed their level".
func inNumbers(changes []script.Change) string {
	var out []string
	for _, kind := range changeKinds {
		n := 0
		for _, c := range changes {
			if kind.is(c) {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, kind.title))
		}
	}
	return strings.Join(out, ", ")
}

const besideChanges = "Extensions, which are optional and not counted"

// changesText writes the list with lines of at most width columns, addresses aside, which stay whole for terminals to make links of.
func changesText(w io.Writer, from, to script.Revision, changes []script.Change, width int) {
	core, beside := parts(changes)
	fmt.Fprintf(w, "From %s to %s, %d requirements on a server differ", from, to, len(core))
	if len(core) > 0 {
		fmt.Fprint(w, ": "+inNumbers(core))
		fmt.Fprint(w, ".\n\n")
		changesOverview(w, core)
	} else {
		fmt.Fprint(w, ".\n")
	}
	list := func(changes []script.Change) {
		for _, kind := range changeKinds {
			var b strings.Builder
			total := byArea(changes, kind.is, func(name string, of []script.Change) {
				fmt.Fprintf(&b, "\n  %s\n", name)
				for _, c := range of {
					fmt.Fprintf(&b, "\n    %-10s %s\n%s\n", levelOf(c), c.Requirement.ID, reports.Fold(width, "      "+c.Requirement.Text, "      "))
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
	list(core)
	if len(beside) > 0 {
		fmt.Fprintf(w, "\n%s: %s\n", besideChanges, inNumbers(beside))
		list(beside)
	}
}

// changesOverview is a table: areas, and how many requirements of each came, went and changed their level.
func changesOverview(w io.Writer, changes []script.Change) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  area\tcame\twent\tlevel")
	byArea(changes, func(script.Change) bool { return true }, func(name string, of []script.Change) {
		fmt.Fprintf(t, "  %s", name)
		for _, kind := range changeKinds {
			n := 0
			for _, c := range of {
				if kind.is(c) {
					n++
				}
			}
			if n == 0 {
				fmt.Fprint(t, "\t·")
			} else {
				fmt.Fprintf(t, "\t%d", n)
			}
		}
		fmt.Fprintln(t)
	})
	t.Flush() // whoever gave w knows whether writing to it failed
}

func changesMarkdown(w io.Writer, from, to script.Revision, changes []script.Change) {
	core, beside := parts(changes)
	fmt.Fprintf(w, "# From %s to %s\n\n%d requirements on a server differ", from, to, len(core))
	if len(core) > 0 {
		fmt.Fprint(w, ": "+inNumbers(core))
	}
	fmt.Fprint(w, ".\n")
	list := func(changes []script.Change, marks string) {
		for _, kind := range changeKinds {
			var b strings.Builder
			total := byArea(changes, kind.is, func(name string, of []script.Change) {
				fmt.Fprintf(&b, "\n%s# %s\n\n| level | requirement | in words |\n| --- | --- | --- |\n", marks, name)
				for _, c := range of {
					id := "`" + c.Requirement.ID + "`"
					if url := place(c, from, to); url != "" {
						id = "[" + id + "](" + url + ")"
					}
					fmt.Fprintf(&b, "| %s | %s | %s |\n", levelOf(c), id, strings.ReplaceAll(c.Requirement.Text, "|", "\\|"))
				}
			})
			if total > 0 {
				fmt.Fprintf(w, "\n%s %d %s\n%s", marks, total, kind.title, b.String())
			}
		}
	}
	list(core, "##")
	if len(beside) > 0 {
		fmt.Fprintf(w, "\n## %s\n", besideChanges)
		list(beside, "###")
	}
}
