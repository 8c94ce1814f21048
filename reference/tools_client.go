package reference

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// The tools that ask the client for something. They ask only for what it declared, and fail otherwise.

func (c *call) clientHas(capability string) (object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	declared, ok := c.clientCaps[capability].(object)
	return declared, ok
}

func sample(c *call, args object) (*toolResult, error) {
	if _, ok := c.clientHas("sampling"); !ok {
		return nil, errors.New("the client did not declare the sampling capability")
	}
	result, err := c.ask("sampling/createMessage", object{
		"messages":         []object{{"role": "user", "content": textBlock(stringArg(args, "prompt"))}},
		"modelPreferences": object{"hints": []object{{"name": "small-model"}}, "intelligencePriority": 0.5},
		"systemPrompt":     "Be brief.",
		"includeContext":   "none",
		"maxTokens":        100,
	})
	if err != nil {
		return nil, err
	}
	return says("LLM response: " + sampledText(result["content"])), nil
}

// mostTurns bounds the turns of a conversation in which the client's model uses tools.
const mostTurns = 5

// sampleWithTools lets the client's model ask for the time, as often as it likes within mostTurns.
func sampleWithTools(c *call, _ object) (*toolResult, error) {
	declared, _ := c.clientHas("sampling")
	if _, ok := declared["tools"].(object); !ok {
		return nil, errors.New("the client did not declare the use of tools in sampling")
	}
	messages := []object{{"role": "user", "content": textBlock("What time is it?")}}
	for turn := range mostTurns {
		choice := "auto"
		if turn == mostTurns-1 {
			choice = "none"
		}
		result, err := c.request(c.ctx, c.out, "sampling/createMessage", object{
			"messages": messages, "maxTokens": 100, "toolChoice": object{"mode": choice},
			"tools": []object{{"name": "get_time", "description": "Returns the time.", "inputSchema": object{"type": "object"}}},
		})
		if err != nil {
			return nil, err
		}
		results := toolResults(result["content"])
		if len(results) == 0 {
			return says("LLM response: " + sampledText(result["content"])), nil
		}
		messages = append(messages,
			object{"role": "assistant", "content": result["content"]}, object{"role": "user", "content": results})
	}
	return nil, fmt.Errorf("the model asked for tools %d times", mostTurns)
}

// toolResults answers every use of a tool in a sampled message.
func toolResults(content any) (results []object) {
	blocks, several := content.([]any)
	if !several {
		blocks = []any{content}
	}
	for _, b := range blocks {
		if block, _ := b.(object); block["type"] == "tool_use" {
			results = append(results, object{"type": "tool_result", "toolUseId": block["id"], "content": []object{textBlock("Noon.")}})
		}
	}
	return results
}

// sampledText returns the texts of a sampled message, whose content is one block or, from 2025-11-25, several.
func sampledText(content any) string {
	blocks, several := content.([]any)
	if !several {
		blocks = []any{content}
	}
	var texts []string
	for _, b := range blocks {
		block, _ := b.(object)
		if text, ok := block["text"].(string); ok {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return "(no text)"
	}
	return strings.Join(texts, "\n")
}

// elicit asks the user by a form and checks what comes back against it. Since there are modes, a client that declares
// none means this one.
func (c *call) elicit(message string, form *schema) (object, error) {
	declared, ok := c.clientHas("elicitation")
	if ok && c.rev.hasElicitationModes() && len(declared) > 0 {
		_, ok = declared["form"].(object)
	}
	if !ok || !c.rev.hasElicitation() {
		return nil, errors.New("the client did not declare elicitation by form")
	}
	result, err := c.ask("elicitation/create", object{"message": message, "requestedSchema": form.text})
	if err != nil {
		return nil, err
	}
	if err := checkAction(result); err != nil {
		return nil, err
	}
	if result["action"] == "accept" {
		if err := form.validate(result["content"], "content"); err != nil {
			return nil, fmt.Errorf("the client accepted with something else than the form asks for: %w", err)
		}
	}
	return result, nil
}

func checkAction(result object) error {
	switch action := result["action"]; action {
	case "accept", "decline", "cancel":
		return nil
	default:
		return fmt.Errorf("the client answered elicitation/create with the unknown action %v", action)
	}
}

// elicited describes what the user did.
func elicited(prefix string, result object) *toolResult {
	content := "none"
	if given, ok := result["content"]; ok {
		content = string(encode(given))
	}
	return says(fmt.Sprintf("%saction=%v, content=%s", prefix, result["action"], content))
}

var (
	contactForm = mustSchema(`{"type":"object","properties":{
		"username":{"type":"string","description":"User's response"},
		"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`)
	defaultsForm = mustSchema(`{"type":"object","properties":{
		"name":{"type":"string","description":"Name","default":"John Doe"},
		"age":{"type":"integer","description":"Age in years","default":30},
		"score":{"type":"number","description":"Score","default":95.5},
		"status":{"type":"string","description":"Status","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","description":"Verified","default":true}},"required":[]}`)
	choicesForm = mustSchema(`{"type":"object","properties":{
		"untitledSingle":{"type":"string","description":"One of three","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","description":"One of three, with titles","oneOf":[
			{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","description":"One of three, titled the old way",
			"enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","description":"Some of three","minItems":1,"maxItems":3,
			"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","description":"Some of three, with titles","minItems":1,"maxItems":3,"items":{"anyOf":[
			{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},
		"required":[]}`)
)

func elicitContact(c *call, args object) (*toolResult, error) {
	result, err := c.elicit(stringArg(args, "message"), contactForm)
	if err != nil {
		return nil, err
	}
	return elicited("User response: ", result), nil
}

func elicitDefaults(c *call, _ object) (*toolResult, error) {
	result, err := c.elicit("Please check these details.", defaultsForm)
	if err != nil {
		return nil, err
	}
	return elicited("Elicitation completed: ", result), nil
}

func elicitChoices(c *call, _ object) (*toolResult, error) {
	result, err := c.elicit("Please choose.", choicesForm)
	if err != nil {
		return nil, err
	}
	return elicited("Elicitation completed: ", result), nil
}

// requireURL has the client send the user to a page before it calls again. Whoever calls again is believed.
func requireURL(c *call, _ object) (*toolResult, error) {
	declared, _ := c.clientHas("elicitation")
	if _, ok := declared["url"].(object); !ok {
		return nil, errors.New("the client did not declare elicitation by URL")
	}
	c.mu.Lock()
	again := c.extras["page"]
	c.extras["page"] = !again
	c.mu.Unlock()
	if again {
		return says("The page was visited."), nil
	}
	id := rand.Text()
	refusal := errorf(codeURLElicitationRequired, "This tool requires that the user visits a page first")
	refusal.Data = object{"elicitations": []object{{
		"mode": "url", "message": "Please confirm on this page.", "elicitationId": id,
		"url": "https://mcp-litmus.example/confirm?elicitation=" + id,
	}}}
	return nil, refusal
}

// elicitByURL sends the user to a page, and tells the client at once that the user is done there: there is no page.
func elicitByURL(c *call, _ object) (*toolResult, error) {
	declared, _ := c.clientHas("elicitation")
	if _, ok := declared["url"].(object); !ok {
		return nil, errors.New("the client did not declare elicitation by URL")
	}
	id := rand.Text()
	result, err := c.ask("elicitation/create", object{
		"mode": "url", "message": "Please confirm on this page.", "elicitationId": id,
		"url": "https://mcp-litmus.example/confirm?elicitation=" + id,
	})
	if err != nil {
		return nil, err
	}
	if err := checkAction(result); err != nil {
		return nil, err
	}
	if result["action"] == "accept" {
		c.notify("notifications/elicitation/complete", object{"elicitationId": id})
	}
	return elicited("Elicitation completed: ", result), nil
}

func listRoots(c *call, _ object) (*toolResult, error) {
	if _, ok := c.clientHas("roots"); !ok {
		return nil, errors.New("the client did not declare the roots capability")
	}
	result, err := c.ask("roots/list", nil)
	if err != nil {
		return nil, err
	}
	roots, _ := result["roots"].([]any)
	lines := []string{fmt.Sprintf("Roots: %d", len(roots))}
	for _, r := range roots {
		root, _ := r.(object)
		lines = append(lines, fmt.Sprint(root["uri"]))
	}
	return says(strings.Join(lines, "\n")), nil
}
