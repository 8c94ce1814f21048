package sabotage

import (
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goccy/go-yaml"
	"github.com/xeipuuv/gojsonschema"

	faultfiles "github.com/mcp-litmus/mcp-litmus/fixtures/faults"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestLoad(t *testing.T) {
	source := `# a comment
- fault: everything
  breaks: [tools.call.unknown-tool, base.parse-error]
  why: One of each.
  on: [stdio]
  revisions: [2025-06-18, 2025-11-25]
  when: response
  skip: 2
  flag: {no-host-check: false, no-log-filter: true}
  do:
    - set: {id: 1}
- fault: only-a-flag
  breaks: []
  why: Nothing at the edge.
  flag: no-origin-check
`
	faults := load(t, source)
	for i := range faults {
		faults[i].program = nil
	}
	want := []Fault{{
		Name: "everything", Breaks: []string{"tools.call.unknown-tool", "base.parse-error"}, Why: "One of each.",
		On: []string{"stdio"}, Revisions: []string{"2025-06-18", "2025-11-25"}, When: "response", Skip: 2,
		Flags: map[string]bool{"no-host-check": false, "no-log-filter": true}, Pos: Pos{"test.yaml", 2, 3},
	}, {
		Name: "only-a-flag", Breaks: []string{}, Why: "Nothing at the edge.", On: transports,
		Flags: map[string]bool{"no-origin-check": true}, Pos: Pos{"test.yaml", 12, 3},
	}}
	if !reflect.DeepEqual(faults, want) {
		t.Errorf("got %+v\nwant %+v", faults, want)
	}
	if got := Flags(faults); !maps.Equal(got, map[string]bool{"no-host-check": false, "no-log-filter": true, "no-origin-check": true}) {
		t.Errorf("flags %v", got)
	}
	for _, test := range []struct {
		transport, revision string
		applies             bool
	}{
		{"stdio", "2025-06-18", true}, {"", "", true}, {"stdio", "2025-03-26", false}, {"streamable-http", "2025-06-18", false},
	} {
		if got := faults[0].AppliesTo(test.transport, test.revision); got != test.applies {
			t.Errorf("AppliesTo(%q, %q) is %v", test.transport, test.revision, got)
		}
	}
	if !faults[1].AppliesTo("streamable-http", "2026-07-28") {
		t.Error("a fault without windows does not apply everywhere")
	}
}

func TestTransportsFollowFromTheActions(t *testing.T) {
	for source, want := range map[string][]string{
		one("when: response", "set: {a: 1}"):                {"stdio", "streamable-http", "http+sse"},
		one("when: response", "status: 404"):                {"streamable-http", "http+sse"},
		one("when: response", "line: {split: true}"):        {"stdio"},
		one("at: eof", "emit: {before: [1]}"):               {"stdio"},
		one("when: response", "status: 404", "stdout: 'x'"): {"stdio", "streamable-http", "http+sse"},
	} {
		if got := load(t, source)[0].On; !slices.Equal(got, want) {
			t.Errorf("%s: on %v, want %v", source, got, want)
		}
	}
}

// Each file of testdata/wrong has its messages beside it, in a .txt file.
func TestLoadErrors(t *testing.T) {
	wrong := os.DirFS("testdata/wrong")
	names, err := fs.Glob(wrong, "*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files to try: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			data, err := fs.ReadFile(wrong, name)
			if err != nil {
				t.Fatal(err)
			}
			faults, err := Load(fstest.MapFS{name: {Data: data}})
			if err == nil {
				t.Fatalf("loaded %+v, want an error", faults)
			}
			golden := filepath.Join("testdata/wrong", strings.TrimSuffix(name, ".yaml")+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestLoadNeedsFiles(t *testing.T) {
	if _, err := Load(fstest.MapFS{"a.txt": {}}); err == nil {
		t.Error("an empty folder loads")
	}
	twice := one("when: response", "drop: true")
	_, err := Load(fstest.MapFS{"a/x.yaml": {Data: []byte(twice)}, "b.yaml": {Data: []byte(twice)}})
	if want := `b.yaml:1:10: the name "under-test" is taken at a/x.yaml:1:10; choose another`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEmbeddedFaults(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	quick := findQuickly([]string{all[0].Name})
	if len(quick) != 1 || quick[0].Name != all[0].Name || quick[0].program == nil || findQuickly([]string{"zzzzzz"}) != nil {
		t.Errorf("found quickly %+v", quick)
	}
	found, err := Find(all[len(all)-1].Name, all[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].Name != all[len(all)-1].Name || found[1].Name != all[0].Name {
		t.Errorf("found %+v", found)
	}
	_, err = Find(all[0].Name, all[0].Name+"x", "zzzzzz")
	want := `no fault is named "` + all[0].Name + `x"; did you mean "` + all[0].Name + `"?` + "\n" + `no fault is named "zzzzzz"; the names stand in fixtures/faults`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// The schema is for editors; it must accept each embedded file, refuse what is plainly wrong, and know exactly the words that the loader knows.
func TestSchema(t *testing.T) {
	raw, err := faultfiles.FS.ReadFile("fault.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(raw))
	if err != nil {
		t.Fatal(err)
	}
	validate := func(data []byte) []gojsonschema.ResultError {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			t.Fatal(err)
		}
		result, err := schema.Validate(gojsonschema.NewBytesLoader(converted))
		if err != nil {
			t.Fatal(err)
		}
		return result.Errors()
	}
	err = fs.WalkDir(faultfiles.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		data, err := fs.ReadFile(faultfiles.FS, name)
		if err != nil {
			return err
		}
		if problems := validate(data); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
		want := "# yaml-language-server: $schema=" + strings.Repeat("../", strings.Count(name, "/")) + "fault.schema.json\n"
		if !strings.HasPrefix(string(data), want) {
			t.Errorf("%s does not begin with %s", name, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{
		"- fault: a", one("when: x", "sett: {}"), one("when: x\n  at: eof", "drop: true"), one("at: noon", "exit: 1"), one("when: x", "status: 99"),
	} {
		if len(validate([]byte(wrong))) == 0 {
			t.Errorf("the schema accepts %s", wrong)
		}
	}
	var words struct {
		Definitions struct {
			Fault, Action struct{ Properties map[string]any }
			Flag          struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(raw, &words); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2][]string{
		{slices.Sorted(maps.Keys(words.Definitions.Fault.Properties)), slices.Sorted(slices.Values(faultKeys))},
		{slices.Sorted(maps.Keys(words.Definitions.Action.Properties)), slices.Sorted(slices.Values(actionNames()))},
		{words.Definitions.Flag.Enum, flagNames()},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("the schema knows %v, the loader %v", pair[0], pair[1])
		}
	}
}

// docs/faults.md is the authors' reference, so no word may be missing from it.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"message", "request", "response", "notification", "client", "http", "revision", "transport", "count", "received", "line"}
	if len(names) != len(expressionNames) {
		t.Errorf("%d names are listed here, %d can be used", len(names), len(expressionNames))
	}
	for _, word := range slices.Concat(faultKeys, actionNames(), flagNames(), transports, names) {
		if !strings.Contains(string(page), "`"+word) {
			t.Errorf("docs/faults.md does not explain `%s`", word)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(one("when: response", "set: {a.*.-: '${request}'}", "header: {X: [a, null]}"))
	f.Add(one("on-receive: request == null", "reply: {a: [1.0, .5, 0x1f, ~]}", "sse: {id: null}"))
	f.Add("- fault: a\n  breaks: [x.y]\n  why: |\n    z\n  when: >-\n    a &&\n    b\n  do: [{raw: '${'}]\n")
	f.Add("- &a {fault: *a, <<: *a, ? [x] : y, !!int z: 1}")
	f.Add("- fault: a\n  fault: b\n---\n- {}\n")
	f.Add("%YAML 1.2\n--- [\"\\xff\", 'it''s']\n...\n")
	names, _ := filepath.Glob("testdata/wrong/*.yaml")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, source string) {
		faults, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(source)}})
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if strings.HasPrefix(line, "f.yaml:") {
					return
				}
			}
			t.Errorf("an error without its place: %v", err)
		}
		for _, fault := range faults {
			if fault.Name == "" || len(fault.On) == 0 || fault.program == nil {
				t.Errorf("loaded an incomplete fault: %+v", fault)
			}
		}
	})
}
