package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/onsi/gomega"
)

// action is action.yml, as far as it is tested.
type action struct {
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Value string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Steps []struct {
			ID  string            `yaml:"id"`
			Run string            `yaml:"run"`
			Env map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

func readAction(t *testing.T) action {
	t.Helper()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// act runs the step that judges as GitHub would, with the inputs over their defaults.
func act(t *testing.T, inputs map[string]string) (outputs map[string]string, log string, code int) {
	t.Helper()
	for _, tool := range []string{"bash", "jq", "xargs"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	g := gomega.NewWithT(t)
	a := readAction(t)
	dir := t.TempDir()
	self, err := os.Executable()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(os.Symlink(self, filepath.Join(dir, "mcp-litmus"))).To(gomega.Succeed())
	step := a.Runs.Steps[len(a.Runs.Steps)-1]
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
	cmd.Dir = dir
	output := filepath.Join(dir, "output")
	cmd.Env = append(os.Environ(), "MCP_LITMUS_AS_COMMAND=1", "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+output)
	input := regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`)
	for name, value := range step.Env {
		m := input.FindStringSubmatch(value)
		g.Expect(m).NotTo(gomega.BeNil(), value)
		declared, ok := a.Inputs[m[1]]
		g.Expect(ok).To(gomega.BeTrue(), m[1])
		given, ok := inputs[m[1]]
		if !ok {
			given = declared.Default
		}
		cmd.Env = append(cmd.Env, name+"="+given)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run()
	data, err := os.ReadFile(output)
	g.Expect(err).NotTo(gomega.HaveOccurred(), said.String())
	outputs = map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		outputs[name] = value
	}
	for name, o := range a.Outputs {
		g.Expect(o.Value).To(gomega.Equal("${{ steps.run.outputs." + name + " }}"))
		if cmd.ProcessState.ExitCode() < 2 {
			g.Expect(outputs).To(gomega.HaveKey(name))
		}
	}
	for _, name := range []string{"junit", "json", "html", "markdown", "sarif", "badge", "transcript"} {
		if cmd.ProcessState.ExitCode() < 2 {
			g.Expect(filepath.Join(dir, outputs[name])).To(gomega.BeARegularFile())
		}
	}
	return outputs, said.String(), cmd.ProcessState.ExitCode()
}

func TestTheActionOfGitHub(t *testing.T) {
	g := gomega.NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	broken := self + " " + referenceCommand + " 'unknown-tool-is-a-result'"
	one := map[string]string{"revision": "2025-11-25", "select": "tools.call.unknown-tool", "args": "--quiet --timeout '10s'"}
	with := func(more map[string]string) map[string]string {
		all := map[string]string{}
		for _, m := range []map[string]string{one, more} {
			for name, value := range m {
				all[name] = value
			}
		}
		return all
	}
	outputs, log, code := act(t, one)
	g.Expect(code).To(gomega.Equal(0), log)
	g.Expect(outputs).To(gomega.HaveKeyWithValue("conforms", "true"))
	g.Expect(outputs).To(gomega.HaveKeyWithValue("passed", "1"))

	outputs, log, code = act(t, with(map[string]string{"command": broken, "strict": "true"}))
	g.Expect(code).To(gomega.Equal(1), log)
	g.Expect(outputs).To(gomega.HaveKeyWithValue("conforms", "false"))
	g.Expect(outputs).NotTo(gomega.HaveKeyWithValue("failed", ""))
	g.Expect(outputs["failed"] + outputs["warned"]).NotTo(gomega.Equal("00"))

	outputs, log, code = act(t, with(map[string]string{"command": broken, "strict": "true", "fail": "false"}))
	g.Expect(code).To(gomega.Equal(0), log)
	g.Expect(outputs).To(gomega.HaveKeyWithValue("conforms", "false"))

	// What is known passes, and reports are written where they are asked for.
	known := filepath.Join(t.TempDir(), "known.yaml")
	g.Expect(os.WriteFile(known, []byte("baseline: [{requirement: tools.call.unknown-tool, reason: issue 42}]\n"), 0o600)).To(gomega.Succeed())
	outputs, log, code = act(t, with(map[string]string{"command": broken, "strict": "true", "baseline": known, "sarif": "a folder/x.sarif", "badge": "b.json"}))
	g.Expect(code).To(gomega.Equal(0), log)
	g.Expect(outputs).To(gomega.HaveKeyWithValue("sarif", "a folder/x.sarif"))
	g.Expect(outputs).To(gomega.HaveKeyWithValue("badge", "b.json"))

	_, log, code = act(t, with(map[string]string{"command": "/nonexistent/server $(touch never) ; touch never", "fail": "false"}))
	g.Expect(code).To(gomega.Equal(3), log)
}

// What an input says must not become a part of a script.
func TestTheActionPutsNoInputIntoItsScripts(t *testing.T) {
	for _, step := range readAction(t).Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("the step %s has an expression in its script:\n%s", step.ID, step.Run)
		}
	}
}

// Whoever knows the command line knows the action: an input is a flag of run under the same name, or one of the action's own.
func TestTheInputsOfTheActionAreFlags(t *testing.T) {
	a := readAction(t)
	own := []string{"command", "fail", "args", "reports", "version", "working-directory"}
	run := runCommand()
	script := a.Runs.Steps[len(a.Runs.Steps)-1].Run
	for name := range a.Inputs {
		switch {
		case slices.Contains(own, name):
		case run.Flags().Lookup(name) == nil:
			t.Errorf("the input %s is no flag of mcp-litmus run", name)
		case !strings.Contains(script, "--"+name+" ") && !strings.Contains(script, "--"+name+")"):
			t.Errorf("the input %s is not handed on", name)
		}
	}
	for _, name := range append(own, "url", "config", "server", "revision", "select", "strict", "baseline", "junit", "json", "html", "markdown", "sarif", "badge", "transcript") {
		if _, ok := a.Inputs[name]; !ok {
			t.Errorf("the action has no input %s", name)
		}
	}
	docs, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range a.Inputs {
		if !strings.Contains(string(docs), "`"+name+"`") {
			t.Errorf("docs/ci.md does not tell of the input %s", name)
		}
	}
	for name := range a.Outputs {
		if !strings.Contains(string(docs), "`"+name+"`") {
			t.Errorf("docs/ci.md does not tell of the output %s", name)
		}
	}
}
