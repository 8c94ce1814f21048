package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// htmlList is the page's list of verdicts, worst first, as the script reads it. What many verdicts share is held once.
type htmlList struct {
	Statuses     []htmlStatus      `json:"statuses"`
	Server       string            `json:"server"`
	Requirements []htmlRequirement `json:"requirements"`
	Evidence     []*htmlEvidence   `json:"evidence"`
	Wires        [][]htmlLine      `json:"wires"`
	Verdicts     []htmlVerdict     `json:"verdicts"`

	order []*verdict.Verdict // as in Verdicts
	ids   map[*verdict.Verdict]string
	known map[string]int // places in Requirements, Evidence and Wires by their JSON
}

type htmlRequirement struct {
	ID    string `json:"id"`
	Area  string `json:"area"`
	Text  string `json:"text"`
	Note  string `json:"note,omitempty"`
	Level string `json:"level"`
}

type htmlVerdict struct {
	ID          string  `json:"id"`          // for links
	Requirement int     `json:"requirement"` // its place in Requirements
	Status      string  `json:"status"`
	Revision    string  `json:"revision"`
	Transport   string  `json:"transport"`
	Exchange    string  `json:"exchange"`
	Reason      string  `json:"reason,omitempty"`
	Spec        string  `json:"spec,omitempty"`
	Known       string  `json:"known,omitempty"`
	Took        float64 `json:"took"`     // milliseconds
	Evidence    int     `json:"evidence"` // its place in Evidence; -1: none
}

type htmlEvidence struct {
	Expression string     `json:"expression,omitempty"`
	Position   string     `json:"position,omitempty"`
	Parts      []htmlPart `json:"parts,omitempty"`
	Item       string     `json:"item,omitempty"`
	Problems   int        `json:"failedItems,omitempty"`
	Wire       int        `json:"wire"` // its place in Wires; -1: none
}

type htmlPart struct {
	Source string `json:"source"`
	Value  string `json:"value,omitempty"`
	Err    string `json:"error,omitempty"`
}

type htmlLine struct {
	At        float64     `json:"at"` // milliseconds
	Direction string      `json:"direction,omitempty"`
	About     string      `json:"about,omitempty"`
	Text      string      `json:"text"`
	HTTP      *htmlHeader `json:"http,omitempty"`
	Stream    int         `json:"stream,omitempty"`
}

type htmlHeader struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func newHTMLList(r *verdict.Report) *htmlList {
	l := &htmlList{
		Statuses: htmlStatuses, Server: printable(r.Server),
		Requirements: []htmlRequirement{}, Evidence: []*htmlEvidence{}, Wires: [][]htmlLine{}, Verdicts: []htmlVerdict{},
		ids: map[*verdict.Verdict]string{}, known: map[string]int{},
	}
	rank := map[string]int{}
	for i, s := range htmlStatuses {
		rank[s.Name] = i
	}
	for i := range r.Verdicts {
		l.order = append(l.order, &r.Verdicts[i])
	}
	// What came out alike stands together, and in it what is about one requirement.
	first := map[[2]string]int{}
	for i, v := range l.order {
		if key := [2]string{htmlShown(v), v.Requirement}; first[key] == 0 {
			first[key] = rank[key[0]]*len(l.order) + i + 1
		}
	}
	place := func(v *verdict.Verdict) int { return first[[2]string{htmlShown(v), v.Requirement}] }
	slices.SortStableFunc(l.order, func(a, b *verdict.Verdict) int { return place(a) - place(b) })
	taken := map[string]int{}
	for _, v := range l.order {
		id := htmlID(v)
		if taken[id]++; taken[id] > 1 {
			id = fmt.Sprintf("%s~%d", id, taken[id])
		}
		l.ids[v] = id
		l.Verdicts = append(l.Verdicts, htmlVerdict{
			ID: id, Requirement: l.requirement(v), Status: htmlShown(v), Revision: printable(v.Revision), Transport: printable(v.Transport),
			Exchange: printable(v.Exchange), Reason: printable(v.Why()), Spec: printable(v.Spec), Known: knownText(v),
			Took: float64(v.Duration.Microseconds()) / 1000, Evidence: l.evidence(v.Evidence),
		})
	}
	return l
}

// htmlID names a verdict in links: the same in every run.
func htmlID(v *verdict.Verdict) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_', r == '/':
			return r
		}
		return '-'
	}, strings.Join([]string{v.Requirement, v.Revision, v.Transport, v.Exchange}, "/"))
}

// place is where value stands in list, in which it is put when it is not there yet.
func htmlPlace[T any](l *htmlList, kind string, list *[]T, value T) int {
	key, err := plain(value)
	if err != nil {
		panic(err) // texts and numbers only
	}
	at, ok := l.known[kind+string(key)]
	if !ok {
		at = len(*list)
		*list = append(*list, value)
		l.known[kind+string(key)] = at
	}
	return at
}

func (l *htmlList) requirement(v *verdict.Verdict) int {
	return htmlPlace(l, "requirement", &l.Requirements, htmlRequirement{
		printable(v.Requirement), printable(v.Area), printable(v.Text), printable(v.Note), printable(v.Level),
	})
}

func (l *htmlList) evidence(e *verdict.Evidence) int {
	if e == nil {
		return -1
	}
	out := &htmlEvidence{
		Expression: printable(e.Expression), Position: printable(e.Position), Item: printable(e.Item), Problems: e.Problems, Wire: -1,
	}
	for _, p := range e.Parts {
		out.Parts = append(out.Parts, htmlPart{printable(p.Source), printable(p.Value), printable(p.Err)})
	}
	var lines []htmlLine
	for _, line := range e.Wire {
		lines = append(lines, newHTMLLine(line))
	}
	if lines != nil {
		out.Wire = htmlPlace(l, "wire", &l.Wires, lines)
	}
	return htmlPlace(l, "evidence", &l.Evidence, out)
}

func newHTMLLine(line verdict.Line) htmlLine {
	out := htmlLine{
		At: float64(line.At.Microseconds()) / 1000, Direction: printable(line.Direction), About: printable(line.About),
		Text: printableLines(line.Text), Stream: line.Stream,
	}
	if h := line.HTTP; h != nil {
		out.HTTP = &htmlHeader{Method: printable(h.Method), URL: printable(h.URL), Status: h.Status}
		for name, value := range h.Headers {
			if out.HTTP.Headers == nil {
				out.HTTP.Headers = map[string]string{}
			}
			out.HTTP.Headers[printable(name)] = printable(value)
		}
	}
	return out
}

// encode is the list as JSON that may stand in a script element: <, > and & are escaped.
func (l *htmlList) encode() (string, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	// A line a verdict: the page can be read, and compared, as text.
	return string(bytes.ReplaceAll(data, []byte(`},{"id":`), []byte("},\n{\"id\":"))), nil
}
