package transcript

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
)

const secret = `s3cr"et/välue+1`

func TestTokensOfTheOptionsAreSecrets(t *testing.T) {
	g := gomega.NewWithT(t)
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl"
	run := &Run{
		Header: Header{Options: Options{Tokens: map[string]string{"expired": token, "short": "abc"}}, Problems: []string{"refused " + token}},
		Plays: []*Play{{Events: []Event{
			{Kind: Send, HTTP: &HTTP{Method: "GET", URL: "http://h/mcp?access_token=" + token, Headers: map[string][]string{"Authorization": {"Bearer " + token}}}},
			{Kind: Answer, HTTP: &HTTP{Status: 401, Headers: map[string][]string{"X-Echo": {"you sent " + token}}}},
			{Kind: Receive, Data: []byte(`{"error":{"message":"bad token ` + token + `"}}`)},
			{Kind: Stderr, Data: []byte("token=" + token)},
		}}},
	}
	out := NewRedactor().Run(run)
	var file bytes.Buffer
	g.Expect(Write(&file, out, nil)).To(gomega.Succeed())
	g.Expect(file.String()).NotTo(gomega.ContainSubstring(token))
	g.Expect(out.Header.Options.Tokens).To(gomega.Equal(map[string]string{"expired": redacted, "short": redacted}))
	back, err := Read(&file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(back.Header.Options.Tokens).To(gomega.Equal(out.Header.Options.Tokens))
}

func TestSecretsAreRedactedEverywhere(t *testing.T) {
	g := gomega.NewWithT(t)
	inJSON, err := json.Marshal(map[string]any{"text": "<" + secret + ">", secret: 1, "nested": `{"k":"s3cr\"et/välue+1"}`})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ascii := `{"a":"x s3cr\u0022et\/v\u00e4lue+1 y"}`
	everywhere := []Event{
		{Kind: Send, Data: inJSON, HTTP: &HTTP{Method: "POST", URL: "http://h/?x=s3cr%22et%2Fv%C3%A4lue%2B1",
			Headers: map[string][]string{"X-Mine": {"a " + secret}}}},
		{Kind: Receive, Data: []byte(ascii), SSE: &SSE{Event: secret, ID: pointer("id-" + secret)}},
		{Kind: Stderr, Data: []byte("log: " + secret + "\n\xff")},
		{Kind: Receive, Data: []byte(`{"broken": "s3cr\"et/välue+1"`)},
		{Kind: Receive, Data: []byte("\ufeff" + ascii)},
		{Kind: End, Note: "failed with " + secret},
		{Kind: Receive, Data: []byte(base64.StdEncoding.EncodeToString([]byte(secret)))},
	}
	run := &Run{
		Header: Header{Target: "server --key " + secret, Problems: []string{"it wrote to stderr: bad key " + secret}, Options: Options{
			Roles: map[string]Role{"r": {Name: secret, URI: "x://" + secret, Arguments: map[string]any{"a": []any{secret}}}},
			Allow: []Role{{Name: secret}}}},
		Sessions: []*Session{{Client: map[string]any{"x": map[string]any{"y": secret}}, Negotiated: secret, Events: everywhere}},
		Plays:    []*Play{{Problem: secret, Events: everywhere}},
	}
	r := NewRedactor(secret)
	text := write(t, run, r)
	for _, form := range []string{"s3cr", "välue", "v\\u00e4lue", "v%C3%A4lue", base64.StdEncoding.EncodeToString([]byte(secret))} {
		g.Expect(string(text)).NotTo(gomega.ContainSubstring(form))
	}
	out := r.Run(run)
	g.Expect(out.Header.Problems).To(gomega.Equal([]string{"it wrote to stderr: bad key " + redacted}))
	g.Expect(string(out.Sessions[0].Events[0].Data)).To(gomega.MatchJSON(
		`{"[redacted]":1,"nested":"{\"k\":\"[redacted]\"}","text":"<[redacted]>"}`))
	g.Expect(string(out.Sessions[0].Events[1].Data)).To(gomega.Equal(`{"a":"x [redacted] y"}`))
	g.Expect(string(out.Sessions[0].Events[2].Data)).To(gomega.Equal("log: [redacted]\n\xff"))
	g.Expect(out.Header.Options.Roles["r"]).To(gomega.Equal(
		Role{Name: redacted, URI: "x://" + redacted, Arguments: map[string]any{"a": []any{redacted}}}))
	g.Expect(string(run.Sessions[0].Events[2].Data)).To(gomega.ContainSubstring(secret), "the run itself")
}

func TestSecretHeadersAreRedactedAndTheirValuesElsewhere(t *testing.T) {
	g := gomega.NewWithT(t)
	event := Event{Kind: Send, Data: []byte(`{"echo":"Bearer abcdefgh12345678","cookie":"sid0123456789","short":"lite"}`), HTTP: &HTTP{
		Headers: map[string][]string{
			"Authorization": {"Bearer abcdefgh12345678"}, "proxy-authorization": {"Basic eHg6eXk="}, "Cookie": {"theme=lite; sid=sid0123456789"},
			"Set-Cookie": {"a=b; Path=/; HttpOnly", "c=d"}, "X-Api-Key": {"k"}, "X-Custom": {"v"}, "Mcp-Param-Token": {"seen"}, "Accept": {"*/*"},
		}}}
	out := NewRedactor().Headers("x-custom").Run(&Run{Plays: []*Play{{Events: []Event{event}}}}).Plays[0].Events[0]
	g.Expect(out.HTTP.Headers).To(gomega.Equal(map[string][]string{
		"Authorization": {redacted}, "proxy-authorization": {redacted}, "Cookie": {redacted}, "Set-Cookie": {redacted, redacted},
		"X-Api-Key": {redacted}, "X-Custom": {redacted}, "Mcp-Param-Token": {"seen"}, "Accept": {"*/*"},
	}))
	g.Expect(string(out.Data)).To(gomega.Equal(`{"echo":"[redacted]","cookie":"[redacted]","short":"lite"}`))
}

func TestCredentialsInURLs(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:pw@example.com/mcp":                     "https://redacted@example.com/mcp",
		"https://tok@example.com/mcp?a=1":                     "https://redacted@example.com/mcp?a=1",
		"http://h/mcp?api_key=x&a=1&code=2#access_token=z":    "http://h/mcp?api_key=redacted&a=1&code=redacted#access_token=redacted",
		"http://h/mcp?zipcode=1&keyboard=2":                   "http://h/mcp?zipcode=1&keyboard=2",
		"dial http://u:p@h/ and https://v@h/?Password=q done": "dial http://redacted@h/ and https://redacted@h/?Password=redacted done",
		"ssh://git@host/x postgres://u:p@db/x":                "ssh://git@host/x postgres://redacted@db/x",
		"/mcp?token=abc":                                      "/mcp?token=redacted",
		"http://h:80/a@b?x=://":                               "http://h:80/a@b?x=://",
	} {
		out := NewRedactor().Run(&Run{Header: Header{Target: in}}).Header.Target
		if out != want {
			t.Errorf("%q became %q, want %q", in, out, want)
		}
	}
	for in, want := range map[string]string{
		`{"uri":"db://row?key=12345678"}`:                        `{"uri":"db://row?key=12345678"}`,
		`{"uri":"https://h/a?key=1"}`:                            `{"uri":"https://h/a?key=1"}`,
		`{"url":"https:\/\/u:p@h\/a?key=12345678&b=\u0031"}`:     `{"url":"https://redacted@h/a?key=redacted&b=1"}`,
		`{"text":"see https://h/?token=abcdefghij, or a\u0062"}`: `{"text":"see https://h/?token=redacted or ab"}`,
		`no json https://u:p@h/`:                                 `no json https://redacted@h/`,
	} {
		out := NewRedactor().Run(&Run{Plays: []*Play{{Events: []Event{{Data: []byte(in)}}}}}).Plays[0].Events[0].Data
		if string(out) != want {
			t.Errorf("%q became %q, want %q", in, out, want)
		}
	}
}

func TestProtocolSurvivesUnluckySecrets(t *testing.T) {
	message := `{"jsonrpc":"2.0","id":12345678,"method":"tools/list","params":{"name":"list","ttl":3000,"type":"list","b":true,"n":[null,1.5e3]}}`
	for _, c := range []struct {
		secrets []string
		want    string
	}{
		{[]string{"", "a", "abc", "name", "true", "null", "tools", "jsonrpc", "redacted", "redact"}, message},
		{[]string{"3000", "true", "1.5e3"}, message},
		{[]string{"params2", "para"}, message},
		{[]string{"/lis"}, message},
		{[]string{"12345678"}, strings.Replace(message, "12345678", "0", 1)},
		{[]string{"n\":[null"}, message},
	} {
		out := NewRedactor(c.secrets...).Run(&Run{Plays: []*Play{{Events: []Event{{Data: []byte(message)}}}}}).Plays[0].Events[0].Data
		if string(out) != c.want {
			t.Errorf("%q: %s, want %s", c.secrets, out, c.want)
		}
	}
	// The n of the escape \n is no part of the secret.
	out := NewRedactor("nabcd").Run(&Run{Plays: []*Play{{Events: []Event{{Data: []byte(`{"a":"\nabcd"}`)}}}}}).Plays[0].Events[0].Data
	if string(out) != `{"a":"\nabcd"}` {
		t.Errorf("an escape was taken for a part of the secret: %s", out)
	}
}

func sessionRun(ids ...string) *Run {
	run := &Run{}
	for i, id := range ids {
		run.Sessions = append(run.Sessions, &Session{Number: i + 1, Events: []Event{
			{Kind: Answer, HTTP: &HTTP{Headers: map[string][]string{"Mcp-Session-Id": {id}}}},
			{Kind: Receive, Data: []byte(`{"log":"session ` + id + ` began"}`)},
		}})
	}
	return run
}

func TestSessionIDsKeepTheirShape(t *testing.T) {
	g := gomega.NewWithT(t)
	ids := []string{
		"0a1b2c3d-0000-4000-8000-1234567890ab", "1a1b2c3d-0000-4000-8000-1234567890ab", "0a1b2c3d-0000-4000-8000-1234567890ab",
		"1", "2", "session-2x", "session-1x", "with space 12345", "caf\u00e9-12345678", "caf\xe9-12345678", "",
	}
	run := sessionRun(ids...)
	out := NewRedactor().Run(run)
	got := make([]string, len(ids))
	for i, session := range out.Sessions {
		got[i] = session.Events[0].HTTP.Headers["Mcp-Session-Id"][0]
	}
	g.Expect(got).To(gomega.Equal([]string{
		"session-1xxxxxxxxxxxxxxxxxxxxxxxxxxx", "session-2xxxxxxxxxxxxxxxxxxxxxxxxxxx", "session-1xxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"1", "2", "session-1x", "session-2x", "sess ion-1 xxxxx", "ses\u00e9sion-1xxx", "ses\u00e9sion-1xxx", "",
	}))
	g.Expect(string(out.Sessions[1].Events[1].Data)).To(gomega.Equal(`{"log":"session session-2xxxxxxxxxxxxxxxxxxxxxxxxxxx began"}`))
	g.Expect(string(out.Sessions[3].Events[1].Data)).To(gomega.Equal(`{"log":"session 1 began"}`), "too short to be replaced in data")
	if again := NewRedactor().Run(out); !reflect.DeepEqual(out, again) {
		t.Error("the stand-ins of stand-ins differ: " + cmp.Diff(out, again))
	}
}

func TestStandInsAreDistinct(t *testing.T) {
	s := newStandIns()
	seen := map[string]bool{}
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, a := range chars {
		for _, b := range chars {
			standIn := s.add(string(a) + string(b))
			if len(standIn) != 2 || seen[standIn] {
				t.Fatalf("%c%c became %q, which is taken or of another length", a, b, standIn)
			}
			seen[standIn] = true
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"a":"hunter2-secret","b":[1,"\"hunter2-secret\\"],"hunter2-secret":12345678}`), "hunter2-secret", "abc-session-id")
	f.Add([]byte("plain hunter2 https://u:p@h/?key=12345678\xff"), "hunter2", "\xff")
	f.Add([]byte(`"\ud800 \u0068unter2"`), "hunter2", "")
	f.Add([]byte(`{"https://a?key=12345678":"x://:@"}`), "://:", "https://a")
	f.Add([]byte(`[12345678]`), "12345678", "12345678")
	f.Fuzz(func(t *testing.T, data []byte, secret, session string) {
		run := sessionRun(session)
		run.Plays = []*Play{{Problem: string(data), Events: []Event{{Kind: Receive, Data: data}, {Kind: End, Note: string(data)}}}}
		r := NewRedactor(secret)
		out := r.Run(run)
		after := out.Plays[0].Events[0].Data
		if json.Valid(data) && !json.Valid(after) {
			t.Fatalf("%q is no JSON any more: %q", data, after)
		}
		if len(secret) >= longSecret && isSecret(secret) && utf8.ValidString(secret) && !json.Valid(data) &&
			!strings.Contains(redacted+redactedURL+redacted, secret) && bytes.Contains(after, []byte(secret)) && session == "" {
			// What was put in may join with what is around it, but only to a secret that looks like it.
			if !strings.ContainsAny(secret, "[]") && !strings.Contains(secret, redactedURL) {
				t.Fatalf("%q is still in %q", secret, after)
			}
		}
		text := write(t, run, r)
		again, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(out, again) {
			t.Fatal(cmp.Diff(out, again))
		}
	})
}

func TestSessionIDsOfHTTPWithSSE(t *testing.T) {
	g := gomega.NewWithT(t)
	run := &Run{Sessions: []*Session{{Number: 1, Events: []Event{
		{Kind: Receive, Stream: Carrier, SSE: &SSE{Event: "endpoint"}, Data: []byte("/message?sessionId=0a1b2c3d4e5f&v=1")},
		{Kind: Send, Stream: 2, HTTP: &HTTP{Method: "POST", URL: "http://127.0.0.1/message?sessionId=0a1b2c3d4e5f&v=1"}, Data: []byte(`{}`)},
		{Kind: Receive, Stream: Carrier, SSE: &SSE{Event: "message"}, Data: []byte(`{"log":"0a1b2c3d4e5f began"}`)},
	}}}}
	out := NewRedactor().Run(run)
	events := out.Sessions[0].Events
	g.Expect(string(events[0].Data)).To(gomega.Equal("/message?sessionId=session-1xxx&v=1"))
	g.Expect(events[1].HTTP.URL).To(gomega.Equal("http://127.0.0.1/message?sessionId=session-1xxx&v=1"))
	g.Expect(string(events[2].Data)).To(gomega.Equal(`{"log":"session-1xxx began"}`))
	if again := NewRedactor().Run(out); !reflect.DeepEqual(out, again) {
		t.Error("the stand-ins of stand-ins differ: " + cmp.Diff(out, again))
	}
}
