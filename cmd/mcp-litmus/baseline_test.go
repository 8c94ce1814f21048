package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// settingsFor writes a litmus.yaml with which the reference server is judged, with faults, in part: enough for a regression.
func settingsFor(t *testing.T, dir string, faults ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "litmus.yaml", "target: {command: ["+strings.Join(append([]string{self, referenceCommand}, faults...), ", ")+"]}\n"+
		"revisions: [2025-06-18, 2025-11-25]\nselect: server/tools\n")
}

func TestARegressionIsCaughtBaselinedAndOutlived(t *testing.T) {
	const fault = "unknown-tool-is-a-result" // breaks tools.call.unknown-tool, and that alone
	dir := t.TempDir()
	expect := func(code int, says string, args ...string) string {
		t.Helper()
		stdout, stderr, got := litmus(t, dir, args...)
		if got != code || !strings.Contains(stdout+stderr, says) {
			t.Fatalf("mcp-litmus %s: exit code %d, not %d, or it does not say %q\n%s%s", strings.Join(args, " "), got, code, says, stdout, stderr)
		}
		return stdout
	}
	settingsFor(t, dir)
	expect(0, "conforms", "run", "--strict", "--json", "old.json")
	expect(0, "no regression", "compare", "old.json", "old.json")

	settingsFor(t, dir, fault)
	expect(1, "tools.call.unknown-tool", "run", "--strict", "--json", "new.json", "--write-baseline", "baseline.yaml")
	expect(1, "1 regression", "compare", "old.json", "new.json")
	var c struct{ Regressions []string }
	if err := json.Unmarshal([]byte(expect(1, "regression", "compare", "old.json", "new.json", "--format", "json")), &c); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Regressions, []string{"tools.call.unknown-tool"}) {
		t.Errorf("the regressions are %q, not what the fault breaks", c.Regressions)
	}
	expect(0, "1 fix", "compare", "new.json", "old.json", "--format", "markdown")

	text := string(read(t, dir, "baseline.yaml"))
	if strings.Count(text, "- requirement:") != 1 || !strings.Contains(text, `reason: "not reviewed yet: `) {
		t.Errorf("the baseline is\n%s", text)
	}
	expect(0, "2 known failures", "run", "--strict", "--baseline", "baseline.yaml", "--json", "known.json", "--transcript", "run.jsonl")
	// The recorded run is judged as the run was, with the baseline and without.
	expect(0, "2 known failures", "judge", "--strict", "--baseline", "baseline.yaml", "run.jsonl", "--json", "again.json")
	if string(read(t, dir, "again.json")) != string(read(t, dir, "known.json")) {
		t.Error("the run, judged again with its baseline, differs")
	}
	write(t, dir, "judging.yaml", "strict: true\nbaseline: baseline.yaml\n")
	expect(0, "2 known failures", "judge", "--config", "judging.yaml", "run.jsonl")
	expect(1, "tools.call.unknown-tool", "judge", "--strict", "run.jsonl")
	expect(0, "no regression", "compare", "old.json", "known.json")

	settingsFor(t, dir)
	expect(1, "baseline.yaml:3:5: the baseline entry for tools.call.unknown-tool is out of date", "run", "--strict", "--baseline", "baseline.yaml",
		"--write-baseline", "renewed.yaml", "--transcript", "mended.jsonl")
	expect(1, "is out of date", "judge", "--strict", "--baseline", "baseline.yaml", "mended.jsonl")
	if text := string(read(t, dir, "renewed.yaml")); !strings.Contains(text, "baseline: []") {
		t.Errorf("the renewed baseline is\n%s", text)
	}
	expect(0, "conforms", "run", "--strict", "--baseline", "renewed.yaml")
}

func TestShardsMergeToTheWholeRun(t *testing.T) {
	dir := t.TempDir()
	settingsFor(t, dir, "unknown-tool-is-a-result")
	for _, args := range [][]string{{"whole.json"}, {"one.json", "--shard", "1/2"}, {"two.json", "--shard", "2/2"}} {
		if _, stderr, code := litmus(t, dir, append([]string{"run", "-q", "--transcript", args[0] + "l", "--json"}, args...)...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	if _, stderr, code := litmus(t, dir, "merge", "-q", "two.json", "one.json", "--json", "merged.json", "--junit", "merged.xml"); code != 0 {
		t.Fatalf("merge: exit code %d: %s", code, stderr)
	}
	outcomes := func(name string) map[verdict.Key]verdict.Status {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := reports.ReadJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		out := map[verdict.Key]verdict.Status{}
		for _, v := range r.Verdicts {
			out[v.Key()] = v.Status
		}
		if len(out) != len(r.Verdicts) {
			t.Errorf("%s holds a check twice", name)
		}
		return out
	}
	whole, merged, one := outcomes("whole.json"), outcomes("merged.json"), outcomes("one.json")
	if len(one) >= len(whole) || len(merged) != len(whole) {
		t.Errorf("%d verdicts in one shard, %d in both, %d in the whole run", len(one), len(merged), len(whole))
	}
	for key, s := range whole {
		if merged[key] != s {
			t.Errorf("%v is %s in the whole run, %q merged", key, s, merged[key])
		}
	}
	if out, _, code := litmus(t, dir, "merge", "two.json"); code != 3 || !strings.Contains(out, "shard 1/2 of the run on") {
		t.Errorf("one shard alone: exit code %d, not 3:\n%s", code, out)
	}
	if _, _, code := litmus(t, dir, "judge", "-q", "one.jsonl", "--json", "again.json"); code != 0 || string(read(t, dir, "one.json")) != string(read(t, dir, "again.json")) {
		t.Errorf("the shard, judged again, differs (exit code %d)", code)
	}
	write(t, dir, "baseline.yaml", "baseline: [{requirement: tools.call.unknown-tool, reason: we know}, {requirement: tools.list.*, reason: gone}]\n")
	if out, _, code := litmus(t, dir, "merge", "one.json", "two.json", "--baseline", "baseline.yaml"); code != 1 || !strings.Contains(out, "tools.list.* is out of date") || strings.Contains(out, "unknown-tool is out") {
		t.Errorf("the baseline is not held against the whole: exit code %d\n%s", code, out)
	}
}

func TestTwoRevisionsSideBySide(t *testing.T) {
	dir := t.TempDir()
	settingsFor(t, dir)
	self, _ := os.Executable()
	out, stderr, code := litmus(t, dir, "compare", "--revisions", "2025-06-18,2025-11-25", "--select", "tools.names.length || tools.call.unknown-tool", "--",
		self, referenceCommand, "unknown-tool-is-a-result")
	for _, want := range []string{"Broken at both", "tools.call.unknown-tool", "Judged at 2025-11-25 only", "tools.names.length", "0 requirements broken only at 2025-06-18, 0 only at 2025-11-25, 1 at both"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Fatalf("exit code %d, or it does not say %q:\n%s%s", code, want, out, stderr)
		}
	}
}

func TestInGitHubActions(t *testing.T) {
	dir := t.TempDir()
	settingsFor(t, dir, "unknown-tool-is-a-result")
	write(t, dir, "summary.md", "what was there\n")
	t.Setenv("AS_IN_ACTIONS", filepath.Join(dir, "summary.md"))
	out, stderr, code := litmus(t, dir, "run", "--strict", "--json", "new.json", "--markdown", "out.md", "--badge", "b.svg", "--sarif", "r.sarif")
	if code != 1 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if !strings.HasPrefix(lines[0], "::stop-commands::") || !slices.Contains(lines, "::"+strings.TrimPrefix(lines[0], "::stop-commands::")+"::") {
		t.Errorf("the report is not kept apart from commands:\n%s", out)
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "::error title=SHOULD tools.call.unknown-tool::") {
		t.Errorf("the last line is no annotation: %s", last)
	}
	if got := string(read(t, dir, "summary.md")); got != "what was there\n"+string(read(t, dir, "out.md")) {
		t.Errorf("the summary is\n%s", got)
	}
	if !strings.Contains(string(read(t, dir, "r.sarif")), `"uri": "litmus.yaml"`) {
		t.Error("SARIF does not point to litmus.yaml")
	}
	if _, _, code := litmus(t, dir, "compare", "new.json", "new.json"); code != 0 || !strings.Contains(string(read(t, dir, "summary.md")), "no regression") {
		t.Error("a comparison does not add to the summary")
	}
}

func TestABaselineIsNotWrittenFromARunThatBrokeOff(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "baseline.yaml", "baseline: []\n")
	if _, stderr, code := litmus(t, dir, "run", "--write-baseline", "baseline.yaml", "--", "false"); code != 3 || !strings.Contains(stderr, "baseline.yaml was not written") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if text := string(read(t, dir, "baseline.yaml")); text != "baseline: []\n" {
		t.Errorf("the baseline was written:\n%s", text)
	}
}

func TestWrongUseOfComparisonsAndBaselines(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bad.yaml", "baseline:\n  - {requirement: tools.*}\n")
	write(t, dir, "empty.yaml", "")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"bad.yaml:2:5: entry 1 of baseline gives no reason", []string{"run", "--baseline", "bad.yaml"}},
		{"the file is empty", []string{"run", "--baseline", "empty.yaml"}},
		{"nowhere.yaml: the baseline cannot be read", []string{"run", "--baseline", "nowhere.yaml"}},
		{"write I/N", []string{"run", "--shard", "3/2"}},
		{"ends in .svg", []string{"run", "--badge", "badge.png"}},
		{"name two JSON reports", []string{"compare", "a.json"}},
		{"--revisions takes two", []string{"compare", "--revisions", "2025-11-25"}},
		{"there is no revision", []string{"compare", "--revisions", "2025-11-25,2025-11-26"}},
		{"--format cannot be \"pdf\"", []string{"compare", "a.json", "b.json", "--format", "pdf"}},
		{"cannot be read", []string{"compare", "a.json", "b.json"}},
		{"not a JSON report", []string{"merge", "bad.yaml"}},
		{"name the JSON reports", []string{"merge"}},
	} {
		if stdout, stderr, code := litmus(t, dir, c.args...); code != 2 || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit code %d, not 2, or it does not say %q\n%s%s", c.args, code, c.says, stdout, stderr)
		}
	}
}
