package reference

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

const (
	staticTextURI = "test://static-text"
	watchedURI    = "test://watched-resource"
)

// resource is one resource. Either text or blob gives its content.
type resource struct {
	uri         string
	name        string
	title       string
	description string
	mimeType    string
	annotated   bool
	icons       bool
	extra       bool // there only while toggle_resource has added it
	text        func(c *call) string
	blob        string // base64
}

// template is a family of resources: the variables stand between slashes and hold none.
type template struct {
	uri         string // RFC 6570, simple expansion only
	name        string
	title       string
	description string
	mimeType    string
	annotated   bool
	icons       bool
	text        func(values map[string]string) string
	completions map[string]completion // by variable
}

func fixed(text string) func(*call) string { return func(*call) string { return text } }

// resources are all resources in the order in which they are listed.
var resources = []*resource{
	{
		uri: staticTextURI, name: "static-text", title: "Static text", description: "A text that never changes.",
		mimeType: "text/plain", annotated: true, icons: true,
		text: fixed("This is the content of the static text resource."),
	},
	{
		uri: "test://static-binary", name: "static-binary", title: "Static binary", description: "A picture that never changes.",
		mimeType: "image/png", blob: pngBase64,
	},
	{
		uri: watchedURI, name: "watched-resource", title: "Watched resource",
		description: "A text that update_watched_resource changes; subscribe to learn of it.", mimeType: "text/plain",
		text: func(c *call) string {
			c.mu.Lock()
			defer c.mu.Unlock()
			return fmt.Sprintf("Watched resource content, changed %d times.", c.watched)
		},
	},
	{
		uri: "test://json", name: "json", title: "JSON", description: "A JSON document.", mimeType: "application/json",
		text: fixed(`{"name":"mcp-litmus","numbers":[1,2,3]}`),
	},
	{
		uri: "test://markdown", name: "markdown", title: "Markdown", description: "A Markdown document.", mimeType: "text/markdown",
		text: fixed("# Heading\n\nA paragraph with *emphasis*.\n"),
	},
	{
		uri: "test://unicode", name: "unicode", title: "Unicode", description: "A text beyond ASCII.", mimeType: "text/plain",
		text: fixed("Grüße, 世界, \U0001F30D"),
	},
	{
		uri: "test://empty", name: "empty", title: "Empty", description: "A text without characters.", mimeType: "text/plain",
		text: fixed(""),
	},
	{
		uri: "test://extra", name: "extra", title: "Extra resource", description: "Is there only after toggle_resource.",
		mimeType: "text/plain", extra: true, text: fixed("I am here."),
	},
}

var templates = []*template{
	{
		uri: "test://template/{id}/data", name: "template-data", title: "Data by id", description: "Some data for any id.",
		mimeType: "application/json", annotated: true, icons: true,
		text: func(v map[string]string) string {
			return string(encode(struct {
				ID           string `json:"id"`
				TemplateTest bool   `json:"templateTest"`
				Data         string `json:"data"`
			}{v["id"], true, "Data for ID: " + v["id"]}))
		},
		completions: map[string]completion{"id": numbers(150)},
	},
	{
		uri: "test://greeting/{language}", name: "greeting-by-language", title: "Greeting by language",
		description: "A greeting in one of a few languages.", mimeType: "text/plain",
		text:        func(v map[string]string) string { return greetings[v["language"]] },
		completions: map[string]completion{"language": oneOf("English", "French", "German", "Spanish")},
	},
	{
		uri: "test://notes/{topic}/{number}", name: "note", title: "Note", description: "A note on a topic.", mimeType: "text/plain",
		text:        func(v map[string]string) string { return fmt.Sprintf("Note %s on %s.", v["number"], v["topic"]) },
		completions: map[string]completion{"topic": oneOf("paris", "park", "party"), "number": numbers(20)},
	},
}

var greetings = map[string]string{"English": "Hello", "French": "Bonjour", "German": "Hallo", "Spanish": "Hola"}

func (r *resource) key() string { return r.uri }
func (t *template) key() string { return t.uri }

func (r *resource) listed(rev revision) any {
	o := object{"uri": r.uri, "name": r.name, "description": r.description, "mimeType": r.mimeType}
	if rev.hasTitles() {
		o["title"] = r.title
	}
	if r.annotated {
		o["annotations"] = annotationsAt(rev)
	}
	if r.blob != "" {
		o["size"] = base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(r.blob, "=")))
	}
	if rev.hasIcons() && r.icons {
		o["icons"] = icons
	}
	return o
}

func (t *template) listed(rev revision) any {
	o := object{"uriTemplate": t.uri, "name": t.name, "description": t.description, "mimeType": t.mimeType}
	if rev.hasTitles() {
		o["title"] = t.title
	}
	if t.annotated {
		o["annotations"] = annotationsAt(rev)
	}
	if rev.hasIcons() && t.icons {
		o["icons"] = icons
	}
	return o
}

func annotationsAt(rev revision) object {
	o := object{"audience": []string{"user"}, "priority": 0.5}
	if rev.hasLastModified() {
		o["lastModified"] = "2025-01-12T15:00:58Z"
	}
	return o
}

// match returns the values of the template's variables in uri, and whether uri belongs to the template.
func (t *template) match(uri string) (map[string]string, bool) {
	pattern, actual := strings.Split(t.uri, "/"), strings.Split(uri, "/")
	if len(pattern) != len(actual) {
		return nil, false
	}
	values := map[string]string{}
	for i, part := range pattern {
		name, isVariable := variable(part)
		if !isVariable {
			if part != actual[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(actual[i])
		if err != nil || value == "" {
			return nil, false
		}
		values[name] = value
	}
	return values, true
}

func variable(part string) (string, bool) {
	if strings.HasPrefix(part, "{") && strings.HasSuffix(part, "}") {
		return part[1 : len(part)-1], true
	}
	return "", false
}

// shows tells whether the session has the resource now.
func (c *call) shows(r *resource) bool {
	if !r.extra {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.extras["resource"]
}

func listResources(c *call) (any, error) {
	return page(c, "resources", resourcesPerPage, resources, c.shows)
}

func listTemplates(c *call) (any, error) {
	return page(c, "resourceTemplates", templatesPerPage, templates, func(*template) bool { return true })
}

// find returns the contents of the resource that params.uri names, or an error.
func (c *call) find() (uri string, contents object, err error) {
	uri, err = text(c.params, "uri")
	if err != nil {
		return "", nil, err
	}
	if u, err := url.Parse(uri); err != nil || !u.IsAbs() {
		return "", nil, invalidParams("Invalid params: uri is not a URI with a scheme")
	}
	at := slices.IndexFunc(resources, func(r *resource) bool { return r.uri == uri })
	if at >= 0 && c.shows(resources[at]) {
		r := resources[at]
		contents = object{"uri": uri, "mimeType": r.mimeType}
		if r.text != nil {
			contents["text"] = r.text(c)
		} else {
			contents["blob"] = r.blob
		}
		return uri, contents, nil
	}
	for _, t := range templates {
		if values, ok := t.match(uri); ok {
			if text := t.text(values); text != "" {
				return uri, object{"uri": uri, "mimeType": t.mimeType, "text": text}, nil
			}
		}
	}
	return "", nil, &rpcError{Code: c.rev.resourceNotFound(), Message: "Resource not found", Data: object{"uri": uri}}
}

func readResource(c *call) (any, error) {
	if !c.rev.hasSessions() && c.params["uri"] == askingURI {
		return readAsking(c)
	}
	_, contents, err := c.find()
	if err != nil {
		return nil, err
	}
	return object{"contents": []object{contents}}, nil
}

func subscribe(c *call) (any, error) { return c.setSubscribed(true) }

func unsubscribe(c *call) (any, error) { return c.setSubscribed(false) }

func (c *call) setSubscribed(on bool) (any, error) {
	uri, _, err := c.find()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if on {
		c.subscribed[uri] = true
	} else {
		delete(c.subscribed, uri)
	}
	return object{}, nil
}

// updateWatched changes the watched resource and tells the client if it subscribed to it.
func updateWatched(c *call, _ object) (*toolResult, error) {
	c.mu.Lock()
	c.watched++
	subscribed := c.subscribed[watchedURI]
	c.mu.Unlock()
	if subscribed {
		c.unrelated.send(encodeNotification("notifications/resources/updated", object{"uri": watchedURI}))
	}
	return says("The watched resource was changed."), nil
}
