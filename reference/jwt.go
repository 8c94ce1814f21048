package reference

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// tokenClaims are those of an access token that are looked at.
type tokenClaims struct {
	Issuer    string   `json:"iss"`
	Audience  audience `json:"aud"`
	Expiry    float64  `json:"exp"`
	NotBefore float64  `json:"nbf"`
	Scope     string   `json:"scope"`
}

// audience is one text or a list of texts (RFC 7519, section 4.1.3).
type audience []string

func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

var errToken = errors.New("the token is not valid")

// keySet holds the keys of an issuer, fetched when they are first needed, and again for a key that it does not know.
type keySet struct {
	issuer string

	mu       sync.Mutex
	metadata []byte
	keys     map[string]crypto.PublicKey // by kid
}

// document is the issuer's metadata (RFC 8414).
func (k *keySet) document() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.metadata == nil {
		data, err := fetch(k.issuer + serverMetadata)
		if err != nil {
			return nil, err
		}
		k.metadata = data
	}
	return k.metadata, nil
}

// verify checks a token's signature and returns what it says. With unsigned, no signature is looked at.
func (k *keySet) verify(token string, unsigned bool) (*tokenClaims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errToken
	}
	var header struct{ Alg, Kid string }
	claims := &tokenClaims{}
	if decodePart(parts[0], &header) != nil || decodePart(parts[1], claims) != nil {
		return nil, errToken
	}
	if unsigned {
		return claims, nil
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, errToken
	}
	key, err := k.key(header.Kid)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch key := key.(type) {
	case *rsa.PublicKey:
		if header.Alg == "RS256" && rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) == nil {
			return claims, nil
		}
	case *ecdsa.PublicKey:
		if header.Alg == "ES256" && len(signature) == 64 &&
			ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
			return claims, nil
		}
	}
	return nil, errToken
}

func decodePart(part string, into any) error {
	data, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func (k *keySet) key(id string) (crypto.PublicKey, error) {
	k.mu.Lock()
	key := k.keys[id]
	k.mu.Unlock()
	if key != nil {
		return key, nil
	}
	document, err := k.document()
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Keys string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(document, &metadata); err != nil {
		return nil, errors.New("the issuer's metadata cannot be read")
	}
	data, err := fetch(metadata.Keys)
	if err != nil {
		return nil, err
	}
	keys, err := readKeys(data)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = keys
	if keys[id] == nil {
		return nil, errToken
	}
	return keys[id], nil
}

// readKeys reads a key set (RFC 7517). Keys of other kinds than RSA and P-256 are left out.
func readKeys(data []byte) (map[string]crypto.PublicKey, error) {
	var set struct {
		Keys []struct{ Kid, Kty, Crv, N, E, X, Y string }
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("the issuer's keys cannot be read")
	}
	number := func(text string) *big.Int {
		data, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return new(big.Int)
		}
		return new(big.Int).SetBytes(data)
	}
	keys := map[string]crypto.PublicKey{}
	for _, k := range set.Keys {
		switch {
		case k.Kty == "RSA":
			keys[k.Kid] = &rsa.PublicKey{N: number(k.N), E: int(number(k.E).Int64())}
		case k.Kty == "EC" && k.Crv == "P-256":
			x, xErr := base64.RawURLEncoding.DecodeString(k.X)
			y, yErr := base64.RawURLEncoding.DecodeString(k.Y)
			if key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y)); errors.Join(xErr, yErr, err) == nil {
				keys[k.Kid] = key
			}
		}
	}
	return keys, nil
}

// fetch gets a document of the issuer.
func fetch(url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, errors.New("the issuer's address is no URL")
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, errors.New("the issuer cannot be reached")
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answers %s", response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxMessageBytes))
}
