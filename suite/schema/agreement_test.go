package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The environment variables that point to the published material. Relative paths start at the module's root.
const (
	officialEnv = "MCP_OFFICIAL_SCHEMAS" // a folder with REVISION.json, the official JSON Schemas
	pagesEnv    = "MCP_SPECIFICATION"    // a folder with REVISION/**.mdx, the specification's pages
	examplesEnv = "MCP_SCHEMA_EXAMPLES"  // a folder with REVISION/examples/DEFINITION/*.json, published with schema.ts
)

// exceptions are all the places where our schemas differ from the official ones on purpose. Each is applied to the
// official schema, and then both must agree on every value. The test fails if an exception no longer fits.
var exceptions = []struct {
	revisions string // the first and the last
	at        string // from the definitions on; {a,b} stands for each of them
	from, to  string
	reason    string
}{
	{"2024-11-05 2026-07-28", "Resource/properties/size/type", `"integer"`, `"number"`, numberInSource},
	{"2025-06-18 2026-07-28", "ResourceLink/properties/size/type", `"integer"`, `"number"`, numberInSource},
	{"2024-11-05 2026-07-28", "CompleteResult/properties/completion/properties/total/type", `"integer"`, `"number"`, numberInSource},
	{"2024-11-05 2025-06-18", "CreateMessageRequest/properties/params/properties/maxTokens/type", `"integer"`, `"number"`, numberInSource},
	{"2025-11-25 2026-07-28", "CreateMessageRequestParams/properties/maxTokens/type", `"integer"`, `"number"`, numberInSource},
	{"2025-06-18 2026-07-28", "StringSchema/properties/{minLength,maxLength}/type", `"integer"`, `"number"`, numberInSource},
	{"2025-11-25 2026-07-28", "{Titled,Untitled}MultiSelectEnumSchema/properties/{minItems,maxItems}/type", `"integer"`, `"number"`, numberInSource},
	{"2025-11-25 2025-11-25", "Task/properties/ttl/type", `["integer", "null"]`, `["number", "null"]`, numberInSource},
	{"2025-11-25 2025-11-25", "Task/properties/pollInterval/type", `"integer"`, `"number"`, numberInSource},
	{"2025-11-25 2025-11-25", "TaskMetadata/properties/ttl/type", `"integer"`, `"number"`, numberInSource},

	{"2024-11-05 2025-06-18", "JSONRPCError/required", `["error", "id", "jsonrpc"]`, `["error", "jsonrpc"]`,
		"an error that answers a message without a readable id has no id to give"},
	{"2024-11-05 2025-06-18", "JSONRPCError/properties/id", `{"$ref": "#/definitions/RequestId"}`, nullableID, nullID},
	{"2025-11-25 2025-11-25", "{JSONRPCErrorResponse,URLElicitationRequiredError}/properties/id", `{"$ref": "#/$defs/RequestId"}`, nullableID, nullID},

	{"2025-11-25 2025-11-25", "ServerCapabilities/properties/tasks/properties/{list,cancel}/type", `"object"`, `["object", "boolean"]`, booleanTasks},
	{"2025-11-25 2025-11-25", "ServerCapabilities/properties/tasks/properties/requests/properties/tools/properties/call/type",
		`"object"`, `["object", "boolean"]`, booleanTasks},

	{"2026-07-28 2026-07-28", "{JSONRPCErrorResponse,HeaderMismatchError,MissingRequiredClientCapabilityError,UnsupportedProtocolVersionError}/properties/id",
		`{"$ref": "#/$defs/RequestId"}`, nullableID, nullID},
	{"2026-07-28 2026-07-28", "JSONObject/additionalProperties", `{"$ref": "#/$defs/JSONValue"}`, `{}`,
		"schema.ts allows any JSON value; the generator of the JSON Schema lost null and fractions"},
	{"2026-07-28 2026-07-28", "InputRequiredResult/properties/resultType", `{"type": "string"}`, `{"type": "string", "const": "input_required"}`, byType},
	{"2026-07-28 2026-07-28", "{CallToolResult,GetPromptResult,ReadResourceResult}/properties/resultType", `{"type": "string"}`, finalType, byType},
	{"2026-07-28 2026-07-28", "{DiscoverResult,ListToolsResult,ListPromptsResult,ListResourcesResult,ListResourceTemplatesResult}/properties/resultType",
		`{"type": "string"}`, finalType, neverInput},
	{"2026-07-28 2026-07-28", "{CompleteResult,SubscriptionsListenResult}/properties/resultType", `{"type": "string"}`, finalType, neverInput},
	{"2026-07-28 2026-07-28", "CallToolResultResponse/properties/result", eitherOf("CallToolResult"), byTypeOf("CallToolResult"), byType},
	{"2026-07-28 2026-07-28", "GetPromptResultResponse/properties/result", eitherOf("GetPromptResult"), byTypeOf("GetPromptResult"), byType},
	{"2026-07-28 2026-07-28", "ReadResourceResultResponse/properties/result", eitherOf("ReadResourceResult"), byTypeOf("ReadResourceResult"), byType},
}

// eitherOf is how the official schema says that a result may be a request for input instead.
func eitherOf(name string) string {
	return `{"anyOf": [{"$ref": "#/$defs/InputRequiredResult"}, {"$ref": "#/$defs/` + name + `"}]}`
}

// byTypeOf says the same, told apart by resultType; the last form is that of an extension's result.
func byTypeOf(name string) string {
	return `{"anyOf": [
		{"$ref": "#/$defs/InputRequiredResult"},
		{"allOf": [{"$ref": "#/$defs/` + name + `"}, {"type": "object", "required": ["resultType"], "properties": {"resultType": {"const": "complete"}}}]},
		{"allOf": [{"$ref": "#/$defs/Result"}, {"type": "object", "required": ["resultType"], "properties": {"resultType": ` + extensionType + `}}]}]}`
}

const (
	numberInSource = "schema.ts, the source of truth, says number; the generator of the JSON Schema made it an integer"
	nullID         = "JSON-RPC 2.0 answers a message whose id could not be read with id null"
	nullableID     = `{"type": ["string", "integer", "null"]}`
	byType         = "the pages tell the kinds of result apart by resultType, the official schema takes any body with any resultType"
	neverInput     = "the page on multi round-trip requests allows a request for input in answer to three methods only"
	extensionType  = `{"type": "string", "not": {"enum": ["complete", "input_required"]}}`
	finalType      = `{"type": "string", "anyOf": [{"const": "complete"}, ` + extensionType + `]}`
	booleanTasks   = "the tasks page speaks of boolean properties, its examples and schema.ts of objects"
)

// helpers are the definitions that only we have, with the place in the official schema that each stands for.
var helpers = []struct{ revisions, name, at string }{
	{"2024-11-05 2025-06-18", "RequestParams", "Request/properties/params"},
	{"2024-11-05 2025-06-18", "RequestMeta", "Request/properties/params/properties/_meta"},
	{"2025-11-25 2025-11-25", "RequestMeta", "RequestParams/properties/_meta"},
	{"2024-11-05 2025-06-18", "NotificationParams", "Notification/properties/params"},
	{"2024-11-05 2025-06-18", "Error", "JSONRPCError/properties/error"},
	{"2024-11-05 2024-11-05", "Annotations", "Annotated/properties/annotations"},
	{"2024-11-05 2025-03-26", "ContentBlock", "CallToolResult/properties/content/items"},
	{"2024-11-05 2025-06-18", "SamplingContent", "SamplingMessage/properties/content"},
	{"2024-11-05 2026-07-28", "TextOrBlobResourceContents", "ReadResourceResult/properties/contents/items"},
	{"2024-11-05 2025-11-25", "ToolSchema", "Tool/properties/inputSchema"},
	{"2025-11-25 2026-07-28", "IconList", "Icons/properties/icons"},
	{"2025-11-25 2025-11-25", "TaskIdParams", "GetTaskRequest/properties/params"},
	{"2025-11-25 2026-07-28", "TitledOptions", "TitledSingleSelectEnumSchema/properties/oneOf"},
	{"2026-07-28 2026-07-28", "ToolInputSchema", "Tool/properties/inputSchema"},
	{"2026-07-28 2026-07-28", "ToolOutputSchema", "Tool/properties/outputSchema"},
	{"2026-07-28 2026-07-28", "FinalResultType", "ListToolsResult/properties/resultType"},
	{"2026-07-28 2026-07-28", "CacheTTL", "CacheableResult/properties/ttlMs"},
	{"2026-07-28 2026-07-28", "CacheScope", "CacheableResult/properties/cacheScope"},
	{"2026-07-28 2026-07-28", "CallToolResultOrInputRequired", "CallToolResultResponse/properties/result"},
	{"2026-07-28 2026-07-28", "GetPromptResultOrInputRequired", "GetPromptResultResponse/properties/result"},
	{"2026-07-28 2026-07-28", "ReadResourceResultOrInputRequired", "ReadResourceResultResponse/properties/result"},
}

// leftOut are the official definitions that we leave out, with the revisions where they are.
var leftOut = []struct{ revisions, names, reason string }{
	{"2024-11-05 2026-07-28", `
		CallToolRequest CallToolRequestParams ClientNotification ClientRequest ClientResult CompleteRequest
		CompleteRequestParams CreateMessageResult ElicitResult GetPromptRequest GetPromptRequestParams InitializeRequest
		InitializeRequestParams InitializedNotification ListPromptsRequest ListResourceTemplatesRequest
		ListResourcesRequest ListRootsResult ListToolsRequest PromptReference ReadResourceRequest
		ReadResourceRequestParams ResourceReference ResourceRequestParams ResourceTemplateReference Root
		RootsListChangedNotification SetLevelRequest SetLevelRequestParams SubscribeRequest SubscribeRequestParams
		UnsubscribeRequest UnsubscribeRequestParams`, byClients},
	{"2024-11-05 2025-11-25", "ClientCapabilities", byClients},
	{"2026-07-28 2026-07-28", `
		DiscoverRequest InputResponse InputResponseRequestParams InputResponses PaginatedRequest PaginatedRequestParams
		RequestMetaObject RequestParams SubscriptionsListenRequest SubscriptionsListenRequestParams`, byClients},
	{"2026-07-28 2026-07-28", "JSONValue JSONArray", "any JSON value fits the one, any array the other"},
}

const byClients = "no server sends them"

func isLeftOut(name, revision string) bool {
	for _, l := range leftOut {
		if within(l.revisions, revision) && slices.Contains(strings.Fields(l.names), name) {
			return true
		}
	}
	return false
}

// official is the official schema of one revision with our exceptions applied.
type official struct {
	revision    string
	keyword     string // "definitions" or "$defs"
	definitions map[string]any
	compiler    *jsonschema.Compiler
}

func TestAgreesOnSamples(t *testing.T) {
	for _, revision := range Revisions() {
		t.Run(revision, func(t *testing.T) {
			theirs, ours := loadBoth(t, revision)
			valid, invalid := 0, 0
			for _, name := range ours.Names() {
				at := theirs.place(t, name)
				c := comparison{t: t, name: name, ours: ours, theirs: theirs.compile(t, at)}
				smallest, fullest := theirs.samples(at)
				for _, sample := range slices.Concat(smallest, fullest) {
					if err := c.theirs.Validate(sample); err != nil {
						t.Fatalf("%s: the generator made a sample that the official schema refuses: %s: %v", name, asJSON(sample), err)
					}
					c.compare(sample)
				}
				everything := theirs.breakerFor(at)
				for _, sample := range smallest {
					everything.each(sample, c.compare)
				}
				less := breaker{words: everything.words, names: []string{"no-such-member"}, depth: 4}
				if _, union := theirs.node(at).(map[string]any)["anyOf"]; union {
					less.depth = 3
				}
				for _, sample := range fullest {
					less.each(sample, c.compare)
				}
				if c.valid == 0 || c.invalid == 0 {
					t.Errorf("%s: compared on %d valid and %d invalid values; both kinds are needed", name, c.valid, c.invalid)
				}
				valid, invalid = valid+c.valid, invalid+c.invalid
			}
			t.Logf("%d definitions agree on %d valid and %d invalid values", len(ours.Names()), valid, invalid)
		})
	}
}

func TestAgreesOnPages(t *testing.T) {
	pages := folder(t, pagesEnv)
	for _, revision := range Revisions() {
		t.Run(revision, func(t *testing.T) {
			theirs, ours := loadBoth(t, revision)
			examples := pageExamples(t, filepath.Join(pages, revision))
			if len(examples) < 30 {
				t.Fatalf("found only %d JSON examples below %s", len(examples), filepath.Join(pages, revision))
			}
			valid, invalid := 0, 0
			for _, name := range ours.Names() {
				c := comparison{t: t, name: name, ours: ours, theirs: theirs.compile(t, theirs.place(t, name))}
				for _, example := range examples {
					everyValue(example, c.compare)
				}
				valid, invalid = valid+c.valid, invalid+c.invalid
			}
			t.Logf("%d examples: definitions agree on %d valid and %d invalid values", len(examples), valid, invalid)
		})
	}
}

// brokenExamples are published examples that break a rule of the pages, with the problem that we find in them.
var brokenExamples = map[string]string{
	// The page on caching demands both hints of every complete resources/read result; the official schema lets this
	// one pass because it takes any body for a request for input.
	"2026-07-28/examples/ReadResourceResultResponse/read-resource-result-response.json": `/result: "cacheScope" is missing`,
}

// TestAgreesOnExamples: the examples published with schema.ts are valid, and broken copies of them are judged alike.
func TestAgreesOnExamples(t *testing.T) {
	examples := folder(t, examplesEnv)
	for _, revision := range Revisions() {
		files, err := filepath.Glob(filepath.Join(examples, revision, "examples", "*", "*.json"))
		if err != nil || len(files) == 0 { // the older revisions have none
			continue
		}
		t.Run(revision, func(t *testing.T) {
			theirs, ours := loadBoth(t, revision)
			tried, valid, invalid := 0, 0, 0
			for _, file := range files {
				name := filepath.Base(filepath.Dir(file))
				if isLeftOut(name, revision) {
					continue
				}
				raw, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				example := decode(t, string(raw))
				problems, err := ours.Validate(name, example)
				relative, _ := filepath.Rel(examples, file)
				known, broken := brokenExamples[filepath.ToSlash(relative)]
				if err != nil || broken != (len(problems) > 0) || broken && problems[0] != known {
					t.Errorf("%s: %q, %v", relative, problems, err)
				}
				at := theirs.place(t, name)
				c := comparison{t: t, name: name, ours: ours, theirs: theirs.compile(t, at)}
				b := theirs.breakerFor(at)
				b.depth = 4
				b.each(example, c.compare)
				tried, valid, invalid = tried+1, valid+c.valid, invalid+c.invalid
			}
			t.Logf("%d examples: definitions agree on %d valid and %d invalid copies", tried, valid, invalid)
		})
	}
}

// TestNamesAreOfficial: every definition is an official one or a known helper, and none that a server sends is left out.
func TestNamesAreOfficial(t *testing.T) {
	for _, revision := range Revisions() {
		theirs, ours := loadBoth(t, revision)
		for _, name := range ours.Names() {
			theirs.place(t, name)
		}
		for name := range theirs.definitions {
			if ours.Has(name) == isLeftOut(name, revision) {
				t.Errorf("%s: %s must be either defined by us or listed as left out", revision, name)
			}
		}
	}
}

// comparison validates values twice and counts.
type comparison struct {
	t              *testing.T
	name           string
	ours           *Set
	theirs         *jsonschema.Schema
	valid, invalid int
	disagreements  int
}

func (c *comparison) compare(value any) {
	c.t.Helper()
	problems, err := c.ours.Validate(c.name, value)
	if err != nil {
		c.t.Fatalf("%s: %v", c.name, err)
	}
	theirErr := c.theirs.Validate(value)
	if theirErr == nil {
		c.valid++
	} else {
		c.invalid++
	}
	if (theirErr == nil) == (len(problems) == 0) {
		return
	}
	if c.disagreements++; c.disagreements <= 3 {
		c.t.Errorf("%s: %s\n  ours: %q\n  official: %v", c.name, asJSON(value), problems, theirErr)
	}
}

func loadBoth(t *testing.T, revision string) (*official, *Set) {
	t.Helper()
	ours, err := For(revision)
	if err != nil {
		t.Fatal(err)
	}
	return loadOfficial(t, revision), ours
}

func loadOfficial(t *testing.T, revision string) *official {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder(t, officialEnv), revision+".json"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	document := parsed.(map[string]any)
	o := &official{revision: revision, keyword: "definitions"}
	if _, ok := document["$defs"]; ok {
		o.keyword = "$defs"
	}
	o.definitions = document[o.keyword].(map[string]any)
	withoutAnnotations(document)
	for _, e := range exceptions {
		if !within(e.revisions, revision) {
			continue
		}
		for _, at := range alternativesOf(e.at) {
			o.except(t, at, e.from, e.to, e.reason)
		}
	}
	o.compiler = jsonschema.NewCompiler()
	if err := o.compiler.AddResource(o.url(), document); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *official) url() string { return "https://official.invalid/" + o.revision + ".json" }

// place says where in the official definitions the counterpart of our definition stands.
func (o *official) place(t *testing.T, name string) string {
	t.Helper()
	if _, ok := o.definitions[name]; ok {
		return name
	}
	for _, h := range helpers {
		if h.name == name && within(h.revisions, o.revision) {
			return h.at
		}
	}
	t.Fatalf("%s: our definition %s is neither an official one nor a listed helper", o.revision, name)
	return ""
}

func (o *official) compile(t *testing.T, at string) *jsonschema.Schema {
	t.Helper()
	s, err := o.compiler.Compile(o.url() + "#/" + o.keyword + "/" + at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// node is the schema at a place, not following references.
func (o *official) node(at string) any {
	var node any = o.definitions
	for _, token := range strings.Split(at, "/") {
		node = node.(map[string]any)[token]
	}
	return node
}

func (o *official) except(t *testing.T, at, from, to, reason string) {
	t.Helper()
	above, last := at[:strings.LastIndexByte(at, '/')], at[strings.LastIndexByte(at, '/')+1:]
	parent, ok := o.node(above).(map[string]any)
	if !ok || !reflect.DeepEqual(parent[last], decode(t, from)) {
		t.Fatalf("%s: exception at %s (%s) does not fit: expected %s, the official schema has %s", o.revision, at, reason, from, asJSON(parent[last]))
	}
	parent[last] = decode(t, to)
}

// withoutAnnotations takes descriptions out, and formats: the one exception that holds everywhere. A format is an
// annotation in schema.ts and asserted only in the draft of the older files; requirements of their own check URIs and base64.
func withoutAnnotations(node any) {
	switch n := node.(type) {
	case map[string]any:
		for _, keyword := range []string{"description", "format"} {
			if _, ok := n[keyword].(string); ok {
				delete(n, keyword)
			}
		}
		for _, child := range n {
			withoutAnnotations(child)
		}
	case []any:
		for _, child := range n {
			withoutAnnotations(child)
		}
	}
}

// alternativesOf expands {a,b}.
func alternativesOf(at string) []string {
	open, shut := strings.IndexByte(at, '{'), strings.IndexByte(at, '}')
	if open < 0 {
		return []string{at}
	}
	var all []string
	for _, choice := range strings.Split(at[open+1:shut], ",") {
		all = append(all, alternativesOf(at[:open]+choice+at[shut+1:])...)
	}
	return all
}

func within(revisions, revision string) bool {
	first, last, _ := strings.Cut(revisions, " ")
	return first <= revision && revision <= last
}

// folder is the folder that the environment variable names; without it the test is skipped.
func folder(t *testing.T, env string) string {
	t.Helper()
	path := os.Getenv(env)
	if path == "" {
		t.Skipf("%s is not set: it names the folder with the published material that our schemas are compared with", env)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join("..", "..", path)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return path
}

var fence = regexp.MustCompile("(?ms)^[ \t]*```json[^\n]*\n(.*?)^[ \t]*```")

// pageExamples reads the JSON blocks of all pages below a folder. Blocks with comments or ellipses are left out.
func pageExamples(t *testing.T, dir string) []any {
	t.Helper()
	var examples []any
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".mdx" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, block := range fence.FindAllSubmatch(text, -1) {
			if example, err := jsonschema.UnmarshalJSON(bytes.NewReader(block[1])); err == nil {
				examples = append(examples, example)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return examples
}

// everyValue calls f with the value and everything in it.
func everyValue(value any, f func(any)) {
	f(value)
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			everyValue(member, f)
		}
	case []any:
		for _, item := range v {
			everyValue(item, f)
		}
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
