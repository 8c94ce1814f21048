package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
)

// environment expands ${NAME} and ${NAME:-default}, and remembers the values that must stay secret.
type environment struct {
	lookup  func(string) (string, bool)
	secrets []string
}

// reference is ${NAME}, ${NAME:-default}, $${ (a literal ${), or a ${ that is none of these.
var reference = regexp.MustCompile(`\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}|\$\{`)

// expand is s with its references replaced. With secret, values from the environment are remembered.
// As in a shell, a default stands in for a variable that is unset or empty.
func (e *environment) expand(s string, at script.Position, secret bool, m *mistakes) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var b strings.Builder
	end := 0
	for _, f := range reference.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[end:f[0]])
		end = f[1]
		switch match := s[f[0]:f[1]]; {
		case match == "$${":
			b.WriteString("${")
		case match == "${":
			m.add(at, "%q is no reference to the environment; write ${NAME} or ${NAME:-default}, or $${ for a literal ${", s[f[0]:])
			return s
		default:
			name := s[f[2]:f[3]]
			v, ok := e.lookup(name)
			switch {
			case v == "" && f[4] >= 0:
				v = s[f[6]:f[7]]
			case !ok:
				m.add(at, "the environment variable %s is not set; set it, or give a default: ${%s:-default}", name, name)
			case secret:
				e.keep(v)
			}
			b.WriteString(v)
		}
	}
	b.WriteString(s[end:])
	return b.String()
}

// keep remembers a secret. What is too short or too common to be one is left out: redacting every "1" or "3000"
// would spoil the evidence and protect nothing.
func (e *environment) keep(v string) {
	v = strings.TrimSpace(v)
	digits := strings.Trim(v, "0123456789") == ""
	if len(v) < 4 || digits && len(v) <= 5 || v == "true" || v == "false" || slices.Contains(e.secrets, v) {
		return
	}
	e.secrets = append(e.secrets, v)
}

var credential = regexp.MustCompile(`(?i)auth|cookie|token|secret|passw|passphrase|session|signature|credential|key$|[-_]key|apikey`)

// Inherited picks, from an environment in the form NAME=value, the values that are credentials by their names. A server's
// process inherits them, and a tool that shows its environment must not carry them into a transcript.
func Inherited(environ []string) []string {
	var out []string
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if credential.MatchString(name) && len(value) >= 8 && !strings.Contains(value, "/") {
			out = append(out, value)
		}
	}
	return out
}

// keepNamed remembers the value of a header or variable whose name says that it is a credential, with and without
// a scheme such as Bearer before it.
func (e *environment) keepNamed(name, v string) {
	if !credential.MatchString(name) {
		return
	}
	e.keep(v)
	if scheme, rest, ok := strings.Cut(v, " "); ok && (strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic") || strings.EqualFold(scheme, "token")) {
		e.keep(rest)
	}
}
