package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
)

// URLOptions say how to reach a URL.
type URLOptions struct {
	// Transport is StreamableHTTP or HTTPSSE; "" is the first one, and lets the target be switched.
	Transport string
	Header    map[string]string // sent with every request, such as Authorization
	CACert    string            // a file of PEM certificates to trust beside those of the system
	Insecure  bool              // do not verify certificates
	Limits
	// Client is used instead of one made from CACert and Insecure. Its transport and cookie jar are kept, its redirect policy
	// and timeout are not.
	Client *http.Client
}

// URL is a server that runs already and is spoken to over HTTP. It is a Switcher, too. Redirects are recorded, not followed; no proxy is
// used, nothing is compressed, and there are no limits on connections. Each conversation has connections of its own.
//
// The error says what is wrong with the endpoint (it must be an absolute http or https URL), with a header or with the
// file of certificates.
func URL(endpoint string, opts URLOptions) (Target, error) {
	t, err := newURL(endpoint, opts)
	if err != nil {
		return nil, err // not t: a nil pointer in an interface is not nil
	}
	return t, nil
}

func newURL(endpoint string, opts URLOptions) (*urlTarget, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // without the URL, which may hold a password
		}
		return nil, fmt.Errorf("the server's URL cannot be read: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("the server's URL %q is not one to talk to: it must be like http://127.0.0.1:3000/mcp or https://example.com/mcp", u.Redacted())
	}
	u.Fragment, u.RawFragment = "", ""
	opts.Limits = opts.withDefaults()
	switch opts.Transport {
	case "", StreamableHTTP, HTTPSSE:
	default:
		return nil, fmt.Errorf("a URL cannot be spoken to over %q; the transport is %s or %s", opts.Transport, StreamableHTTP, HTTPSSE)
	}
	for name, value := range opts.Header {
		if err := validHeader(name, value); err != nil {
			return nil, err
		}
	}
	t := &urlTarget{endpoint: u, opts: opts}
	t.sse.Store(opts.Transport == HTTPSSE)
	t.tls = &tls.Config{InsecureSkipVerify: opts.Insecure}
	if opts.CACert != "" {
		pem, err := os.ReadFile(opts.CACert)
		if err != nil {
			return nil, fmt.Errorf("the file of CA certificates cannot be read: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the file of CA certificates %s holds no certificate in PEM form", opts.CACert)
		}
		t.tls.RootCAs = pool
	}
	return t, nil
}

func validHeader(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%q cannot be the name of an HTTP header", name)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("the value of the header %s cannot be sent over HTTP: it has control characters", name)
	}
	return nil
}

type urlTarget struct {
	endpoint *url.URL
	opts     URLOptions
	sse      atomic.Bool // HTTP+SSE
	tls      *tls.Config
	process  *process // the server, where the suite has started it
}

func (t *urlTarget) String() string { return t.endpoint.Redacted() }

func (t *urlTarget) Transport() string {
	if t.sse.Load() {
		return HTTPSSE
	}
	return StreamableHTTP
}

func (t *urlTarget) Switch(transport string) bool {
	if t.opts.Transport != "" {
		return false
	}
	t.sse.Store(transport == HTTPSSE)
	return transport == HTTPSSE || transport == StreamableHTTP
}

func (t *urlTarget) Authorize(value string) {
	for name := range t.opts.Header {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return
		}
	}
	headers := maps.Clone(t.opts.Header)
	if headers == nil {
		headers = map[string]string{}
	}
	headers["Authorization"] = value
	t.opts.Header = headers
}

func (t *urlTarget) Loopback() bool {
	host := t.endpoint.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (*urlTarget) Start(context.Context) error { return nil }
func (*urlTarget) Stop()                       {}

func (t *urlTarget) Open(ctx context.Context, sink Sink) (Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("no conversation was begun: %w", err)
	}
	c := newHTTPConn(t, sink)
	if !t.sse.Load() {
		return c, nil
	}
	conn := &sseConn{httpConn: c}
	c.sse = conn
	if _, err := c.Send(ctx, Outgoing{Method: http.MethodGet, Hold: true}); err != nil {
		c.Close()
		return nil, err
	}
	return conn, nil
}

// client makes the client of one conversation.
func (t *urlTarget) client() *http.Client {
	client := &http.Client{}
	if t.opts.Client != nil {
		*client = *t.opts.Client
		client.Timeout = 0
	} else {
		client.Transport = &http.Transport{
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSClientConfig:        t.tls.Clone(),
			TLSHandshakeTimeout:    10 * time.Second,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           0,
			MaxIdleConnsPerHost:    100,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}
