// Command mcp-reference runs the reference MCP server of mcp-litmus: over stdio, or with --http over Streamable HTTP and
// beside it the HTTP+SSE of 2024-11-05.
// --fault NAME, which may be repeated, starts it with deliberate violations of fixtures/faults. --auth-issuer makes it ask for
// tokens.
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
	"github.com/mcp-litmus/mcp-litmus/reference/sabotage"
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
	address := flag.String("http", "", "serve Streamable HTTP on `HOST:PORT` at /mcp, and HTTP+SSE at /sse (port 0: any free one), instead of stdio")
	var names []string
	flag.Func("fault", "start with the deliberate violation `NAME`; may be repeated", func(name string) error {
		names = append(names, name)
		return nil
	})
	auth := reference.Authorization{Path: "/mcp"}
	flag.StringVar(&auth.Issuer, "auth-issuer", "", "with --http: ask for tokens of this authorization server, a `URL`; $NAME stands for an environment variable, such as $MCP_LITMUS_ISSUER")
	flag.StringVar(&auth.Audience, "auth-audience", "", "whom the tokens must be for, a `URI` (default: the address that a request names); $NAME as above")
	flag.StringVar(&auth.Scope, "auth-scope", "", "the `SCOPES` that a token must have, separated by spaces; $NAME as above")
	flag.Parse()
	for _, text := range []*string{&auth.Issuer, &auth.Audience, &auth.Scope} {
		asked := *text != ""
		if *text = os.ExpandEnv(*text); asked && *text == "" && text == &auth.Issuer {
			return errors.New("the environment variable that --auth-issuer names is empty")
		}
	}
	if auth.Issuer != "" && *address == "" {
		return errors.New("--auth-issuer is for --http: over stdio there is no authorization")
	}
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: see --help", flag.Arg(0))
	}
	var faults []sabotage.Fault
	if len(names) > 0 {
		var err error
		if faults, err = sabotage.Find(names...); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if *address == "" {
		return serveStdio(ctx, faults)
	}
	return serveHTTP(ctx, *address, faults, auth)
}

func serveStdio(ctx context.Context, faults []sabotage.Fault) error {
	server := reference.New(reference.WithFlags(sabotage.Flags(faults)))
	err := sabotage.Stdio(server.ServeStdio, faults, sabotage.Process{})(ctx, os.Stdin, os.Stdout)
	if errors.Is(err, context.Canceled) {
		return nil // a signal asked for it
	}
	return err
}

func serveHTTP(ctx context.Context, address string, faults []sabotage.Fault, auth reference.Authorization) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	server := reference.New(reference.WithAllowedHosts(host), reference.WithFlags(sabotage.Flags(faults)))
	mux := http.NewServeMux()
	protect := func(next http.Handler) http.Handler { return next }
	if auth.Issuer != "" {
		wrap, metadata := server.Protected(auth)
		protect = wrap
		mux.Handle("/.well-known/", sabotage.Handler(metadata, faults))
	}
	mux.Handle("/mcp", sabotage.Handler(protect(server.Handler()), faults))
	sse := sabotage.SSEHandler(protect(server.SSEHandler()), faults)
	mux.Handle("/sse", sse)
	mux.Handle("/message", sse)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	if len(faults) > 0 {
		// An answer that a fault keeps from ending must not outlive the signal.
		web.BaseContext = func(net.Listener) context.Context { return ctx }
	}
	fmt.Fprintf(os.Stderr, "mcp-reference: listening on http://%[1]s/mcp\nmcp-reference: HTTP+SSE at http://%[1]s/sse\n", listener.Addr())

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
