package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// Format is the value of the member "format" in the JSON reports that this version writes and reads.
const Format = "mcp-litmus report 1"

// Schema is the JSON Schema (2020-12) of the JSON report.
//
//go:embed report.schema.json
var Schema []byte

// counts are for readers of the file; ReadJSON leaves them aside, since they follow from the verdicts. Those of
// requirements of extensions stand apart, so that nobody takes their failures for the server's.
type counts struct {
	Pass     int `json:"pass"`
	Fail     int `json:"fail"`
	Warn     int `json:"warn"`
	Error    int `json:"error"`
	Note     int `json:"note"`
	Untested int `json:"untested"`
	Skip     int `json:"skip"`
	Known    int `json:"known"`
	Flaky    int `json:"flaky,omitempty"`
}

func (c *counts) add(v verdict.Verdict) {
	of := map[verdict.Status]*int{verdict.Pass: &c.Pass, verdict.Fail: &c.Fail, verdict.Warn: &c.Warn, verdict.Note: &c.Note,
		verdict.Untested: &c.Untested, verdict.Skip: &c.Skip, verdict.Error: &c.Error}
	if n := of[v.Status]; n != nil {
		*n++
	}
	switch {
	case v.Known != "" && v.Flaky:
		c.Flaky++
	case v.Known != "":
		c.Known++
	}
}

// JSON writes the whole report as indented JSON that Schema describes. Durations are seconds. The error is that of
// writing to w.
func JSON(w io.Writer, r *verdict.Report) error {
	head := struct {
		Format     string  `json:"format"`
		Counts     counts  `json:"counts"`
		Extensions *counts `json:"extensions,omitempty"`
	}{Format: Format}
	for _, v := range r.Verdicts {
		if v.Extension == "" {
			head.Counts.add(v)
			continue
		}
		if head.Extensions == nil {
			head.Extensions = &counts{}
		}
		head.Extensions.add(v)
	}
	first, err := plain(head)
	if err != nil {
		return err
	}
	rest, err := plain(r)
	if err != nil {
		return err
	}
	// Both are objects with members: joined, they are one.
	first[len(first)-1] = ','
	var out bytes.Buffer
	if err := json.Indent(&out, append(first, rest[1:]...), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// plain is v as JSON on one line, with <, > and & as they are: nobody reads a report inside HTML.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// ReadJSON reads a report that JSON wrote. The error says when it is not one, or is of another version's format.
func ReadJSON(in io.Reader) (*verdict.Report, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a JSON report of mcp-litmus: %w", err)
	}
	if head.Format != Format {
		return nil, fmt.Errorf("not a JSON report that this version reads: its format is %q, not %q", head.Format, Format)
	}
	r := &verdict.Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("the JSON report cannot be read: %w", err)
	}
	return r, nil
}
