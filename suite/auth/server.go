// Package auth is a small authorization server on a loopback address, for judging servers that ask for authorization: a server
// under test is told to trust it, and the tokens that it mints, good ones and bad ones, are what the exchanges send.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// DefaultAddress is where the server listens unless told otherwise: any free port of the loopback interface.
const DefaultAddress = "127.0.0.1:0"

// ClientID names the one client of the token endpoint, which is there from the start.
const ClientID = "mcp-litmus"

const (
	jwksPath  = "/jwks.json"
	tokenPath = "/token"
	maxForm   = 64 << 10
)

// Server is an authorization server. It issues JWT access tokens (RFC 9068) that are signed with RS256, and serves its metadata
// (RFC 8414, and the same document where OpenID Connect Discovery 1.0 looks for it), its keys, and a token endpoint for the client
// credentials grant (RFC 6749, section 4.4). It keeps nothing.
type Server struct {
	issuer string
	secret string
	keys   *keys
	web    *http.Server
	ended  chan struct{}
}

// keys are a key that the server publishes and one that nobody knows.
type keys struct {
	published, foreign *rsa.PrivateKey
	id                 string
}

// newKeys makes them once a process: it takes long.
var newKeys = sync.OnceValues(func() (*keys, error) {
	k := &keys{id: rand.Text()[:12]}
	var err error
	if k.published, err = rsa.GenerateKey(rand.Reader, 2048); err == nil {
		k.foreign, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	return k, err
})

// Start makes a server listen at address, HOST:PORT with a loopback host (port 0: any free one; "" is DefaultAddress). The error
// says why it cannot.
func Start(address string) (*Server, error) {
	if address == "" {
		address = DefaultAddress
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the authorization server cannot listen at %q: write HOST:PORT, such as %s", address, DefaultAddress)
	}
	// Its tokens open the server under test, and over plain HTTP they must not leave the machine.
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the authorization server cannot listen at %q: only at a loopback address, such as %s", address, DefaultAddress)
	}
	k, err := newKeys()
	if err != nil {
		return nil, fmt.Errorf("the authorization server's keys cannot be made: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the authorization server cannot listen: %w", err)
	}
	s := &Server{issuer: "http://" + listener.Addr().String(), secret: rand.Text(), keys: k, ended: make(chan struct{})}
	mux := http.NewServeMux()
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.metadata()) })
	}
	mux.HandleFunc("GET "+jwksPath, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.keySet()) })
	mux.HandleFunc("POST "+tokenPath, s.token)
	s.web = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.ended)
		_ = s.web.Serve(listener) // ends by Close only
	}()
	return s, nil
}

// Close ends the server.
func (s *Server) Close() error {
	err := s.web.Close()
	<-s.ended
	return err
}

// Issuer is the issuer identifier: the server's own address, without a slash at the end.
func (s *Server) Issuer() string { return s.issuer }

// JWKS is the URL of the keys.
func (s *Server) JWKS() string { return s.issuer + jwksPath }

// ClientSecret is the password of the client ClientID, made at the start.
func (s *Server) ClientSecret() string { return s.secret }

// metadata is the document of RFC 8414, section 2, with what OpenID Connect Discovery asks for beside.
func (s *Server) metadata() map[string]any {
	return map[string]any{
		"issuer":                                s.issuer,
		"token_endpoint":                        s.issuer + tokenPath,
		"jwks_uri":                              s.JWKS(),
		"response_types_supported":              []string{},
		"grant_types_supported":                 []string{"client_credentials"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"code_challenge_methods_supported":      []string{"S256"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{string(jose.RS256)},
	}
}

func (s *Server) keySet() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: s.keys.published.Public(), KeyID: s.keys.id, Algorithm: string(jose.RS256), Use: "sig"},
	}}
}

// token is the token endpoint. The audience is what the parameter resource names (RFC 8707), the server's own issuer without
// one.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code, why string) {
		writeJSON(w, status, map[string]any{"error": code, "error_description": why})
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		refuse(http.StatusBadRequest, "invalid_request", "the body is no form")
		return
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if id != ClientID || subtle.ConstantTimeCompare([]byte(secret), []byte(s.secret)) != 1 {
		w.Header().Set("WWW-Authenticate", `Basic realm="mcp-litmus"`)
		refuse(http.StatusUnauthorized, "invalid_client", "the client is not known, or its secret is another")
		return
	}
	if grant := r.PostForm.Get("grant_type"); grant != "client_credentials" {
		refuse(http.StatusBadRequest, "unsupported_grant_type", "there is only client_credentials")
		return
	}
	audience := r.PostForm["resource"]
	if len(audience) == 0 {
		audience = []string{s.issuer}
	}
	scope := strings.Join(strings.Fields(r.PostForm.Get("scope")), " ")
	token, err := s.mint(claims{audience: audience, scope: scope})
	if err != nil {
		refuse(http.StatusInternalServerError, "server_error", "the token cannot be signed")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": int(lifetime / time.Second), "scope": scope,
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, errors.New("the answer cannot be written").Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}
