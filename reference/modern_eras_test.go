package reference

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestServersOfOneEra(t *testing.T) {
	only := func(flag string) Option { return WithFlags(map[string]bool{flag: true}) }
	discoverParams := withMeta(object{}, object{})
	initialize := string(encode(object{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initializeParams(rev2025November, object{})}))

	t.Run("modern, stdio", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dialStdio(t, only(FlagModernOnly))
		refused := c.request("initialize", initializeParams(rev2025November, object{}))
		g.Expect(refused.code()).To(gomega.Equal(codeUnsupported))
		g.Expect(data(refused)).To(gomega.Equal(map[string]any{"supported": []any{"2026-07-28"}, "requested": "2025-11-25"}))
		g.Expect(refused["error"].(map[string]any)["message"]).To(gomega.ContainSubstring("2026-07-28"))
		g.Expect(c.request("ping", object{}).code()).To(gomega.Equal(codeInvalidParams))
		g.Expect(c.request("server/discover", discoverParams)).To(gomega.HaveKey("result"))
	})
	t.Run("modern, http", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := modernWeb{dialHTTP(t, only(FlagModernOnly))}
		resp := c.do("POST", initialize, nil)
		g.Expect(resp.StatusCode).To(gomega.Equal(400))
		g.Expect(resp.Header.Get(headerSession)).To(gomega.BeEmpty())
		g.Expect(data(c.read(resp)[0])["supported"]).To(gomega.Equal([]any{"2026-07-28"}))
		g.Expect(c.do("GET", "", nil).StatusCode).To(gomega.Equal(405))
		g.Expect(c.do("DELETE", "", map[string]string{headerSession: "x"}).StatusCode).To(gomega.Equal(405))
		reply, _ := c.ask("tools/list", object{}, object{})
		g.Expect(reply).To(gomega.HaveKey("result"))
	})
	t.Run("handshake, stdio", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dialStdio(t, only(FlagHandshakeOnly))
		g.Expect(c.request("server/discover", discoverParams).code()).To(gomega.Equal(codeInvalidParams), "no handshake yet")
		c.open(rev2025November, object{})
		g.Expect(c.request("server/discover", discoverParams).code()).To(gomega.Equal(codeMethodNotFound))
		g.Expect(c.request("tools/list", discoverParams).result()).NotTo(gomega.HaveKey("resultType"))
	})
	t.Run("handshake, http", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := modernWeb{dialHTTP(t, only(FlagHandshakeOnly))}
		resp := c.send("server/discover", discoverParams, nil)
		g.Expect(resp.StatusCode).To(gomega.Equal(400))
		g.Expect(c.read(resp)[0].code()).To(gomega.Equal(codeInvalidRequest), "no error of the newer era")
		g.Expect(c.do("POST", initialize, nil).StatusCode).To(gomega.Equal(200))
	})
}
