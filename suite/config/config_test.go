package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

const whole = `# yaml-language-server: $schema=litmus.schema.json
target:
  command: [node, server.js, --port, 3000]
  url: "http://127.0.0.1:${PORT}/mcp"
  headers: {Authorization: "Bearer ${TOKEN}", X-Plain: "yes-please"}
  env: {A: "b", N: 1, K: "${HOME}", DB_PASSWORD: in-the-file}
  cwd: sub
  cacert: "${CERTS:-certs}/ca.pem"
  insecure: true
revisions: [2025-11-25, 2024-11-05]
timeout: 10s
start-timeout: ${START:-30s}
jobs: ${JOBS:-4}
call-tools: none
allow:
  - {name: search, arguments: {q: "x", key: "${TOKEN}", n: 3, f: 1.5, big: 9007199254740993, deep: [null, true, {a: "$${no}"}]}}
  - name: list
roles:
  failing-tool: {name: explode, arguments: {}}
  text-resource: {uri: "file:///x"}
select: "tools && MUST"
strict: ${STRICT:-true}
baseline:
  - {requirement: "tools.*", revision: , transport: stdio, reason: "issue 42"}
reports: {junit: out/junit.xml, json: out/report.json, html: out/report.html, transcript: /abs/run.jsonl}
exchanges: [dir, /abs]
`

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestEverything(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := filepath.Join("some", "dir")
	path := filepath.Join(dir, "litmus.yaml")
	abs, err := filepath.Abs("/abs") // with a drive on Windows
	g.Expect(err).NotTo(gomega.HaveOccurred())
	abs = filepath.ToSlash(abs)
	c, err := read(path, []byte(strings.ReplaceAll(whole, "/abs", abs)), env(map[string]string{"TOKEN": "t0ps3cret", "HOME": "/home/me", "PORT": "3000", "CERTS": ""}))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Target.Environ()).To(gomega.Equal([]string{"A=b", "DB_PASSWORD=in-the-file", "K=/home/me", "N=1"}))
	c.rolePositions = nil
	g.Expect(c).To(gomega.Equal(&Config{
		Path: path,
		Target: Target{
			Command: []string{"node", "server.js", "--port", "3000"}, URL: "http://127.0.0.1:3000/mcp",
			Headers: map[string]string{"Authorization": "Bearer t0ps3cret", "X-Plain": "yes-please"},
			Env:     map[string]string{"A": "b", "N": "1", "K": "/home/me", "DB_PASSWORD": "in-the-file"},
			Cwd:     filepath.Join(dir, "sub"), CACert: filepath.Join(dir, "certs", "ca.pem"), Insecure: true,
		},
		Revisions: []script.Revision{"2024-11-05", "2025-11-25"},
		Timeout:   10 * time.Second, StartTimeout: 30 * time.Second, Jobs: 4, CallTools: "none",
		Allow: []transcript.Role{
			{Name: "search", Arguments: map[string]any{"q": "x", "key": "t0ps3cret", "n": int64(3), "f": 1.5, "big": int64(9007199254740993),
				"deep": []any{nil, true, map[string]any{"a": "${no}"}}}},
			{Name: "list"},
		},
		Roles:    map[string]transcript.Role{"failing-tool": {Name: "explode", Arguments: map[string]any{}}, "text-resource": {URI: "file:///x"}},
		Select:   "tools && MUST",
		Strict:   true,
		Baseline: Baseline{{Requirement: "tools.*", Transport: "stdio", Reason: "issue 42", Pos: script.Position{File: path, Line: 24, Column: 5}}},
		Reports: Reports{JUnit: filepath.Join(dir, "out", "junit.xml"), JSON: filepath.Join(dir, "out", "report.json"), HTML: filepath.Join(dir, "out", "report.html"),
			Transcript: abs + "/run.jsonl"},
		Exchanges: []string{filepath.Join(dir, "dir"), abs},
		Secrets:   []string{"/home/me", "Bearer t0ps3cret", "in-the-file", "t0ps3cret"},
	}))
}

func TestNothingAsked(t *testing.T) {
	for _, text := range []string{"", "# only a comment\n", "---\n", "target:\nbaseline:\nrevisions: all\n", "{}"} {
		g := gomega.NewWithT(t)
		c, err := read("litmus.yaml", []byte(text), env(nil))
		g.Expect(err).NotTo(gomega.HaveOccurred(), "%q", text)
		c.rolePositions = nil
		g.Expect(c).To(gomega.Equal(&Config{Path: "litmus.yaml", Target: Target{Cwd: "."}}), "%q", text)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"targt: {}", `litmus.yaml:1:1: litmus.yaml has no key "targt"; did you mean "target"?`},
		{"target:\n  url: x\n  comand: [a]", `litmus.yaml:3:3: target has no key "comand"; did you mean "command"?`},
		{"reports: {pdf: x}", `1:11: reports has no key "pdf"; there are junit, json, html, markdown, sarif, badge, transcript`},
		{"target: {command: node server.js}", `1:19: target: command is a list, as in [node, server.js]`},
		{"target: {command: []}", "1:19: target: command names no program"},
		{"target: {url: 127.0.0.1:3000}", "1:15: target: url is not a whole http or https URL"},
		{"target: {url: 'ftp://x'}", "target: url is not a whole http or https URL"},
		{"target: {headers: [a]}", "1:19: target: headers is a mapping of names to texts, not a list"},
		{"target: {env: {A: [b]}}", "1:19: target: env: A is a text, not a list"},
		{"target: {transport: sse}", `1:21: target: transport cannot be "sse"; there are auto, streamable-http, http+sse`},
		{"target: {insecure: yes}", `1:20: target: insecure is true or false, not "yes"`},
		{"target: stdio", `1:9: target is a mapping, not the text "stdio"`},
		{"revisions: [2025-11-26]", `1:13: there is no revision "2025-11-26"; the revisions are 2024-11-05`},
		{"revisions: latest", `1:12: there is no revision "latest"`},
		{"timeout: 10", `1:10: timeout is a time with its unit, such as 10s, 500ms or 2m, not "10"`},
		{"start-timeout: -1s", "start-timeout is a time with its unit"},
		{"jobs: 0", `1:7: jobs is a whole number of at least 1, not "0"`},
		{"jobs: 1.5", "jobs is a whole number"},
		{"call-tools: safe-ish", `1:13: call-tools cannot be "safe-ish"; there are safe, all, none`},
		{"call-tools: non", `did you mean "none"?`},
		{"allow: [search]", "1:9: entry 1 of allow is a mapping; write {name: search}"},
		{"allow: [{arguments: {}}]", "1:9: entry 1 of allow names no tool; add name:"},
		{"allow: [{name: a, arguments: [1]}]", "1:30: the arguments of entry 1 of allow are a mapping, not a list"},
		{"allow: [{name: a, arguments: {n: .nan}}]", "nan is not read here; write the value out"},
		{"roles: {failing-tool: explode}", "1:23: the role failing-tool is a mapping with name:"},
		{"roles: {r: {name: a, uri: b}}", "the role r has either name: (of a tool or prompt) or uri:"},
		{"roles: {r: {arguments: {}}}", "the role r has either name: (of a tool or prompt) or uri:"},
		{"baseline: [{requirement: a}]", "1:12: entry 1 of baseline gives no reason"},
		{"baseline: [{requirement: a, reason: '  '}]", "1:12: entry 1 of baseline gives no reason"},
		{"baseline: [{reason: a}]", "1:12: entry 1 of baseline names no requirement"},
		{"baseline: [{requirement: 'a[', reason: b}]", `1:26: entry 1 of baseline: the glob "a[" cannot be read`},
		{"baseline: [{requirement: a, reason: b, transport: http}]", `entry 1 of baseline: transport cannot be "http"; there are stdio`},
		{"baseline: [{requirement: a, reason: b, revision: 2025}]", `there is no revision "2025"`},
		{"baseline: tools.*", "1:11: the baseline cannot be read: "},
		{"target: {env: {A: '${NOT_SET}'}}", "1:19: the environment variable NOT_SET is not set; set it, or give a default: ${NOT_SET:-default}"},
		{"select: '${NOT SET}'", `1:9: "${NOT SET}" is no reference to the environment`},
		{"select: '${'", `1:9: "${" is no reference to the environment`},
		{"strict: true\nstrict: false", "litmus.yaml:2:1: "},
		{"a: [", "this is not YAML"},
		{"- a", "litmus.yaml:1:1: litmus.yaml is a mapping, not a list"},
		{"strict: true\n---\nstrict: false", "a second YAML document"},
		{"target: &a {}\nroles: *a", "write the value out"},
		{"exchanges: dir", "1:12: exchanges is a list, as in [dir]"},
	} {
		_, err := read("litmus.yaml", []byte(c.text), env(nil))
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.want)), c.text)
	}
}

func TestAllMistakesAreToldInOrder(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := read("litmus.yaml", []byte("jobs: x\ntimeout: y\nbaseline: z\ntarget: {env: {A: '${B}'}}\n"), env(nil))
	lines := strings.Split(err.Error(), "\n")
	g.Expect(lines).To(gomega.HaveLen(4))
	for i, l := range lines {
		g.Expect(l).To(gomega.HavePrefix("litmus.yaml:" + string(rune('1'+i)) + ":"))
	}
	var e *script.Error
	g.Expect(errors.As(err, &e)).To(gomega.BeTrue())
	g.Expect(e.Pos).To(gomega.Equal(script.Position{File: "litmus.yaml", Line: 1, Column: 7}))
}

func TestNoSecretInAnError(t *testing.T) {
	_, err := read("litmus.yaml", []byte(`target: {url: "${URL}"}`), env(map[string]string{"URL": "t0ps3cret"}))
	g := gomega.NewWithT(t)
	g.Expect(err).To(gomega.HaveOccurred())
	g.Expect(err.Error()).NotTo(gomega.ContainSubstring("t0ps3cret"))
}

func TestSecrets(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`target: {env: {A: "${V}"}}`, []string{"value-of-v"}},
		{`target: {command: [x, "--key=${V}"]}`, []string{"value-of-v"}},
		{`target: {url: "http://h/${V}"}`, []string{"value-of-v"}},
		{`target: {env: {A: "${V} ${V}"}, headers: {X: "${V}"}}`, []string{"value-of-v"}},
		{`roles: {r: {name: a, arguments: {k: "${V}"}}}`, []string{"value-of-v"}},
		{`target: {cwd: "${V}"}`, nil},
		{`select: "${V}"`, nil},
		{`target: {env: {A: "${UNSET:-from-the-file}"}}`, nil},
		{`target: {env: {A: "${ONE}", B: "${PORT}", C: "${YES}"}}`, nil},
		{`target: {env: {API_KEY: plain-key, Keyboard: qwerty}}`, []string{"plain-key"}},
		{`target: {headers: {X-Api-Key: plain-key, Accept: application/json}}`, []string{"plain-key"}},
		{`target: {headers: {Authorization: Basic dXNlcjpwYXNz}}`, []string{"Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"}},
	} {
		g := gomega.NewWithT(t)
		got, err := read("litmus.yaml", []byte(c.text), env(map[string]string{"V": "value-of-v", "ONE": "1", "PORT": "30000", "YES": "true"}))
		g.Expect(err).NotTo(gomega.HaveOccurred(), c.text)
		g.Expect(got.Secrets).To(gomega.Equal(c.want), c.text)
	}
}

func TestLoadAndFind(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	_, ok := Find(dir)
	g.Expect(ok).To(gomega.BeFalse())
	_, err := Load(filepath.Join(dir, "litmus.yaml"))
	g.Expect(err).To(gomega.MatchError(os.ErrNotExist))

	g.Expect(os.WriteFile(filepath.Join(dir, "litmus.yml"), []byte("\ufefftarget: {cwd: '${LITMUS_TEST_DIR}'}\r\njobs: 2\r\n"), 0o600)).To(gomega.Succeed())
	path, ok := Find(dir)
	g.Expect(ok).To(gomega.BeTrue())
	t.Setenv("LITMUS_TEST_DIR", "here")
	c, err := Load(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Target.Cwd).To(gomega.Equal(filepath.Join(dir, "here")))
	g.Expect(c.Jobs).To(gomega.Equal(2))

	g.Expect(os.WriteFile(filepath.Join(dir, "litmus.yaml"), nil, 0o600)).To(gomega.Succeed())
	path, _ = Find(dir)
	g.Expect(filepath.Base(path)).To(gomega.Equal("litmus.yaml"), "the usual name comes first")
}

func TestCheckRoles(t *testing.T) {
	g := gomega.NewWithT(t)
	c, err := read("litmus.yaml", []byte("roles:\n  faling-tool: {name: a}\n  slow-tool: {name: b}\n"), env(nil))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	known := func(names ...string) (out []*script.RoleDefinition) {
		for _, name := range names {
			_, kind, _ := strings.Cut(name, "-")
			out = append(out, &script.RoleDefinition{Name: name, Kind: kind})
		}
		return out
	}
	g.Expect(c.CheckRoles(known("failing-tool", "slow-tool"))).To(gomega.MatchError(`litmus.yaml:2:3: there is no role "faling-tool"; did you mean "failing-tool"?`))
	g.Expect(c.CheckRoles(known("faling-tool", "slow-tool"))).To(gomega.Succeed())
	c, err = read("litmus.yaml", []byte("roles:\n  failing-tool: {uri: x}\n  text-resource: {name: b}\n"), env(nil))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.CheckRoles(known("failing-tool", "text-resource"))).To(gomega.MatchError(gomega.And(
		gomega.ContainSubstring(`litmus.yaml:2:3: failing-tool is a tool: give name: (and arguments:), not uri:`),
		gomega.ContainSubstring(`litmus.yaml:3:3: text-resource is a resource: give uri:, not name:`))))
}

func schemaErrors(t *testing.T, text string) []gojsonschema.ResultError {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	res, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(Schema), gojsonschema.NewBytesLoader(data))
	if err != nil {
		t.Fatal(err)
	}
	return res.Errors()
}

func TestSchemaAgreesWithTheReader(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(schemaErrors(t, whole)).To(gomega.BeEmpty())
	for _, text := range []string{"revisions: all", "revisions: 2025-11-25", "target: {command: [a]}", "jobs: 1", "timeout: 1m30s", "strict: false"} {
		_, err := read("litmus.yaml", []byte(text), env(nil))
		g.Expect(err).NotTo(gomega.HaveOccurred(), text)
		g.Expect(schemaErrors(t, text)).To(gomega.BeEmpty(), text)
	}
	for _, text := range []string{
		"targt: {}", "target: {command: node}", "target: {command: []}", "target: {x: 1}", "revisions: [2025-11-26]", "timeout: 10", "jobs: 0",
		"call-tools: some", "allow: [{arguments: {}}]", "roles: {r: {name: a, uri: b}}", "roles: {r: {}}", "baseline: [{requirement: a}]",
		"baseline: [{requirement: a, reason: b, transport: http}]", "reports: {pdf: x}", "strict: 1", "exchanges: dir", "[]",
	} {
		_, err := read("litmus.yaml", []byte(text), env(nil))
		g.Expect(err).To(gomega.HaveOccurred(), text)
		g.Expect(schemaErrors(t, text)).NotTo(gomega.BeEmpty(), text)
	}
}

func TestTokensAreSecrets(t *testing.T) {
	g := gomega.NewWithT(t)
	c, err := read("litmus.yaml", []byte(`auth: {token: "${GOOD}", expired: written-down, listen: "127.0.0.1:0", scope: read, audience: "https://a.example"}`),
		env(map[string]string{"GOOD": "from-the-environment"}))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Auth).To(gomega.Equal(Auth{
		Tokens: map[string]string{"valid": "from-the-environment", "expired": "written-down"},
		Listen: "127.0.0.1:0", Audience: "https://a.example", Scope: "read",
	}))
	g.Expect(c.Secrets).To(gomega.ConsistOf("from-the-environment", "written-down"))
}

// The reference page shows files that load, and describes the keys that there are.
func TestReferencePage(t *testing.T) {
	g := gomega.NewWithT(t)
	page, err := os.ReadFile("../../docs/litmus-yaml.md")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	g.Expect(len(examples)).To(gomega.BeNumerically(">=", 2))
	for _, e := range examples {
		_, err := read("litmus.yaml", e[1], env(map[string]string{"TOKEN": "x", "MCP_TOKEN": "x", "MCP_TOKEN_OLD": "x", "OTHER_TOKEN": "x", "WEAK_TOKEN": "x"}))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(schemaErrors(t, string(e[1]))).To(gomega.BeEmpty())
	}
	_, err = read("litmus.yaml", []byte("target:\n  url: http://h/\n  comand: [node]"), env(nil))
	g.Expect(string(page)).To(gomega.ContainSubstring(err.Error()), "the mistake that the page shows")

	var s struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	g.Expect(json.Unmarshal(Schema, &s)).To(gomega.Succeed())
	var want, got []string
	for key, p := range s.Properties {
		want = append(want, key)
		if key == "target" {
			for sub := range p.Properties {
				want = append(want, key+": "+sub)
			}
		}
	}
	table, _, _ := bytes.Cut(page[bytes.Index(page, []byte("\n## Keys")):], []byte("\n## Values"))
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllSubmatch(table, -1) {
		got = append(got, string(m[1]))
	}
	slices.Sort(want)
	slices.Sort(got)
	g.Expect(got).To(gomega.Equal(want))
	for key := range s.Properties {
		_, err := read("litmus.yaml", []byte(key+":\n"), env(nil))
		g.Expect(err).NotTo(gomega.HaveOccurred(), "the reader knows %s", key)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("a: &b [*b]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := read("litmus.yaml", data, env(map[string]string{"TOKEN": "t"}))
		if (c == nil) == (err == nil) {
			t.Fatalf("%v with %v", c, err)
		}
	})
}
