package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

const sessionHeader = "Mcp-Session-Id"

var (
	errAborted = errors.New("ended early by the suite")
	errTimeUp  = errors.New("ended early by the suite: its time was up")
)

// httpConn is a conversation over streamable HTTP (basic/transports of every revision from 2025-03-26), and beneath an
// sseConn one over HTTP+SSE.
type httpConn struct {
	sse    *sseConn // nil: streamable HTTP
	target *urlTarget
	client *http.Client
	rec    *recorder
	ctx    context.Context // of all requests
	cancel context.CancelCauseFunc
	done   chan struct{}
	once   sync.Once
	ended  sync.Once // of done
	all    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	headers map[string]string // by canonical name
	streams map[int]context.CancelCauseFunc
	last    int
}

func newHTTPConn(t *urlTarget, sink Sink) *httpConn {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &httpConn{
		target: t, client: t.client(), rec: &recorder{sink: sink, limits: t.opts.Limits},
		ctx: ctx, cancel: cancel, done: make(chan struct{}),
		headers: map[string]string{}, streams: map[int]context.CancelCauseFunc{},
	}
	if t.process != nil {
		exited := func() {
			c.rec.record(transcript.Event{Kind: transcript.Exit, Exit: t.process.status, Note: t.process.why()})
		}
		if t.process.hasEnded() { // told before anything is sent, so that nothing is asked of a server that is not there
			exited()
			return c
		}
		c.all.Go(func() {
			select {
			case <-t.process.gone:
				exited()
			case <-ctx.Done():
			}
		})
	}
	return c
}

func (c *httpConn) Done() <-chan struct{} { return c.done }
func (c *httpConn) CloseInput()           {}

func (c *httpConn) SetHeader(name, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = http.CanonicalHeaderKey(name)
	if value == "" {
		delete(c.headers, name)
	} else {
		c.headers[name] = value
	}
}

func (c *httpConn) Abort(stream int) {
	c.mu.Lock()
	cancel := c.streams[stream]
	c.mu.Unlock()
	if cancel != nil {
		cancel(errAborted)
	}
}

func (c *httpConn) Send(ctx context.Context, out Outgoing) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, fmt.Errorf("cannot send: %w", ErrClosed)
	}
	stream, _, err := c.send(ctx, out)
	return stream, err
}

// send begins a request, with mu held. The channel is closed when the request has ended.
func (c *httpConn) send(ctx context.Context, out Outgoing) (int, <-chan struct{}, error) {
	req, body, err := c.request(out)
	if err != nil {
		return 0, nil, c.rec.failure(fmt.Errorf("cannot send: %w", err))
	}
	c.last++
	stream := c.last
	reqCtx, cancel := context.WithCancelCause(c.ctx)
	c.streams[stream] = cancel
	stop := func() bool { return true }
	if !out.Hold {
		stop = context.AfterFunc(ctx, func() {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				cancel(errTimeUp)
			} else {
				cancel(errAborted)
			}
		})
	}
	c.rec.record(transcript.Event{Kind: transcript.Send, Stream: stream, Data: body, Note: out.Note,
		HTTP: &transcript.HTTP{Method: req.Method, URL: req.URL.String(), Headers: sentHeaders(req)}})
	ended := make(chan struct{})
	c.all.Go(func() {
		defer close(ended)
		note, err := c.exchange(stream, req.WithContext(reqCtx))
		stop()
		failure := ""
		if err != nil {
			if cause := context.Cause(reqCtx); cause != nil {
				err = cause
			} else if c.outlived(err) {
				err = errors.New(transcript.NeverReached)
			} else if c.unreachable(err) {
				err = fmt.Errorf("the server cannot be reached: %w", err)
				failure = err.Error()
			}
			note = join2(err.Error(), note)
		}
		cancel(nil)
		c.mu.Lock()
		delete(c.streams, stream)
		c.mu.Unlock()
		if failure != "" {
			c.rec.record(transcript.Event{Kind: transcript.Failure, Stream: stream, Note: failure})
		}
		c.rec.record(transcript.Event{Kind: transcript.End, Stream: stream, Note: note})
		if c.sse != nil && stream == transcript.Carrier && context.Cause(c.ctx) == nil {
			c.rec.record(transcript.Event{Kind: transcript.EOF, Stream: stream})
			c.over()
		}
	})
	return stream, ended, nil
}

// request builds a request and returns its body beside it.
func (c *httpConn) request(out Outgoing) (*http.Request, []byte, error) {
	method := out.Method
	if method == "" {
		method = http.MethodPost
	}
	u := *c.target.endpoint
	if c.sse != nil && method != http.MethodGet {
		to, err := c.sse.address()
		if err != nil {
			return nil, nil, err
		}
		u = *to
	}
	if out.Path != "" {
		ref, err := url.Parse(out.Path)
		if err != nil {
			return nil, nil, fmt.Errorf("the path %q is no URL reference: %w", out.Path, err)
		}
		to := u.ResolveReference(ref)
		if to.Scheme != u.Scheme || to.Host != u.Host {
			return nil, nil, fmt.Errorf("%q leads away from the server at %s, and nothing is sent elsewhere", out.Path, u.Host)
		}
		to.User, to.Fragment, to.RawFragment = u.User, "", ""
		u = *to
	}
	body := out.Data
	if out.Writes != nil {
		body = join(out.Writes)
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequest(method, u.String(), reader)
	if err != nil {
		return nil, nil, err
	}
	if out.Host != "" {
		if !httpguts.ValidHostHeader(out.Host) {
			return nil, nil, fmt.Errorf("%q cannot be sent as the Host header", out.Host)
		}
		req.Host = out.Host
	}
	switch {
	case method == http.MethodGet:
		req.Header.Set("Accept", wire.EventStream)
	case c.sse != nil:
		req.Header.Set("Accept", "*/*")
	default:
		req.Header.Set("Accept", "application/json, "+wire.EventStream)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", "mcp-litmus")
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	for name, value := range c.target.opts.Header {
		if http.CanonicalHeaderKey(name) == "Host" {
			if out.Host == "" {
				req.Host = value
			}
			continue
		}
		req.Header.Set(name, value)
	}
	for name := range out.Header {
		req.Header.Del(name)
	}
	for name, values := range out.Header {
		for _, value := range values {
			if err := validHeader(name, value); err != nil {
				return nil, nil, err
			}
			req.Header[name] = append(req.Header[name], value)
		}
	}
	if _, ok := req.Header["User-Agent"]; !ok {
		req.Header["User-Agent"] = []string{""} // keeps net/http from adding one
	}
	return req, body, nil
}

// sentHeaders are the headers for the transcript: all but those that HTTP itself needs.
func sentHeaders(req *http.Request) map[string][]string {
	headers := map[string][]string{}
	for name, values := range req.Header {
		canonical := http.CanonicalHeaderKey(name)
		if canonical == "User-Agent" && len(values) == 1 && values[0] == "" {
			continue
		}
		headers[canonical] = append(headers[canonical], values...)
	}
	if req.Host != req.URL.Host {
		headers["Host"] = []string{req.Host}
	}
	return headers
}

// exchange carries out a request and records all but its End. The error says why there is no answer, or not a whole one;
// the note what else is to be said about it.
func (c *httpConn) exchange(stream int, req *http.Request) (note string, err error) {
	resp, err := c.client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return "", fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	c.rec.record(transcript.Event{Kind: transcript.Answer, Stream: stream,
		HTTP: &transcript.HTTP{Status: resp.StatusCode, Headers: resp.Header}})
	if wire.MediaType(resp.Header.Get("Content-Type")) == wire.EventStream {
		events := eventReader{max: c.rec.limits.MaxMessage, emit: func(data []byte, size int64, meta transcript.SSE) {
			if c.sse != nil && stream == transcript.Carrier && meta.Event == "endpoint" {
				c.sse.greet(data)
			}
			event := transcript.Event{Kind: transcript.Receive, Stream: stream, Data: data, SSE: &meta}
			if size > int64(len(data)) {
				event.Size = size
			}
			c.rec.receive(event)
		}}
		note, err = events.read(resp.Body)
	} else {
		err = c.readBody(stream, resp.Body)
	}
	if err != nil {
		err = fmt.Errorf("the answer broke off: %w", err)
	}
	return note, err
}

func (c *httpConn) readBody(stream int, body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, c.rec.limits.MaxMessage))
	size := int64(len(data))
	if err == nil && size == c.rec.limits.MaxMessage {
		var rest int64
		rest, err = io.Copy(io.Discard, body)
		size += rest
	}
	if size > 0 {
		event := transcript.Event{Kind: transcript.Receive, Stream: stream, Data: data}
		if size > int64(len(data)) {
			event.Size = size
		}
		if err != nil {
			event.Note = "the body broke off"
		}
		c.rec.receive(event)
	}
	return err
}

// unreachable tells whether an error came before the server itself had a say.
func (c *httpConn) unreachable(err error) bool {
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	return errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &certificate) || errors.As(err, &unknown) ||
		errors.As(err, &record)
}

// exitGrace is how long a process whose port is closed may take until it has ended.
const exitGrace = time.Second

// outlived tells whether the server that the suite has started has ended: then that it cannot be reached is no failure of the
// suite, and the Exit event tells it.
func (c *httpConn) outlived(err error) bool {
	var dial *net.OpError
	return c.target.process != nil && errors.As(err, &dial) && dial.Op == "dial" && within(exitGrace, c.target.process.gone)
}

func (c *httpConn) Close() {
	c.once.Do(func() {
		c.mu.Lock()
		c.closed = true
		var ended <-chan struct{}
		if c.headers[sessionHeader] != "" {
			_, ended, _ = c.send(context.Background(), Outgoing{Method: http.MethodDelete})
		}
		c.mu.Unlock()
		if ended != nil {
			within(c.rec.limits.Grace, ended)
		}
		c.cancel(errAborted)
		c.all.Wait()
		c.client.CloseIdleConnections()
		c.rec.seal()
		c.over()
	})
}

func (c *httpConn) over() { c.ended.Do(func() { close(c.done) }) }

func join2(first, second string) string {
	if second == "" {
		return first
	}
	return first + "; " + second
}
