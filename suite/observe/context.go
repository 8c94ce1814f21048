package observe

import (
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Context is what all steps of all exchanges see, at one revision over one transport.
type Context struct {
	Revision  script.Revision
	Transport string
	Server    map[string]any // what the survey showed
	Roles     map[string]any
	Unfilled  map[string]string // why a role that the settings name is not filled
	Callable  []any             // the tools that may be called, each with name, arguments and tool
	Absent    map[string]any
	Loopback  bool
	Auth      map[string]any // what is known of the server's authorization; nil: nothing
	Reader    *Reader        // may be nil
	// Clients are the same for clients that declared capabilities, by script.CapabilitiesKey: what such a client was offered.
	Clients map[string]*Context
}

// For is the context in which the exchange is planned, played and judged: what a client with its capabilities was offered,
// or where no such client asked, what one without any was.
func (c *Context) For(ex *script.Exchange) *Context {
	if other := c.Clients[script.CapabilitiesKey(ex.Client.Capabilities)]; other != nil {
		return other
	}
	return c
}

// Vars is a fresh set of variables for an exchange; opening are the events of its session's handshake.
func (c *Context) Vars(client map[string]any, opening []transcript.Event) map[string]any {
	if client == nil {
		client = map[string]any{}
	}
	method, params := wire.Opening(string(c.Revision), client)
	vars := map[string]any{
		"revision": string(c.Revision), "transport": c.Transport, "server": c.Server, "roles": c.Roles,
		"callable": c.Callable, "absent": c.Absent, "client": client, "loopback": c.Loopback, "auth": c.Auth,
		"meta": wire.Meta(string(c.Revision), client), "pingMethod": wire.Ping(string(c.Revision)),
		"opening": map[string]any{"method": method, "params": params},
	}
	if len(opening) > 0 {
		vars["handshake"] = c.Reader.handshake(opening)
	}
	return vars
}
