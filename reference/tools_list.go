package reference

import (
	"fmt"
	"math"
	"time"
)

// noArguments is the input schema of a tool that takes none.
var noArguments = mustSchema(`{"type":"object","additionalProperties":false}`)

// jobArguments is the input schema of the jobs, which need none.
var jobArguments = mustSchema(`{"type":"object","properties":{"duration":{"type":"integer","minimum":0,"maximum":60000,` +
	`"description":"Milliseconds"},"outcome":{"type":"string","enum":["result","failure","error"]}},"additionalProperties":false}`)

// tools are all tools in the order in which they are listed. json_schema_2020_12_tool comes first because the official
// conformance suite looks for it on the first page only.
var tools = []*tool{
	{
		name: "json_schema_2020_12_tool", title: "JSON Schema 2020-12",
		description: "Takes contact details. Its input schema uses references, composition and conditions.",
		input: mustSchema(`{
			"$schema": "https://json-schema.org/draft/2020-12/schema",
			"type": "object",
			"$defs": {"address": {"$anchor": "addressDef", "type": "object",
				"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
			"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
				"contactMethod": {"type": "string", "enum": ["phone", "email"]},
				"phone": {"type": "string"}, "email": {"type": "string"}},
			"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
			"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
			"then": {"required": ["phone"]}, "else": {"required": ["email"]},
			"additionalProperties": false
		}`),
		run: func(_ *call, args object) (*toolResult, error) { return says("Accepted: " + string(encode(args))), nil },
	},
	{
		name: "echo", title: "Echo", description: "Returns the message it is given.", icons: true,
		input: mustSchema(`{"type":"object","properties":{"message":{"type":"string","description":"What to return"}},` +
			`"required":["message"],"additionalProperties":false}`),
		run: func(_ *call, args object) (*toolResult, error) { return says(stringArg(args, "message")), nil },
	},
	{
		name: "add", title: "Add", description: "Adds two numbers.",
		input: mustSchema(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},` +
			`"required":["a","b"],"additionalProperties":false}`),
		output: mustSchema(`{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"],"additionalProperties":false}`),
		run:    add,
	},
	{
		name: "test_simple_text", title: "Simple text", description: "Returns one text.", input: noArguments, tasks: taskForbidden,
		run: func(*call, object) (*toolResult, error) {
			return says("This is a simple text response for testing."), nil
		},
	},
	{
		name: "test_image_content", title: "Image", description: "Returns a picture.", input: noArguments,
		run: func(*call, object) (*toolResult, error) { return returns(imageBlock()), nil },
	},
	{
		name: "test_audio_content", title: "Audio", description: "Returns a sound.", input: noArguments, since: rev2025March,
		run: func(*call, object) (*toolResult, error) {
			return returns(object{"type": "audio", "data": wavBase64, "mimeType": "audio/wav"}), nil
		},
	},
	{
		name: "test_embedded_resource", title: "Embedded resource", description: "Returns a resource inside its result.",
		input: noArguments,
		run: func(*call, object) (*toolResult, error) {
			return returns(resourceBlock("test://embedded-resource", "text/plain", "This is an embedded resource content.")), nil
		},
	},
	{
		name: "test_multiple_content_types", title: "Mixed content", description: "Returns a text, a picture and a resource.",
		input: noArguments,
		run: func(*call, object) (*toolResult, error) {
			return returns(textBlock("Multiple content types test:"), imageBlock(),
				resourceBlock("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)), nil
		},
	},
	{
		name: "test_resource_link", title: "Resource link", description: "Returns a link to a resource of this server.",
		input: noArguments, since: rev2025June,
		run: func(*call, object) (*toolResult, error) {
			return returns(object{"type": "resource_link", "uri": staticTextURI, "name": "static-text",
				"title": "Static text", "description": "A text that never changes.", "mimeType": "text/plain"}), nil
		},
	},
	{
		name: "test_annotated_content", title: "Annotated content", description: "Returns content with annotations.",
		input: noArguments,
		run: func(c *call, _ object) (*toolResult, error) {
			block := textBlock("Meant for the user, of some importance.")
			block["annotations"] = annotationsAt(c.rev)
			return returns(block), nil
		},
	},
	{
		name: "test_error_handling", title: "Error", description: "Always fails.", input: noArguments,
		run: func(*call, object) (*toolResult, error) {
			return failed("This tool intentionally returns an error for testing"), nil
		},
	},
	{
		name: "test_tool_with_logging", title: "Logging", description: "Sends three log messages at level info.",
		input: noArguments, run: logThrice,
	},
	{
		name: "test_log_levels", title: "Log levels", description: "Sends one log message at every level.", input: noArguments,
		run: func(c *call, _ object) (*toolResult, error) {
			for _, level := range logLevels {
				c.log(level, object{"message": "A message at level " + level})
			}
			return says("One message was logged at each level."), nil
		},
	},
	{
		name: "test_tool_with_progress", title: "Progress", description: "Reports progress three times.",
		input: noArguments, run: progressThrice,
	},
	{
		name: "slow", title: "Slow", description: "Takes as long as it is told, reports progress and can be cancelled.",
		input: mustSchema(`{"type":"object","properties":{"duration":{"type":"integer","minimum":0,"maximum":60000,` +
			`"description":"Milliseconds"}},"required":["duration"],"additionalProperties":false}`),
		run: slow,
	},
	{
		name: "test_sampling", title: "Sampling", description: "Asks the client's model.",
		input: mustSchema(`{"type":"object","properties":{"prompt":{"type":"string","description":"What to ask"}},` +
			`"required":["prompt"],"additionalProperties":false}`),
		run: sample,
	},
	{
		name: "test_sampling_tools", title: "Sampling with tools", description: "Asks the client's model, which may use a tool.",
		input: noArguments, since: rev2025November, run: sampleWithTools,
	},
	{
		name: "test_elicitation", title: "Elicitation", description: "Asks the user for a name and an address.", since: rev2025June,
		input: mustSchema(`{"type":"object","properties":{"message":{"type":"string","description":"What to show the user"}},` +
			`"required":["message"],"additionalProperties":false}`),
		run: elicitContact,
	},
	{
		name: "test_elicitation_sep1034_defaults", title: "Elicitation with defaults",
		description: "Asks the user with a form whose fields have default values.",
		input:       noArguments, since: rev2025November, run: elicitDefaults,
	},
	{
		name: "test_elicitation_sep1330_enums", title: "Elicitation with choices",
		description: "Asks the user with a form that shows every kind of choice.",
		input:       noArguments, since: rev2025November, run: elicitChoices,
	},
	{
		name: "test_elicitation_url", title: "Elicitation by URL", description: "Sends the user to a page.",
		input: noArguments, since: rev2025November, run: elicitByURL,
	},
	{
		name: "test_elicitation_url_required", title: "Elicitation by URL first",
		description: "Is refused until the user has visited a page; the second call is let through.",
		input:       noArguments, since: rev2025November, run: requireURL,
	},
	{
		name: "test_list_roots", title: "Roots", description: "Asks the client for its roots.", input: noArguments, run: listRoots,
	},
	{
		name: "test_reconnection", title: "Reconnection",
		description: "Closes its SSE connection before it answers, so that the client has to resume the stream.",
		input:       noArguments, run: reconnect,
	},
	{
		name: "run_job", title: "Run a job", description: "Works for a while; alone or as a task.", input: jobArguments,
		since: rev2025November, tasks: taskOptional, run: runJob,
	},
	{
		name: "run_job_as_task", title: "Run a job as a task", description: "Works for a while, as a task only.", input: jobArguments,
		since: rev2025November, tasks: taskRequired, run: runJob,
	},
	{
		name: "run_job_with_input", title: "Run a job with input", description: "Asks the user by a form on its way; alone or as a task.",
		input: noArguments, since: rev2025November, tasks: taskOptional, run: runJobWithInput,
	},
	{
		name: "toggle_tool", title: "Toggle a tool", description: "Adds the tool extra_tool to the list, or removes it.",
		input: noArguments, effects: true,
		run: func(c *call, _ object) (*toolResult, error) { return c.toggle("tool"), nil },
	},
	{
		name: "toggle_resource", title: "Toggle a resource", description: "Adds the resource test://extra to the list, or removes it.",
		input: noArguments, effects: true,
		run: func(c *call, _ object) (*toolResult, error) { return c.toggle("resource"), nil },
	},
	{
		name: "toggle_prompt", title: "Toggle a prompt", description: "Adds the prompt extra_prompt to the list, or removes it.",
		input: noArguments, effects: true,
		run: func(c *call, _ object) (*toolResult, error) { return c.toggle("prompt"), nil },
	},
	{
		name: "update_watched_resource", title: "Update the watched resource",
		description: "Changes the content of test://watched-resource.", input: noArguments, effects: true, run: updateWatched,
	},
	{
		name: "extra_tool", title: "Extra tool", description: "Is there only after toggle_tool.", input: noArguments, extra: true,
		run: func(*call, object) (*toolResult, error) { return says("I am here."), nil },
	},
}

func add(_ *call, args object) (*toolResult, error) {
	sum := float(args, "a") + float(args, "b")
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return nil, fmt.Errorf("the sum is too large")
	}
	return &toolResult{structured: object{"sum": sum}}, nil
}

func logThrice(c *call, _ object) (*toolResult, error) {
	for i, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(c.ctx, 50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		c.log("info", message)
	}
	return says("Three messages were logged."), nil
}

func progressThrice(c *call, _ object) (*toolResult, error) {
	for done := 0; done <= 100; done += 50 {
		if done > 0 {
			if err := pause(c.ctx, 50*time.Millisecond); err != nil {
				return nil, err
			}
		}
		c.progress(done, 100, fmt.Sprintf("%d of 100 steps", done))
	}
	return says("Progress was reported to a client that asked for it."), nil
}

// slow reports progress ten times on its way, and once at the end.
func slow(c *call, args object) (*toolResult, error) {
	const steps = 10
	total := int(float(args, "duration"))
	for step := range steps {
		from, to := total*step/steps, total*(step+1)/steps
		if from == to {
			continue
		}
		c.progress(from, total, fmt.Sprintf("%d of %d ms", from, total))
		if err := pause(c.ctx, time.Duration(to-from)*time.Millisecond); err != nil {
			return nil, err
		}
	}
	if total > 0 {
		c.progress(total, total, "Done")
	}
	return took(total), nil
}

func took(millis int) *toolResult { return says(fmt.Sprintf("That took %d ms.", millis)) }

// reconnect hangs up before the answer if the transport has connections to resume and the revision allows it.
func reconnect(c *call, _ object) (*toolResult, error) {
	if stream, ok := c.out.(interface{ hangUpForNow() }); ok && c.rev.hasPrimingEvents() {
		stream.hangUpForNow()
	}
	if err := pause(c.ctx, 100*time.Millisecond); err != nil {
		return nil, err
	}
	return says("Reconnection test completed successfully"), nil
}

// toggle adds or removes the item of this kind that comes and goes, and says so to the client.
func (c *call) toggle(kind string) *toolResult {
	c.mu.Lock()
	c.extras[kind] = !c.extras[kind]
	there := c.extras[kind]
	c.mu.Unlock()
	c.unrelated.send(encodeNotification("notifications/"+kind+"s/list_changed", nil))
	if there {
		return says("The extra " + kind + " was added.")
	}
	return says("The extra " + kind + " was removed.")
}
