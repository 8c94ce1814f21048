// Command mcp-reference runs the reference MCP server of mcp-litmus: over stdio, or with --http over Streamable HTTP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mcp-litmus/mcp-litmus/reference"
)

// shutdownTime is how long requests in progress may take to end after a signal.
const shutdownTime = 5 * time.Second

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mcp-reference:", err)
		os.Exit(1)
	}
}

func run() error {
	address := flag.String("http", "", "serve Streamable HTTP on `HOST:PORT` at /mcp (port 0: any free one) instead of stdio")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: see --help", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if *address == "" {
		return serveStdio(ctx)
	}
	return serveHTTP(ctx, *address)
}

func serveStdio(ctx context.Context) error {
	err := reference.New().ServeStdio(ctx, os.Stdin, os.Stdout)
	if errors.Is(err, context.Canceled) {
		return nil // a signal asked for it
	}
	return err
}

func serveHTTP(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	server := reference.New(reference.WithAllowedHosts(host))
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.Handler())
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(os.Stderr, "mcp-reference: listening on http://%s/mcp\n", listener.Addr())

	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	return errors.Join(server.Shutdown(limit), web.Shutdown(limit))
}
