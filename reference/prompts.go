package reference

import (
	"fmt"
	"slices"
	"strings"
)

// prompt is one prompt.
type prompt struct {
	name        string
	title       string
	description string
	arguments   []promptArgument
	icons       bool
	extra       bool // there only while toggle_prompt has added it
	since       revision
	messages    func(args map[string]string) []object
	ask         func(c *call) ([]object, error) // instead of messages, for a prompt that needs inputs
}

type promptArgument struct {
	name        string
	title       string
	description string
	required    bool
	completion  completion // nil: no suggestions
}

func userSays(content object) object { return object{"role": "user", "content": content} }

// prompts are all prompts in the order in which they are listed.
var prompts = []*prompt{
	{
		name: "test_simple_prompt", title: "Simple prompt", description: "One message, no arguments.", icons: true,
		messages: func(map[string]string) []object {
			return []object{userSays(textBlock("This is a simple prompt for testing."))}
		},
	},
	{
		name: "test_prompt_with_arguments", title: "Prompt with arguments", description: "Repeats its two arguments.",
		arguments: []promptArgument{
			{name: "arg1", title: "First", description: "First test argument", required: true, completion: oneOf("paris", "park", "party", "test1", "test2")},
			{name: "arg2", title: "Second", description: "Second test argument", required: true, completion: numbers(150)},
		},
		messages: func(args map[string]string) []object {
			return []object{userSays(textBlock(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])))}
		},
	},
	{
		name: "test_prompt_with_embedded_resource", title: "Prompt with a resource", description: "Embeds a resource.",
		arguments: []promptArgument{
			{name: "resourceUri", title: "Resource", description: "URI of the resource to embed", required: true, completion: oneOf(staticTextURI, watchedURI)},
		},
		messages: func(args map[string]string) []object {
			return []object{
				userSays(resourceBlock(args["resourceUri"], "text/plain", "Embedded resource content for testing.")),
				userSays(textBlock("Please process the embedded resource above.")),
			}
		},
	},
	{
		name: "test_prompt_with_image", title: "Prompt with a picture", description: "Shows a picture.",
		messages: func(map[string]string) []object {
			text := textBlock("Please analyze the image above.")
			text["annotations"] = annotationsAt(rev2024November)
			return []object{userSays(imageBlock()), userSays(text)}
		},
	},
	{
		name: "code_review", title: "Code review", description: "Asks for a review; the framework depends on the language.",
		arguments: []promptArgument{
			{name: "language", title: "Language", description: "Programming language", required: true, completion: oneOf("go", "python", "typescript")},
			{name: "framework", title: "Framework", description: "Framework, if any", completion: frameworks},
		},
		messages: func(args map[string]string) []object {
			question := "Please review this " + args["language"] + " code"
			if args["framework"] != "" {
				question += " written with " + args["framework"]
			}
			return []object{userSays(textBlock(question + ".")), {"role": "assistant", "content": textBlock("Please show me the code.")}}
		},
	},
	{
		name: "test_prompt_with_audio", title: "Prompt with a sound", description: "Plays a sound.", since: rev2025March,
		messages: func(map[string]string) []object {
			return []object{userSays(object{"type": "audio", "data": wavBase64, "mimeType": "audio/wav"})}
		},
	},
	{
		name: "test_prompt_with_link", title: "Prompt with a link", description: "Links to a resource.", since: rev2025June,
		messages: func(map[string]string) []object {
			return []object{userSays(object{"type": "resource_link", "uri": staticTextURI, "name": "static-text",
				"mimeType": "text/plain", "annotations": annotationsAt(rev2025June)})}
		},
	},
	{
		name: "test_optional_argument", title: "Optional argument", description: "Its only argument may be left out.",
		arguments: []promptArgument{{name: "name", title: "Name", description: "Whom to greet"}},
		messages: func(args map[string]string) []object {
			return []object{userSays(textBlock(strings.TrimSpace("Greet " + args["name"])))}
		},
	},
	{
		name: "extra_prompt", title: "Extra prompt", description: "Is there only after toggle_prompt.", extra: true,
		messages: func(map[string]string) []object { return []object{userSays(textBlock("I am here."))} },
	},
}

func (p *prompt) key() string { return p.name }

func (p *prompt) listed(rev revision) any {
	o := object{"name": p.name, "description": p.description}
	if rev.hasTitles() {
		o["title"] = p.title
	}
	if len(p.arguments) > 0 {
		args := []object{}
		for _, a := range p.arguments {
			arg := object{"name": a.name, "description": a.description, "required": a.required}
			if rev.hasTitles() {
				arg["title"] = a.title
			}
			args = append(args, arg)
		}
		o["arguments"] = args
	}
	if rev.hasIcons() && p.icons {
		o["icons"] = icons
	}
	return o
}

// has tells whether the session has the prompt now.
func (c *call) has(p *prompt) bool {
	if c.rev < p.since {
		return false
	}
	if !p.extra {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.extras["prompt"]
}

func (c *call) prompt(name string) (*prompt, error) {
	at := slices.IndexFunc(prompts, func(p *prompt) bool { return p.name == name })
	if at < 0 || !c.has(prompts[at]) {
		return nil, invalidParams("Unknown prompt: %s", name)
	}
	return prompts[at], nil
}

func listPrompts(c *call) (any, error) {
	return page(c, "prompts", promptsPerPage, prompts, c.has)
}

func getPrompt(c *call) (any, error) {
	name, err := text(c.params, "name")
	if err != nil {
		return nil, err
	}
	p, err := c.prompt(name)
	if err != nil {
		return nil, err
	}
	args, err := stringMap(c.params, "arguments")
	if err != nil {
		return nil, err
	}
	for _, a := range p.arguments {
		if _, given := args[a.name]; a.required && !given {
			return nil, invalidParams("Missing required argument: %s", a.name)
		}
	}
	if p.ask == nil {
		return object{"description": p.description, "messages": p.messages(args)}, nil
	}
	messages, err := p.ask(c)
	if err != nil {
		return nil, err
	}
	return object{"description": p.description, "messages": messages}, nil
}

// stringMap returns the member of o that maps names to strings, an empty map if it is missing.
func stringMap(o object, member string) (map[string]string, error) {
	raw, err := optionalObject(o, member)
	if err != nil {
		return nil, err
	}
	m := make(map[string]string, len(raw))
	for name := range raw {
		if m[name], err = text(raw, name); err != nil {
			return nil, invalidParams("Invalid params: %s.%s must be a string", member, name)
		}
	}
	return m, nil
}
