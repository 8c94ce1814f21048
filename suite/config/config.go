// Package config reads litmus.yaml, the settings of a run that stay with a server's source. The reference for
// people is docs/litmus-yaml.md; litmus.schema.json serves editors.
package config

import (
	_ "embed"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// Schema is the JSON Schema (draft-07) of litmus.yaml.
//
//go:embed litmus.schema.json
var Schema []byte

// Config is a litmus.yaml. What the file does not say is zero; whoever runs the suite knows the defaults.
type Config struct {
	Path         string // of the file, as Load was given it
	Target       Target
	Revisions    []script.Revision // oldest first; empty: every one that the server speaks
	Timeout      time.Duration     // of each wait; 0: the default
	StartTimeout time.Duration     // of a handshake, starting the server included; 0: the default
	Jobs         int               // exchanges side by side; 0: the default
	CallTools    string            // safe, all or none; "": the default
	Allow        []transcript.Role // tools that may be called, with arguments
	Roles        map[string]transcript.Role
	Select       string // a label filter; "": everything
	Strict       bool   // a broken SHOULD fails the run
	Baseline     Baseline
	Reports      Reports
	Exchanges    []string // folders with exchanges of the user's own
	Secrets      []string // values that no transcript or report may show

	// What a file does not say; see Resolve.
	SecretHeaders []string // names of headers whose values are secret however short they are
	Narrowed      bool     // less is asked for than the file asks
	Shard         string   // "1/3": the first of three parts; "": all
	Auth          Auth

	rolePositions map[string]script.Position
}

// Auth is for a server that asks for authorization.
type Auth struct {
	Tokens   map[string]string // by kind: valid, expired, foreign-audience, ...
	Listen   string            // HOST:PORT of an authorization server of the suite's own, which the server under test trusts; "": none
	Audience string            // whom the tokens that it mints are for; "": the target's URL
	Scope    string            // their scopes, separated by spaces; "": the default
}

// Target is the server under test and how to reach it. Command or URL may both be missing, when the command line
// gives them.
type Target struct {
	Command   []string          // the program and its arguments
	URL       string            // http or https
	Transport string            // of the URL: auto, streamable-http or http+sse; "": auto
	Headers   map[string]string // of every HTTP request
	Env       map[string]string // of the child process, beside what it inherits
	Cwd       string            // of the child process; the folder of litmus.yaml unless the file says another
	CACert    string            // a PEM file with certificates to trust beside the system's; "": none
	Insecure  bool              // do not verify certificates
}

// URLTransports are what Target.Transport can be; auto finds out what the URL speaks.
var URLTransports = []string{"auto", wire.StreamableHTTP, wire.HTTPSSE}

// Environ is Env as NAME=value, in order of the names.
func (t *Target) Environ() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		out = append(out, name+"="+t.Env[name])
	}
	return out
}

// Reports are the files to write; "": none.
type Reports struct {
	JUnit      string
	JSON       string
	HTML       string
	Markdown   string
	SARIF      string
	Badge      string // an image when it ends in .svg, the JSON of a shields.io endpoint when in .json
	Transcript string
}

// Source is the file that findings about the server can be shown at: the first part of its command that is a file in or below the folder
// in which the suite runs, else the litmus.yaml there, else "". Relative, with slashes.
func (c *Config) Source() string {
	for _, name := range append(slices.Clone(c.Target.Command), c.Path) {
		if !filepath.IsLocal(name) {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return filepath.ToSlash(filepath.Clean(name))
		}
	}
	return ""
}

// Find is the path of litmus.yaml (or litmus.yml) in dir, if there is one.
func Find(dir string) (path string, ok bool) {
	for _, name := range []string{"litmus.yaml", "litmus.yml"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, true
		}
	}
	return "", false
}

// Load reads a litmus.yaml. ${NAME} and ${NAME:-default} in its texts come from the environment. Relative paths in
// it start at its folder. The error joins every mistake in the file, each a *script.Error with file:line:column.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	return read(path, data, os.LookupEnv)
}

func read(path string, data []byte, lookup func(string) (string, bool)) (*Config, error) {
	r := &reader{environment: environment{lookup: lookup}, dir: filepath.Dir(path)}
	c := &Config{Path: path}
	c.Target.Cwd = r.dir
	if root := parse(path, data, &r.mistakes); root != nil && (root.kind != scalarKind || root.scalar != nil) {
		c.read(r, root)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	slices.Sort(r.secrets)
	c.Secrets = r.secrets
	return c, nil
}

func (c *Config) read(r *reader, root *value) {
	r.fields(root, "litmus.yaml",
		field{"target", func(v *value) { r.asSecret(true, func() { c.Target.read(r, v) }) }},
		field{"auth", func(v *value) { c.Auth.read(r, v) }},
		field{"revisions", func(v *value) { c.Revisions = revisions(r, v) }},
		field{"timeout", func(v *value) { c.Timeout = r.wait(v, "timeout") }},
		field{"start-timeout", func(v *value) { c.StartTimeout = r.wait(v, "start-timeout") }},
		field{"jobs", func(v *value) { c.Jobs = r.count(v, "jobs") }},
		field{"call-tools", func(v *value) { c.CallTools = r.oneOf(v, "call-tools", "safe", "all", "none") }},
		field{"allow", func(v *value) { c.Allow = allow(r, v) }},
		field{"roles", func(v *value) { c.readRoles(r, v) }},
		field{"select", func(v *value) { c.Select = r.text(v, "select") }},
		field{"strict", func(v *value) { c.Strict = r.boolean(v, "strict") }},
		field{"baseline", func(v *value) { c.Baseline = readBaseline(r, v) }},
		field{"reports", func(v *value) {
			r.fields(v, "reports",
				field{"junit", func(v *value) { c.Reports.JUnit = r.path(v, "reports: junit") }},
				field{"json", func(v *value) { c.Reports.JSON = r.path(v, "reports: json") }},
				field{"html", func(v *value) { c.Reports.HTML = r.path(v, "reports: html") }},
				field{"markdown", func(v *value) { c.Reports.Markdown = r.path(v, "reports: markdown") }},
				field{"sarif", func(v *value) { c.Reports.SARIF = r.path(v, "reports: sarif") }},
				field{"badge", func(v *value) { c.Reports.Badge = r.path(v, "reports: badge") }},
				field{"transcript", func(v *value) { c.Reports.Transcript = r.path(v, "reports: transcript") }})
		}},
		field{"exchanges", func(v *value) {
			for _, dir := range r.texts(v, "exchanges") {
				c.Exchanges = append(c.Exchanges, r.resolve(dir))
			}
		}},
	)
}

// path is a file or folder: relative ones start at the folder of litmus.yaml.
func (r *reader) path(v *value, of string) string { return r.resolve(r.text(v, of)) }

func (r *reader) resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

func (t *Target) read(r *reader, v *value) {
	r.fields(v, "target",
		field{"command", func(v *value) {
			t.Command = r.texts(v, "target: command")
			if v.kind == listKind && (len(t.Command) == 0 || t.Command[0] == "") {
				r.add(v.pos, "target: command names no program")
			}
		}},
		field{"url", func(v *value) {
			t.URL = r.text(v, "target: url")
			u, err := url.Parse(t.URL)
			// The URL may hold a secret from the environment: the error does not show it.
			if v.kind == scalarKind && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
				r.add(v.pos, "target: url is not a whole http or https URL; write it as http://127.0.0.1:3000/mcp")
			}
		}},
		field{"transport", func(v *value) {
			r.asSecret(false, func() { t.Transport = r.oneOf(v, "target: transport", URLTransports...) })
		}},
		field{"headers", func(v *value) {
			t.Headers = r.textMap(v, "target: headers")
			for name, value := range t.Headers {
				r.keepNamed(name, value)
			}
		}},
		field{"env", func(v *value) {
			t.Env = r.textMap(v, "target: env")
			for name, value := range t.Env {
				r.keepNamed(name, value)
			}
		}},
		// A path is no secret: redacting a home folder everywhere would only spoil the evidence.
		field{"cwd", func(v *value) { r.asSecret(false, func() { t.Cwd = r.path(v, "target: cwd") }) }},
		field{"cacert", func(v *value) { r.asSecret(false, func() { t.CACert = r.path(v, "target: cacert") }) }},
		field{"insecure", func(v *value) { t.Insecure = r.boolean(v, "target: insecure") }},
	)
}

func (a *Auth) read(r *reader, v *value) {
	token := func(key, kind string) field {
		return field{key, func(v *value) {
			r.asSecret(true, func() {
				if text := r.text(v, "auth: "+key); text != "" {
					if a.Tokens == nil {
						a.Tokens = map[string]string{}
					}
					a.Tokens[kind] = text
					r.keep(text)
				}
			})
		}}
	}
	r.fields(v, "auth",
		token("token", transcript.ValidToken),
		token("expired", "expired"),
		token("foreign-audience", "foreign-audience"),
		token("foreign-issuer", "foreign-issuer"),
		token("foreign-key", "foreign-key"),
		token("unsigned", "unsigned"),
		token("insufficient-scope", "insufficient-scope"),
		field{"listen", func(v *value) { a.Listen = r.text(v, "auth: listen") }},
		field{"audience", func(v *value) { a.Audience = r.text(v, "auth: audience") }},
		field{"scope", func(v *value) { a.Scope = r.text(v, "auth: scope") }},
	)
}

func revisions(r *reader, v *value) []script.Revision {
	var out []script.Revision
	switch v.kind {
	case scalarKind:
		if v.text == "all" {
			return nil
		}
		out = append(out, r.revision(v))
	case listKind:
		for _, item := range v.items {
			out = append(out, r.revision(item))
		}
	default:
		r.add(v.pos, "revisions is a list of revisions, or all")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func allow(r *reader, v *value) []transcript.Role {
	if v.kind != listKind {
		r.add(v.pos, `allow is a list of tools, as in [{name: search, arguments: {q: "x"}}]`)
		return nil
	}
	var out []transcript.Role
	for i, item := range v.items {
		of := ordinal("allow", i)
		var role transcript.Role
		if item.kind == scalarKind && item.scalar != nil {
			r.add(item.pos, "%s is a mapping; write {name: %s}", of, item.text)
			continue
		}
		if r.fields(item, of,
			field{"name", func(v *value) { role.Name = r.text(v, of+": name") }},
			field{"arguments", func(v *value) { r.asSecret(true, func() { role.Arguments = r.arguments(v, of) }) }},
		) && role.Name == "" {
			r.add(item.pos, "%s names no tool; add name:", of)
		}
		out = append(out, role)
	}
	return out
}

func (c *Config) readRoles(r *reader, v *value) {
	if v.kind != mapKind {
		r.add(v.pos, "roles is a mapping from a role to what plays it, as in {failing-tool: {name: explode}}")
		return
	}
	c.Roles, c.rolePositions = map[string]transcript.Role{}, map[string]script.Position{}
	for _, e := range v.entries {
		of := "the role " + e.key
		if e.value.kind == scalarKind {
			r.add(e.value.pos, "%s is a mapping with name: (and arguments:) for a tool or prompt, or uri: for a resource", of)
			continue
		}
		var role transcript.Role
		if r.fields(e.value, of,
			field{"name", func(v *value) { role.Name = r.text(v, of+": name") }},
			field{"arguments", func(v *value) { r.asSecret(true, func() { role.Arguments = r.arguments(v, of) }) }},
			field{"uri", func(v *value) { role.URI = r.text(v, of+": uri") }},
		) && (role.Name == "") == (role.URI == "") {
			r.add(e.value.pos, "%s has either name: (of a tool or prompt) or uri: (of a resource)", of)
		}
		c.Roles[e.key], c.rolePositions[e.key] = role, e.pos
	}
}

// CheckRoles says which roles of the file are none of the known ones or are played by a thing of another kind, with
// file:line:column, what may be meant and what to write.
func (c *Config) CheckRoles(known []*script.RoleDefinition) error {
	var m mistakes
	names := make([]string, len(known))
	for i, def := range known {
		names[i] = def.Name
	}
	for name, at := range c.rolePositions {
		i := slices.Index(names, name)
		if i < 0 {
			m.add(at, "there is no role %q%s", name, didYouMean(name, names))
			continue
		}
		byURI := known[i].Kind == "resource" || known[i].Kind == "template"
		switch {
		case byURI && c.Roles[name].Name != "":
			m.add(at, "%s is a %s: give uri:, not name:", name, known[i].Kind)
		case !byURI && c.Roles[name].URI != "":
			m.add(at, "%s is a %s: give name: (and arguments:), not uri:", name, known[i].Kind)
		}
	}
	return m.err()
}
