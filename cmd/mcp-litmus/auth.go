package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/auth"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/selftest"
)

// embeddedAudience is whom the tokens for the embedded reference server are for: its port is not known before it is started.
const embeddedAudience = "https://reference.litmus.example"

// authorize starts the authorization server that the settings ask for, mints its tokens, and puts what the server under test
// must know into the environment of its command. It says to out what to configure. stop ends it; nil without one.
func authorize(c *config.Config, out io.Writer) (stop func(), err error) {
	a := &c.Auth
	if a.Listen == "" {
		return nil, nil
	}
	embedded := c.Target.URL == "" && len(c.Target.Command) == 0
	switch {
	case c.Target.URL == "" && !embedded:
		return nil, errors.New("--auth is about a server over HTTP; add --url, since a command alone is spoken to over stdio")
	case a.Audience == "" && embedded:
		a.Audience = embeddedAudience
	case a.Audience == "":
		a.Audience = c.Target.URL
	}
	if a.Scope == "" {
		a.Scope = auth.DefaultScope
	}
	server, err := auth.Start(a.Listen)
	if err != nil {
		return nil, err
	}
	tokens, err := server.Tokens(a.Audience, a.Scope)
	if err != nil {
		server.Close()
		return nil, err
	}
	for kind, token := range tokens {
		if a.Tokens[kind] == "" {
			set(&a.Tokens, kind, token)
		}
	}
	c.Secrets = append(c.Secrets, server.ClientSecret())
	for name, value := range map[string]string{
		"MCP_LITMUS_ISSUER": server.Issuer(), "MCP_LITMUS_JWKS": server.JWKS(), "MCP_LITMUS_AUDIENCE": a.Audience,
		"MCP_LITMUS_SCOPE": a.Scope, "MCP_LITMUS_CLIENT_ID": auth.ClientID, "MCP_LITMUS_CLIENT_SECRET": server.ClientSecret(),
	} {
		set(&c.Target.Env, name, value)
	}
	fmt.Fprintf(out, "authorization server: issuer %s, keys %s, audience %s, scope %s\n", server.Issuer(), server.JWKS(), a.Audience, a.Scope)
	return func() { server.Close() }, nil
}

// embeddedOverHTTP is the embedded reference server that asks for the tokens of the suite's own authorization server.
func embeddedOverHTTP(c *config.Config) suite.Target {
	handler := selftest.ProtectedHandler(nil, reference.Authorization{
		Issuer: c.Target.Env["MCP_LITMUS_ISSUER"], Audience: c.Auth.Audience, Scope: c.Auth.Scope,
	})
	return named{suite.Handler(handler), "the embedded reference server, asking for authorization"}
}

// Authorize hands on to the target that has another name.
func (n named) Authorize(value string) {
	if t, ok := n.Target.(interface{ Authorize(string) }); ok {
		t.Authorize(value)
	}
}
