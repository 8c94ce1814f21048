package reference

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var base64url = base64.RawURLEncoding

// issuer is an authorization server with an RSA key and one on P-256.
type issuer struct {
	*httptest.Server
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	var err error
	if i.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if i.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	point, err := i.ec.PublicKey.Bytes() // 4, x, y
	if err != nil {
		t.Fatal(err)
	}
	number := func(n *big.Int) string { return base64url.EncodeToString(n.Bytes()) }
	mux := http.NewServeMux()
	mux.HandleFunc(serverMetadata, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, encode(object{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}))
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, encode(object{"keys": []object{
			{"kty": "RSA", "kid": "rsa", "n": number(i.rsa.N), "e": "AQAB"},
			{"kty": "EC", "crv": "P-256", "kid": "ec", "x": base64url.EncodeToString(point[1:33]), "y": base64url.EncodeToString(point[33:])},
			{"kty": "OKP", "kid": "other"},
		}}))
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// token signs the claims, which change those of a good token for audience.
func (i *issuer) token(t *testing.T, alg, kid, audience string, change object) string {
	t.Helper()
	claims := object{"iss": i.URL, "aud": []string{"https://other.example", audience}, "exp": time.Now().Add(time.Hour).Unix(), "scope": "read mcp"}
	for name, value := range change {
		claims[name] = value
	}
	signed := base64url.EncodeToString(encode(object{"alg": alg, "kid": kid})) + "." + base64url.EncodeToString(encode(claims))
	digest := sha256.Sum256([]byte(signed))
	var signature []byte
	switch alg {
	case "RS256":
		var err error
		if signature, err = rsa.SignPKCS1v15(rand.Reader, i.rsa, crypto.SHA256, digest[:]); err != nil {
			t.Fatal(err)
		}
	case "ES256":
		r, s, err := ecdsa.Sign(rand.Reader, i.ec, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
	return signed + "." + base64url.EncodeToString(signature)
}

func TestProtected(t *testing.T) {
	i := newIssuer(t)
	server := New()
	wrap, metadata := server.Protected(Authorization{Issuer: i.URL, Scope: "mcp", Path: "/mcp"})
	mux := http.NewServeMux()
	mux.Handle("/mcp", wrap(server.Handler()))
	mux.Handle("/.well-known/", metadata)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	here := web.URL + "/mcp"

	ask := func(authorization string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, here, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(body)
	}
	good := i.token(t, "RS256", "rsa", here, nil)
	for _, c := range []struct {
		name, header string
		status       int
		says         string // in WWW-Authenticate
	}{
		{"RS256", "Bearer " + good, 200, ""},
		{"ES256, another case", "bearer " + i.token(t, "ES256", "ec", here, nil), 200, ""},
		{"an audience that is no list", "Bearer " + i.token(t, "RS256", "rsa", here, object{"aud": here}), 200, ""},
		{"nothing", "", 401, `Bearer resource_metadata="` + web.URL + `/.well-known/oauth-protected-resource/mcp", scope="mcp"`},
		{"another scheme", "Basic dTpw", 401, "Bearer"},
		{"no token", "Bearer ", 400, `error="invalid_request"`},
		{"no JWT", "Bearer abc", 401, `error="invalid_token"`},
		{"no signature", "Bearer " + i.token(t, "none", "rsa", here, nil), 401, `error="invalid_token"`},
		{"another algorithm than the key's", "Bearer " + i.token(t, "ES256", "rsa", here, nil), 401, `error="invalid_token"`},
		{"an unknown key", "Bearer " + i.token(t, "RS256", "nobody", here, nil), 401, `error="invalid_token"`},
		{"changed claims", "Bearer " + strings.Replace(good, ".", ".e30", 1), 401, `error="invalid_token"`},
		{"expired", "Bearer " + i.token(t, "RS256", "rsa", here, object{"exp": time.Now().Unix() - 1}), 401, `error="invalid_token"`},
		{"no expiry", "Bearer " + i.token(t, "RS256", "rsa", here, object{"exp": nil}), 401, `error="invalid_token"`},
		{"not valid yet", "Bearer " + i.token(t, "RS256", "rsa", here, object{"nbf": time.Now().Add(time.Hour).Unix()}), 401, `error="invalid_token"`},
		{"another audience", "Bearer " + i.token(t, "RS256", "rsa", web.URL, nil), 401, `error="invalid_token"`},
		{"another issuer", "Bearer " + i.token(t, "RS256", "rsa", here, object{"iss": web.URL}), 401, `error="invalid_token"`},
		{"too few scopes", "Bearer " + i.token(t, "RS256", "rsa", here, object{"scope": "mcp2"}), 403, `scope="mcp", error="insufficient_scope"`},
	} {
		response, body := ask(c.header)
		if response.StatusCode != c.status || !strings.Contains(response.Header.Get("WWW-Authenticate"), c.says) {
			t.Errorf("%s: %s, %q, %s", c.name, response.Status, response.Header.Get("WWW-Authenticate"), body)
		}
		if (c.status == 200) != strings.Contains(body, `"result"`) {
			t.Errorf("%s: %s", c.name, body)
		}
	}

	for _, place := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		response, err := http.Get(web.URL + place)
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		err = json.NewDecoder(response.Body).Decode(&document)
		response.Body.Close()
		if err != nil || document.Resource != here || len(document.Servers) != 1 || document.Servers[0] != i.URL {
			t.Errorf("%s: %s %v %+v", place, response.Status, err, document)
		}
	}
	for place, status := range map[string]int{serverMetadata: 200, resourceMetadata + "/other": 404} {
		response, err := http.Get(web.URL + place)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != status {
			t.Errorf("%s: %s", place, response.Status)
		}
	}
}
