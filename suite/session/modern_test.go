package session

import (
	"encoding/json"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/transport"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

func at(revision string) *Session { return &Session{opts: Options{Revision: revision}} }

func paramsOf(t *testing.T, data []byte) any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m["params"]
}

func TestARequestOfTheModernEraCarriesItsMetadata(t *testing.T) {
	g := gomega.NewWithT(t)
	all := map[string]any{
		wire.MetaVersion: "2026-07-28", wire.MetaCapabilities: map[string]any{},
		wire.MetaClient: map[string]any{"name": "mcp-litmus", "version": "1"},
	}
	s := at("2026-07-28")
	g.Expect(paramsOf(t, s.Request(1, "tools/list", nil, nil))).To(gomega.Equal(map[string]any{"_meta": all}))

	given := map[string]any{"cursor": "c", "_meta": map[string]any{"progressToken": "p", wire.MetaVersion: "1900-01-01"}}
	got := paramsOf(t, s.Request(1, "tools/list", given, map[string]any{wire.MetaClient: nil})).(map[string]any)
	g.Expect(got["cursor"]).To(gomega.Equal("c"))
	g.Expect(got["_meta"]).To(gomega.Equal(map[string]any{
		"progressToken": "p", wire.MetaVersion: "1900-01-01", wire.MetaCapabilities: map[string]any{}}))
	g.Expect(given["_meta"]).To(gomega.HaveLen(2), "what the exchange gave stays as it is")

	g.Expect(paramsOf(t, s.Request(1, "tools/list", []any{}, nil))).To(gomega.Equal([]any{}), "params that are no object")
	wrong := map[string]any{"_meta": "none"}
	g.Expect(paramsOf(t, s.Request(1, "tools/list", wrong, nil))).To(gomega.Equal(wrong), "metadata that is no object")
	g.Expect(paramsOf(t, at("2025-11-25").Request(1, "tools/list", nil, nil))).To(gomega.BeNil(), "the legacy era")
}

func TestHeadersMirrorTheBody(t *testing.T) {
	g := gomega.NewWithT(t)
	s := at("2026-07-28")
	s.Mirror([]any{map[string]any{"name": "sql", "inputSchema": map[string]any{"properties": map[string]any{
		"region": map[string]any{"x-mcp-header": "Region"}, "plain": map[string]any{}, "none": map[string]any{"x-mcp-header": "None"},
		"inner": map[string]any{"properties": map[string]any{"n": map[string]any{"x-mcp-header": "N"}}},
	}}}})
	headers := func(method string, params any, own map[string][]string) map[string][]string {
		return s.mirrored(transport.Outgoing{Data: s.Request(1, method, params, nil), Header: own}).Header
	}
	g.Expect(headers("tools/call", map[string]any{"name": "sql", "arguments": map[string]any{
		"region": " é", "plain": "x", "none": nil, "inner": map[string]any{"n": 7}}}, nil)).To(gomega.Equal(map[string][]string{
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"sql"},
		"Mcp-Param-Region": {"=?base64?IMOp?="}, "Mcp-Param-N": {"7"}}))
	g.Expect(headers("resources/read", map[string]any{"uri": "a://b"}, map[string][]string{"mcp-method": nil, "MCP-Name": {"other"}})).To(
		gomega.Equal(map[string][]string{"Mcp-Protocol-Version": {"2026-07-28"}, "mcp-method": nil, "MCP-Name": {"other"}}))
	g.Expect(s.mirrored(transport.Outgoing{Data: []byte("{")}).Header).To(gomega.BeNil(), "what cannot be read")
	g.Expect(at("2025-11-25").mirrored(transport.Outgoing{Data: wire.Request(1, "ping", nil)}).Header).To(gomega.BeNil(), "the legacy era")
}

func TestWhatADiscoveryLeaves(t *testing.T) {
	for reply, want := range map[string]string{
		`{"result": {"supportedVersions": ["2025-11-25", "2026-07-28"]}}`:                      "2026-07-28",
		`{"result": {"supportedVersions": ["2027-01-01"]}}`:                                    "2027-01-01",
		`{"error": {"code": -32022, "data": {"supported": ["2027-01-01"], "requested": "x"}}}`: "2027-01-01",
		`{"error": {"code": -32601, "data": {"supported": ["2027-01-01"]}}}`:                   "",
		`{"result": {"protocolVersion": "2025-11-25"}}`:                                        "",
		`{"result": {"supportedVersions": "2026-07-28"}}`:                                      "",
	} {
		if got := discovered("2026-07-28", wire.Read([]byte(reply)).Value); got != want {
			t.Errorf("%s leaves %q, not %q", reply, got, want)
		}
	}
}
