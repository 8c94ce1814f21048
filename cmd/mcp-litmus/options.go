package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/auth"
	"github.com/mcp-litmus/mcp-litmus/suite/config"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// targetOptions are the flags that say which server and how to reach it, over what litmus.yaml says.
type targetOptions struct {
	config       string
	server       string
	url          string
	transport    string
	headers      []string
	secret       []string // names of the headers given by flags
	env          []string
	cwd          string
	cacert       string
	insecure     bool
	callTools    string
	timeout      time.Duration
	startTimeout time.Duration
}

func (o *targetOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "settings `FILE` (default: litmus.yaml in this folder, when there is one), or the file of a host, such as .mcp.json")
	f.StringVar(&o.server, "server", "", "the server of that `NAME` in the host's file (default file: "+strings.Join(config.HostFiles, ", ")+")")
	f.StringVar(&o.url, "url", "", "the server's endpoint `URL`; with a COMMAND, the command is started first and the URL driven")
	f.StringVar(&o.transport, "transport", "", "`TRANSPORT` of the URL: streamable-http, http+sse (of 2024-11-05), or auto, which finds out (default auto)")
	f.StringArrayVar(&o.headers, "header", nil, "`NAME:VALUE` sent with every HTTP request; may be repeated; never shown in reports")
	f.StringArrayVar(&o.env, "env", nil, "`NAME=VALUE` for the server's process; may be repeated; never shown in reports")
	f.StringVar(&o.cwd, "cwd", "", "`DIR` to start the server in")
	f.StringVar(&o.cacert, "cacert", "", "PEM `FILE` of certificates to trust beside the system's")
	f.BoolVar(&o.insecure, "insecure", false, "do not verify the server's certificate")
	f.StringVar(&o.callTools, "call-tools", "", "tools that may be called, `safe|all|none`; safe: annotated read-only, allowed or well known (default safe)")
	f.DurationVar(&o.timeout, "timeout", 0, "bound of each wait for the server (default 10s)")
	f.DurationVar(&o.startTimeout, "start-timeout", 0, "bound of the start of the server and of each handshake (default 30s)")
	complete(cmd, "transport", words(config.URLTransports...))
	complete(cmd, "call-tools", words("safe", "all", "none"))
	complete(cmd, "server", hostServers)
	_ = cmd.MarkFlagDirname("cwd")
}

// runOptions are the flags of run, over what litmus.yaml says.
type runOptions struct {
	targetOptions
	auth          string
	revisions     []string
	selection     string
	jobs          int
	strict        bool
	exchanges     []string
	watch         []string
	shard         string
	baseline      string
	writeBaseline string // where the baseline goes with which the run passes
	outputs       outputs
}

func (o *runOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	o.registerJudging(cmd)
	f.StringVar(&o.auth, "auth", "", "start an authorization server at `HOST:PORT` (default: any free port of 127.0.0.1), which the server under test is to trust: docs/litmus-yaml.md, Authorization")
	f.Lookup("auth").NoOptDefVal = auth.DefaultAddress
	f.StringSliceVar(&o.revisions, "revision", nil, "judge at these `REVISIONS`, or all (default: every one that the server speaks)")
	f.StringVar(&o.shard, "shard", "", "play only part `I/N` of the run, such as 1/3; mcp-litmus merge joins the JSON reports of the parts")
	f.BoolVar(&o.strict, "strict", false, "a broken SHOULD does not conform, either")
	f.StringVar(&o.baseline, "baseline", "", "`FILE` of known failures, in the place of those in litmus.yaml (docs/litmus-yaml.md: Baseline)")
	f.StringVar(&o.writeBaseline, "write-baseline", "", "write to `FILE` the baseline with which this run passes: entries that still hold stay, others go, new ones wait for a reason")
	f.StringArrayVar(&o.watch, "watch", nil, "run again whenever something changes at this `PATH`, a file or a folder; may be repeated; ends with Ctrl-C")
	o.outputs.register(f)
	f.Lookup("verbose").Usage += "; and show the wire as it is used, on standard error"
	f.StringVar(&o.outputs.transcript, "transcript", "", "write the evidence to `FILE` (JSON Lines), for mcp-litmus judge")
	complete(cmd, "revision", revisionNames("all"))
}

// registerJudging adds the flags that say what server is judged, and by what.
func (o *runOptions) registerJudging(cmd *cobra.Command) {
	o.targetOptions.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.selection, "select", "", "judge only what this label `FILTER` wants, such as 'tools && MUST' (docs/litmus-yaml.md: Selecting)")
	f.IntVar(&o.jobs, "jobs", 0, "exchanges played side by side (default 4)")
	f.StringArrayVar(&o.exchanges, "exchanges", nil, "`DIR` with exchanges of your own; may be repeated")
	complete(cmd, "select", labels)
	_ = cmd.MarkFlagDirname("exchanges")
}

// load reads litmus.yaml, and puts the target of a host's file in place of its own where one is asked for.
func (o *targetOptions) load() (*config.Config, error) {
	path, host := o.config, ""
	switch {
	case path != "" && (o.server != "" || config.IsHost(path)):
		path, host = "", path
	case o.server != "":
		var ok bool
		if host, ok = config.FindHost("."); !ok {
			return nil, fmt.Errorf("--server %s is in no file: there is none of %s here; give its path with --config", o.server, strings.Join(config.HostFiles, ", "))
		}
	}
	if path == "" {
		path, _ = config.Find(".")
	}
	c := &config.Config{}
	var err error
	if path != "" {
		if c, err = config.Load(path); err != nil {
			return nil, err
		}
	}
	if host != "" {
		h, err := config.LoadHost(host, o.server)
		if err != nil {
			return nil, err
		}
		c.Path, c.Target, c.Secrets = host, h.Target, append(c.Secrets, h.Secrets...)
	}
	return c, nil
}

// settings joins litmus.yaml and the flags; flags win. args is the server's command.
func (o *targetOptions) settings(f *pflag.FlagSet, args []string) (*config.Config, error) {
	c, err := o.load()
	if err != nil {
		return nil, err
	}
	if len(args) > 0 || o.url != "" {
		if o.server != "" {
			return nil, errors.New("--server names one server and the command line another; give one of them")
		}
		c.Target.Command, c.Target.URL, c.Target.Transport = args, o.url, "" // a target on the command line replaces the file's
	}
	if o.transport != "" {
		c.Target.Transport = o.transport
	}
	switch {
	case o.transport != "" && !slices.Contains(config.URLTransports, o.transport):
		return nil, fmt.Errorf("--transport cannot be %q%s; it is one of %s", o.transport, didYouMean(o.transport, config.URLTransports), strings.Join(config.URLTransports, ", "))
	case o.transport != "" && c.Target.URL == "":
		return nil, errors.New("--transport is about a URL, and none is given; a command without one is spoken to over stdio")
	}
	cwdIs := "target: cwd in " + c.Path
	if o.cwd != "" {
		c.Target.Cwd, cwdIs = o.cwd, "--cwd"
	}
	// Starting a program in such a folder would blame the program.
	if info, err := os.Stat(c.Target.Cwd); c.Target.Cwd != "" && len(c.Target.Command) > 0 {
		switch {
		case err != nil:
			return nil, fmt.Errorf("the folder %s (%s) does not exist", c.Target.Cwd, cwdIs)
		case !info.IsDir():
			return nil, fmt.Errorf("%s (%s) is no folder", c.Target.Cwd, cwdIs)
		}
	}
	if o.cacert != "" {
		c.Target.CACert = o.cacert
	}
	c.Target.Insecure = c.Target.Insecure || o.insecure
	for _, h := range o.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			// Not the text itself, which may be a secret.
			return nil, fmt.Errorf("a --header has no name before a colon; write NAME:VALUE")
		}
		value = strings.TrimSpace(value)
		set(&c.Target.Headers, strings.TrimSpace(name), value)
		o.secret = append(o.secret, strings.TrimSpace(name))
		c.Secrets = append(c.Secrets, secretsOf(value)...)
	}
	for name, value := range c.Target.Headers {
		scheme, token, _ := strings.Cut(value, " ")
		if strings.EqualFold(name, "Authorization") && strings.EqualFold(scheme, "Bearer") && c.Auth.Tokens[auth.Valid] == "" {
			set(&c.Auth.Tokens, auth.Valid, strings.TrimSpace(token))
		}
	}
	for _, e := range o.env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("an --env has no name before an equals sign; write NAME=VALUE")
		}
		set(&c.Target.Env, name, value)
		c.Secrets = append(c.Secrets, value)
	}
	c.Secrets = append(c.Secrets, config.Inherited(os.Environ())...)
	if o.callTools != "" {
		c.CallTools = o.callTools
	}
	if f.Changed("timeout") {
		c.Timeout = o.timeout
	}
	if f.Changed("start-timeout") {
		c.StartTimeout = o.startTimeout
	}
	return c, notNegative(c)
}

// settings are those of the target, and how to judge it.
func (o *runOptions) settings(f *pflag.FlagSet, args []string) (*config.Config, error) {
	c, err := o.targetOptions.settings(f, args)
	if err != nil {
		return nil, err
	}
	if o.auth != "" {
		c.Auth.Listen = o.auth
	}
	if f.Changed("select") {
		c.Select = o.selection
	}
	if f.Changed("jobs") {
		c.Jobs = o.jobs
	}
	c.Strict = c.Strict || o.strict
	if o.baseline != "" {
		var err error
		if c.Baseline, err = config.LoadBaseline(o.baseline); err != nil {
			return nil, err
		}
	}
	o.outputs.source = c.Source()
	c.Exchanges = append(c.Exchanges, o.exchanges...)
	o.outputs.fill(c.Reports)
	return c, notNegative(c)
}

func notNegative(c *config.Config) error {
	for _, d := range []struct {
		name  string
		wrong bool
	}{{"timeout", c.Timeout < 0}, {"start-timeout", c.StartTimeout < 0}, {"jobs", c.Jobs < 0}} {
		if d.wrong {
			return fmt.Errorf("--%s is negative; give a positive value", d.name)
		}
	}
	return nil
}

func set(m *map[string]string, name, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[name] = value
}

// secretsOf are the texts of a header's value that must not be shown: all of it, and what follows its scheme.
func secretsOf(value string) []string {
	out := []string{value}
	if _, credentials, ok := strings.Cut(value, " "); ok {
		out = append(out, strings.TrimSpace(credentials))
	}
	return out
}

// target makes the target that the settings name: a command, a URL, both, or the embedded reference server.
func target(c *config.Config) (suite.Target, error) {
	command := transport.CommandOptions{Env: c.Target.Environ(), Dir: c.Target.Cwd}
	web := transport.URLOptions{Header: c.Target.Headers, CACert: c.Target.CACert, Insecure: c.Target.Insecure}
	if c.Target.Transport != "auto" {
		web.Transport = c.Target.Transport
	}
	ready := c.StartTimeout
	if ready == 0 {
		ready = 30 * time.Second
	}
	switch {
	case c.Target.URL != "" && len(c.Target.Command) > 0:
		return transport.Served(c.Target.Command, command, c.Target.URL, web, ready)
	case c.Target.URL != "":
		return transport.URL(c.Target.URL, web)
	case len(c.Target.Command) > 0:
		return transport.Command(c.Target.Command, command), nil
	}
	if c.Auth.Listen != "" {
		return embeddedOverHTTP(c), nil
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
