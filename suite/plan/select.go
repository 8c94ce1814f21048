package plan

import (
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// Selection says which checks are wanted.
type Selection func(labels []string) bool

// Select reads a label filter in Ginkgo's language, such as "tools && MUST". An empty one wants everything.
func Select(filter string) (Selection, error) {
	if strings.TrimSpace(filter) == "" {
		return func([]string) bool { return true }, nil
	}
	f, err := types.ParseLabelFilter(filter)
	if err != nil {
		return nil, fmt.Errorf("the selection %q is no label filter: %w; try for example 'tools && MUST'", filter, err)
	}
	return Selection(f), nil
}

// Labels are those of one check: level, the parts of the area, revision, transport and requirement. MUST NOT
// carries MUST, too, and SHOULD NOT carries SHOULD.
func Labels(q *script.Requirement, r script.Revision, transport string) []string {
	level := string(q.LevelAt(r))
	labels := []string{level}
	if strong, ok := strings.CutSuffix(level, " NOT"); ok {
		labels = append(labels, strong)
	}
	labels = append(labels, strings.Split(q.Area, "/")...)
	return append(labels, string(r), transport, q.ID)
}
