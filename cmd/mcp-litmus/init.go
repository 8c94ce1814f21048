package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/propose"
)

func initCommand() *cobra.Command {
	var over config.Overrides
	var output string
	var force bool
	cmd := &cobra.Command{
		Use:   "init [flags] [-- COMMAND ARGS...]",
		Short: "Write a litmus.yaml for a server: who plays which role, what was left alone and why",
		Long: `Look at a server, without judging it, and write a litmus.yaml for it: how it is reached, which of its tools, resources and
prompts play which role in the exchanges, which tools were left alone and why, and what it seems to have nobody for. What is
left alone stands there behind a #, ready to be taken over.`,
		Example: `  mcp-litmus init -- node server.js
  mcp-litmus init --url http://127.0.0.1:3000/mcp --header "Authorization: Bearer $TOKEN"
  mcp-litmus init --config .mcp.json --server weather --output -`,
		Args: commandAfterDash,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "-" && !force {
				if _, err := os.Stat(output); err == nil {
					return fmt.Errorf("%s is there already; write elsewhere with --output FILE, or over it with --force", output)
				}
			}
			c, err := resolve(cmd, over, args)
			if err != nil {
				return err
			}
			if len(c.Target.Command) == 0 && c.Target.URL == "" {
				return errors.New("name the server: mcp-litmus init -- COMMAND, or --url URL, or --server NAME of a host's file")
			}
			c.Roles, c.Allow = nil, nil // of a file that is there already: what is proposed is what the server shows
			s, err := configure(c)
			if err != nil {
				return err
			}
			defer s.Close()
			if reports.Terminal(os.Stderr) {
				fmt.Fprintln(os.Stderr, "looking at the server, at each revision that it may speak ...")
			}
			ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer restore()
			seen, err := suite.Survey(ctx, s.Target, append(s.Options, suite.Revisions())...)
			if err != nil {
				return exit{exitNotPossible, err.Error()}
			}
			p := propose.Proposal{Target: reached(c, output), Library: seen.Library, Options: seen.Options, Contexts: seen.Contexts}
			if err := writeProposal(output, p.Write); err != nil {
				return err
			}
			for _, problem := range seen.Problems {
				fmt.Fprintln(os.Stderr, "mcp-litmus: note:", problem)
			}
			fmt.Fprint(os.Stderr, p.Summary(output))
			return nil
		},
	}
	targetFlags(cmd, &over)
	cmd.Flags().StringVarP(&output, "output", "o", "litmus.yaml", "write to `FILE`; - is standard output")
	cmd.Flags().BoolVar(&force, "force", false, "write over the file if it is there")
	return cmd
}

// reached is the target as the file says it: what may be a secret comes from the environment, and the command is started
// where it was started now.
func reached(c *config.Config, output string) propose.Target {
	t := propose.Target{
		Command: c.Target.Command, URL: c.Target.URL, Transport: c.Target.Transport,
		Headers: propose.References(c.Target.Headers), Env: propose.References(c.Target.Env),
	}
	from, err := filepath.Abs(filepath.Dir(output))
	to, err2 := filepath.Abs(c.Target.Cwd)
	if err == nil && err2 == nil && from != to && output != "-" && len(t.Command) > 0 {
		if t.Cwd, err = filepath.Rel(from, to); err != nil {
			t.Cwd = to
		}
	}
	return t
}

func writeProposal(name string, write func(io.Writer) error) error {
	if name != "-" {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("the folder of %s cannot be made: %w", name, err)
		}
	}
	return writeFile(name, write)
}
