package script

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// challengesOf are the challenges of an HTTP answer, given its headers with names in lower case: what WWW-Authenticate asks
// for, each with its scheme in lower case and its parameters, names in lower case. Without the header, and from where it cannot be
// read on, there are none.
// Source: RFC 9110, sections 11.2, 11.3 and 11.6.1.
func challengesOf(v any) (any, error) {
	headers, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("challenges: needs the headers of an answer, not %T", v)
	}
	text, _ := headers["www-authenticate"].(string)
	return Challenges(text), nil
}

// Challenges reads the value of WWW-Authenticate, several joined by commas, into objects {scheme, params}.
func Challenges(text string) []any {
	out := []any{}
	var params map[string]any
	s := &fieldScanner{rest: text}
	for {
		s.skip(" \t,")
		name := s.token()
		if name == "" {
			return out
		}
		after := s.rest
		s.skip(" \t")
		if value, ok := s.value(); ok && params != nil {
			params[strings.ToLower(name)] = value
			continue
		}
		s.rest = after
		params = map[string]any{}
		out = append(out, map[string]any{"scheme": strings.ToLower(name), "params": params})
		s.token68()
	}
}

type fieldScanner struct{ rest string }

func (s *fieldScanner) skip(chars string) { s.rest = strings.TrimLeft(s.rest, chars) }

func isTokenChar(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

func (s *fieldScanner) token() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool { return !isTokenChar(r) })
	if end < 0 {
		end = len(s.rest)
	}
	t := s.rest[:end]
	s.rest = s.rest[end:]
	return t
}

// value reads "=" and a token or a quoted text.
func (s *fieldScanner) value() (string, bool) {
	if !strings.HasPrefix(s.rest, "=") {
		return "", false
	}
	s.rest = s.rest[1:]
	s.skip(" \t")
	if !strings.HasPrefix(s.rest, `"`) {
		t := s.token()
		return t, t != ""
	}
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\\' && i+1 < len(s.rest):
			i++
			b.WriteByte(s.rest[i])
		case c == '"':
			s.rest = s.rest[i+1:]
			return b.String(), true
		default:
			b.WriteByte(c)
		}
	}
	s.rest = ""
	return b.String(), true
}

// token68 passes over credentials of the old form, which stand behind a scheme instead of parameters: letters with padding, up to a
// comma or the end.
func (s *fieldScanner) token68() {
	trimmed := strings.TrimLeft(s.rest, " \t")
	end := strings.IndexByte(trimmed, ',')
	if end < 0 {
		end = len(trimmed)
	}
	word := strings.TrimRight(trimmed[:end], " \t")
	bare := strings.TrimRight(word, "=")
	if word != "" && strings.IndexFunc(bare, func(r rune) bool { return !isTokenChar(r) && r != '/' }) < 0 {
		s.rest = trimmed[end:]
	}
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// partsOfURI takes a URI apart; the error says that it is none. Scheme and host are in lower case, and a port that is the
// scheme's own is filled in.
// Source: RFC 3986, section 3.
func partsOfURI(v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("uri: needs a text, not %T", v)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return nil, fmt.Errorf("uri: the text is no URI with a scheme")
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = defaultPorts[u.Scheme]
	}
	ip := net.ParseIP(host)
	parts := map[string]any{
		"scheme": u.Scheme, "host": host, "port": port, "path": u.EscapedPath(), "query": u.RawQuery, "fragment": u.EscapedFragment(),
		"loopback": host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback(),
	}
	parts["origin"] = u.Scheme + "://" + net.JoinHostPort(host, port)
	return parts, nil
}
