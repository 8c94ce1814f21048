package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

var errNotYet = errors.New("not implemented yet")

// CommandOptions say how to start a command.
type CommandOptions struct {
	Env []string // NAME=value, added to the environment of this process
	Dir string   // where to start it; "": the current directory
	Limits
}

// URLOptions say how to reach a URL.
type URLOptions struct {
	Header   map[string]string // sent with every request
	CACert   string            // a file of PEM certificates to trust beside those of the system
	Insecure bool              // do not verify certificates
	Limits
	Client *http.Client // instead of one made from the options above
}

// Command is a server that is started for each conversation and spoken to over its standard input and output.
func Command(argv []string, opts CommandOptions) Target { return nil }

// URL is a server that runs already.
func URL(endpoint string, opts URLOptions) (Target, error) { return nil, errNotYet }

// Served is a server that Start starts, and that is spoken to over HTTP once it answers, within ready.
func Served(argv []string, cmd CommandOptions, endpoint string, opts URLOptions, ready time.Duration) (Target, error) {
	return nil, errNotYet
}

// Pipe is a server inside this process.
func Pipe(serve func(ctx context.Context, in io.Reader, out io.Writer) error) Target { return nil }

// Handler is an HTTP server inside this process.
func Handler(h http.Handler) Target { return nil }
