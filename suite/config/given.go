package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Given is what somebody gives by hand over what files say; what is zero is not given. Errors call its members by the flags of the
// command line.
type Given struct {
	Config       string // a litmus.yaml, or the file of a host; "": the litmus.yaml in this folder, if there is one
	Server       string // the server of that name in the host's file
	Command      []string
	URL          string
	Transport    string
	Headers      []string // NAME:VALUE, secret all of them
	Env          []string // NAME=VALUE, secret all of them
	Cwd          string
	CACert       string
	Insecure     bool
	CallTools    string
	Timeout      time.Duration
	StartTimeout time.Duration
	Auth         string   // HOST:PORT of an authorization server
	Revisions    []string // or all
	Select       *string  // nil: not given; "": everything
	Shard        string
	Jobs         int
	Strict       bool
	Baseline     string   // a file
	Exchanges    []string // folders, beside those of the file
}

// Resolve joins the files that g names, or that are found in this folder, and g, which wins. The error joins what is wrong in the file,
// or says what is wrong with what was given.
func Resolve(g Given) (*Config, error) {
	c, err := g.load()
	if err != nil {
		return nil, err
	}
	if err := g.target(c); err != nil {
		return nil, err
	}
	c.Secrets = append(c.Secrets, Inherited(os.Environ())...)
	if g.CallTools != "" {
		c.CallTools = g.CallTools
	}
	if g.Auth != "" {
		c.Auth.Listen = g.Auth
	}
	return c, g.judging(c)
}

// Judging are the settings for judging a recorded run, for which no server is looked for: those of the file that g names, if any, under
// the Strict, Baseline and Exchanges of g.
func Judging(g Given) (*Config, error) {
	c := &Config{}
	if g.Config != "" {
		var err error
		if c, err = Load(g.Config); err != nil {
			return nil, err
		}
	}
	return c, g.judging(c)
}

// load reads litmus.yaml, and puts the target of a host's file in place of its own where one is asked for.
func (g *Given) load() (*Config, error) {
	path, host := g.Config, ""
	switch {
	case path != "" && (g.Server != "" || IsHost(path)):
		path, host = "", path
	case g.Server != "":
		var ok bool
		if host, ok = FindHost("."); !ok {
			return nil, fmt.Errorf("--server %s is in no file: there is none of %s here; give its path with --config", g.Server, strings.Join(HostFiles, ", "))
		}
	}
	if path == "" {
		path, _ = Find(".")
	}
	c := &Config{}
	var err error
	if path != "" {
		if c, err = Load(path); err != nil {
			return nil, err
		}
	}
	if host != "" {
		h, err := LoadHost(host, g.Server)
		if err != nil {
			return nil, err
		}
		c.Path, c.Target, c.Secrets = host, h.Target, append(c.Secrets, h.Secrets...)
	}
	return c, nil
}

// target puts what is given of the server into c.
func (g *Given) target(c *Config) error {
	t := &c.Target
	if len(g.Command) > 0 || g.URL != "" {
		if g.Server != "" {
			return errors.New("--server names one server and the command line another; give one of them")
		}
		t.Command, t.URL, t.Transport = g.Command, g.URL, "" // a target on the command line replaces the file's
	}
	switch {
	case g.Transport == "":
	case !slices.Contains(URLTransports, g.Transport):
		return fmt.Errorf("--transport cannot be %q%s", g.Transport,
			cmp.Or(script.DidYouMean(g.Transport, URLTransports), "; it is one of "+strings.Join(URLTransports, ", ")))
	case t.URL == "":
		return errors.New("--transport is about a URL, and none is given; a command without one is spoken to over stdio")
	default:
		t.Transport = g.Transport
	}
	cwdIs := "target: cwd in " + c.Path
	if g.Cwd != "" {
		t.Cwd, cwdIs = g.Cwd, "--cwd"
	}
	// Starting a program in such a folder would blame the program.
	if info, err := os.Stat(t.Cwd); t.Cwd != "" && len(t.Command) > 0 {
		switch {
		case err != nil:
			return fmt.Errorf("the folder %s (%s) does not exist", t.Cwd, cwdIs)
		case !info.IsDir():
			return fmt.Errorf("%s (%s) is no folder", t.Cwd, cwdIs)
		}
	}
	if g.CACert != "" {
		t.CACert = g.CACert
	}
	t.Insecure = t.Insecure || g.Insecure
	for _, h := range g.Headers {
		name, value, ok := strings.Cut(h, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			// Not the text itself, which may be a secret.
			return errors.New("a --header has no name before a colon; write NAME:VALUE")
		}
		put(&t.Headers, name, value)
		c.SecretHeaders = append(c.SecretHeaders, name)
		c.Secrets = append(c.Secrets, secretsOf(value)...)
	}
	for name, value := range t.Headers {
		scheme, token, _ := strings.Cut(value, " ")
		if strings.EqualFold(name, "Authorization") && strings.EqualFold(scheme, "Bearer") && c.Auth.Tokens[transcript.ValidToken] == "" {
			put(&c.Auth.Tokens, transcript.ValidToken, strings.TrimSpace(token))
		}
	}
	for _, e := range g.Env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			return errors.New("an --env has no name before an equals sign; write NAME=VALUE")
		}
		put(&t.Env, name, value)
		c.Secrets = append(c.Secrets, value)
	}
	return nil
}

// judging puts what is given of how to judge into c.
func (g *Given) judging(c *Config) error {
	const negative = "--%s is negative; give a positive value"
	switch {
	case g.Timeout < 0:
		return fmt.Errorf(negative, "timeout")
	case g.StartTimeout < 0:
		return fmt.Errorf(negative, "start-timeout")
	case g.Jobs < 0:
		return fmt.Errorf(negative, "jobs")
	}
	c.Timeout = cmp.Or(g.Timeout, c.Timeout)
	c.StartTimeout = cmp.Or(g.StartTimeout, c.StartTimeout)
	c.Jobs = cmp.Or(g.Jobs, c.Jobs)
	if g.Select != nil {
		c.Select, c.Narrowed = *g.Select, true
	}
	if len(g.Revisions) > 0 {
		c.Revisions, c.Narrowed = nil, true
		if all := len(g.Revisions) == 1 && g.Revisions[0] == "all"; !all {
			for _, r := range g.Revisions {
				c.Revisions = append(c.Revisions, script.Revision(r)) // whether there are such, the suite looks
			}
		}
	}
	c.Shard = g.Shard
	c.Strict = c.Strict || g.Strict
	c.Exchanges = append(c.Exchanges, g.Exchanges...)
	if g.Baseline != "" {
		var err error
		if c.Baseline, err = LoadBaseline(g.Baseline); err != nil {
			return err
		}
	}
	return nil
}

func put(m *map[string]string, name, value string) {
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
