package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/auth"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/selftest"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// targetFlags adds the flags that say which server and how to reach it, over what litmus.yaml says.
func targetFlags(cmd *cobra.Command, over *config.Overrides) {
	f := cmd.Flags()
	f.StringVar(&over.Config, "config", "", "settings `FILE` (default: litmus.yaml in this folder, when there is one), or the file of a host, such as .mcp.json")
	f.StringVar(&over.Server, "server", "", "the server of that `NAME` in the host's file (default file: "+strings.Join(config.HostFiles, ", ")+")")
	f.StringVar(&over.URL, "url", "", "the server's endpoint `URL`; with a COMMAND, the command is started first and the URL driven")
	f.StringVar(&over.Transport, "transport", "", "`TRANSPORT` of the URL: streamable-http, http+sse (of 2024-11-05), or auto, which finds out (default auto)")
	f.StringArrayVar(&over.Headers, "header", nil, "`NAME:VALUE` sent with every HTTP request; may be repeated; never shown in reports")
	f.StringVar(&over.Auth, "auth", "", "start an authorization server at `HOST:PORT` (default: any free port of 127.0.0.1), which the server under test is to trust: docs/litmus-yaml.md, Authorization")
	f.Lookup("auth").NoOptDefVal = auth.DefaultAddress
	f.StringArrayVar(&over.Env, "env", nil, "`NAME=VALUE` for the server's process; may be repeated; never shown in reports")
	f.StringVar(&over.Cwd, "cwd", "", "`DIR` to start the server in")
	f.StringVar(&over.CACert, "cacert", "", "PEM `FILE` of certificates to trust beside the system's")
	f.BoolVar(&over.Insecure, "insecure", false, "do not verify the server's certificate")
	f.StringVar(&over.CallTools, "call-tools", "", "tools that may be called, `safe|all|none`; safe: annotated read-only, allowed or well known (default safe)")
	f.DurationVar(&over.Timeout, "timeout", 0, "bound of each wait for the server (default 10s)")
	f.DurationVar(&over.StartTimeout, "start-timeout", 0, "bound of the start of the server and of each handshake (default 30s)")
	complete(cmd, "transport", words(config.URLTransports...))
	complete(cmd, "call-tools", words("safe", "all", "none"))
	complete(cmd, "server", hostServers)
	_ = cmd.MarkFlagDirname("cwd")
}

// judgingFlags adds the flags that say by what a server is judged.
func judgingFlags(cmd *cobra.Command, over *config.Overrides) {
	f := cmd.Flags()
	f.Var(optional{&over.Select}, "select", "judge only what this label `FILTER` wants, such as 'tools && MUST' (docs/litmus-yaml.md: Selecting)")
	f.IntVar(&over.Jobs, "jobs", 0, "exchanges played side by side (default 4)")
	f.StringArrayVar(&over.Exchanges, "exchanges", nil, "`DIR` with exchanges of your own; may be repeated")
	f.StringVar(&over.Baseline, "baseline", "", "`FILE` of known failures, in the place of those in litmus.yaml (docs/litmus-yaml.md: Baseline)")
	complete(cmd, "select", labels)
	_ = cmd.MarkFlagDirname("exchanges")
}

// optional is a flag whose empty value is one, too.
type optional struct{ value **string }

func (o optional) Set(s string) error { *o.value = &s; return nil }
func (o optional) Type() string       { return "string" }
func (o optional) String() string {
	if o.value == nil || *o.value == nil {
		return ""
	}
	return **o.value
}

// resolve joins litmus.yaml and what was given; args is the server's command. What was given with nothing in it is refused: a variable
// of a script that was not set must not lead to another server.
func resolve(cmd *cobra.Command, over config.Overrides, args []string) (*config.Config, error) {
	switch {
	case cmd.Flags().Changed("url") && over.URL == "":
		return nil, errors.New("--url is empty; write the server's URL, or leave the flag out")
	case cmd.ArgsLenAtDash() == 0 && (len(args) == 0 || args[0] == ""):
		return nil, fmt.Errorf("there is no command after --; write the server's command there, as in %s -- node server.js, or leave -- out", cmd.CommandPath())
	}
	for _, name := range []string{"timeout", "start-timeout", "jobs"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && slices.Contains([]string{"0", "0s"}, f.Value.String()) {
			return nil, fmt.Errorf("--%s is zero; give a positive value", name)
		}
	}
	over.Command = args
	return config.Resolve(over)
}

// configure makes of the settings what the suite runs with, and tells of the authorization server, if one was started. Without a server
// in the settings it is the embedded reference server.
func configure(c *config.Config) (*suite.Configured, error) {
	s, err := suite.Configure(c, embedded)
	if err == nil && s.Authorization != "" {
		fmt.Fprintln(os.Stderr, "authorization server:", s.Authorization)
	}
	return s, err
}

// embedded is the embedded reference server: over stdio, or over HTTP where it is to ask for authorization.
func embedded(trust *suite.Trust) (suite.Target, error) {
	if trust != nil {
		handler := selftest.ProtectedHandler(nil, reference.Authorization{Issuer: trust.Issuer, Audience: trust.Audience, Scope: trust.Scope})
		return named{suite.Handler(handler), "the embedded reference server, asking for authorization"}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the embedded reference server cannot be started: %w", err)
	}
	return named{transport.Command([]string{self, referenceCommand}, transport.CommandOptions{}), "the embedded reference server"}, nil
}

// named is a target under another name.
type named struct {
	suite.Target
	name string
}

func (n named) String() string { return n.name }

// Authorize hands on to the target that has another name.
func (n named) Authorize(value string) {
	if t, ok := n.Target.(interface{ Authorize(string) }); ok {
		t.Authorize(value)
	}
}
