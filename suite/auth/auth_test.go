package auth_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mcp-litmus/mcp-litmus/suite/auth"
)

func start(t *testing.T) *auth.Server {
	t.Helper()
	s, err := auth.Start("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func get(t *testing.T, address string, into any) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", address, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func TestMetadataNamesTheKeys(t *testing.T) {
	s := start(t)
	for _, place := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		var metadata struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
			Token  string `json:"token_endpoint"`
		}
		get(t, s.Issuer()+place, &metadata)
		if metadata.Issuer != s.Issuer() || metadata.Keys != s.JWKS() || !strings.HasPrefix(metadata.Token, s.Issuer()) {
			t.Errorf("%s: %+v", place, metadata)
		}
	}
}

// What sets each token apart is seen by a library that knows nothing of how they are made.
func TestEachTokenIsWrongInOneWay(t *testing.T) {
	s := start(t)
	const audience = "http://127.0.0.1:3000/mcp"
	tokens, err := s.Tokens(audience, "read write")
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(tokens)); !slices.Equal(got, slices.Sorted(slices.Values(auth.Kinds()))) {
		t.Errorf("minted %v", got)
	}
	var keys jose.JSONWebKeySet
	get(t, s.JWKS(), &keys)
	for kind, want := range map[string]string{
		auth.Valid: "", auth.Expired: "expired", auth.ForeignAudience: "audience", auth.ForeignIssuer: "issuer",
		auth.ForeignKey: "signature", auth.Unsigned: "signature", auth.InsufficientScope: "scope",
	} {
		var got []string
		parsed, err := jwt.ParseSigned(tokens[kind], []jose.SignatureAlgorithm{jose.RS256})
		var claims struct {
			jwt.Claims
			Scope string `json:"scope"`
		}
		if err != nil || parsed.Claims(keys, &claims) != nil {
			got = append(got, "signature")
		} else {
			for complaint, expected := range map[string]jwt.Expected{
				"expired": {Time: time.Now()}, "audience": {AnyAudience: jwt.Audience{audience}}, "issuer": {Issuer: s.Issuer()},
			} {
				if complaint != "expired" {
					expected.Time = claims.IssuedAt.Time()
				}
				if claims.ValidateWithLeeway(expected, 0) != nil {
					got = append(got, complaint)
				}
			}
			if claims.Scope != "read write" {
				got = append(got, "scope")
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: wrong are %q, want %q", kind, got, want)
		}
	}
}

func TestTokenEndpoint(t *testing.T) {
	s := start(t)
	ask := func(form url.Values) (int, map[string]any) {
		response, err := http.PostForm(s.Issuer()+"/token", form)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		if err := json.Unmarshal(data, &answer); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, answer
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {auth.ClientID}, "client_secret": {s.ClientSecret()},
		"resource": {"http://127.0.0.1:3000/mcp"}, "scope": {"mcp"}}
	status, answer := ask(form)
	if status != 200 || answer["token_type"] != "Bearer" || answer["scope"] != "mcp" {
		t.Fatalf("%d %v", status, answer)
	}
	parsed, err := jwt.ParseSigned(answer["access_token"].(string), []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	var keys jose.JSONWebKeySet
	get(t, s.JWKS(), &keys)
	var claims jwt.Claims
	if err := parsed.Claims(keys, &claims); err != nil || !claims.Audience.Contains("http://127.0.0.1:3000/mcp") {
		t.Errorf("%v, for %v", err, claims.Audience)
	}
	for _, wrong := range []struct {
		name, value, code string
		status            int
	}{
		{"client_secret", "guessed", "invalid_client", 401},
		{"client_id", "somebody", "invalid_client", 401},
		{"grant_type", "password", "unsupported_grant_type", 400},
	} {
		f := maps.Clone(form)
		f[wrong.name] = []string{wrong.value}
		if status, answer := ask(f); status != wrong.status || answer["error"] != wrong.code {
			t.Errorf("%s %s: %d %v", wrong.name, wrong.value, status, answer)
		}
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "nonsense"} {
		if s, err := auth.Start(address); err == nil {
			s.Close()
			t.Errorf("it listens at %q", address)
		}
	}
}
