package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// actions is what GitHub Actions gives a step; off outside of it.
type actions struct {
	on      bool
	summary string // the file that the step's summary is written to; "": none
}

func inActions() actions {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return actions{}
	}
	return actions{true, os.Getenv("GITHUB_STEP_SUMMARY")}
}

// suspend keeps Actions from taking what a server wrote, shown in the report, for a command to it, until resume is called.
func (a actions) suspend(w io.Writer) (resume func()) {
	if !a.on {
		return func() {}
	}
	token := rand.Text()
	fmt.Fprintf(w, "::stop-commands::%s\n", token)
	return func() { fmt.Fprintf(w, "::%s::\n", token) }
}

// write adds the annotations and the step's summary.
func (a actions) write(w io.Writer, r *verdict.Report, strict bool) error {
	if !a.on {
		return nil
	}
	if err := reports.GitHub(w, r, strict); err != nil {
		return err
	}
	return a.addSummary(func(w io.Writer) error { return reports.Markdown(w, r, strict) })
}

// addSummary adds to the step's summary.
func (a actions) addSummary(write func(io.Writer) error) error {
	if a.summary == "" {
		return nil
	}
	f, err := os.OpenFile(a.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("the step's summary ($GITHUB_STEP_SUMMARY) cannot be written: %w", err)
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("the step's summary ($GITHUB_STEP_SUMMARY): %w", err)
	}
	return f.Close()
}
