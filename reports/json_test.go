package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func reportSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t *testing.T, r *verdict.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestJSONMatchesItsSchema(t *testing.T) {
	g := gomega.NewWithT(t)
	s := reportSchema(t)
	full := sample()
	full.Select, full.Problems, full.Baseline = "tools", []string{"a"}, []string{"b"}
	for _, r := range []*verdict.Report{sample(), full, {}} {
		g.Expect(validate(t, s, asJSON(t, r))).To(gomega.Succeed())
	}
	// The schema refuses what it should.
	good := string(asJSON(t, sample()))
	for _, change := range [][2]string{
		{`"status": "pass"`, `"status": "passed"`},
		{`"reason": "",`, ``},
		{`"format": "mcp-litmus report 1"`, `"format": "mcp-litmus report 2"`},
		{`"duration": 4.25`, `"duration": "4.25s"`},
		{`"started": "2026`, `"started": "soon-2026`},
		{`"known": "issue`, `"comment": "issue`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		g.Expect(bad).NotTo(gomega.Equal(good), change[0])
		g.Expect(validate(t, s, []byte(bad))).NotTo(gomega.Succeed(), change[1])
	}
}

func TestJSONRoundTrip(t *testing.T) {
	g := gomega.NewWithT(t)
	want := sample()
	data := asJSON(t, want)
	got, err := ReadJSON(bytes.NewReader(data))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	// Bytes that are no UTF-8 cannot be in JSON; everything else comes back as it was.
	for i := range want.Verdicts {
		if e := want.Verdicts[i].Evidence; e != nil {
			e.Item = strings.ToValidUTF8(e.Item, "\ufffd")
		}
	}
	g.Expect(got).To(gomega.Equal(want))
	g.Expect(string(data)).To(gomega.ContainSubstring(`</testcase>`), "no HTML escapes")

	hostileReport, _ := hostile()
	g.Expect(json.Valid(asJSON(t, hostileReport))).To(gomega.BeTrue())
}

func TestReadJSONRefuses(t *testing.T) {
	for in, want := range map[string]string{
		``:                                "not a JSON report of mcp-litmus",
		`{"format":"other"}`:              `its format is "other"`,
		`{"verdicts":[]}`:                 `its format is ""`,
		`{"format":"mcp-litmus report 1"`: "not a JSON report of mcp-litmus",
		`{"format":"mcp-litmus report 1","verdicts":{}}`: "cannot be read",
	} {
		_, err := ReadJSON(strings.NewReader(in))
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)), in)
	}
}
