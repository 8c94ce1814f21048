package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/auth"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// Configured is what settings ask for, ready for Run, Survey, Tour, Test or Describe. Close it when that is done.
type Configured struct {
	Target  Target
	Options []Option
	// What the server under test must know of the authorization server that was started; "": none was.
	Authorization string

	server *auth.Server
}

// Close ends the authorization server, if there is one.
func (c *Configured) Close() {
	if c.server != nil {
		c.server.Close()
	}
}

// Trust is what a server must know of an authorization server in order to trust it.
type Trust struct{ Issuer, Audience, Scope string }

// Configure makes of the settings (config.Load, config.Resolve) the target and the options, and starts the authorization server
// that they ask for: its tokens are among the options, and what the server under test must know stands in the environment of its
// command (docs/litmus-yaml.md, Authorization). otherwise makes the target where the settings name none, given the authorization server
// that it is to trust, or nil; without otherwise that is an error. The error says what is wrong with the settings. c is not changed.
func Configure(c *config.Config, otherwise func(*Trust) (Target, error)) (*Configured, error) {
	target := c.Target
	none := target.URL == "" && len(target.Command) == 0
	if none && otherwise == nil {
		return nil, errors.New("the settings name no server; give target: a command or a url")
	}
	opts, err := Options(c)
	if err != nil {
		return nil, err
	}
	out := &Configured{Options: opts}
	var trust *Trust
	if c.Auth.Listen != "" {
		if target.URL == "" && !none {
			return nil, errors.New("--auth is about a server over HTTP; add --url, since a command alone is spoken to over stdio (in litmus.yaml: auth: listen, and target: url)")
		}
		trust = &Trust{Audience: cmp.Or(c.Auth.Audience, target.URL, embeddedAudience), Scope: cmp.Or(c.Auth.Scope, auth.DefaultScope)}
		if err := out.authorize(c, trust, &target); err != nil {
			return nil, err
		}
	}
	if none {
		out.Target, err = otherwise(trust)
	} else {
		out.Target, err = targetOf(&target, c.StartTimeout)
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// embeddedAudience is whom the tokens for a server without a URL are for: one in this process, whose port is not known before.
const embeddedAudience = "https://reference.litmus.example"

// authorize starts the authorization server, adds its tokens to the options, and what t must know to its environment.
func (c *Configured) authorize(settings *config.Config, trust *Trust, t *config.Target) error {
	server, err := auth.Start(settings.Auth.Listen)
	if err != nil {
		return err
	}
	tokens, err := server.Tokens(trust.Audience, trust.Scope)
	if err != nil {
		server.Close()
		return err
	}
	c.server, trust.Issuer = server, server.Issuer()
	for kind, token := range tokens {
		if settings.Auth.Tokens[kind] == "" {
			c.Options = append(c.Options, Token(kind, token))
		}
	}
	c.Options = append(c.Options, Secrets(server.ClientSecret()))
	environment := maps.Clone(t.Env)
	if environment == nil {
		environment = map[string]string{}
	}
	maps.Copy(environment, map[string]string{
		"MCP_LITMUS_ISSUER": trust.Issuer, "MCP_LITMUS_JWKS": server.JWKS(), "MCP_LITMUS_AUDIENCE": trust.Audience,
		"MCP_LITMUS_SCOPE": trust.Scope, "MCP_LITMUS_CLIENT_ID": auth.ClientID, "MCP_LITMUS_CLIENT_SECRET": server.ClientSecret(),
	})
	t.Env = environment
	c.Authorization = fmt.Sprintf("issuer %s, keys %s, audience %s, scope %s", trust.Issuer, server.JWKS(), trust.Audience, trust.Scope)
	return nil
}

// targetOf makes the target: a command, a URL, or both.
func targetOf(t *config.Target, start time.Duration) (Target, error) {
	command := transport.CommandOptions{Env: t.Environ(), Dir: t.Cwd}
	if t.URL == "" {
		return transport.Command(t.Command, command), nil
	}
	web := transport.URLOptions{Header: t.Headers, CACert: t.CACert, Insecure: t.Insecure}
	if t.Transport != "auto" {
		web.Transport = t.Transport
	}
	if len(t.Command) > 0 {
		return transport.Served(t.Command, command, t.URL, web, cmp.Or(start, 30*time.Second))
	}
	return transport.URL(t.URL, web)
}

// Options are the options that the settings give: all of them, whatever is done with them. The error says which folder of exchanges
// cannot be read.
func Options(c *config.Config) ([]Option, error) {
	revisions := make([]string, len(c.Revisions))
	for i, r := range c.Revisions {
		revisions[i] = string(r)
	}
	opts := []Option{
		Revisions(revisions...), Select(c.Select), Shard(c.Shard), Jobs(c.Jobs), Timeout(c.Timeout), StartTimeout(c.StartTimeout),
		Secrets(c.Secrets...), SecretHeaders(c.SecretHeaders...), Baseline(c.Baseline), rolesOf(c),
	}
	if c.CallTools != "" {
		opts = append(opts, CallTools(c.CallTools))
	}
	if c.Narrowed {
		opts = append(opts, Narrowed())
	}
	if c.Strict {
		opts = append(opts, Strict())
	}
	for _, a := range c.Allow {
		opts = append(opts, Allow(a.Name, a.Arguments))
	}
	for kind, token := range c.Auth.Tokens {
		opts = append(opts, Token(kind, token))
	}
	for _, name := range c.Exchanges {
		folder, err := exchangeFolder(name)
		if err != nil {
			return nil, err
		}
		opts = append(opts, Exchanges(folder))
	}
	return opts, nil
}

// rolesOf gives the roles; what is wrong with one is told with its place in the file.
func rolesOf(c *config.Config) Option {
	return func(s *settings) {
		for name, role := range c.Roles {
			Role(name, role)(s)
		}
		if len(c.Roles) == 0 {
			return
		}
		s.checks = append(s.checks, func(lib *script.Library) error { return c.CheckRoles(lib.Roles) })
	}
}

func exchangeFolder(name string) (fs.FS, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("the folder of exchanges cannot be read: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder; --exchanges takes a folder of YAML files", name)
	}
	return os.DirFS(name), nil
}
