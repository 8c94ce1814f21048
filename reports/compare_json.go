package reports

import (
	_ "embed"
	"encoding/json"
	"io"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// ComparisonFormat is the value of the member "format" in the JSON of comparisons that this version writes.
const ComparisonFormat = "mcp-litmus comparison 1"

// ComparisonSchema is the JSON Schema (2020-12) of the JSON of a comparison.
//
//go:embed comparison.schema.json
var ComparisonSchema []byte

// CompareJSON writes a comparison as indented JSON that ComparisonSchema describes. The verdicts in it are those of the JSON report. The error is
// that of writing to w.
func CompareJSON(w io.Writer, c *verdict.Comparison) error {
	type report struct {
		Name      string `json:"name"`
		Suite     string `json:"suite"`
		Catalogue string `json:"catalogue"`
		Target    string `json:"target"`
		Server    string `json:"server"`
		Started   string `json:"started"`
		Complete  bool   `json:"complete"`
	}
	of := func(name string, r *verdict.Report) report {
		return report{name, r.Suite, r.Catalogue, r.Target, r.Server, r.Started.UTC().Format("2006-01-02T15:04:05Z"), r.Complete}
	}
	out := struct {
		Format      string           `json:"format"`
		Revisions   bool             `json:"revisions"`
		Old         report           `json:"old"`
		New         report           `json:"new"`
		Notes       []string         `json:"notes"`
		Incomplete  bool             `json:"incomplete"`
		Regressions []string         `json:"regressions"`
		Same        int              `json:"same"`
		Changes     []verdict.Change `json:"changes"`
	}{ComparisonFormat, c.Revisions, of(c.OldName, c.Old), of(c.NewName, c.New), append([]string{}, c.Notes...), c.Incomplete, []string{}, c.Same, append([]verdict.Change{}, c.Changes...)}
	if !c.Revisions {
		out.Regressions = append(out.Regressions, c.Regressions()...)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
