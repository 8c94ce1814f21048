package selftest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
)

// Handler is the reference server's MCP endpoint with the faults at its edge.
func Handler(faults []sabotage.Fault) http.Handler {
	return sabotage.Handler(reference.New(reference.WithFlags(sabotage.Flags(faults))).Handler(), faults)
}

// ProtectedHandler is the reference server's MCP endpoint, at /, with the faults at its edge, asking for authorization as told,
// and its metadata documents.
func ProtectedHandler(faults []sabotage.Fault, a reference.Authorization) http.Handler {
	a.Path = "/"
	server := reference.New(reference.WithFlags(sabotage.Flags(faults)))
	wrap, metadata := server.Protected(a)
	mux := http.NewServeMux()
	mux.Handle("/{$}", wrap(server.Handler()))
	mux.Handle("/.well-known/", metadata)
	return sabotage.Handler(mux, faults)
}

// SSEHandler is the reference server's HTTP+SSE with the faults at its edge.
func SSEHandler(faults []sabotage.Fault) http.Handler {
	return sabotage.SSEHandler(reference.New(reference.WithFlags(sabotage.Flags(faults))).SSEHandler(), faults)
}

// servePipe is the reference server in this process, with the faults at its edge; each conversation has a server of
// its own, and an end of the process that a fault asks for ends the conversation alone.
func servePipe(faults []sabotage.Fault) func(context.Context, io.Reader, io.Writer) error {
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		server := reference.New(reference.WithFlags(sabotage.Flags(faults)))
		process := sabotage.Process{Exit: func(int) {}, Stderr: io.Discard}
		return sabotage.Stdio(server.ServeStdio, faults, process)(ctx, in, out)
	}
}

// ServeStdio is the reference server on this process's standard input and output, with the faults of those names
// at its edge, until the input ends. The error is about the names, or the server's.
func ServeStdio(ctx context.Context, names ...string) error {
	faults, err := sabotage.Find(names...)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := reference.New(reference.WithFlags(sabotage.Flags(faults)))
	err = sabotage.Stdio(server.ServeStdio, faults, sabotage.Process{})(ctx, os.Stdin, os.Stdout)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
