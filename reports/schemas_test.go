package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// schemasVariable names a folder with the published schemas, which are not ours to keep here: junit-10.xsd of the xUnit plugin of Jenkins and
// sarif-schema-2.1.0.json of OASIS. Where it is set, they are asked, too.
const schemasVariable = "MCP_LITMUS_SCHEMAS"

// golden reads a golden file; what is made by a real run is in run/.
func golden(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// junitShape is what testdata/schemas/junit.xsd says, for machines without xmllint: of each element its children in their order, and its
// attributes (those that end in ? may be missing) with what their values look like.
var junitShape = map[string]struct {
	children   []string
	attributes map[string]string
	text       bool
}{
	"testsuites": {children: []string{"testsuite"}, attributes: map[string]string{"name": ".", "tests": `^\d+$`, "failures": `^\d+$`, "errors": `^\d+$`, "time": `^\d+\.\d{3}$`}},
	"testsuite": {children: []string{"properties", "testcase"}, attributes: map[string]string{"name": ".", "tests": `^\d+$`, "failures": `^\d+$`, "errors": `^\d+$`,
		"skipped": `^\d+$`, "time": `^\d+\.\d{3}$`, "timestamp?": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`}},
	"properties": {children: []string{"property"}},
	"property":   {attributes: map[string]string{"name": ".", "value": ""}},
	"testcase":   {children: []string{"skipped", "error", "failure", "system-out"}, attributes: map[string]string{"name": ".", "classname": ".", "time": `^\d+\.\d{3}$`}},
	"skipped":    {attributes: map[string]string{"type?": ".", "message": ""}, text: true},
	"error":      {attributes: map[string]string{"type?": ".", "message": ""}, text: true},
	"failure":    {attributes: map[string]string{"type?": ".", "message": ""}, text: true},
	"system-out": {text: true},
}

// checkJUnit says what of the shape the XML breaks.
func checkJUnit(data []byte) error {
	type open struct {
		name string
		at   int // the place of the last child in the order
	}
	var stack []open
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			shape, known := junitShape[name]
			if !known || len(stack) == 0 && name != "testsuites" {
				return fmt.Errorf("the element %s", name)
			}
			if len(stack) > 0 {
				parent := &stack[len(stack)-1]
				place := slices.Index(junitShape[parent.name].children, name)
				if place < parent.at {
					return fmt.Errorf("%s in %s", name, parent.name)
				}
				parent.at = place
			}
			left := map[string]bool{}
			for a := range shape.attributes {
				left[a] = true
			}
			for _, a := range e.Attr {
				form, there := shape.attributes[a.Name.Local]
				key := a.Name.Local
				if !there {
					key += "?"
					form, there = shape.attributes[key]
				}
				if !there || !left[key] || !regexp.MustCompile(form).MatchString(a.Value) {
					return fmt.Errorf("%s=%q of %s", a.Name.Local, a.Value, name)
				}
				delete(left, key)
			}
			for a := range left {
				if !strings.HasSuffix(a, "?") {
					return fmt.Errorf("%s has no %s", name, a)
				}
			}
			stack = append(stack, open{name: name})
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) > 0 && !junitShape[stack[len(stack)-1].name].text && len(bytes.TrimSpace(e)) > 0 {
				return fmt.Errorf("text in %s", stack[len(stack)-1].name)
			}
		}
	}
}

// xmllint validates against a schema; where it is not installed, it says nothing.
func xmllint(data []byte, xsd string) error {
	path, err := exec.LookPath("xmllint")
	if err != nil {
		return nil
	}
	cmd := exec.Command(path, "--noout", "--huge", "--schema", xsd, "-")
	cmd.Stdin = bytes.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.2000s", err, out)
	}
	return nil
}

func TestJUnitMatchesTheSchema(t *testing.T) {
	g := gomega.NewWithT(t)
	schemas := []string{"testdata/schemas/junit.xsd"}
	if dir := os.Getenv(schemasVariable); dir != "" {
		schemas = append(schemas, filepath.Join(dir, "junit-10.xsd"))
	}
	evil, _ := hostile()
	_, nothing := junit(t, &verdict.Report{Problems: []string{"a"}, Baseline: []string{"b"}}, false)
	_, hostileXML := junit(t, evil, true)
	_, broken := junit(t, interrupted(), true)
	for _, data := range [][]byte{golden(t, "junit.xml"), golden(t, "junit-strict.xml"), golden(t, "run/junit.xml"), nothing, hostileXML, broken} {
		g.Expect(checkJUnit(data)).To(gomega.Succeed())
		for _, xsd := range schemas {
			g.Expect(xmllint(data, xsd)).To(gomega.Succeed(), xsd)
		}
	}
	// Both ways of checking refuse what they should.
	good := string(golden(t, "run/junit.xml"))
	_, lint := exec.LookPath("xmllint")
	for _, change := range [][2]string{
		{`<testsuites name="mcp-litmus"`, `<testsuites name="mcp-litmus" disabled="0"`},
		{`time="0.001"`, `time="1e-06"`},
		{`time="0.001"`, `time="0.0012345"`},
		{`<skipped message=`, `<skipped massage=`},
		{`<testcase name=`, `<testcase status="pass" name=`},
		{`<failure type`, `<warning/><failure type`},
		{`tests="15"`, `tests="many"`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		g.Expect(bad).NotTo(gomega.Equal(good), change[0])
		g.Expect(checkJUnit([]byte(bad))).NotTo(gomega.Succeed(), change[1])
		if lint == nil {
			g.Expect(xmllint([]byte(bad), schemas[0])).NotTo(gomega.Succeed(), change[1])
		}
	}
}

func TestJUnitNamesAreTheSameInEveryRun(t *testing.T) {
	g := gomega.NewWithT(t)
	names := func(r *verdict.Report) []string {
		all, _ := junit(t, r, false)
		var out []string
		for _, s := range all.Suites {
			for _, c := range s.Cases {
				out = append(out, c.Classname+" "+c.Name)
			}
		}
		return out
	}
	before := names(sample())
	after := sample()
	after.Target, after.Server, after.Problems, after.Baseline, after.Complete = "another", "everything 1.3.0", []string{"a"}, []string{"b", "c"}, false
	for i := range after.Verdicts { // all mended, or all broken in another way
		after.Verdicts[i].Status, after.Verdicts[i].Reason = verdict.Fail, "the id is 17"
	}
	g.Expect(names(after)).To(gomega.Equal(before))
}

func compiled(t *testing.T, url string, files map[string][]byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for name, data := range files {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(name, doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile(url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSARIFMatchesTheSchema(t *testing.T) {
	g := gomega.NewWithT(t)
	schemas := []*jsonschema.Schema{compiled(t, "s", map[string][]byte{"s": golden(t, "schemas/sarif.schema.json")})}
	if dir := os.Getenv(schemasVariable); dir != "" {
		data, err := os.ReadFile(filepath.Join(dir, "sarif-schema-2.1.0.json"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		schemas = append(schemas, compiled(t, "s", map[string][]byte{"s": data}))
	}
	sarif := func(r *verdict.Report) []byte {
		var b bytes.Buffer
		g.Expect(SARIF(&b, r, SARIFOptions{File: `src/a server.js`, Strict: true})).To(gomega.Succeed())
		return b.Bytes()
	}
	evil, _ := hostile()
	evil.Catalogue = "c0ffee"
	extension := sample()
	extension.Verdicts[3].Extension = "io.example/extension"
	stale := sample()
	stale.Baseline, stale.Complete = []string{"entry 1 matches nothing"}, false
	for _, data := range [][]byte{golden(t, "run/results.sarif"), sarif(sample()), sarif(evil), sarif(extension), sarif(stale), sarif(interrupted())} {
		for _, s := range schemas {
			g.Expect(validate(t, s, data)).To(gomega.Succeed())
		}
		var log sarifLog
		g.Expect(json.Unmarshal(data, &log)).To(gomega.Succeed())
		rules := log.Runs[0].Tool.Driver.Rules
		for _, r := range log.Runs[0].Results {
			g.Expect(rules[r.RuleIndex].ID).To(gomega.Equal(r.RuleID))
		}
	}
	var log sarifLog
	g.Expect(json.Unmarshal(golden(t, "run/results.sarif"), &log)).To(gomega.Succeed())
	levels := map[string]string{}
	for _, r := range log.Runs[0].Results {
		if len(r.Suppressions) > 0 {
			levels[r.RuleID] += " suppressed: " + r.Suppressions[0].Justification
			continue
		}
		levels[r.RuleID] += r.Level
	}
	g.Expect(levels).To(gomega.Equal(map[string]string{
		"tools.call.unknown-tool": "warning", "tools.call.responds": "error", "tools.call.without-arguments": "note", "extension.tasks.result-type.reserved": "note",
		"tools.call.missing-argument": "error suppressed: issue 42: older clients do not look", "tools.call.is-error-boolean": " suppressed: flaky: issue 43: now and then",
	}))
	for _, change := range [][2]string{
		{`"level": "warning"`, `"level": "warn"`}, {`"text": `, `"txt": `}, {`"startLine": 1`, `"startLine": 0`}, {`"version": "2.1.0"`, `"version": "2.2.0"`},
	} {
		bad := strings.Replace(string(golden(t, "run/results.sarif")), change[0], change[1], 1)
		for _, s := range schemas {
			g.Expect(validate(t, s, []byte(bad))).NotTo(gomega.Succeed(), change[1])
		}
	}
}

func TestGoldenJSONMatchesItsSchema(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(validate(t, reportSchema(t), golden(t, "run/report.json"))).To(gomega.Succeed())
	s := compiled(t, "comparison.schema.json", map[string][]byte{"comparison.schema.json": ComparisonSchema, "report.schema.json": Schema})
	g.Expect(validate(t, s, golden(t, "run/compare.json"))).To(gomega.Succeed())
	evil, _ := hostile()
	for i := range evil.Verdicts {
		v := &evil.Verdicts[i]
		v.Level, v.Revision, v.Transport, v.Evidence = "MUST", "2025-11-25", "stdio", nil
	}
	var b bytes.Buffer
	g.Expect(CompareJSON(&b, verdict.Compare(&verdict.Report{}, evil))).To(gomega.Succeed())
	g.Expect(validate(t, s, b.Bytes())).To(gomega.Succeed())
	for _, change := range [][2]string{{`"kind": "regression"`, `"kind": "worse"`}, {`"status": "fail"`, `"status": "failed"`}, {`"same": `, `"equal": `}} {
		bad := strings.Replace(string(golden(t, "run/compare.json")), change[0], change[1], 1)
		g.Expect(validate(t, s, []byte(bad))).NotTo(gomega.Succeed(), change[1])
	}
}

func xmlIsWellFormed(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
