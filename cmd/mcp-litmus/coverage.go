package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
	"github.com/mcp-litmus/mcp-litmus/suite/plan"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// listCoverage says of each revision how many requirements are in force, how many of those that can be seen from
// outside are tested, and names the rest; first of the core, then of extensions.
func listCoverage(out io.Writer, lib *script.Library, at []script.Revision) error {
	faults, err := sabotage.All()
	if err != nil {
		return err
	}
	var core, beside []plan.Coverage
	for _, r := range at {
		core = append(core, plan.Covers(lib, r))
		if c := plan.CoversExtensions(lib, r); c.All()+len(c.Advice) > 0 {
			beside = append(beside, c)
		}
	}
	if err := coverageTable(out, core); err != nil {
		return err
	}
	if len(beside) > 0 {
		fmt.Fprint(out, "\nExtensions, which are not counted above:\n")
		if err := coverageTable(out, beside); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "\nTested: an exchange judges it at that revision. The self-test shows that a server that breaks it is found out.\n")
	for _, c := range core {
		fmt.Fprintln(out)
		coverageNames(out, string(c.Revision), c, faults)
	}
	for _, c := range beside {
		fmt.Fprintln(out)
		coverageNames(out, string(c.Revision)+", extensions", c, faults)
	}
	return nil
}

func coverageTable(out io.Writer, all []plan.Coverage) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "REVISION\tREQUIREMENTS\tUNTESTABLE\tVISIBLE\tTESTED\tOF VISIBLE\tOF ALL\tADVICE BESIDE\t")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d %%\t%d %%\t%d\t\n", c.Revision, c.All(), len(c.Untestable), len(c.Tested)+len(c.Untested),
			len(c.Tested), c.Share(), 100*len(c.Tested)/max(1, c.All()), len(c.Advice))
	}
	return w.Flush()
}

// coverageNames names what is not tested.
func coverageNames(out io.Writer, title string, c plan.Coverage, faults []sabotage.Fault) {
	fmt.Fprintf(out, "%s: visible from outside and not tested\n", title)
	for _, q := range c.Untested {
		fmt.Fprintf(out, "  %s  %s\n", q.ID, q.Text)
	}
	if len(c.Untested) == 0 {
		fmt.Fprintln(out, "  none")
	}
	if spared := unbroken(c, faults); len(spared) > 0 {
		fmt.Fprintf(out, "%s: tested, and broken on purpose at other revisions only\n", title)
		for _, q := range spared {
			fmt.Fprintf(out, "  %s\n", q.ID)
		}
	}
	fmt.Fprintf(out, "%s: untestable\n", title)
	for _, q := range c.Untestable {
		fmt.Fprintf(out, "  %s (%s)  %s\n", q.ID, q.LevelAt(c.Revision), q.Untestable)
	}
	if len(c.Untestable) == 0 {
		fmt.Fprintln(out, "  none")
	}
}

// unbroken are the tested requirements that no fault breaks at the revision.
func unbroken(c plan.Coverage, faults []sabotage.Fault) []*script.Requirement {
	return slices.DeleteFunc(slices.Clone(c.Tested), func(q *script.Requirement) bool {
		return slices.ContainsFunc(faults, func(f sabotage.Fault) bool {
			return f.AppliesTo("", string(c.Revision)) && slices.Contains(f.Breaks, q.ID)
		})
	})
}
