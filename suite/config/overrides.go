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

// Overrides is what somebody gives by hand over what files say; what is zero is not given. Errors call its members by the flags of the
// command line.
type Overrides struct {
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

// Resolve joins the files that o names, or that are found in this folder, and o, which wins. The error joins what is wrong in the file,
// or says what is wrong with what was given.
func Resolve(o Overrides) (*Config, error) {
	c, err := o.load()
	if err != nil {
		return nil, err
	}
	if err := o.target(c); err != nil {
		return nil, err
	}
	c.Secrets = append(c.Secrets, Inherited(os.Environ())...)
	if o.CallTools != "" {
		c.CallTools = o.CallTools
	}
	if o.Auth != "" {
		c.Auth.Listen = o.Auth
	}
	return c, o.judging(c)
}

// ResolveForJudge gives the settings for judging a recorded run, for which no server is looked for: those of the file that o names, if any, under
// the Strict, Baseline and Exchanges of o.
func ResolveForJudge(o Overrides) (*Config, error) {
	c := &Config{}
	if o.Config != "" {
		var err error
		if c, err = Load(o.Config); err != nil {
			return nil, err
		}
	}
	return c, o.judging(c)
}

// load reads litmus.yaml, and puts the target of a host's file in place of its own where one is asked for.
func (o *Overrides) load() (*Config, error) {
	path, host := o.Config, ""
	switch {
	case path != "" && (o.Server != "" || IsHost(path)):
		path, host = "", path
	case o.Server != "":
		var ok bool
		if host, ok = FindHost("."); !ok {
			return nil, fmt.Errorf("--server %s is in no file: there is none of %s here; give its path with --config", o.Server, strings.Join(HostFiles, ", "))
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
		h, err := LoadHost(host, o.Server)
		if err != nil {
			return nil, err
		}
		c.Path, c.Target, c.Secrets = host, h.Target, append(c.Secrets, h.Secrets...)
	}
	return c, nil
}

// target puts what is given of the server into c.
func (o *Overrides) target(c *Config) error {
	t := &c.Target
	if len(o.Command) > 0 || o.URL != "" {
		if o.Server != "" {
			return errors.New("--server names one server and the command line another; give one of them")
		}
		t.Command, t.URL, t.Transport = o.Command, o.URL, "" // a target on the command line replaces the file's
	}
	switch {
	case o.Transport == "":
	case !slices.Contains(URLTransports, o.Transport):
		return fmt.Errorf("--transport cannot be %q%s", o.Transport,
			cmp.Or(script.DidYouMean(o.Transport, URLTransports), "; it is one of "+strings.Join(URLTransports, ", ")))
	case t.URL == "":
		return errors.New("--transport is about a URL, and none is given; a command without one is spoken to over stdio")
	default:
		t.Transport = o.Transport
	}
	cwdIs := "target: cwd in " + c.Path
	if o.Cwd != "" {
		t.Cwd, cwdIs = o.Cwd, "--cwd"
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
	if o.CACert != "" {
		t.CACert = o.CACert
	}
	t.Insecure = t.Insecure || o.Insecure
	for _, h := range o.Headers {
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
	for _, e := range o.Env {
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
func (o *Overrides) judging(c *Config) error {
	const negative = "--%s is negative; give a positive value"
	switch {
	case o.Timeout < 0:
		return fmt.Errorf(negative, "timeout")
	case o.StartTimeout < 0:
		return fmt.Errorf(negative, "start-timeout")
	case o.Jobs < 0:
		return fmt.Errorf(negative, "jobs")
	}
	c.Timeout = cmp.Or(o.Timeout, c.Timeout)
	c.StartTimeout = cmp.Or(o.StartTimeout, c.StartTimeout)
	c.Jobs = cmp.Or(o.Jobs, c.Jobs)
	if o.Select != nil {
		c.Select, c.Narrowed = *o.Select, true
	}
	if len(o.Revisions) > 0 {
		c.Revisions, c.Narrowed = nil, true
		if all := len(o.Revisions) == 1 && o.Revisions[0] == "all"; !all {
			for _, r := range o.Revisions {
				c.Revisions = append(c.Revisions, script.Revision(r)) // whether there are such, the suite looks
			}
		}
	}
	c.Shard = o.Shard
	c.Strict = c.Strict || o.Strict
	c.Exchanges = append(c.Exchanges, o.Exchanges...)
	if o.Baseline != "" {
		var err error
		if c.Baseline, err = LoadBaseline(o.Baseline); err != nil {
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
