package suite_test

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/auth"
	"github.com/mcp-litmus/mcp-litmus/suite/selftest"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

const ourAudience = "https://under-test.litmus.example"

// trusted starts an authorization server, and gives the reference server that trusts it and the tokens.
func trusted(t *testing.T) (http.Handler, map[string]string) {
	t.Helper()
	server, err := auth.Start("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	tokens, err := server.Tokens(ourAudience, "read write")
	if err != nil {
		t.Fatal(err)
	}
	return selftest.ProtectedHandler(nil, reference.Authorization{Issuer: server.Issuer(), Audience: ourAudience, Scope: "read write"}), tokens
}

func runOn(t *testing.T, h http.Handler, opts ...suite.Option) *suite.Outcome {
	t.Helper()
	out, err := suite.Run(t.Context(), suite.Handler(h), append(opts, suite.Revisions("2025-11-25"))...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tokenOptions(tokens map[string]string) []suite.Option {
	var opts []suite.Option
	for kind, token := range tokens {
		opts = append(opts, suite.Token(kind, token))
	}
	return opts
}

// became gives the verdicts on the requirement of that id, as status: reason.
func became(out *suite.Outcome, id string) []string {
	var all []string
	for _, v := range out.Report.Verdicts {
		if v.Requirement == id {
			all = append(all, strings.TrimSuffix(fmt.Sprintf("%s: %s", v.Status, v.Reason), ": "))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A protected server is judged as a whole, no token is in the evidence, and the evidence gives the same verdicts again.
func TestWithTokensEverythingIsJudged(t *testing.T) {
	handler, tokens := trusted(t)
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Came", r.Header.Get("Authorization")+" "+r.URL.RawQuery) // a server that tells what it was told
		handler.ServeHTTP(w, r)
	})
	out := runOn(t, echo, tokenOptions(tokens)...)
	if !out.Conforms() || out.Undriven() {
		t.Errorf("it does not conform: %v", out.Report.Problems)
	}
	for _, v := range out.Report.Verdicts {
		if strings.HasPrefix(v.Requirement, "auth.") && v.Status != verdict.Pass {
			t.Errorf("%s in %q: %s: %s", v.Requirement, v.Exchange, v.Status, v.Reason)
		}
	}
	if got := became(out, "tools.list.responds"); !slices.Equal(got, []string{"pass"}) {
		t.Errorf("tools.list.responds: %v", got)
	}
	var file bytes.Buffer
	if err := transcript.Write(&file, out.Transcript, nil); err != nil {
		t.Fatal(err)
	}
	for kind, token := range tokens {
		if strings.Contains(file.String(), token) {
			t.Errorf("the %s token is in the transcript", kind)
		}
	}
	if !strings.Contains(file.String(), "X-Came") {
		t.Error("the transcript does not hold what the server told")
	}
	again, err := suite.Judge(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Report.Verdicts, out.Report.Verdicts) {
		t.Error("judged again, the transcript gives other verdicts")
	}
}

// Without a token the refusal itself is judged, and nothing that stands behind it.
func TestWithoutATokenTheRefusalIsJudged(t *testing.T) {
	handler, tokens := trusted(t)
	for name, opts := range map[string][]suite.Option{
		"add a token":       nil,
		"refuses the token": {suite.Token(auth.Valid, tokens[auth.Expired])},
	} {
		out := runOn(t, handler, opts...)
		said := strings.Join(out.Report.Problems, "\n")
		if name == "add a token" && !strings.Contains(said, "--header 'Authorization: Bearer …'") || name != "add a token" && !strings.Contains(said, name) {
			t.Errorf("%s: the problems are %s", name, said)
		}
		if strings.Contains(said, tokens[auth.Expired]) {
			t.Error("a problem shows the token")
		}
		for id, want := range map[string]string{
			"auth.required.status": "pass", "auth.metadata.discoverable": "pass", "auth.token.invalid": "pass", "auth.challenge.present": "pass",
		} {
			if got := became(out, id); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %s: %v", name, id, got)
			}
		}
		for _, v := range out.Report.Verdicts {
			if !strings.HasPrefix(v.Requirement, "auth.") && v.Status != verdict.Untested {
				t.Errorf("%s: %s in %q: %s: %s", name, v.Requirement, v.Exchange, v.Status, v.Reason)
			}
			if v.Status == verdict.Fail || v.Status == verdict.Warn || v.Status == verdict.Error {
				t.Errorf("%s: %s in %q: %s: %s", name, v.Requirement, v.Exchange, v.Status, v.Reason)
			}
		}
		if out.Undriven() {
			t.Errorf("%s: what was judged counts for nothing", name)
		}
	}
}

// Of a server that asks for nothing, nothing of this is judged, with a token or without.
func TestAServerThatAsksForNoAuthorization(t *testing.T) {
	for _, opts := range [][]suite.Option{nil, {suite.Token(auth.Valid, "a-token-that-nobody-asked-for")}} {
		out := runOn(t, selftest.Handler(nil), append(opts, suite.Select("basic.authorization || ping"))...)
		for _, v := range out.Report.Verdicts {
			if strings.HasPrefix(v.Requirement, "auth.") && (v.Status != verdict.Skip || v.Reason != "the server asks for no authorization") {
				t.Errorf("%s: %s: %s", v.Requirement, v.Status, v.Reason)
			}
		}
		if !out.Conforms() {
			t.Error("it does not conform")
		}
	}
}

// Authorization of a server's own is allowed; a bare refusal says too little to break more than the page as a whole.
func TestAuthorizationOfItsOwn(t *testing.T) {
	for header, want := range map[string]string{
		`Basic realm="here"`: "skip: the server asks for authorization of another scheme, which is allowed",
		"":                   "warn",
	} {
		out := runOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if header != "" {
				w.Header().Set("WWW-Authenticate", header)
			}
			http.Error(w, "who are you?", http.StatusUnauthorized)
		}))
		for _, v := range out.Report.Verdicts {
			if v.Status == verdict.Fail || v.Status == verdict.Error || v.Status == verdict.Warn && v.Requirement != "auth.conforms" {
				t.Errorf("%q: %s in %q: %s: %s", header, v.Requirement, v.Exchange, v.Status, v.Reason)
			}
		}
		if got := became(out, "auth.conforms"); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q: auth.conforms: %q, want %q", header, got, want)
		}
	}
}

func TestAnUnknownKindOfToken(t *testing.T) {
	_, err := suite.Run(t.Context(), suite.Handler(selftest.Handler(nil)), suite.Token("god", "x"))
	if err == nil || !strings.Contains(err.Error(), `no kind of token "god"; the kinds are valid, expired`) {
		t.Errorf("the error is %v", err)
	}
}

// HTTP itself asks for a challenge with every 401, and a server's own keys travel as bearer tokens, too: without metadata that shows
// nothing of the specification's authorization.
func TestKeysOfAServersOwn(t *testing.T) {
	server := reference.New().Handler()
	const key = "a-key-of-its-own"
	keyed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.Header().Set("WWW-Authenticate", `Bearer realm="here", error="invalid_token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		server.ServeHTTP(w, r)
	})
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		for _, opts := range [][]suite.Option{nil, {suite.Token(auth.Valid, key)}} {
			out, err := suite.Run(t.Context(), suite.Handler(keyed), append(opts, suite.Revisions(revision), suite.Select("basic.authorization || ping || discover"))...)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range out.Report.Verdicts {
				if v.Status == verdict.Fail || v.Status == verdict.Warn || v.Status == verdict.Error {
					t.Errorf("%s in %q at %s: %s: %s", v.Requirement, v.Exchange, v.Revision, v.Status, v.Reason)
				}
			}
			if got := became(out, "auth.conforms"); !slices.Equal(got, []string{"pass"}) {
				t.Errorf("%s: auth.conforms: %q", revision, got)
			}
		}
	}
}
