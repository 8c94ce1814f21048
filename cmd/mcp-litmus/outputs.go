package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// outputs are the flags that say what is written where.
type outputs struct {
	junit, json, html, transcript string
	verbose, quiet                bool
	noColor                       bool
	silent                        bool // no report on the terminal
}

func (o *outputs) register(f *pflag.FlagSet) {
	f.StringVar(&o.junit, "junit", "", "write the verdicts to `FILE` as JUnit XML")
	f.StringVar(&o.json, "json", "", "write the verdicts to `FILE` as JSON")
	f.StringVar(&o.html, "html", "", "write the verdicts to `FILE` as one page for a browser, with the conversations behind them")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "tell of passes and skips, too, and all of the evidence")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "tell on the terminal only what went wrong, and the outcome")
	f.BoolVar(&o.noColor, "no-color", false, "no colours (as with the environment variable NO_COLOR)")
}

// fill takes the files from litmus.yaml that no flag names.
func (o *outputs) fill(r config.Reports) {
	for _, p := range []struct {
		flag *string
		file string
	}{{&o.junit, r.JUnit}, {&o.json, r.JSON}, {&o.html, r.HTML}, {&o.transcript, r.Transcript}} {
		if *p.flag == "" {
			*p.flag = p.file
		}
	}
}

// files are the reports that are written to files.
func (o *outputs) files() []string {
	return slices.DeleteFunc([]string{o.junit, o.json, o.html, o.transcript}, func(name string) bool { return name == "" || name == "-" })
}

// check finds files that cannot be written before anything is run for them.
func (o *outputs) check() error {
	for _, name := range o.files() {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("the folder of the report %s cannot be made: %w", name, err)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return fmt.Errorf("the report cannot be written: %w", err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// write writes every report. A file named - is standard output; then the console report goes to standard error.
func (o *outputs) write(out *suite.Outcome) error {
	screen := os.Stdout
	for _, name := range []string{o.junit, o.json, o.html, o.transcript} {
		if name == "-" {
			screen = os.Stderr
		}
	}
	if !o.silent {
		reports.Console(screen, out.Report, reports.ConsoleOptions{
			Color: reports.Color(screen) && !o.noColor, Width: reports.Width(screen), Verbose: o.verbose, Quiet: o.quiet, Strict: out.Strict,
		})
	}
	var first error
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{o.junit, func(w io.Writer) error { return reports.JUnit(w, out.Report, out.Strict) }},
		{o.json, func(w io.Writer) error { return reports.JSON(w, out.Report) }},
		{o.html, func(w io.Writer) error { return reports.HTML(w, out.Report, out.Strict) }},
		{o.transcript, func(w io.Writer) error { return transcript.Write(w, out.Transcript, nil) }},
	} {
		if err := writeFile(f.name, f.write); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func writeFile(name string, write func(io.Writer) error) error {
	switch name {
	case "":
		return nil
	case "-":
		return write(os.Stdout)
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("the report cannot be written: %w", err)
	}
	if err := write(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}
