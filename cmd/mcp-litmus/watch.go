package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/internal/watch"
)

// watchAgain runs, and again whenever a watched file changes, until it is interrupted. The exit code is the last run's.
func watchAgain(cmd *cobra.Command, o *runOptions, args []string) error {
	ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer restore()
	once := *o
	if _, err := once.settings(cmd, args); err != nil { // also finds out which files the reports are
		return err
	}
	changes, err := watch.Paths(o.watch, append(once.outputs.files(), o.writeBaseline)...)
	if err != nil {
		return err
	}
	defer changes.Close()
	for {
		again := *o
		c, err := again.settings(cmd, args)
		if err == nil {
			err = run(ctx, &again, c)
		}
		if ctx.Err() != nil {
			return err
		}
		if e := (exit{}); err != nil && (!errors.As(err, &e) || e.message != "") {
			fmt.Fprintln(os.Stderr, "mcp-litmus:", err)
		}
		fmt.Fprintln(os.Stderr, "\nwaiting for a change; Ctrl-C ends it")
		changed, next := changes.Next(ctx)
		if next != nil {
			if e := (exit{}); errors.As(err, &e) {
				return exit{code: e.code}
			}
			return err
		}
		fmt.Fprintf(os.Stderr, "%s has changed\n\n", filepath.Base(changed))
	}
}
