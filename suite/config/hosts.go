package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// HostFiles are where hosts of MCP servers keep a project's servers, in the order in which they are looked for.
var HostFiles = []string{".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", "mcp.json"}

// servers are the members under which the files of hosts list servers by name.
var servers = []string{"mcpServers", "servers", "context_servers"}

// FindHost is the path of a host's file in dir, if there is one.
func FindHost(dir string) (path string, ok bool) {
	for _, name := range HostFiles {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, true
		}
	}
	return "", false
}

// IsHost says whether the file is one in which a host of MCP servers lists them, as .mcp.json is, and no litmus.yaml.
func IsHost(path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var m mistakes
	root := parseJSON(path, data, &m)
	return len(m) == 0 && listed(root) != nil
}

// LoadHost reads one server from the file of a host: an object mcpServers, servers or context_servers (also under mcp, as in
// the settings of VS Code) of servers by name, each with command, args, env, envFile and cwd, or url and headers. The file
// is JSON in which comments and trailing commas are allowed. Keys that are the host's own business are not looked at.
//
// In texts, ${NAME}, ${NAME:-default} and ${env:NAME} come from the environment, ${workspaceFolder} and ${userHome} are folders,
// and ${input:ID}, for which an editor asks, comes from the environment variable named like it: API_KEY for api-key.
//
// server may be "" when there is only one. Of the result, Target and Secrets are filled: all values from the environment are
// secrets, and so are those of headers, variables and arguments that are long enough to be one or named like one. The
// error joins every mistake, each a *script.Error with file:line:column.
func LoadHost(path, server string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	return readHost(path, data, server, os.LookupEnv)
}

func readHost(path string, data []byte, server string, lookup func(string) (string, bool)) (*Config, error) {
	h := &host{reader: reader{environment: environment{lookup: lookup}}, file: path}
	root := parseJSON(path, data, &h.mistakes)
	if err := h.err(); err != nil {
		return nil, err
	}
	list := listed(root)
	if list == nil || list.kind != mapKind {
		return nil, &script.Error{Pos: script.Position{File: path}, What: "no servers stand here; a host's file lists them under mcpServers or servers"}
	}
	h.workspace(path)
	h.inputs = member(root, "inputs")
	var names []string
	for _, e := range list.entries {
		names = append(names, e.key)
	}
	switch {
	case len(names) == 0:
		return nil, &script.Error{Pos: list.pos, What: "there is no server in this file"}
	case server == "" && len(names) > 1:
		return nil, &script.Error{Pos: list.pos, What: "there are several servers here; name one with --server: " + strings.Join(names, ", ")}
	case server == "":
		server = names[0]
	}
	entry := member(list, server)
	if entry == nil {
		return nil, &script.Error{Pos: list.pos, What: fmt.Sprintf("there is no server %q%s", server, didYouMean(server, names))}
	}
	c := &Config{Path: path}
	h.read(&c.Target, entry, server)
	if err := h.err(); err != nil {
		return nil, err
	}
	slices.Sort(h.secrets)
	c.Secrets = slices.Compact(h.secrets)
	return c, nil
}

// HostServers are the names of the servers in a host's file.
func HostServers(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m mistakes
	list := listed(parseJSON(path, data, &m))
	if list == nil {
		return nil, m.err()
	}
	var names []string
	for _, e := range list.entries {
		names = append(names, e.key)
	}
	return names, nil
}

// listed is the object that holds the servers, or nil.
func listed(root *value) *value {
	for _, of := range []*value{root, member(root, "mcp")} {
		for _, name := range servers {
			if v := member(of, name); v != nil {
				return v
			}
		}
	}
	return nil
}

// member is the value at a key of a mapping, or nil.
func member(v *value, key string) *value {
	if v == nil || v.kind != mapKind {
		return nil
	}
	for _, e := range v.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// host reads an entry of a host's file.
type host struct {
	reader
	file   string
	folder string // ${workspaceFolder}; "": the file does not belong to a project
	inputs *value
}

// workspace finds the folder of the project that the file belongs to.
func (h *host) workspace(path string) {
	dir := filepath.Dir(path)
	switch base := filepath.Base(dir); {
	case base == ".vscode" || base == ".cursor":
		h.folder = filepath.Dir(dir)
	case slices.Contains(HostFiles, filepath.Base(path)):
		h.folder = dir
	}
}

func (h *host) read(t *Target, v *value, name string) {
	of := "the server " + name
	if v.kind != mapKind {
		h.add(v.pos, "%s is a mapping, not %s", of, v.what())
		return
	}
	text := func(key string) string {
		if e := member(v, key); e != nil && (e.kind != scalarKind || e.scalar != nil) {
			return h.text(e, of+": "+key)
		}
		return ""
	}
	switch command := member(v, "command"); {
	case command == nil:
	case command.kind == listKind:
		t.Command = h.list(command, of+": command")
	default:
		t.Command = []string{h.text(command, of+": command")}
	}
	if args := member(v, "args"); args != nil && len(t.Command) > 0 {
		t.Command = append(t.Command, h.list(args, of+": args")...)
	}
	h.hideArguments(t.Command)
	t.Env = h.environmentFile(text("envFile"), member(v, "envFile"))
	for name, value := range h.texts(member(v, "env"), of+": env") {
		if t.Env == nil {
			t.Env = map[string]string{}
		}
		t.Env[name] = value
	}
	t.Headers = h.texts(member(v, "headers"), of+": headers")
	for _, m := range []map[string]string{t.Env, t.Headers} {
		for name, value := range m {
			h.hide(name, value)
		}
	}
	for _, key := range []string{"url", "httpUrl", "serverUrl"} {
		if u := text(key); u != "" {
			t.URL = u
			if key == "httpUrl" {
				t.Transport = "streamable-http"
			}
		}
	}
	switch text("type") + text("transport") {
	case "sse":
		t.Transport = "http+sse"
	case "streamable-http", "streamableHttp":
		t.Transport = "streamable-http"
	}
	t.Cwd = h.folder
	if dir := text("cwd"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(h.folder, dir)
		}
		t.Cwd = dir
	}
	if t.URL != "" {
		// A host that names both means the URL; the command would be started by somebody else.
		t.Command = nil
	}
	if t.URL == "" && (len(t.Command) == 0 || t.Command[0] == "") {
		h.add(v.pos, "%s names neither a command nor a url", of)
	}
}

// text is reader.text with the references that hosts know.
func (h *host) text(v *value, of string) string {
	if v.kind != scalarKind {
		h.add(v.pos, "%s is a text, not %s", of, v.what())
		return ""
	}
	return h.expand(v.text, v.pos)
}

func (h *host) list(v *value, of string) []string {
	if v.kind != listKind {
		h.add(v.pos, "%s is a list of texts, not %s", of, v.what())
		return nil
	}
	var out []string
	for _, item := range v.items {
		out = append(out, h.text(item, "each entry of "+of))
	}
	return out
}

// texts is a mapping of names to texts; what is null is left out.
func (h *host) texts(v *value, of string) map[string]string {
	if v == nil || v.kind == scalarKind && v.scalar == nil {
		return nil
	}
	if v.kind != mapKind {
		h.add(v.pos, "%s is a mapping of names to texts, not %s", of, v.what())
		return nil
	}
	out := map[string]string{}
	for _, e := range v.entries {
		if e.value.kind != scalarKind || e.value.scalar != nil {
			out[e.key] = h.text(e.value, of+": "+e.key)
		}
	}
	return out
}

// hostReference is ${...}, whatever it holds.
var hostReference = regexp.MustCompile(`\$\{([^{}]*)\}`)

// variable is the name of an environment variable, with or without a default.
var variable = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$`)

// expand replaces the references that hosts know. Others stay as they are, as they do in hosts that know none.
func (h *host) expand(s string, at script.Position) string {
	return hostReference.ReplaceAllStringFunc(s, func(match string) string {
		inner := match[2 : len(match)-1]
		switch inner {
		case "workspaceFolder", "workspaceFolderBasename":
			folder, err := filepath.Abs(h.folder)
			if err != nil {
				h.add(at, "%s cannot be found: %v", match, err)
			}
			if inner == "workspaceFolderBasename" {
				return filepath.Base(folder)
			}
			return folder
		case "userHome":
			home, err := os.UserHomeDir()
			if err != nil {
				h.add(at, "%s cannot be found: %v", match, err)
			}
			return home
		case "pathSeparator", "/":
			return string(filepath.Separator)
		}
		kind, rest, typed := strings.Cut(inner, ":")
		switch {
		case typed && kind == "input":
			return h.input(rest, at)
		case typed && (kind == "command" || kind == "config"):
			h.add(at, "only the editor knows what %s is; put the value itself here, or name the server on the command line", match)
			return ""
		case typed && kind == "env":
			inner = rest
		}
		m := variable.FindStringSubmatch(inner)
		if m == nil {
			return match
		}
		value, ok := h.lookup(m[1])
		switch {
		case value == "" && m[2] != "":
			return m[3]
		case !ok:
			h.add(at, "the environment variable %s is not set; set it, or give a default: ${%s:-default}", m[1], m[1])
		default:
			h.keep(value)
		}
		return value
	})
}

// input is a value for which an editor asks.
func (h *host) input(id string, at script.Position) string {
	name := strings.ToUpper(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(id, "_"))
	value, ok := h.lookup(name)
	if ok {
		h.keep(value)
		return value
	}
	if h.inputs != nil {
		for _, item := range h.inputs.items {
			if i := member(item, "id"); i != nil && i.text == id {
				if d := member(item, "default"); d != nil && d.kind == scalarKind {
					return d.text
				}
			}
		}
	}
	h.add(at, "the editor asks for ${input:%s}; set the environment variable %s to what you would answer", id, name)
	return ""
}

// hide keeps the value of a variable or header secret, unless it is surely none: hosts' files hold keys as they are. A path
// or an address is only kept when its name says so: redacting these would spoil the evidence.
func (h *host) hide(name, value string) {
	h.keepNamed(name, value)
	if scheme, rest, ok := strings.Cut(value, " "); ok && len(scheme) < 12 {
		h.keep(rest)
	}
	if len(value) >= 8 && !strings.ContainsAny(value, "/\\") {
		h.keep(value)
	}
}

// hideArguments keeps those arguments secret that follow a flag named like a credential.
func (h *host) hideArguments(command []string) {
	for i, arg := range command {
		flag, value, ok := strings.Cut(arg, "=")
		switch {
		case !strings.HasPrefix(flag, "-"):
		case ok:
			h.keepNamed(flag, value)
		case i+1 < len(command) && !strings.HasPrefix(command[i+1], "-"):
			h.keepNamed(flag, command[i+1])
		}
		// As in mcp-remote URL --header "Authorization: Bearer …".
		if name, value, ok := strings.Cut(arg, ":"); ok && credential.MatchString(name) && !strings.Contains(name, "/") {
			h.keepNamed(name, strings.TrimSpace(value))
		}
	}
}

// environmentFile reads a file of NAME=VALUE lines.
func (h *host) environmentFile(path string, v *value) map[string]string {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.folder, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		var perr *os.PathError
		if errors.As(err, &perr) {
			err = perr.Err
		}
		h.add(v.pos, "envFile %s cannot be read: %v", path, err)
		return nil
	}
	out := map[string]string{}
	for line := range bytes.Lines(data) {
		text := strings.TrimPrefix(strings.TrimSpace(string(line)), "export ")
		name, value, ok := strings.Cut(text, "=")
		if !ok || strings.HasPrefix(text, "#") {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		out[strings.TrimSpace(name)] = value
	}
	return out
}
