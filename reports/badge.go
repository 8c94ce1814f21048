package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// badge is the outcome in a few words.
type badge struct{ label, message, color string }

// badgeColors by their names at shields.io, with the colours that white text can be read on.
var badgeColors = map[string]string{"brightgreen": "#2c7a3f", "red": "#b3261e", "lightgrey": "#5f6368", "yellow": "#8a5a00"}

// badgeOf promises nothing that was not judged: a run that was narrowed, or that is not settled, is not called conforming.
func badgeOf(r *verdict.Report, strict bool) badge {
	b := badge{label: "MCP"}
	if at := judgedAt(r); len(at) == 1 {
		b.label += " " + at[0]
	} else if len(at) > 1 {
		b.label += " " + at[0] + " … " + at[len(at)-1]
	}
	musts, shoulds := r.Broken(verdict.Fail), r.Broken(verdict.Warn)
	switch {
	case r.Judged() == 0:
		b.message, b.color = "nothing judged", "lightgrey"
	case musts > 0:
		b.message, b.color = fmt.Sprintf("%d MUST broken", musts), "red"
	case strict && shoulds > 0:
		b.message, b.color = fmt.Sprintf("%d SHOULD broken", shoulds), "red"
	case !r.Complete || len(r.Problems) > 0 || len(r.Baseline) > 0 || r.Shard != "":
		b.message, b.color = "not settled", "lightgrey"
	case r.Known()+r.Flaky() > 0:
		b.message, b.color = fmt.Sprintf("%d known failures", r.Known()+r.Flaky()), "yellow"
		if r.Known()+r.Flaky() == 1 {
			b.message = "1 known failure"
		}
	case r.Select != "" || r.Narrowed:
		b.message, b.color = "conforms in part", "yellow"
	default:
		b.message, b.color = "conforms", "brightgreen"
	}
	return b
}

// judgedAt are the revisions at which something was judged, oldest first.
func judgedAt(r *verdict.Report) []string {
	var out []string
	for _, v := range r.Verdicts {
		if v.Status != verdict.Error && v.Status != verdict.Skip && v.Status != verdict.Untested && !slices.Contains(out, v.Revision) {
			out = append(out, v.Revision)
		}
	}
	slices.Sort(out)
	return out
}

// BadgeJSON writes the outcome as the JSON that the endpoint badge of shields.io reads (schemaVersion 1). The error is that of writing to w.
func BadgeJSON(w io.Writer, r *verdict.Report, strict bool) error {
	b := badgeOf(r, strict)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
		IsError       bool   `json:"isError,omitempty"`
	}{1, printable(b.label), b.message, b.color, b.color == "red"})
}

// BadgeSVG writes the outcome as an image that asks for nothing from anywhere. The error is that of writing to w.
func BadgeSVG(w io.Writer, r *verdict.Report, strict bool) error {
	b := badgeOf(r, strict)
	label, message := printable(b.label), b.message
	left, right := badgeWidth(label), badgeWidth(message)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[4]s: %[5]s">
  <title>%[4]s: %[5]s</title>
  <clipPath id="r"><rect width="%[1]d" height="20" rx="3"/></clipPath>
  <g clip-path="url(#r)">
    <rect width="%[2]d" height="20" fill="#3c4043"/>
    <rect x="%[2]d" width="%[3]d" height="20" fill="%[6]s"/>
  </g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">
    <text x="%.1[7]f" y="14" textLength="%[8]d">%[4]s</text>
    <text x="%.1[9]f" y="14" textLength="%[10]d">%[5]s</text>
  </g>
</svg>
`, left+right, left, right, template.HTMLEscapeString(label), template.HTMLEscapeString(message), badgeColors[b.color],
		float64(left)/2, left-badgePadding, float64(left)+float64(right)/2, right-badgePadding)
	return err
}

const badgePadding = 12

// badgeWidth is how wide the text is in Verdana at 11 pixels, about, with its padding. The image stretches the text to it.
func badgeWidth(s string) int {
	width := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijl|.,:;'!", r):
			width += 3.7
		case strings.ContainsRune("frt-() ", r):
			width += 4.4
		case strings.ContainsRune("mwMWO…", r):
			width += 9.6
		case r >= 'A' && r <= 'Z':
			width += 7.7
		default:
			width += 6.8
		}
	}
	return cmp.Or(int(width+0.5), 1) + badgePadding
}
