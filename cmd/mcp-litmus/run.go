package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

func runCommand() *cobra.Command {
	var url, transcriptFile, jsonFile, junitFile, selection, callTools string
	var revisions []string
	var jobs int
	var timeout time.Duration
	var verbose bool
	cmd := &cobra.Command{
		Use:   "run [flags] [-- COMMAND ARGS...]",
		Short: "Judge a server: a command, a URL, or both",
		RunE: func(cmd *cobra.Command, args []string) error {
			var target suite.Target
			var err error
			self, _ := os.Executable()
			switch {
			case url != "" && len(args) > 0:
				target, err = transport.Served(args, transport.CommandOptions{}, url, transport.URLOptions{}, 30*time.Second)
			case url != "":
				target, err = suite.URL(url)
			case len(args) > 0:
				target = suite.Command(args...)
			default:
				target = suite.Command(self, referenceCommand)
			}
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			o, err := suite.Run(ctx, target, suite.Revisions(revisions...), suite.Jobs(jobs), suite.Timeout(timeout), suite.Select(selection), suite.CallTools(callTools))
			if err != nil {
				return err
			}
			reports.Console(os.Stdout, o.Report, reports.ConsoleOptions{Width: 120, Verbose: verbose})
			for _, f := range []struct {
				name  string
				write func(*os.File) error
			}{
				{transcriptFile, func(f *os.File) error { return transcript.Write(f, o.Transcript, transcript.NewRedactor()) }},
				{jsonFile, func(f *os.File) error { return reports.JSON(f, o.Report) }},
				{junitFile, func(f *os.File) error { return reports.JUnit(f, o.Report, false) }},
			} {
				if f.name == "" {
					continue
				}
				file, err := os.Create(f.name)
				if err != nil {
					return err
				}
				if err := f.write(file); err != nil {
					return fmt.Errorf("%s: %w", f.name, err)
				}
				if err := file.Close(); err != nil {
					return err
				}
			}
			if !o.Conforms() {
				return exit{exitBreaks, ""}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&url, "url", "", "the server's Streamable HTTP endpoint")
	f.StringSliceVar(&revisions, "revision", nil, "revisions to judge at (default: all that the server speaks)")
	f.IntVar(&jobs, "jobs", 0, "exchanges played side by side")
	f.DurationVar(&timeout, "timeout", 0, "bound of each wait")
	f.StringVar(&selection, "select", "", "label filter")
	f.StringVar(&callTools, "call-tools", "safe", "safe, all or none")
	f.StringVar(&transcriptFile, "transcript", "", "write the evidence to this file")
	f.StringVar(&jsonFile, "json", "", "write the verdicts as JSON")
	f.StringVar(&junitFile, "junit", "", "write the verdicts as JUnit XML")
	f.BoolVarP(&verbose, "verbose", "v", false, "show passes, too")
	return cmd
}
