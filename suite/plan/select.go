package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// Selection says which checks are wanted.
type Selection func(labels []string) bool

// Select reads a label filter in Ginkgo's language, such as "tools && MUST"; areas may be written as they are
// printed, as in "server/tools". An empty one wants everything. The error is one line for people.
func Select(filter string) (Selection, error) {
	if strings.TrimSpace(filter) == "" {
		return func([]string) bool { return true }, nil
	}
	f, err := types.ParseLabelFilter(dotAreas(filter))
	if err != nil {
		return nil, fmt.Errorf("the selection %q is no label filter: %s; write for example 'tools && MUST'", filter, complaint(err))
	}
	return Selection(f), nil
}

// complaint is what is wrong with a filter. Ginkgo's own text is a page for its users, with colours: a heading, the filter
// marked, the complaint, a link.
func complaint(err error) string {
	text := err.Error()
	var g types.GinkgoError
	if errors.As(err, &g) {
		text = g.Message
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSuffix(strings.TrimSpace(lines[len(lines)-1]), ".")
}

// dotAreas writes a/b as the label a.b: Ginkgo takes a slash for a delimiter of a regular expression. What stands in one
// stays as it is.
func dotAreas(filter string) string {
	const delimiters = "&|!,()"
	var out strings.Builder
	for rest := filter; rest != ""; {
		n := 1
		switch {
		case strings.ContainsRune(delimiters+" ", rune(rest[0])):
			out.WriteByte(rest[0])
		case rest[0] == '/':
			if end := strings.IndexByte(rest[1:], '/'); end >= 0 {
				n = end + 2
			}
			out.WriteString(rest[:n])
		default:
			if n = strings.IndexAny(rest, delimiters); n < 0 {
				n = len(rest)
			}
			out.WriteString(strings.ReplaceAll(rest[:n], "/", "."))
		}
		rest = rest[n:]
	}
	return out.String()
}

// Labels are those of one check: level, the parts of the area and the area itself (its slashes are dots, and the areas
// around it count, too), revision, transport and requirement. MUST NOT carries MUST, too, and SHOULD NOT carries SHOULD.
func Labels(q *script.Requirement, r script.Revision, transport string) []string {
	level := string(q.LevelAt(r))
	labels := []string{level}
	if strong, ok := strings.CutSuffix(level, " NOT"); ok {
		labels = append(labels, strong)
	}
	parts := strings.Split(q.Area, "/")
	labels = append(labels, parts...)
	for n := 2; n <= len(parts); n++ {
		labels = append(labels, strings.Join(parts[:n], "."))
	}
	return append(labels, string(r), transport, q.ID)
}

// Nothing says why a filter wants none of the catalogue's requirements at the revisions over the transport ("" for a
// catalogue that is only listed); nil when it wants some that can be tested.
func Nothing(lib *script.Library, filter string, revisions []script.Revision, transport string, wanted Selection) error {
	untestable := ""
	for _, q := range lib.Requirements {
		for _, r := range revisions {
			switch {
			case !q.InForce(r) || !wanted(Labels(q, r, transport)):
			case q.Untestable == "":
				return nil
			default:
				untestable = q.ID
			}
		}
	}
	if untestable != "" {
		return fmt.Errorf("what the selection %q wants cannot be tested from outside; mcp-litmus explain %s tells why", filter, untestable)
	}
	return fmt.Errorf("the selection %q wants none of the %d requirements%s", filter, len(lib.Requirements),
		cmp.Or(mistyped(lib, filter), "; mcp-litmus list shows their ids, levels and areas"))
}

// mistyped says which label may be meant by the first word of a filter that is none; "" when all are, or none is near.
func mistyped(lib *script.Library, filter string) string {
	labels := AllLabels(lib)
	for _, word := range strings.FieldsFunc(filter, func(r rune) bool { return strings.ContainsRune("&|!,() ", r) }) {
		if strings.HasPrefix(word, "/") || slices.Contains(labels, word) {
			continue
		}
		if hint := script.DidYouMean(word, labels); hint != "" {
			return hint
		}
	}
	return ""
}

// AllLabels are those that checks have, as people write them, in alphabetical order: levels, areas and their parts, revisions,
// transports and requirements.
func AllLabels(lib *script.Library) []string {
	all := map[string]bool{"MUST": true, "SHOULD": true, "advice": true}
	for _, over := range []string{"stdio", "streamable-http", "http+sse"} {
		all[over] = true
	}
	for _, r := range script.Revisions {
		all[string(r)] = true
	}
	for _, q := range lib.Requirements {
		all[q.ID], all[q.Area] = true, true
		for _, part := range strings.Split(q.Area, "/") {
			all[part] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
