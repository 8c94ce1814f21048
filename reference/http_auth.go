package reference

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Authorization is what a protected server asks for. The server is the resource server of OAuth 2.1; an authorization server
// elsewhere issues the tokens.
type Authorization struct {
	Issuer   string // whose tokens are taken: JWTs (RFC 9068), with the keys that its metadata names
	Audience string // for whom they must be; "": the server's own address, as the request names it
	Scope    string // the scopes that a token must have, separated by spaces; "": none
	Path     string // of the MCP endpoint
}

const (
	resourceMetadata = "/.well-known/oauth-protected-resource"
	serverMetadata   = "/.well-known/oauth-authorization-server"
)

// Protected wraps handlers of this server so that they take requests with a good token only; metadata is to be mounted at
// /.well-known/ and serves the documents from which clients learn where tokens are to be had: the protected resource metadata
// (RFC 9728) at the root and for the endpoint's path, and for clients of 2025-03-26 that of the authorization server.
func (s *Server) Protected(a Authorization) (wrap func(http.Handler) http.Handler, metadata http.Handler) {
	g := &guard{Authorization: a, server: s, keys: &keySet{issuer: a.Issuer}}
	wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if g.admit(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}
	return wrap, http.HandlerFunc(g.metadata)
}

type guard struct {
	Authorization
	server *Server
	keys   *keySet
}

// origin is this server's as the request names it.
func origin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// resource is the identifier of this server; the root is written without its slash.
func (g *guard) resource(r *http.Request) string { return origin(r) + strings.TrimSuffix(g.Path, "/") }

func (g *guard) metadata(w http.ResponseWriter, r *http.Request) {
	if !g.server.hostAllowed(withoutPort(r.Host)) {
		refuse(w, http.StatusForbidden, errorf(codeInvalidRequest, "Forbidden: Host %q is not allowed", r.Host))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	switch r.URL.Path {
	case resourceMetadata, resourceMetadata + strings.TrimSuffix(g.Path, "/"):
		document := object{
			"resource":                 g.resource(r),
			"authorization_servers":    []string{g.Issuer},
			"bearer_methods_supported": []string{"header"},
			"resource_name":            serverTitle,
		}
		if g.Scope != "" {
			document["scopes_supported"] = strings.Fields(g.Scope)
		}
		writeJSON(w, http.StatusOK, encode(document))
	case serverMetadata:
		document, err := g.keys.document()
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		writeJSON(w, http.StatusOK, document)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// admit says whether the request may pass. If not, it has been answered.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) bool {
	flags := g.server.flags
	token, given := "", false
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, rest, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			g.challenge(w, r, http.StatusUnauthorized, "", "Unauthorized: the scheme must be Bearer")
			return false
		}
		if token, given = strings.TrimSpace(rest), true; token == "" {
			g.challenge(w, r, http.StatusBadRequest, "invalid_request", "Bad request: no token after Bearer")
			return false
		}
	} else if flags[FlagQueryTokens] {
		token = r.URL.Query().Get("access_token")
		given = token != ""
	}
	if !given {
		if flags[FlagSessionIsProof] && r.Header.Get(headerSession) != "" {
			return true
		}
		g.challenge(w, r, http.StatusUnauthorized, "", "Unauthorized: a token is needed")
		return false
	}
	claims, err := g.keys.verify(token, flags[FlagNoSignatureCheck])
	if err == nil {
		err = g.accept(claims, r)
	}
	switch {
	case err != nil:
		g.challenge(w, r, http.StatusUnauthorized, "invalid_token", "Unauthorized: "+err.Error())
		return false
	case !g.sufficient(claims):
		g.challenge(w, r, http.StatusForbidden, "insufficient_scope", "Forbidden: the token lacks a scope")
		return false
	}
	return true
}

// accept checks what the token says.
func (g *guard) accept(c *tokenClaims, r *http.Request) error {
	flags := g.server.flags
	audience := g.Audience
	if audience == "" {
		audience = g.resource(r)
	}
	meant := slices.ContainsFunc(c.Audience, func(a string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(audience, "/") })
	switch now := time.Now(); {
	case c.Issuer != g.Issuer && !flags[FlagNoIssuerCheck]:
		return fmt.Errorf("the token is another issuer's")
	case !meant && !flags[FlagNoAudienceCheck]:
		return fmt.Errorf("the token is for another server")
	case !now.Before(time.Unix(int64(c.Expiry), 0)) && !flags[FlagNoExpiryCheck]:
		return fmt.Errorf("the token has expired")
	case now.Before(time.Unix(int64(c.NotBefore), 0)):
		return fmt.Errorf("the token is not valid yet")
	}
	return nil
}

func (g *guard) sufficient(c *tokenClaims) bool {
	has := strings.Fields(c.Scope)
	for _, scope := range strings.Fields(g.Scope) {
		if !slices.Contains(has, scope) {
			return false
		}
	}
	return true
}

// challenge refuses the request and says what is wanted.
func (g *guard) challenge(w http.ResponseWriter, r *http.Request, status int, code, why string) {
	value := fmt.Sprintf("Bearer resource_metadata=%q", origin(r)+resourceMetadata+strings.TrimSuffix(g.Path, "/"))
	if g.Scope != "" {
		value += fmt.Sprintf(", scope=%q", g.Scope)
	}
	if code != "" {
		value += fmt.Sprintf(", error=%q", code)
	}
	w.Header().Set("WWW-Authenticate", value)
	refuse(w, status, errorf(codeInvalidRequest, "%s", why))
}
