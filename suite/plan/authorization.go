package plan

import (
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// Authorization is the document `auth`. guard are the variables that script.Guard left, nil when it was not played;
// accepted says whether a session could be opened with the token given, if any. It has
//
//   - protected: whether the server refuses to open a session without a token. 401 says so by itself, 403 only where
//     the same is served with a token, and no other status does: 400 may be about a second session, 429 about too many;
//   - accepted, and tokens, by kind;
//   - challenge: the parameters of the Bearer challenge to the request without a token; absent without such a challenge;
//   - documents: the protected resource metadata documents that were found, each with how (from), its media type and the document itself;
//   - declared: whether the server shows that it follows the specification's authorization, and not one of its own, which is
//     allowed: by a Bearer challenge that names metadata, by such a document, by the metadata of an authorization server, or by taking a
//     token that the suite minted. A Bearer challenge alone shows no more than RFC 9110 asks of every 401: keys of a server's own
//     travel in the same way (RFC 6750).
func Authorization(guard map[string]any, accepted bool, opts transcript.Options) map[string]any {
	tokens := map[string]any{}
	for kind, token := range opts.Tokens {
		tokens[kind] = token
	}
	doc := map[string]any{"protected": false, "accepted": accepted, "tokens": tokens, "documents": []any{}, "declared": false}
	answer := answerOf(guard, script.AnonymousStep)
	status, _ := answer["status"].(int64)
	if status != 401 && !(accepted && status == 403) {
		return doc
	}
	doc["protected"] = true
	headers, _ := answer["headers"].(map[string]any)
	text, _ := headers["www-authenticate"].(string)
	for _, c := range script.Challenges(text) {
		if c := c.(map[string]any); c["scheme"] == "bearer" {
			params, _ := c["params"].(map[string]any)
			doc["challenge"], doc["declared"] = params, params["resource_metadata"] != nil
			break
		}
	}
	var documents []any
	for _, from := range script.DocumentSteps {
		answer := answerOf(guard, from)
		found, _ := answer["json"].(map[string]any)
		if answer["status"] == int64(200) && (found["resource"] != nil || found["authorization_servers"] != nil) {
			documents = append(documents, map[string]any{"from": from, "document": found, "type": answer["type"]})
		}
	}
	if len(documents) > 0 {
		doc["documents"], doc["declared"] = documents, true
	}
	own := answerOf(guard, script.IssuerStep)
	if found, _ := own["json"].(map[string]any); own["status"] == int64(200) && found["issuer"] != nil {
		doc["declared"] = true
	}
	if _, minted := tokens["foreign-key"]; minted && accepted {
		doc["declared"] = true
	}
	return doc
}

// answerOf is the HTTP exchange that a step stored under a name observed; empty when there is none.
func answerOf(vars map[string]any, name string) map[string]any {
	step, _ := vars[name].(map[string]any)
	http, _ := step["http"].(map[string]any)
	return http
}

// given says whether a token was given that is to open the server.
func given(auth map[string]any) bool {
	tokens, _ := auth["tokens"].(map[string]any)
	_, ok := tokens[transcript.ValidToken]
	return ok
}

// Unauthorized says for people what to do where a server asks for authorization and no session can be had.
func Unauthorized(auth map[string]any) string {
	if given(auth) {
		return "the server asks for authorization and refuses the token that it was given"
	}
	return "the server asks for authorization: give a token with --header 'Authorization: Bearer …' or auth: {token: …} in litmus.yaml, or let it trust the authorization server of --auth"
}
