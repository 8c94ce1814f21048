package reference

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// stateLifetime is how long a client may take to bring the inputs that it was asked for.
const stateLifetime = 10 * time.Minute

// mayAsk are the methods that may answer by asking for inputs.
var mayAsk = []string{"tools/call", "prompts/get", "resources/read"}

// inputs is what a request brings of what an earlier answer asked for.
type inputs struct {
	responses object // as the client sent them
	answers   object // those that were checked, also in earlier rounds
	asked     []string
	questions int // how many questions the handler has put so far
}

// inputRequired is the answer of a handler that needs inputs first. It is passed on as an error.
type inputRequired struct{ result object }

func (e *inputRequired) Error() string { return "input is required" }

// question is one thing to ask the client.
type question struct {
	key    string
	method string
	params object  // nil: none
	form   *schema // of an elicitation by form: what the content must fit
}

func askForm(key, message string, form *schema) question {
	return question{key: key, method: "elicitation/create", form: form,
		params: object{"mode": "form", "message": message, "requestedSchema": form.text}}
}

func askModel(key, prompt string) question {
	return question{key: key, method: "sampling/createMessage", params: object{
		"messages": []object{{"role": "user", "content": textBlock(prompt)}}, "maxTokens": 100}}
}

func askRoots(key string) question { return question{key: key, method: "roots/list", params: object{}} }

// needs is the capability without which a client must not be asked.
func (q question) needs() object {
	switch q.method {
	case "sampling/createMessage":
		if q.params["tools"] != nil {
			return object{"sampling": object{"tools": object{}}}
		}
		return object{"sampling": object{}}
	case "roots/list":
		return object{"roots": object{}}
	}
	mode, ok := q.params["mode"].(string)
	if !ok {
		mode = "form"
	}
	return object{"elicitation": object{mode: object{}}}
}

// check tells what is wrong with a response to the question.
func (q question) check(response object) error {
	switch q.method {
	case "sampling/createMessage":
		_, hasRole := response["role"].(string)
		_, hasModel := response["model"].(string)
		if kind := typeOf(response["content"]); !hasRole || !hasModel || (kind != "object" && kind != "array") {
			return errors.New("it needs a role, a model and content")
		}
	case "roots/list":
		roots, ok := response["roots"].([]any)
		for _, r := range roots {
			root, _ := r.(object)
			uri, _ := root["uri"].(string)
			ok = ok && strings.HasPrefix(uri, "file://")
		}
		if !ok {
			return errors.New("it needs a list of roots with file:// URIs")
		}
	default:
		if err := checkAction(response); err != nil {
			return err
		}
		if response["action"] == "accept" && q.form != nil {
			return q.form.validate(response["content"], "content")
		}
	}
	return nil
}

// withInputs calls the handler with the inputs that the request brings, and answers with a request for more if the
// handler needs some.
func (c *call) withInputs(handle handler) (object, error) {
	c.inputs = &inputs{responses: object{}, answers: object{}}
	if slices.Contains(mayAsk, c.modern.method) {
		if err := c.readInputs(); err != nil {
			return nil, err
		}
	}
	result, err := handle(c)
	var wanting *inputRequired
	if errors.As(err, &wanting) {
		return wanting.result, nil
	}
	if err != nil {
		return nil, err
	}
	return result.(object), nil
}

func (c *call) readInputs() error {
	if raw, given := c.params["inputResponses"]; given {
		responses, ok := raw.(object)
		if !ok {
			return invalidParams("Invalid params: inputResponses must be an object")
		}
		for key, response := range responses {
			if typeOf(response) != "object" {
				return invalidParams("Invalid params: inputResponses.%s must be an object", key)
			}
		}
		c.inputs.responses = responses
	}
	raw, given := c.params["requestState"]
	if !given {
		return nil
	}
	sealed, ok := raw.(string)
	if !ok {
		return invalidParams("Invalid params: requestState must be a text")
	}
	state, err := c.unseal(sealed)
	if err != nil {
		return err
	}
	c.inputs.answers, c.inputs.asked = state.Answers, state.Asked
	return nil
}

// obtain returns the responses to the questions, by key, if the request brings them all; else an inputRequired with those
// that are open. With remember, answers of earlier rounds come back in the request state, and only what was really
// asked counts as answered; without, everything is asked together and no state is needed.
func (c *call) obtain(remember bool, questions ...question) (map[string]object, error) {
	lacking := object{}
	for _, q := range questions {
		maps.Copy(lacking, undeclared(q.needs(), c.clientCaps))
	}
	if len(lacking) > 0 {
		return nil, missing(lacking)
	}
	answers, open := map[string]object{}, object{}
	for _, q := range questions {
		if known, ok := c.inputs.answers[q.key].(object); ok {
			answers[q.key] = known
			continue
		}
		response, ok := c.inputs.responses[q.key].(object)
		if !ok || (remember && !slices.Contains(c.inputs.asked, q.key)) {
			open[q.key] = q.request()
			continue
		}
		if err := q.check(response); err != nil {
			return nil, invalidParams("Invalid params: inputResponses.%s does not fit: %v", q.key, err)
		}
		answers[q.key] = response
		if remember {
			c.inputs.answers[q.key] = response
		}
	}
	if len(open) == 0 {
		return answers, nil
	}
	if !remember { // the answers that came are forgotten, so they are needed again
		for _, q := range questions {
			open[q.key] = q.request()
		}
	}
	result := object{"resultType": "input_required", "inputRequests": open}
	if remember {
		result["requestState"] = c.seal(slices.Sorted(maps.Keys(open)))
	}
	return nil, &inputRequired{result}
}

func (q question) request() object {
	request := object{"method": q.method}
	if q.params != nil {
		request["params"] = q.params
	}
	return request
}

// request asks the client something on behalf of a tool. In a session it waits for the answer; without sessions the
// tool begins anew with every round, and finds the answers of the earlier ones here.
func (c *call) request(ctx context.Context, out sink, method string, params object) (object, error) {
	if c.rev.hasSessions() {
		return c.session.request(ctx, out, method, params)
	}
	c.inputs.questions++
	subject, _, _ := strings.Cut(method, "/")
	q := question{key: fmt.Sprintf("%s-%d", subject, c.inputs.questions), method: method, params: params}
	answers, err := c.obtain(true, q)
	return answers[q.key], err
}

// requestState is what the server needs to know again when a request is repeated with inputs. It travels through the
// client, so it is signed, and bound to one request of one principal, for a while.
type requestState struct {
	Expires int64    `json:"expires"` // seconds since 1970
	Bound   string   `json:"bound"`   // to this request and principal
	Asked   []string `json:"asked"`   // the keys of the questions that are open
	Answers object   `json:"answers"` // of earlier rounds
}

// bound is the digest of all that makes a request the same one when it is repeated.
func (c *call) bound() string {
	same := maps.Clone(c.params)
	for _, name := range []string{"_meta", "inputResponses", "requestState"} {
		delete(same, name)
	}
	digest := sha256.Sum256(encode([]any{c.modern.method, c.modern.principal, same}))
	return hex.EncodeToString(digest[:])
}

func (c *call) seal(asked []string) string {
	payload := encode(requestState{time.Now().Add(stateLifetime).Unix(), c.bound(), asked, c.inputs.answers})
	text := base64.RawURLEncoding
	return text.EncodeToString(payload) + "." + text.EncodeToString(c.server.all.sign(payload))
}

func (c *call) unseal(sealed string) (*requestState, error) {
	refused := invalidParams("Invalid params: requestState is not one that this server gave out")
	first, second, _ := strings.Cut(sealed, ".")
	text := base64.RawURLEncoding.Strict()
	payload, err1 := text.DecodeString(first)
	signature, err2 := text.DecodeString(second)
	if err1 != nil || err2 != nil || !hmac.Equal(signature, c.server.all.sign(payload)) {
		return nil, refused
	}
	// The payload is the server's own from here on.
	var state requestState
	if err := json.Unmarshal(payload, &state); err != nil {
		return nil, refused
	}
	if state.Bound != c.bound() {
		return nil, invalidParams("Invalid params: requestState was given out for another request")
	}
	if time.Now().Unix() > state.Expires {
		return nil, invalidParams("Invalid params: requestState has expired; begin anew")
	}
	// Numbers in answers as they were written.
	if v, err := decode(payload); err == nil {
		state.Answers, _ = v.(object)["answers"].(object)
	}
	if state.Answers == nil {
		state.Answers = object{}
	}
	return &state, nil
}

func (a *commons) sign(payload []byte) []byte {
	mac := hmac.New(sha256.New, a.key)
	mac.Write(payload)
	return mac.Sum(nil)
}
