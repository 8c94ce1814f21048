package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The kinds of tokens, as exchanges name them: ${auth.tokens["expired"]}.
const (
	Valid             = "valid"              // opens the server
	Expired           = "expired"            // was valid once
	ForeignAudience   = "foreign-audience"   // issued for another server
	ForeignIssuer     = "foreign-issuer"     // signed with the right key, and names another issuer
	ForeignKey        = "foreign-key"        // signed with a key that the issuer does not publish
	Unsigned          = "unsigned"           // "alg": "none"
	InsufficientScope = "insufficient-scope" // valid, but for its scopes
)

// Kinds lists them.
func Kinds() []string {
	return []string{Valid, Expired, ForeignAudience, ForeignIssuer, ForeignKey, Unsigned, InsufficientScope}
}

const (
	// DefaultScope is the scope of the tokens that open a server.
	DefaultScope = "mcp"
	// lifetime of a token: longer than any run.
	lifetime = 24 * time.Hour
	// elsewhere is the audience and the issuer of tokens for and of others; the name is reserved for never existing.
	elsewhere = "https://elsewhere.invalid"
)

// claims are what sets a token apart from a good one.
type claims struct {
	issuer   string // "": the server's own
	audience []string
	scope    string
	ago      time.Duration // how long ago it was issued
	key      *rsa.PrivateKey
	unsigned bool
}

// Tokens mints one of each kind for the server whose audience it is, with the scope ("": DefaultScope). The error is that of
// signing.
func (s *Server) Tokens(audience, scope string) (map[string]string, error) {
	if scope == "" {
		scope = DefaultScope
	}
	good := claims{audience: []string{audience}, scope: scope}
	with := func(change func(*claims)) claims {
		c := good
		change(&c)
		return c
	}
	tokens := map[string]string{}
	for kind, c := range map[string]claims{
		Valid:             good,
		Expired:           with(func(c *claims) { c.ago = 2 * lifetime }),
		ForeignAudience:   with(func(c *claims) { c.audience = []string{elsewhere + "/mcp"} }),
		ForeignIssuer:     with(func(c *claims) { c.issuer = elsewhere }),
		ForeignKey:        with(func(c *claims) { c.key = s.keys.foreign }),
		Unsigned:          with(func(c *claims) { c.unsigned = true }),
		InsufficientScope: with(func(c *claims) { c.scope = "litmus:nothing" }),
	} {
		token, err := s.mint(c)
		if err != nil {
			return nil, err
		}
		tokens[kind] = token
	}
	return tokens, nil
}

// mint makes a JWT access token of RFC 9068.
func (s *Server) mint(c claims) (string, error) {
	if c.issuer == "" {
		c.issuer = s.issuer
	}
	if c.key == nil {
		c.key = s.keys.published
	}
	issued := time.Now().Add(-c.ago)
	payload := struct {
		jwt.Claims
		ClientID string `json:"client_id"`
		Scope    string `json:"scope"`
	}{
		Claims: jwt.Claims{
			Issuer: c.issuer, Subject: ClientID, Audience: c.audience, ID: rand.Text(),
			IssuedAt: jwt.NewNumericDate(issued), Expiry: jwt.NewNumericDate(issued.Add(lifetime)),
		},
		ClientID: ClientID, Scope: c.scope,
	}
	if c.unsigned { // which no library makes, for good reason
		body, err := json.Marshal(payload)
		if err != nil {
			return "", fmt.Errorf("a token cannot be made: %w", err)
		}
		encode := base64.RawURLEncoding.EncodeToString
		return encode([]byte(`{"alg":"none","typ":"at+jwt"}`)) + "." + encode(body) + ".", nil
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: c.key, KeyID: s.keys.id}},
		(&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		return "", fmt.Errorf("a token cannot be signed: %w", err)
	}
	token, err := jwt.Signed(signer).Claims(payload).Serialize()
	if err != nil {
		return "", fmt.Errorf("a token cannot be signed: %w", err)
	}
	return token, nil
}
