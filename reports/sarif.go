package reports

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// The parts of SARIF 2.1.0 that are written here. testdata/schemas/sarif.schema.json describes them.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
		Properties  map[string]string `json:"properties,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name            string      `json:"name"`
		SemanticVersion string      `json:"semanticVersion,omitempty"`
		InformationURI  string      `json:"informationUri"`
		Rules           []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifMessage       `json:"shortDescription"`
		FullDescription      *sarifMessage      `json:"fullDescription,omitempty"`
		HelpURI              string             `json:"helpUri,omitempty"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
		Properties           sarifTags          `json:"properties"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		ExecutionSuccessful        bool                `json:"executionSuccessful"`
		StartTimeUTC               string              `json:"startTimeUtc,omitempty"`
		EndTimeUTC                 string              `json:"endTimeUtc,omitempty"`
		ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		RuleID              string             `json:"ruleId"`
		RuleIndex           int                `json:"ruleIndex"`
		Level               string             `json:"level"`
		Message             sarifMessage       `json:"message"`
		Locations           []sarifLocation    `json:"locations"`
		PartialFingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		PhysicalLocation *sarifPhysical `json:"physicalLocation,omitempty"`
		LogicalLocations []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIFOptions say what SARIF cannot take from the report.
type SARIFOptions struct {
	// File is the file of the repository that findings are shown at, with slashes, relative to its root: code scanning shows none
	// without. "": litmus.yaml.
	File   string
	Strict bool // a broken SHOULD is an error, too
}

// SARIF writes what is broken as SARIF 2.1.0, for code scanning: a rule for each requirement, one result for it, wherever it broke. What
// the baseline expects is there as suppressed; what the suite could not carry out is a notification of the invocation. Notes of advice
// are results of the level "note". The error is that of writing to w.
func SARIF(w io.Writer, r *verdict.Report, o SARIFOptions) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "mcp-litmus", SemanticVersion: printable(strings.TrimPrefix(r.Suite, "v")),
			InformationURI: "https://github.com/mcp-litmus/mcp-litmus", Rules: []sarifRule{},
		}},
		Invocations: []sarifInvocation{sarifInvoked(r)},
		Results:     []sarifResult{},
		ColumnKind:  "unicodeCodePoints",
		Properties:  map[string]string{},
	}
	for _, p := range [][2]string{{"catalogue", r.Catalogue}, {"server", r.Server}, {"target", r.Target}, {"select", r.Select}, {"shard", r.Shard}} {
		if p[1] != "" {
			run.Properties[p[0]] = printable(p[1])
		}
	}
	rules := map[string]int{}
	for _, known := range []bool{false, true} {
		for _, f := range findings(r, func(v *verdict.Verdict) bool {
			return (v.Status == verdict.Fail || v.Status == verdict.Warn || v.Status == verdict.Note) && (v.Known != "") == known
		}) {
			v := f[0]
			at, ok := rules[v.Requirement]
			if !ok {
				at = len(rules)
				rules[v.Requirement] = at
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(v, o.Strict))
			}
			run.Results = append(run.Results, sarifResultOf(f, at, o))
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifInvoked(r *verdict.Report) sarifInvocation {
	in := sarifInvocation{ExecutionSuccessful: r.Settled()}
	if !r.Started.IsZero() {
		in.StartTimeUTC = r.Started.UTC().Format(time.RFC3339)
		in.EndTimeUTC = r.Started.Add(r.Duration).UTC().Format(time.RFC3339)
	}
	add := func(text string) {
		in.ToolExecutionNotifications = append(in.ToolExecutionNotifications, sarifNotification{"error", sarifMessage{excerpt(text, 2000)}})
	}
	for _, p := range r.Problems {
		add(p)
	}
	if !r.Complete {
		add("the run did not reach its end")
	}
	for _, p := range r.Baseline {
		add("the baseline is out of date: " + p)
	}
	for _, f := range findings(r, func(v *verdict.Verdict) bool { return v.Status == verdict.Error && !unplayed(r, v) }) {
		add(f[0].Requirement + " (" + places(f) + "): " + f[0].Reason)
	}
	return in
}

func sarifLevel(v *verdict.Verdict, strict bool) string {
	switch {
	case v.Extension != "" || v.Status == verdict.Note:
		return "note"
	case v.Status == verdict.Fail || strict:
		return "error"
	}
	return "warning"
}

func sarifRuleOf(v *verdict.Verdict, strict bool) sarifRule {
	rule := sarifRule{
		ID: printable(v.Requirement), ShortDescription: sarifMessage{orNone(printable(v.Text), printable(v.Requirement))},
		DefaultConfiguration: sarifConfiguration{sarifLevel(v, strict)},
		Properties:           sarifTags{[]string{"mcp"}},
	}
	for _, tag := range []string{printable(v.Level), printable(v.Area)} {
		if tag != "" && !slices.Contains(rule.Properties.Tags, tag) {
			rule.Properties.Tags = append(rule.Properties.Tags, tag)
		}
	}
	if v.Note != "" {
		rule.FullDescription = &sarifMessage{printable(v.Text) + " Read as: " + printable(v.Note)}
	}
	if u, err := url.Parse(v.Spec); err == nil && u.Scheme == "https" {
		rule.HelpURI = u.String()
	}
	return rule
}

func sarifResultOf(f finding, rule int, o SARIFOptions) sarifResult {
	v := f[0]
	out := sarifResult{
		RuleID: printable(v.Requirement), RuleIndex: rule, Level: sarifLevel(v, o.Strict),
		Message:             sarifMessage{printable(v.Level) + ": " + orNone(printable(v.Text), printable(v.Requirement)) + "\n" + excerpt(v.Reason, 1000) + "\n" + printable(places(f))},
		PartialFingerprints: map[string]string{"requirement/v1": printable(v.Requirement) + " " + string(v.Status)},
	}
	file := o.File
	if file == "" {
		file = "litmus.yaml"
	}
	place := sarifLocation{PhysicalLocation: &sarifPhysical{sarifArtifact{(&url.URL{Path: filepath.ToSlash(file)}).String()}, sarifRegion{1}}}
	for _, v := range f {
		place.LogicalLocations = append(place.LogicalLocations, sarifLogical{printable(v.Revision) + "/" + printable(v.Transport) + "/" + printable(v.Exchange)})
	}
	out.Locations = []sarifLocation{place}
	if v.Known != "" {
		out.Suppressions = []sarifSuppression{{Kind: "external", Justification: knownText(v)}}
	}
	return out
}
