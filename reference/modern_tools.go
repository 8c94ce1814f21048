package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// null is JSON's null as structured content, which a Go nil could not be told from none.
type null struct{}

func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// formOf is a form with one required field.
func formOf(field, kind string) *schema {
	return mustSchema(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field))
}

var (
	nameForm    = formOf("name", "string")
	colorForm   = formOf("color", "string")
	okForm      = formOf("ok", "boolean")
	confirmForm = formOf("confirm", "boolean")
	contextForm = formOf("context", "string")
)

// requires names what a client must have declared for a tool to run at all, in revisions without sessions.
var requires = map[string]object{
	"test_sampling":                     {"sampling": object{}},
	"test_sampling_tools":               {"sampling": object{"tools": object{}}},
	"run_job_with_input":                {"elicitation": object{"form": object{}}},
	"test_elicitation":                  {"elicitation": object{"form": object{}}},
	"test_elicitation_sep1034_defaults": {"elicitation": object{"form": object{}}},
	"test_elicitation_sep1330_enums":    {"elicitation": object{"form": object{}}},
	"test_elicitation_url":              {"elicitation": object{"url": object{}}},
	"test_list_roots":                   {"roots": object{}},
	"test_missing_capability":           {"sampling": object{}},
	"test_streaming_elicitation":        {"elicitation": object{"form": object{}}}, // before the stream begins with 200
	"confirm_delete":                    {"elicitation": object{"form": object{}}},
	"multi_input":                       {"elicitation": object{"form": object{}}},
}

// gone are tools that make no sense without sessions: what they change, or hang on to, belongs to one; or they answer as
// only an older revision does.
var gone = []string{"toggle_tool", "toggle_resource", "toggle_prompt", "test_reconnection", "run_job_as_task", "test_elicitation_url_required"}

// instead are tools that do the same in another way in revisions without sessions.
var instead = map[string]func(c *call, args object) (*toolResult, error){
	"test_elicitation_url": func(c *call, _ object) (*toolResult, error) {
		answers, err := c.obtain(true, question{key: "page", method: "elicitation/create", params: object{
			"mode": "url", "message": "Please confirm on this page.", "url": "https://mcp-litmus.example/confirm"}})
		if err != nil {
			return nil, err
		}
		return elicited("Elicitation completed: ", answers["page"]), nil
	},
	"run_job": inTask(false, func(w *work, args object) (*toolResult, error) {
		if w.call != nil {
			return runJob(w.call, args)
		}
		millis := int(float(args, "duration")) // a task reports no progress
		if err := pause(w.ctx, time.Duration(millis)*time.Millisecond); err != nil {
			return nil, err
		}
		return endJob(took(millis), args)
	}),
	"update_watched_resource": func(c *call, _ object) (*toolResult, error) {
		c.server.all.changeWatched()
		return says("The watched resource was changed."), nil
	},
}

// runAt returns how the tool runs at the revision of the call, or an error if its client lacks what it needs.
func (t *tool) runAt(c *call) (func(*call, object) (*toolResult, error), error) {
	if c.rev.hasSessions() {
		return t.run, nil
	}
	if lacking := undeclared(requires[t.name], c.clientCaps); lacking != nil {
		return nil, missing(lacking)
	}
	if run, ok := instead[t.name]; ok {
		return run, nil
	}
	return t.run, nil
}

// headerTool comes early in the list because the official conformance suite looks for it on the first page only.
var headerTool = &tool{
	name: "test_header_mirroring", title: "Mirrored headers", since: rev2026July,
	description: "Returns its arguments, some of which are mirrored into HTTP headers.",
	input: mustSchema(`{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region","description":"Any text"},
		"priority":{"type":"integer","x-mcp-header":"Priority","description":"Any whole number"},
		"verbose":{"type":"boolean","x-mcp-header":"Verbose","description":"Yes or no"},
		"options":{"type":"object","properties":{"tenant":{"type":"string","x-mcp-header":"Tenant"}}},
		"note":{"type":"string","description":"Not mirrored"}},"additionalProperties":false}`),
	run: func(_ *call, args object) (*toolResult, error) { return says("Received: " + string(encode(args))), nil },
}

// modernTools are there in revisions without sessions only.
var modernTools = []*tool{
	structuredTool("test_structured_array", "Returns a list as structured content.",
		`{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}`, []object{{"id": "1"}, {"id": "2"}}),
	structuredTool("test_structured_number", "Returns the number 0 as structured content.", `{"type":"integer"}`, json.Number("0")),
	structuredTool("test_structured_boolean", "Returns false as structured content.", `{"type":"boolean"}`, false),
	structuredTool("test_structured_text", "Returns an empty text as structured content.", `{"type":"string"}`, ""),
	structuredTool("test_structured_null", "Returns null as structured content.", `{"type":"null"}`, null{}),
	{
		name: "test_logging_tool", title: "Logging", description: "Logs three messages for a caller who asks for them.",
		input: noArguments, run: logThrice,
	},
	{
		name: "test_missing_capability", title: "Missing capability", description: "Needs the client's sampling capability.",
		input: noArguments, run: func(*call, object) (*toolResult, error) { return says("The client can sample."), nil },
	},
	asking("test_streaming_elicitation", "Reports progress, then asks the user to confirm.",
		func(c *call) (*toolResult, error) {
			c.progress(1, 2, "About to ask")
			answers, err := c.obtain(true, askForm("confirm", "Please confirm", okForm))
			if err != nil {
				return nil, err
			}
			c.progress(2, 2, "Answered")
			return elicited("Elicitation completed: ", answers["confirm"]), nil
		}),
	asking("test_input_required_result_elicitation", "Asks the user for a name.", func(c *call) (*toolResult, error) {
		answers, err := c.obtain(false, askForm("user_name", "What is your name?", nameForm))
		if err != nil {
			return nil, err
		}
		return greetOr(answers["user_name"]), nil
	}),
	asking("test_input_required_result_sampling", "Asks the client's model.", func(c *call) (*toolResult, error) {
		answers, err := c.obtain(false, askModel("capital_question", "What is the capital of France?"))
		if err != nil {
			return nil, err
		}
		return says("LLM response: " + sampledText(answers["capital_question"]["content"])), nil
	}),
	asking("test_input_required_result_list_roots", "Asks the client for its roots.", func(c *call) (*toolResult, error) {
		answers, err := c.obtain(false, askRoots("client_roots"))
		if err != nil {
			return nil, err
		}
		return says("Roots: " + string(encode(answers["client_roots"]["roots"]))), nil
	}),
	asking("test_input_required_result_request_state", "Asks the user to confirm, with a request state.", confirm),
	asking("test_input_required_result_tampered_state", "Asks the user to confirm, with a request state that is protected.", confirm),
	asking("test_input_required_result_multiple_inputs", "Asks the user, the model and for roots at once.",
		func(c *call) (*toolResult, error) {
			answers, err := c.obtain(true, askForm("user_name", "What is your name?", nameForm),
				askModel("greeting", "Generate a greeting"), askRoots("client_roots"))
			if err != nil {
				return nil, err
			}
			return says(fmt.Sprintf("%s %s %s", encode(answers["user_name"]), sampledText(answers["greeting"]["content"]),
				encode(answers["client_roots"]["roots"]))), nil
		}),
	asking("test_input_required_result_multi_round", "Asks the user twice, one question after the other.",
		func(c *call) (*toolResult, error) {
			first, err := c.obtain(true, askForm("step1", "Step 1: What is your name?", nameForm))
			if err != nil {
				return nil, err
			}
			second, err := c.obtain(true, askForm("step2", "Step 2: What is your favorite color?", colorForm))
			if err != nil {
				return nil, err
			}
			return says(fmt.Sprintf("%s %s", encode(first["step1"]), encode(second["step2"]))), nil
		}),
	asking("test_input_required_result_capabilities", "Asks for whatever the client declares.", askWhatIsDeclared),
	changing("tool"), changing("resource"), changing("prompt"),
	{
		name: "greet", title: "Greet", description: "Greets at once, never in a task.",
		input: mustSchema(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`),
		run: func(_ *call, args object) (*toolResult, error) {
			return says("Hello, " + stringArg(args, "name") + "!"), nil
		},
	},
	{
		name: "slow_compute", title: "Slow computation", description: "Takes as many seconds as it is told, in a task where the client knows tasks.",
		input: mustSchema(`{"type":"object","properties":{"seconds":{"type":"integer","minimum":0,"maximum":60},` +
			`"label":{"type":"string"}},"required":["seconds"],"additionalProperties":false}`),
		effects: true, run: inTask(false, compute),
	},
	tasking("failing_job", "Fails, always in a task.", true, func(w *work, _ object) (*toolResult, error) {
		if err := pause(w.ctx, extInterval); err != nil {
			return nil, err
		}
		return failed("This job intentionally fails for testing"), nil
	}),
	tasking("protocol_error_job", "Ends with a protocol error, always in a task.", true, func(*work, object) (*toolResult, error) {
		return nil, errorf(codeInternalError, "This job intentionally breaks down for testing")
	}),
	{
		name: "confirm_delete", title: "Confirm", description: "Asks the user to confirm, in a task where the client knows tasks. Deletes nothing.",
		input:   mustSchema(`{"type":"object","properties":{"filename":{"type":"string"}},"required":["filename"],"additionalProperties":false}`),
		effects: true,
		run: inTask(false, func(w *work, args object) (*toolResult, error) {
			answers, err := w.ask(askForm("confirm", "Delete "+stringArg(args, "filename")+"?", confirmForm))
			if err != nil {
				return nil, err
			}
			return elicited("Nothing was deleted: ", answers["confirm"]), nil
		}),
	},
	tasking("multi_input", "Asks the user two things at once, in a task where the client knows tasks.", false,
		func(w *work, _ object) (*toolResult, error) {
			answers, err := w.ask(askForm("first", "What is your first name?", nameForm), askForm("last", "What is your last name?", nameForm))
			if err != nil {
				return nil, err
			}
			return says(fmt.Sprintf("%s %s", encode(answers["first"]), encode(answers["last"]))), nil
		}),
	{
		name: "test_tool_with_task", title: "Inputs before a task", description: "Asks for a name first, and then greets in a task.",
		input: noArguments, effects: true,
		run: func(c *call, args object) (*toolResult, error) {
			if lacking := undeclared(needsTasks, c.clientCaps); lacking != nil {
				return nil, missing(lacking)
			}
			answers, err := c.obtain(true, askForm("user_name", "What is your name?", nameForm))
			if err != nil {
				return nil, err
			}
			return c.launch(func(*work, object) (*toolResult, error) { return greetOr(answers["user_name"]), nil }, args)
		},
	},
}

// askingPrompt asks the user before it is complete.
var askingPrompt = &prompt{
	name: "test_input_required_result_prompt", title: "Prompt with input", description: "Asks the user for a context first.",
	since: rev2026July,
	ask: func(c *call) ([]object, error) {
		answers, err := c.obtain(false, askForm("user_context", "What context should the prompt use?", contextForm))
		if err != nil {
			return nil, err
		}
		return []object{userSays(textBlock("Context: " + string(encode(answers["user_context"]))))}, nil
	},
}

// askingURI is a resource that asks the user before it can be read. It is not listed, so that whoever reads all that is
// listed need not be able to answer.
const askingURI = "test://input-required"

func readAsking(c *call) (any, error) {
	answers, err := c.obtain(true, askForm("confirm", "Really read it?", okForm))
	if err != nil {
		return nil, err
	}
	return object{"contents": []object{{"uri": askingURI, "mimeType": "application/json", "text": string(encode(answers["confirm"]))}}}, nil
}

func init() {
	for _, t := range modernTools {
		t.since = rev2026July
	}
	for _, t := range tools {
		if slices.Contains(gone, t.name) {
			t.until = latestHandshake
		}
	}
	prompts = append(prompts, askingPrompt)
	tools = slices.Insert(tools, 1, headerTool)
	tools = append(tools, modernTools...)
}

func asking(name, description string, run func(c *call) (*toolResult, error)) *tool {
	return &tool{name: name, title: titleOf(name), description: description, input: noArguments,
		run: func(c *call, _ object) (*toolResult, error) { return run(c) }}
}

func tasking(name, description string, required bool, j job) *tool {
	return &tool{name: name, title: titleOf(name), description: description, input: noArguments, effects: true, run: inTask(required, j)}
}

func structuredTool(name, description, output string, value any) *tool {
	return &tool{name: name, title: titleOf(name), description: description, input: noArguments, output: mustSchema(output),
		run: func(*call, object) (*toolResult, error) { return &toolResult{structured: value}, nil }}
}

func changing(kind string) *tool {
	name := "test_trigger_" + kind + "_change"
	return &tool{name: name, title: titleOf(name), effects: true, input: noArguments,
		description: "Changes the description of the " + kind + " that is there to be changed.",
		run: func(c *call, _ object) (*toolResult, error) {
			c.server.all.change(kind)
			return says("The list was changed."), nil
		}}
}

func titleOf(name string) string {
	words := strings.ReplaceAll(strings.TrimPrefix(name, "test_"), "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func greetOr(answer object) *toolResult {
	content, _ := answer["content"].(object)
	if answer["action"] != "accept" {
		return says(fmt.Sprintf("No name was given: %v", answer["action"]))
	}
	return says("Hello, " + stringArg(content, "name") + "!")
}

func confirm(c *call) (*toolResult, error) {
	answers, err := c.obtain(true, askForm("confirm", "Please confirm", okForm))
	if err != nil {
		return nil, err
	}
	return elicited("state-ok: ", answers["confirm"]), nil
}

func askWhatIsDeclared(c *call) (*toolResult, error) {
	var questions []question
	for _, q := range []question{askForm("user_name", "What is your name?", nameForm),
		askModel("greeting", "Generate a greeting"), askRoots("client_roots")} {
		if undeclared(q.needs(), c.clientCaps) == nil {
			questions = append(questions, q)
		}
	}
	answers, err := c.obtain(true, questions...)
	if err != nil {
		return nil, err
	}
	return says(fmt.Sprintf("Answers: %d", len(answers))), nil
}

func compute(w *work, args object) (*toolResult, error) {
	seconds := int(float(args, "seconds"))
	if err := pause(w.ctx, time.Duration(seconds)*time.Second); err != nil {
		return nil, err
	}
	return says(fmt.Sprintf("Computed %s in %d s.", stringArg(args, "label"), seconds)), nil
}
