package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/tour"
	"github.com/mcp-litmus/mcp-litmus/suite/trace"
)

func tourCommand() *cobra.Command {
	var over config.Overrides
	var revision string
	var full, noColor bool
	cmd := &cobra.Command{
		Use:   "tour [flags] [-- COMMAND ARGS...]",
		Short: "Walk a server through the conversation that every client has with it, and tell of each message what it is",
		Long: `Walk one server through the conversation that every client has with it, and show each message as it crosses the wire, with
one line of explanation: the handshake (or from 2026-07-28 server/discover and requests that stand by themselves), the
tools and a call of a safe one, the resources and one of them, the prompts and one of them. Nothing is judged.

Without a COMMAND or --url, litmus.yaml names the server, or the tour shows the embedded reference server.`,
		Example: `  mcp-litmus tour -- node server.js
  mcp-litmus tour --revision 2025-06-18 --url http://127.0.0.1:3000/mcp
  mcp-litmus tour --revision 2026-07-28 --full | less -R`,
		Args: commandAfterDash,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := resolve(cmd, over, args)
			if err != nil {
				return err
			}
			s, err := configure(c)
			if err != nil {
				return err
			}
			defer s.Close()
			opts := append(s.Options, suite.Revisions())
			if revision != "" {
				opts = append(opts, suite.Revisions(revision))
			}
			style := trace.Style{Color: reports.Color(os.Stdout) && !noColor, Longest: 1200}
			if full {
				style.Longest = 0
			}
			ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer restore()
			err = suite.Tour(ctx, s.Target, tour.Text(os.Stdout, style, reports.Width(os.Stdout)), opts...)
			switch {
			case ctx.Err() != nil:
				return exit{exitNotPossible, "interrupted"}
			case errors.Is(err, tour.ErrEnded):
				return exit{exitNotPossible, err.Error()}
			}
			return err
		},
	}
	targetFlags(cmd, &over)
	f := cmd.Flags()
	f.StringVar(&revision, "revision", "", "speak this `REVISION` (default: the newest that the server speaks)")
	f.BoolVar(&full, "full", false, "show messages whole, however long they are")
	f.BoolVar(&noColor, "no-color", false, "no colours (as with the environment variable NO_COLOR)")
	complete(cmd, "revision", revisionNames())
	return cmd
}
