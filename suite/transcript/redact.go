package transcript

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

const (
	// redacted stands where a secret was. Inside URLs it is written without the brackets, which are not allowed there.
	redacted    = "[redacted]"
	redactedURL = "redacted"

	// minSecret is the length in bytes from which a secret value is replaced at all.
	minSecret = 4
	// longSecret is the length from which a value is replaced even where it may be part of the protocol by chance, and
	// from which a value that only looks like a credential is taken for one.
	longSecret = 8
)

// Redactor takes secrets out of a run, in a way that leaves what is judged as it was:
//
//   - The secret values that it was made with are replaced by [redacted] in data, headers, notes, problems, targets, roles
//     and capabilities, also where they are escaped as in JSON or a URL, or in base64. Inside a message that is JSON, only strings
//     change, and numbers that equal a secret, which become 0, so that the message stays JSON.
//   - Values of fewer than 4 bytes are not replaced, nor are words of the protocol ("name", "tools", "true"). Values of
//     fewer than 8 bytes are not replaced in member names, in numbers and in the members jsonrpc, method, type, role and
//     protocolVersion. So choose secrets of 8 bytes or more.
//   - The values of the headers Authorization, Proxy-Authorization, Cookie and Set-Cookie, of those whose names speak of keys,
//     tokens, secrets or passwords (but for Mcp- headers, which are judged) and of those named by Headers are always replaced;
//     credentials of 8 bytes or more that these hold are replaced wherever else they appear.
//   - Tokens of the options are replaced everywhere, too, if they have 8 bytes or more.
//   - In URLs, user and password are replaced, and the values of query parameters named like token, key, secret, password or
//     code. In data that is done in http and https URLs only, and for parameters of 8 bytes or more.
//   - The visible ASCII characters of an Mcp-Session-Id are replaced by a stand-in of the same length, the same for the same id
//     and different for different ids. Other characters stay, so that checks of the characters come out the same. Ids of
//     8 bytes or more are replaced wherever else they appear. So are ids of sessions over HTTP+SSE: the values, of 8 bytes or
//     more, in the query of the address that an endpoint event gives.
//
// Redacting twice is the same as redacting once.
type Redactor struct {
	secrets []string
	headers map[string]bool // canonical names
}

// NewRedactor makes a Redactor for the given secret values, such as those of headers and environment variables that the user
// gave. Which of them are used is said at Redactor.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{headers: map[string]bool{}}
	for _, secret := range secrets {
		for _, value := range []string{secret, strings.TrimSpace(secret)} {
			if isSecret(value) && !slices.Contains(r.secrets, value) {
				r.secrets = append(r.secrets, value)
			}
		}
	}
	return r
}

// Headers names further headers whose values are always replaced. It returns r.
func (r *Redactor) Headers(names ...string) *Redactor {
	for _, name := range names {
		r.headers[http.CanonicalHeaderKey(name)] = true
	}
	return r
}

// words are those of the protocol and of JSON Schema that somebody may well have in an environment variable.
var words = strings.Fields(`arguments array boolean call capabilities code completion content cursor
	data debug description error false get http https id image info inputSchema integer json jsonrpc level list localhost
	logging mcp message meta method mimeType name null number object params ping production progress prompt prompts
	properties read required resource resources result role roots sampling schema server session stdio string
	test text title tool tools true type user version warning assistant audio blob uri url value`)

// isSecret tells whether a value is one that can be replaced without harm.
func isSecret(value string) bool {
	return len(value) >= minSecret && !slices.Contains(words, strings.ToLower(value)) && !strings.Contains(redacted, value)
}

// Run returns a redacted copy of a run, in the very form in which Read gives back what Write has written: verdicts are
// computed from it, so that judging again later gives the same. Beside the secrets it changes what the file cannot hold:
// bytes that are not UTF-8 in header values are read as Latin-1, and elsewhere but in Data become U+FFFD. A nil r replaces nothing.
func (r *Redactor) Run(run *Run) *Run {
	p := newPass(r, run)
	out := &Run{Header: run.Header, Complete: run.Complete}
	h := &out.Header
	h.Format = FormatName
	h.Suite, h.Catalogue, h.Target = valid(h.Suite), valid(h.Catalogue), p.text(h.Target)
	h.Started = h.Started.Round(0).UTC()
	h.Problems = nil
	for _, problem := range run.Header.Problems {
		h.Problems = append(h.Problems, p.text(problem))
	}
	o := &h.Options
	o.CallTools, o.Select = valid(o.CallTools), valid(o.Select)
	o.Revisions = nonEmpty(slices.Clone(o.Revisions))
	o.Roles = nil
	for name, role := range run.Header.Options.Roles {
		if o.Roles == nil {
			o.Roles = map[string]Role{}
		}
		o.Roles[valid(name)] = p.role(role)
	}
	o.Allow = nil
	for _, role := range run.Header.Options.Allow {
		o.Allow = append(o.Allow, p.role(role))
	}
	o.Tokens = nil
	for kind, token := range run.Header.Options.Tokens {
		if o.Tokens == nil {
			o.Tokens = map[string]string{}
		}
		if p.on {
			token = redacted
		}
		o.Tokens[valid(kind)] = valid(token)
	}
	for _, s := range run.Sessions {
		session := *s
		session.Client = p.object(s.Client)
		session.Revision, session.Transport, session.Negotiated = valid(s.Revision), valid(s.Transport), p.text(s.Negotiated)
		session.Exchange, session.Name = valid(s.Exchange), valid(s.Name)
		session.Events = p.events(s.Events)
		out.Sessions = append(out.Sessions, &session)
	}
	for _, s := range run.Plays {
		play := *s
		play.Exchange, play.Revision, play.Transport = valid(s.Exchange), valid(s.Revision), valid(s.Transport)
		play.Problem = p.text(s.Problem)
		play.Events = p.events(s.Events)
		out.Plays = append(out.Plays, &play)
	}
	return out
}

func nonEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// latin1 gives every byte a character, so that different values stay different.
func latin1(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// pass is the redaction of one run.
type pass struct {
	on       bool // false: only the form is changed
	headers  map[string]bool
	sessions *standIns
	all      *strings.Replacer // every secret
	long     *strings.Replacer // those that may be replaced anywhere
	numbers  map[string]bool
}

func newPass(r *Redactor, run *Run) *pass {
	p := &pass{on: r != nil, sessions: newStandIns()}
	if !p.on {
		return p
	}
	p.headers = r.headers
	secrets := slices.Clone(r.secrets)
	add := func(value string) {
		if len(value) >= longSecret && isSecret(value) && !strings.Contains(value, redacted) && !slices.Contains(secrets, value) {
			secrets = append(secrets, value)
		}
	}
	addURL := func(text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		if password, ok := u.User.Password(); ok {
			add(password)
		} else {
			add(u.User.Username())
		}
		for name, values := range u.Query() {
			if isCredentialName(name) {
				for _, value := range values {
					add(value)
				}
			}
		}
	}
	addURL(run.Header.Target)
	for _, token := range run.Header.Options.Tokens {
		add(token)
	}
	each(run, func(e *Event) {
		if e.SSE != nil && e.SSE.Event == "endpoint" {
			p.addEndpoint(string(e.Data))
		}
		if e.HTTP == nil {
			return
		}
		addURL(e.HTTP.URL)
		for _, name := range sortedNames(e.HTTP.Headers) {
			for _, value := range e.HTTP.Headers[name] {
				canonical := http.CanonicalHeaderKey(name)
				switch {
				case canonical == "Mcp-Session-Id":
					p.sessions.add(latin1(value))
				case canonical == "Cookie" || canonical == "Set-Cookie":
					for i, pair := range strings.Split(value, ";") {
						if _, cookie, ok := strings.Cut(pair, "="); ok && (i == 0 || canonical == "Cookie") {
							add(strings.TrimSpace(cookie))
						}
					}
				case p.secretHeader(canonical):
					add(value)
					if _, credentials, ok := strings.Cut(value, " "); ok {
						add(strings.TrimSpace(credentials))
					}
				}
			}
		}
	})
	p.compile(secrets)
	return p
}

// addEndpoint takes the session id out of the address that an endpoint event of HTTP+SSE gives: whatever stands in its query.
func (p *pass) addEndpoint(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	for _, name := range sortedNames(u.Query()) {
		for _, value := range u.Query()[name] {
			if len(value) >= longSecret && isSecret(value) {
				p.sessions.add(value)
			}
		}
	}
}

// compile makes the replacers: longer values first, so that one that holds another goes whole.
func (p *pass) compile(secrets []string) {
	p.numbers = map[string]bool{}
	replace := map[string]string{redacted: redacted}
	for _, secret := range secrets {
		if len(secret) >= longSecret {
			p.numbers[secret] = true
		}
		quoted, err := wire.Encode(secret)
		if err != nil {
			quoted = []byte(`""`)
		}
		for _, form := range []string{secret, string(quoted[1 : len(quoted)-1]), url.QueryEscape(secret), url.PathEscape(secret),
			base64.StdEncoding.EncodeToString([]byte(secret))} {
			if isSecret(form) {
				replace[form] = redacted
			}
		}
	}
	for id, standIn := range p.sessions.byID {
		if len(id) >= longSecret && isSecret(id) {
			replace[id] = standIn
		}
	}
	from := make([]string, 0, len(replace))
	for text := range replace {
		from = append(from, text)
	}
	slices.SortFunc(from, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var all, long []string
	for _, text := range from {
		all = append(all, text, replace[text])
		if len(text) >= longSecret {
			long = append(long, text, replace[text])
		}
	}
	p.all, p.long = strings.NewReplacer(all...), strings.NewReplacer(long...)
}

// each visits all events of a run in their order.
func each(run *Run, visit func(*Event)) {
	for _, session := range run.Sessions {
		for i := range session.Events {
			visit(&session.Events[i])
		}
	}
	for _, play := range run.Plays {
		for i := range play.Events {
			visit(&play.Events[i])
		}
	}
}

func (p *pass) events(events []Event) []Event {
	out := make([]Event, 0, len(events))
	for _, e := range events {
		e.Data = p.data(e.Data)
		if e.Note != Automatic {
			e.Note = p.text(e.Note)
		}
		if e.HTTP != nil {
			h := *e.HTTP
			h.Method, h.URL, h.Headers = valid(h.Method), p.text(h.URL), p.header(h.Headers)
			e.HTTP = &h
		}
		if e.SSE != nil {
			s := *e.SSE
			s.Event = p.text(s.Event)
			if s.ID != nil {
				id := p.text(*s.ID)
				s.ID = &id
			}
			e.SSE = &s
		}
		if e.Exit != nil {
			status := *e.Exit
			status.Signal = valid(status.Signal)
			e.Exit = &status
		}
		out = append(out, e)
	}
	return nonEmpty(out)
}

func (p *pass) header(headers map[string][]string) map[string][]string {
	if len(headers) == 0 {
		return nil
	}
	out := map[string][]string{}
	for _, name := range sortedNames(headers) {
		values := slices.Clone(headers[name])
		canonical := http.CanonicalHeaderKey(name)
		for i, value := range values {
			value = latin1(value)
			switch {
			case p.on && canonical == "Mcp-Session-Id":
				values[i] = p.sessions.add(value)
			case p.on && p.secretHeader(canonical):
				values[i] = redacted
			default:
				values[i] = p.text(value)
			}
		}
		if before, twice := out[valid(name)]; twice {
			values = append(before, values...)
		}
		out[valid(name)] = values
	}
	return out
}

func sortedNames(headers map[string][]string) []string {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (p *pass) role(role Role) Role {
	return Role{Name: p.text(role.Name), URI: p.text(role.URI), Arguments: p.object(role.Arguments)}
}

// object redacts an object's strings and gives its values the form that Read gives them.
func (p *pass) object(object map[string]any) map[string]any {
	if len(object) == 0 {
		return nil
	}
	normal, err := wire.Normal(object)
	if err != nil {
		return object // Write will say so
	}
	out, _ := p.value(normal).(map[string]any)
	return out
}

func (p *pass) value(v any) any {
	switch v := v.(type) {
	case string:
		return p.text(v)
	case []any:
		for i := range v {
			v[i] = p.value(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = p.value(v[name])
		}
	}
	return v
}

// text redacts what is for people, and metadata.
func (p *pass) text(s string) string {
	s = valid(s)
	if !p.on {
		return s
	}
	return redactURLs(p.all.Replace(s), false)
}

// data redacts the bytes of a message, or whatever came instead of one.
func (p *pass) data(data []byte) []byte {
	if !p.on || len(data) == 0 {
		return slices.Clone(data)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	mark := string(data[:len(data)-len(text)])
	if json.Valid([]byte(text)) {
		return []byte(mark + p.message(text))
	}
	return []byte(redactURLs(p.all.Replace(string(data)), true))
}
