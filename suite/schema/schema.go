// Package schema validates values against our JSON Schemas of the messages that a server may send.
//
// The schemas describe shape only: which members there are and of what JSON type. Objects are open, and what a string
// must look like (URI, base64, date) is left to requirements of its own.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/xeipuuv/gojsonschema"

	"github.com/mcp-litmus/mcp-litmus/fixtures/schemas"
)

// Set is all definitions of one revision. It is safe for concurrent use.
type Set struct {
	revision    string
	definitions map[string]json.RawMessage
	messages    messages

	compiled sync.Map // definition name -> *gojsonschema.Schema
	mu       sync.Mutex
	loader   *gojsonschema.SchemaLoader // guarded by mu: compiling writes to its pool
}

// messages names the definition of each message, by method.
type messages struct {
	Results       map[string]string `json:"results"`
	Notifications map[string]string `json:"notifications"`
	Requests      map[string]string `json:"requests"`
}

var (
	setsMu sync.Mutex
	sets   = map[string]*Set{}
)

// For returns the definitions of a revision such as "2025-11-25". The file is read at the first call, each definition
// compiled at its first use, and both are kept. It is an error if there are no schemas for the revision.
func For(revision string) (*Set, error) {
	setsMu.Lock()
	defer setsMu.Unlock()
	if s, ok := sets[revision]; ok {
		return s, nil
	}
	s, err := load(revision)
	if err != nil {
		return nil, err
	}
	sets[revision] = s
	return s, nil
}

// Hash adds the names and bytes of all schemas to a digest, in a stable order. The error is that of w.
func Hash(w io.Writer) error {
	return fs.WalkDir(schemas.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(schemas.FS, name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "schema %s %d\n%s", name, len(data), data)
		return err
	})
}

// Revisions lists, in order, the revisions that For knows.
func Revisions() []string {
	names, err := fs.Glob(schemas.FS, "*.json")
	if err != nil {
		panic(err) // only a malformed pattern can do that
	}
	for i, name := range names {
		names[i] = name[:len(name)-len(".json")]
	}
	slices.Sort(names)
	return names
}

func load(revision string) (*Set, error) {
	raw, err := fs.ReadFile(schemas.FS, revision+".json")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return nil, fmt.Errorf("no message schemas for revision %q: there are %q", revision, Revisions())
		}
		return nil, fmt.Errorf("message schemas of revision %q: %w", revision, err)
	}
	s := &Set{revision: revision, loader: gojsonschema.NewSchemaLoader()}
	var file struct {
		Messages    messages                   `json:"messages"`
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("message schemas of revision %q: %w", revision, err)
	}
	s.messages, s.definitions = file.Messages, file.Definitions
	s.loader.AutoDetect = false
	s.loader.Draft = gojsonschema.Draft7
	if err := s.loader.AddSchema(s.url(), gojsonschema.NewBytesLoader(raw)); err != nil {
		return nil, fmt.Errorf("message schemas of revision %q: %w", revision, err)
	}
	return s, nil
}

// url is where the file stands in the loader's pool. Nothing is ever fetched from there: .invalid names no host.
func (s *Set) url() string { return "https://schemas.invalid/" + s.revision + ".json" }

// Has says whether there is a definition of that name.
func (s *Set) Has(name string) bool {
	_, ok := s.definitions[name]
	return ok
}

// Names lists the definitions in alphabetical order.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.definitions)) }

// ResultOf names the definition of the result that answers a client's request ("tools/list": "ListToolsResult"), "" if
// the method is unknown in this revision. In 2025-11-25 a task-augmented request is answered by CreateTaskResult instead.
// From 2026-07-28 the definitions of tools/call, prompts/get and resources/read cover a request for input as well.
func (s *Set) ResultOf(method string) string { return s.messages.Results[method] }

// NotificationOf names the definition of a notification that a server may send, "" if unknown in this revision. Up to
// 2025-06-18 these describe method and params only; JSONRPCNotification describes the envelope.
func (s *Set) NotificationOf(method string) string { return s.messages.Notifications[method] }

// RequestOf names the definition of a request that a server may send, "" if unknown in this revision. Up to
// 2025-06-18 these describe method and params only; JSONRPCRequest describes the envelope. From 2026-07-28 a server
// sends none: InputRequest describes what a result may ask for.
func (s *Set) RequestOf(method string) string { return s.messages.Requests[method] }

// Validate checks a decoded JSON value (map[string]any, []any, string, bool, nil, and int64, float64, json.Number or
// any other Go number) against the named definition. It returns the problems, one a line, as "JSON pointer: what", in
// the order of the pointers; none means that the value is valid. The value is not changed. It is an error if there is
// no such definition or if the value holds a Go type that JSON does not decode to.
func (s *Set) Validate(name string, value any) ([]string, error) {
	compiled, err := s.compile(name)
	if err != nil {
		return nil, err
	}
	prepared, err := prepare(value)
	if err != nil {
		return nil, fmt.Errorf("cannot validate as %s: %w", name, err)
	}
	result, err := compiled.Validate(gojsonschema.NewRawLoader(prepared))
	if err != nil {
		return nil, fmt.Errorf("cannot validate as %s: %w", name, err)
	}
	if result.Valid() {
		return nil, nil
	}
	return problems(result.Errors()), nil
}

func (s *Set) compile(name string) (*gojsonschema.Schema, error) {
	if c, ok := s.compiled.Load(name); ok {
		return c.(*gojsonschema.Schema), nil
	}
	if !s.Has(name) {
		return nil, fmt.Errorf("revision %s has no schema definition %q", s.revision, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.compiled.Load(name); ok {
		return c.(*gojsonschema.Schema), nil
	}
	c, err := s.loader.Compile(gojsonschema.NewReferenceLoader(s.url() + "#/definitions/" + name))
	if err != nil {
		return nil, fmt.Errorf("schema definition %q of revision %s: %w", name, s.revision, err)
	}
	s.compiled.Store(name, c)
	return c, nil
}
