package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func hostFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	g := gomega.NewWithT(t)
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(gomega.Succeed())
	g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(gomega.Succeed())
	return path
}

var hostEnvironment = map[string]string{"TOKEN": "tok-from-environment", "EMPTY": "", "API_KEY": "key-that-was-asked-for"}

func readHostFile(t *testing.T, path, server string) (*Config, error) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return readHost(path, data, server, func(name string) (string, bool) { v, ok := hostEnvironment[name]; return v, ok })
}

func TestAServerOfAHostsFile(t *testing.T) {
	g := gomega.NewWithT(t)
	path := hostFile(t, ".mcp.json", `{
		"mcpServers": {
			"weather": {
				"command": "npx",
				"args": ["-y", "weather", "--api-key", "literal-key-1", "--units=${UNITS:-metric}"],
				"env": {"WEATHER_TOKEN": "${TOKEN}", "MODE": "fast", "PORT": 3000, "HOME_DIR": "/home/somebody", "LICENSE": "abcd-efgh-ijkl", "NONE": null},
				"disabled": false, "alwaysAllow": ["x"]
			},
			"remote": {"type": "http", "url": "https://mcp.example/${EMPTY:-mcp}", "headers": {"Authorization": "Bearer ${TOKEN}"}}
		}
	}`)
	c, err := readHostFile(t, path, "weather")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Target.Command).To(gomega.Equal([]string{"npx", "-y", "weather", "--api-key", "literal-key-1", "--units=metric"}))
	g.Expect(c.Target.Environ()).To(gomega.Equal([]string{"HOME_DIR=/home/somebody", "LICENSE=abcd-efgh-ijkl", "MODE=fast", "PORT=3000", "WEATHER_TOKEN=tok-from-environment"}))
	g.Expect(c.Target.Cwd).To(gomega.Equal(filepath.Dir(path)))
	g.Expect(c.Secrets).To(gomega.Equal([]string{"abcd-efgh-ijkl", "literal-key-1", "tok-from-environment"}), "and no path, number or short word")

	c, err = readHostFile(t, path, "remote")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Target.URL).To(gomega.Equal("https://mcp.example/mcp"))
	g.Expect(c.Target.Transport).To(gomega.BeEmpty())
	g.Expect(c.Target.Headers).To(gomega.Equal(map[string]string{"Authorization": "Bearer tok-from-environment"}))
	g.Expect(c.Secrets).To(gomega.ContainElement("tok-from-environment"))
	g.Expect(HostServers(path)).To(gomega.Equal([]string{"weather", "remote"}))
	g.Expect(IsHost(path)).To(gomega.BeTrue())
}

func TestTheFileOfAnEditor(t *testing.T) {
	g := gomega.NewWithT(t)
	path := hostFile(t, ".vscode/mcp.json", `// of this workspace
	{
		"inputs": [{"type": "promptString", "id": "region", "default": "eu-1"}], /* what is asked for */
		"servers": {
			"mine": {
				"type": "stdio", "command": "${workspaceFolder}/server", "args": ["--region", "${input:region}", "// no comment", "${other:thing}"],
				"env": {"KEY": "${input:api-key}", "TOKEN": "${env:TOKEN}",},
				"envFile": "${workspaceFolder}/.env",
			},
			"old": {"type": "sse", "url": "http://127.0.0.1:3000/sse"},
		},
	}`)
	project := filepath.Dir(filepath.Dir(path))
	g.Expect(os.WriteFile(filepath.Join(project, ".env"), []byte("# of tests\nexport A_SECRET='from-the-file'\nTOKEN=overruled\n"), 0o644)).To(gomega.Succeed())
	c, err := readHostFile(t, path, "mine")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Target.Command).To(gomega.Equal([]string{project + "/server", "--region", "eu-1", "// no comment", "${other:thing}"}))
	g.Expect(c.Target.Cwd).To(gomega.Equal(project))
	g.Expect(c.Target.Environ()).To(gomega.Equal([]string{"A_SECRET=from-the-file", "KEY=key-that-was-asked-for", "TOKEN=tok-from-environment"}))
	g.Expect(c.Secrets).To(gomega.Equal([]string{"from-the-file", "key-that-was-asked-for", "tok-from-environment"}))
	c, err = readHostFile(t, path, "old")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Target.Transport).To(gomega.Equal("http+sse"))
}

func TestOtherShapesOfHostsFiles(t *testing.T) {
	g := gomega.NewWithT(t)
	for text, want := range map[string]Target{
		`{"mcp": {"servers": {"a": {"command": "run"}}}}`:                          {Command: []string{"run"}},
		`{"context_servers": {"a": {"command": "run", "args": ["x"]}}}`:            {Command: []string{"run", "x"}},
		`{"mcpServers": {"a": {"httpUrl": "https://h.example/mcp"}}}`:              {URL: "https://h.example/mcp", Transport: "streamable-http"},
		`{"mcpServers": {"a": {"serverUrl": "https://h.example/mcp"}}}`:            {URL: "https://h.example/mcp"},
		`{"mcpServers": {"a": {"type": "streamableHttp", "url": "https://h.x/"}}}`: {URL: "https://h.x/", Transport: "streamable-http"},
		"\ufeff" + `{"mcpServers": {"a": {"command": ["run", "y"], "env": null}}}`: {Command: []string{"run", "y"}},
	} {
		c, err := readHostFile(t, hostFile(t, "config.json", text), "")
		g.Expect(err).NotTo(gomega.HaveOccurred(), text)
		g.Expect(c.Target).To(gomega.Equal(want), text)
	}
}

func TestMistakesInHostsFiles(t *testing.T) {
	for text, says := range map[string]string{
		`{"mcpServers": {"weather": {"command": "x"}, "time": {"command": "y"}}}`: `config.json:1:16: there is no server "wether"; did you mean "weather"?`,
		`{"mcpServers": {}}`: `config.json:1:16: there is no server in this file`,
		`{"name": "x"}`:      `config.json: no servers stand here; a host's file lists them under mcpServers or servers`,
		"{\n \"mcpServers\": {\"wether\": {\"args\": []}}\n}":                                        `config.json:2:27: the server wether names neither a command nor a url`,
		"{\n \"servers\": {\"wether\": {\"command\": \"${MISSING}\"}}}":                              `config.json:2:36: the environment variable MISSING is not set; set it, or give a default: ${MISSING:-default}`,
		"{\n \"servers\": {\"wether\": {\"command\": \"x\", \"args\": [\"${input:a-b}\"]}}}":         `config.json:2:50: the editor asks for ${input:a-b}; set the environment variable A_B to what you would answer`,
		"{\n \"servers\": {\"wether\": {\"command\": \"x\", \"args\": \"y\"}}}":                      `config.json:2:49: the server wether: args is a list of texts, not the text "y"`,
		"{\n \"servers\": {\"wether\": {\"command\": \"x\", \"args\": [\"${command:pick}\"]}}}":      `only the editor knows what ${command:pick} is`,
		"{\n \"servers\": {\"wether\" {}}}":                                                          `config.json:2:23: this is not JSON: invalid character '{' after object name`,
		`{"servers": {}} {}`:                                                                         `something stands behind the end of the JSON`,
		`{"servers": {"a": `:                                                                         `config.json:1:`,
		strings.Repeat(`{"servers":`, 100):                                                           `nest too deep`,
		"{\n \"servers\": {\"wether\": {\"command\": \"x\", \"envFile\": \"/nonexistent/e\"}}}":      `envFile /nonexistent/e cannot be read: no such file or directory`,
		"{\n \"servers\": {\"wether\": {\"command\": \"x\", \"env\": [\"A=b\"]}}}":                   `the server wether: env is a mapping of names to texts, not a list`,
		"{\n \"servers\": {\"wether\": {\"command\": \"x\"}, \"wether\": {\"command\": \"x\"}}\n}\n": `config.json:2:42: this is not JSON: duplicate object member name`,
	} {
		_, err := readHostFile(t, hostFile(t, "config.json", text), "wether")
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)), text)
	}
	_, err := readHostFile(t, hostFile(t, "config.json", `{"servers": {"a": {}, "b": {}}}`), "")
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("there are several servers here; name one with --server: a, b")))
}

func FuzzHostsFile(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "x", "args": ["${A:-b}"]}}} // c`)
	f.Add("/* \"{ */ {\"servers\": [1, 2,],}")
	f.Add(`{"servers": {"a": {"url": "\`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = readHost("x.json", []byte(text), "", func(string) (string, bool) { return "", false })
		if got := plainJSON([]byte(text)); len(got) != len(text) || strings.Count(string(got), "\n") != strings.Count(text, "\n") {
			t.Errorf("places have moved: %q became %q", text, got)
		}
	})
}
