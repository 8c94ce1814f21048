package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// Handler is an HTTP server inside this process. Start makes it listen at a port of 127.0.0.1 that is free; the endpoint is
// the root of that server.
func Handler(h http.Handler) Target { return &handler{handler: h, transport: StreamableHTTP} }

// SSEHandler is as Handler, spoken to over HTTP+SSE: the stream is opened at the root, and the handler has the address for
// messages, too.
func SSEHandler(h http.Handler) Target { return &handler{handler: h, transport: HTTPSSE} }

type handler struct {
	handler   http.Handler
	transport string

	mu     sync.Mutex
	header map[string]string
	server *http.Server
	url    *urlTarget
	ended  chan struct{}
}

func (t *handler) Transport() string { return t.transport }
func (*handler) Loopback() bool      { return true }

func (t *handler) Authorize(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.header = map[string]string{"Authorization": value}
}

func (t *handler) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.url == nil {
		return "an HTTP server in this process"
	}
	return "an HTTP server in this process at " + t.url.String()
}

func (t *handler) Start(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.server != nil {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("the server in this process cannot listen: %w", err)
	}
	u, err := newURL("http://"+listener.Addr().String()+"/", URLOptions{Transport: t.transport, Header: t.header})
	if err != nil {
		listener.Close()
		return err
	}
	t.url, t.server, t.ended = u, &http.Server{Handler: t.handler}, make(chan struct{})
	go func(server *http.Server, ended chan struct{}) {
		defer close(ended)
		_ = server.Serve(listener) // ends by Stop only
	}(t.server, t.ended)
	return nil
}

func (t *handler) Open(ctx context.Context, sink Sink) (Conn, error) {
	t.mu.Lock()
	u := t.url
	t.mu.Unlock()
	if u == nil {
		return nil, errors.New("the server in this process does not listen: call Start first")
	}
	return u.Open(ctx, sink)
}

func (t *handler) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.server == nil {
		return
	}
	t.server.Close()
	<-t.ended
	t.server, t.url = nil, nil
}
