package transport

import (
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
)

// sseConn is a conversation over HTTP+SSE (2024-11-05, basic/transports, "HTTP with SSE").
type sseConn struct {
	*httpConn
	greeting atomic.Pointer[greeting]
}

// greeting is what the server's endpoint event said.
type greeting struct {
	address *url.URL
	err     error
}

func (c *sseConn) Greeted() (bool, error) {
	g := c.greeting.Load()
	if g == nil {
		return false, nil
	}
	return true, g.err
}

// address is where messages are posted to.
func (c *sseConn) address() (*url.URL, error) {
	g := c.greeting.Load()
	if g == nil {
		return nil, errors.New("the server has not sent the endpoint event, which says where messages are posted to")
	}
	return g.address, g.err
}

// greet takes the data of an endpoint event; the first one counts. An address on another origin is not used: what belongs to
// the way to the server, as credentials do, must not be sent elsewhere.
func (c *sseConn) greet(data []byte) {
	endpoint := c.target.endpoint
	g := &greeting{}
	ref, err := url.Parse(string(data))
	switch {
	case len(data) == 0:
		g.err = errors.New("the server's endpoint event holds no address to post messages to")
	case err != nil:
		g.err = fmt.Errorf("the server's endpoint event holds %q, which is no URI: %w", data, err)
	default:
		g.address = endpoint.ResolveReference(ref)
		if g.address.Scheme != endpoint.Scheme || g.address.Host != endpoint.Host {
			g.err = fmt.Errorf("the server's endpoint event leads to %s, away from %s, and nothing is sent elsewhere", g.address.Redacted(), endpoint.Host)
		}
		g.address.User, g.address.Fragment, g.address.RawFragment = endpoint.User, "", ""
	}
	c.greeting.CompareAndSwap(nil, g)
}
