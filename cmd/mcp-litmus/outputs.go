package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// outputs are the flags that say what is written where.
type outputs struct {
	junit, json, html, markdown, sarif, badge, transcript string

	source         string // the file of the repository at which SARIF shows its findings; "": the default
	verbose, quiet bool
	noColor        bool
	silent         bool // no report on the terminal
}

func (o *outputs) register(f *pflag.FlagSet) {
	f.StringVar(&o.junit, "junit", "", "write the verdicts to `FILE` as JUnit XML")
	f.StringVar(&o.json, "json", "", "write the verdicts to `FILE` as JSON")
	f.StringVar(&o.html, "html", "", "write the verdicts to `FILE` as one page for a browser, with the conversations behind them")
	f.StringVar(&o.markdown, "markdown", "", "write the outcome to `FILE` as Markdown, for a pull request (in GitHub Actions the step's summary gets it by itself)")
	f.StringVar(&o.sarif, "sarif", "", "write what is broken to `FILE` as SARIF 2.1.0, for code scanning")
	f.StringVar(&o.badge, "badge", "", "write a badge to `FILE`: an image for NAME.svg, the JSON of a shields.io endpoint for NAME.json")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "tell of passes and skips, too, and all of the evidence")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "tell on the terminal only what went wrong, and the outcome")
	f.BoolVar(&o.noColor, "no-color", false, "no colours (as with the environment variable NO_COLOR)")
}

// fill takes the files from litmus.yaml that no flag names.
func (o *outputs) fill(r config.Reports) {
	for _, p := range []struct {
		flag *string
		file string
	}{
		{&o.junit, r.JUnit}, {&o.json, r.JSON}, {&o.html, r.HTML}, {&o.markdown, r.Markdown}, {&o.sarif, r.SARIF}, {&o.badge, r.Badge},
		{&o.transcript, r.Transcript},
	} {
		if *p.flag == "" {
			*p.flag = p.file
		}
	}
}

// files are the reports that are written to files.
func (o *outputs) files() []string {
	return slices.DeleteFunc([]string{o.junit, o.json, o.html, o.markdown, o.sarif, o.badge, o.transcript},
		func(name string) bool { return name == "" || name == "-" })
}

// check finds files that cannot be written before anything is run for them.
func (o *outputs) check() error {
	if ext := strings.ToLower(filepath.Ext(o.badge)); o.badge != "" && ext != ".svg" && ext != ".json" {
		return fmt.Errorf("--badge %s: name a file that ends in .svg (an image) or .json (for a shields.io endpoint)", o.badge)
	}
	return checkFiles(o.files()...)
}

func checkFiles(names ...string) error {
	for _, name := range names {
		if name == "" || name == "-" {
			continue
		}
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

// screen is where the report for people goes: standard error when a file named - is standard output.
func (o *outputs) screen() *os.File {
	for _, name := range o.files() {
		if name == "-" {
			return os.Stderr
		}
	}
	return os.Stdout
}

// write writes every report; evidence is nil where there is none to write.
func (o *outputs) write(r *verdict.Report, strict bool, evidence *transcript.Run) error {
	screen := o.screen()
	actions := inActions()
	if !o.silent {
		resume := actions.suspend(screen)
		reports.Console(screen, r, reports.ConsoleOptions{
			Color: reports.Color(screen) && !o.noColor, Width: reports.Width(screen), Verbose: o.verbose, Quiet: o.quiet, Strict: strict,
		})
		resume()
	}
	badge := reports.BadgeJSON
	if strings.EqualFold(filepath.Ext(o.badge), ".svg") {
		badge = reports.BadgeSVG
	}
	first := actions.write(screen, r, strict)
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{o.junit, func(w io.Writer) error { return reports.JUnit(w, r, strict) }},
		{o.json, func(w io.Writer) error { return reports.JSON(w, r) }},
		{o.html, func(w io.Writer) error { return reports.HTML(w, r, strict) }},
		{o.markdown, func(w io.Writer) error { return reports.Markdown(w, r, strict) }},
		{o.sarif, func(w io.Writer) error {
			return reports.SARIF(w, r, reports.SARIFOptions{File: o.source, Strict: strict})
		}},
		{o.badge, func(w io.Writer) error { return badge(w, r, strict) }},
		{o.transcript, func(w io.Writer) error { return transcript.Write(w, evidence, nil) }},
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
