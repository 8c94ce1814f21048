package wire

// Modern is the first revision without a handshake, where every request says in its `_meta` what the client is; earlier
// revisions are legacy.
const Modern = "2026-07-28"

// Members of `_meta` in the modern era: what a request says of the client, and a result of the server.
// Source: 2026-07-28, Overview, "_meta".
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaServer       = "io.modelcontextprotocol/serverInfo"
)

// Meta is the `_meta` that every request of a modern session carries, as JSON values; empty in the legacy era.
func Meta(revision string, capabilities map[string]any) map[string]any {
	if revision < Modern {
		return map[string]any{}
	}
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	return map[string]any{MetaVersion: revision, MetaClient: ClientInfo(), MetaCapabilities: capabilities}
}

// Ping is the method that asks for nothing and that every server of the revision answers: ping, in the modern era
// server/discover.
func Ping(revision string) string {
	if revision < Modern {
		return "ping"
	}
	return "server/discover"
}

// Opening is what a conversation begins with at a revision, as a client with the capabilities (nil: none): the method and its params, as
// JSON values. A modern server/discover has no params but the `_meta` of every request, which is not among them.
// Source: up to 2025-11-25, Lifecycle, "Initialization"; 2026-07-28, Discovery.
func Opening(revision string, capabilities map[string]any) (method string, params map[string]any) {
	if revision >= Modern {
		return "server/discover", map[string]any{}
	}
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	return "initialize", map[string]any{"protocolVersion": revision, "capabilities": capabilities, "clientInfo": ClientInfo()}
}

// ClientInfo is what the suite says it is, as a JSON value.
func ClientInfo() map[string]any { return map[string]any{"name": "mcp-litmus", "version": "1"} }
