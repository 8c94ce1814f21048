package transcript

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// protocolMembers hold words of the protocol, which a short secret may equal by chance.
var protocolMembers = map[string]bool{"jsonrpc": true, "method": true, "type": true, "role": true, "protocolVersion": true}

// message redacts a text that is valid JSON. All but the strings and numbers that hold a secret stays byte by byte.
func (p *pass) message(text string) string {
	var out strings.Builder
	var name string // the member name that was read last
	var before byte // the last byte that is no white space, before the current token
	for i := 0; i < len(text); {
		c := text[i]
		end := i + 1
		switch {
		case c == '"':
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end++
			isName := strings.HasPrefix(strings.TrimLeft(text[end:], " \t\r\n"), ":")
			of := ""
			if before == ':' {
				of = name
			}
			decoded, written := p.jsonString(text[i:end], isName, of)
			if isName {
				name = decoded
			}
			out.WriteString(written)
			before = c
		case c == '-' || c >= '0' && c <= '9':
			for end < len(text) && strings.IndexByte("0123456789+-.eE", text[end]) >= 0 {
				end++
			}
			if p.numbers[text[i:end]] {
				out.WriteByte('0')
			} else {
				out.WriteString(text[i:end])
			}
			before = c
		default:
			out.WriteByte(c)
			if strings.IndexByte(" \t\r\n", c) < 0 {
				before = c
			}
		}
		i = end
	}
	return out.String()
}

// jsonString redacts one string, quotes included, and returns it decoded and as it is to be written. of is the name of the
// member whose value it is.
func (p *pass) jsonString(quoted string, isName bool, of string) (decoded, written string) {
	// The error says that it is not UTF-8; what could be read is read.
	raw, _ := jsontext.AppendUnquote(nil, quoted)
	decoded = string(raw)
	var after string
	if isName || protocolMembers[of] {
		after = p.long.Replace(decoded)
	} else {
		after = redactURLs(p.all.Replace(decoded), true)
	}
	if after == decoded {
		return decoded, quoted
	}
	encoded, _ := jsontext.AppendQuote(nil, after)
	return decoded, string(encoded)
}

var (
	anyURL   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\]+`)
	userInfo = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#@]+(?:@[^/?#@]+)*)@`)
	// A parameter of a URL or of a part of one.
	parameter = regexp.MustCompile(`([?&;#])([A-Za-z0-9_.~%\[\]-]+)=([^&;#\s"'<>\\]+)`)

	credentialName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|signature|api[_-]?key|access[_-]?key|private[_-]?key|^(key|code|auth|sig|pwd|pass)$`)
	secretName     = regexp.MustCompile(`(?i)token|secret|password|api-?key|access-?key|auth-?key|private-?key`)
)

func isCredentialName(name string) bool { return credentialName.MatchString(name) }

// secretHeader tells whether a header's value is never to be seen.
func (p *pass) secretHeader(canonical string) bool {
	switch canonical {
	case "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie":
		return true
	}
	return p.headers[canonical] || !strings.HasPrefix(canonical, "Mcp-") && secretName.MatchString(canonical)
}

// redactURLs takes credentials out of the URLs in a text. In data it is more careful: it leaves alone what other schemes mean
// by a query, and values that are too short for a credential.
func redactURLs(s string, data bool) string {
	if !strings.Contains(s, "://") && (data || !strings.Contains(s, "=")) {
		return s
	}
	s = anyURL.ReplaceAllStringFunc(s, func(u string) string {
		web := len(u) > 7 && (strings.EqualFold(u[:7], "http://") || strings.EqualFold(u[:min(8, len(u))], "https://"))
		if m := userInfo.FindStringSubmatch(u); m != nil && (web || strings.Contains(m[2], ":")) {
			u = m[1] + redactedURL + u[len(m[0])-1:]
		}
		if data && web {
			u = redactParameters(u, longSecret)
		}
		return u
	})
	if !data {
		s = redactParameters(s, 1)
	}
	return s
}

func redactParameters(s string, least int) string {
	return parameter.ReplaceAllStringFunc(s, func(found string) string {
		m := parameter.FindStringSubmatch(found)
		if len(m[3]) < least || !isCredentialName(m[2]) || m[3] == redacted || m[3] == redactedURL {
			return found
		}
		return m[1] + m[2] + "=" + redactedURL
	})
}
