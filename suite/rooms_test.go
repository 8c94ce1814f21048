package suite_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mcp-litmus/mcp-litmus/"

// rooms says which rooms of the project each room may import, as docs/architecture.md tells.
var rooms = map[string][]string{
	"suite/wire":         {},
	"suite/verdict":      {},
	"suite/schema":       {"fixtures/schemas"},
	"suite/transcript":   {"suite/wire"},
	"suite/auth":         {},
	"suite/transport":    {"suite/wire", "suite/transcript"},
	"suite/session":      {"suite/wire", "suite/transcript", "suite/transport"},
	"suite/script":       {"suite/wire", "suite/schema", "suite/sample", "fixtures"},
	"suite/observe":      {"suite/wire", "suite/transcript", "suite/script", "suite/schema"},
	"suite/plan":         {"suite/wire", "suite/transcript", "suite/sample", "suite/script", "suite/observe", "suite/verdict"},
	"suite/judge":        {"suite/wire", "suite/transcript", "suite/script", "suite/observe", "suite/plan", "suite/verdict"},
	"suite/play":         {"suite/wire", "suite/transcript", "suite/transport", "suite/session", "suite/script", "suite/observe", "suite/plan"},
	"suite/sample":       {},
	"suite/trace":        {"suite/transcript", "suite/transport", "reports"},
	"suite/tour":         {"suite/wire", "suite/transcript", "suite/transport", "suite/session", "suite/script", "suite/plan", "suite/trace", "reports"},
	"suite/propose":      {"suite/transcript", "suite/script", "suite/observe", "suite/plan", "suite/sample"},
	"internal/watch":     {},
	"suite/config":       {"suite/wire", "suite/transcript", "suite/verdict", "suite/script"},
	"reports":            {"suite/verdict"},
	"reference":          {},
	"reference/sabotage": {"fixtures/faults"},
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	root := os.DirFS("..")
	for room, may := range rooms {
		entries, err := fs.ReadDir(root, room)
		if err != nil {
			t.Errorf("%s: %v", room, err)
			continue
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			file := path.Join(room, e.Name())
			source, err := fs.ReadFile(root, file)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range parsed.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				ours, ok := strings.CutPrefix(name, module)
				if ok && !slices.Contains(may, ours) {
					t.Errorf("%s imports %s, which %s may not", file, ours, room)
				}
			}
		}
	}
}
