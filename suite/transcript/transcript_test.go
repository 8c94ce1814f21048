package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
)

func pointer[T any](v T) *T { return &v }

// sample is a run with something in every field.
func sample() *Run {
	return &Run{
		Header: Header{
			Format: FormatName, Suite: "1.2.3", Catalogue: "sha256:abc",
			Started: time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600)),
			Target:  "http://127.0.0.1:3000/mcp",
			Options: Options{
				Revisions: []string{"2025-11-25"}, CallTools: "safe", Loopback: true, Select: "tools", Timeout: time.Second,
				Roles: map[string]Role{"slow-tool": {Name: "wait", Arguments: map[string]any{"ms": uint64(100), "factor": 1.0, "deep": []any{1, "x"}}},
					"binary-resource": {URI: "test://blob"}},
				Allow: []Role{{Name: "echo"}},
			},
		},
		Sessions: []*Session{
			{Number: 1, Revision: "2025-11-25", Transport: "stdio", Negotiated: "2025-11-25",
				Client: map[string]any{"roots": map[string]any{"listChanged": true}, "n": int64(1), "f": 1.0},
				Events: []Event{
					{Kind: Send, At: 1, Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)},
					{Kind: Receive, At: 2, Data: []byte("\xff\xfe\x00"), Size: 100, Note: "no newline at the end"},
					{Kind: Receive, Data: []byte{}},
					{Kind: Stderr, Data: []byte("warning: \u2028 <&> \x00\x1b[0m\r\n")},
					{Kind: Exit, Exit: &ExitStatus{Code: -1, Signal: "SIGKILL"}},
				}},
			{Number: 2, Revision: "2025-11-25", Transport: "streamable-http"},
		},
		Plays: []*Play{
			{Exchange: "list the tools", Revision: "2025-11-25", Transport: "streamable-http", Session: 2, Events: []Event{
				{Kind: Send, Step: 1, Item: 2, Stream: 3, HTTP: &HTTP{Method: "POST", URL: "http://127.0.0.1:3000/mcp",
					Headers: map[string][]string{"Accept": {"a", "b"}, "X-Empty": {}}}},
				{Kind: Answer, Stream: 3, HTTP: &HTTP{Status: 200, Headers: map[string][]string{"Content-Type": {"text/event-stream"}}}},
				{Kind: Receive, Stream: 3, Data: []byte(`{}`), SSE: &SSE{Event: "message", ID: pointer(""), Retry: pointer(0), HasData: true}},
				{Kind: End, Stream: 3, Note: "unexpected EOF"},
			}},
			{Exchange: "never begun", Problem: "no session"},
		},
		Complete: true,
	}
}

func write(t *testing.T, run *Run, r *Redactor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, run, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	g := gomega.NewWithT(t)
	run := sample()
	before := sample()
	for _, r := range []*Redactor{nil, NewRedactor(), NewRedactor("initialize", "Accept", "1234")} {
		text := write(t, run, r)
		again, err := Read(bytes.NewReader(text))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if want := r.Run(run); !reflect.DeepEqual(want, again) {
			t.Error(cmp.Diff(want, again))
		}
		g.Expect(write(t, again, r)).To(gomega.Equal(text), "writing again")
	}
	if !reflect.DeepEqual(run, before) {
		t.Error("writing changed the run: " + cmp.Diff(before, run))
	}

	again, err := Read(bytes.NewReader(write(t, run, nil)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again.Sessions[0].Events).To(gomega.Equal(run.Sessions[0].Events))
	g.Expect(again.Plays[0].Events).To(gomega.Equal(run.Plays[0].Events))
	g.Expect(again.Sessions[0].Client).To(gomega.Equal(run.Sessions[0].Client), "integers and floats")
	g.Expect(again.Header.Options.Roles["slow-tool"].Arguments).To(gomega.Equal(
		map[string]any{"ms": int64(100), "factor": 1.0, "deep": []any{int64(1), "x"}}))
	g.Expect(again.Header.Started.Equal(run.Header.Started)).To(gomega.BeTrue())
	g.Expect(again.Complete).To(gomega.BeTrue())
}

func TestTheFileIsForPeople(t *testing.T) {
	g := gomega.NewWithT(t)
	lines := strings.Split(string(write(t, sample(), nil)), "\n")
	g.Expect(lines[0]).To(gomega.HavePrefix(`{"header":{"format":"mcp-litmus transcript 1"`))
	g.Expect(lines[1]).To(gomega.HavePrefix(`{"session":{"session":1,`))
	g.Expect(lines[2]).To(gomega.Equal(`{"event":{"kind":"send","at":1,"data":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}"}}`))
	g.Expect(lines[3]).To(gomega.ContainSubstring(`"bytes":"//4A"`))
	g.Expect(lines[len(lines)-2]).To(gomega.Equal(`{"footer":{"sessions":2,"plays":2,"events":9,"complete":true}}`))
}

func TestReadRefusesWhatIsNotWhole(t *testing.T) {
	whole := string(write(t, sample(), nil))
	lines := strings.SplitAfter(whole, "\n")
	lines = lines[:len(lines)-1]
	last := lines[len(lines)-1]
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "the transcript is empty"},
		"no header":        {strings.Join(lines[1:], ""), "line 1: the header is missing"},
		"other file":       {"hello\n", "line 1: this is no transcript of mcp-litmus"},
		"other JSON":       {"{\"a\":1}\n", "line 1: this is no transcript of mcp-litmus"},
		"no footer":        {strings.Join(lines[:len(lines)-1], ""), "line 14: the transcript ends without its footer"},
		"half a line":      {whole[:len(whole)-10], "line 15: the transcript ends in the middle of a line"},
		"two headers":      {lines[0] + whole, "line 2: a second header"},
		"other format":     {strings.Replace(whole, "transcript 1", "transcript 9", 1), `line 1: the format is "mcp-litmus transcript 9"`},
		"lost event":       {strings.Join(append(append([]string{}, lines[:3]...), lines[4:]...), ""), "line 14: the footer counts 2 sessions, 2 plays and 9 events, but there are 2, 2 and 8"},
		"more":             {whole + last, "line 16: something follows the footer"},
		"blank line":       {lines[0] + "\n" + strings.Join(lines[1:], ""), "line 2: nothing but white space. The transcript was damaged"},
		"stray event":      {lines[0] + lines[2] + last, "line 2: an event before any session or play"},
		"unknown member":   {lines[0] + "{\"session\":{\"colour\":1}}\n" + last, `line 2: json: unknown field "colour"`},
		"two in a line":    {lines[0] + "{\"session\":{},\"play\":{}}\n" + last, "line 2: not exactly one of"},
		"data twice":       {lines[0] + lines[1] + "{\"event\":{\"kind\":\"send\",\"data\":\"a\",\"bytes\":\"YQ==\"}}\n" + last, "line 3: an event with data and bytes"},
		"client no object": {lines[0] + "{\"session\":{\"client\":[]}}\n" + last, "line 2: the client capabilities cannot be read: not an object"},
	} {
		run, err := Read(strings.NewReader(c.text))
		if err == nil || run != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
}

func TestReadBoundsALine(t *testing.T) {
	reader := &rows{reader: bufio.NewReader(io.MultiReader(strings.NewReader("{}\n"), zeros{})), max: 100_000}
	for _, want := range []string{"line 1: ", "line 2: longer than 100000 bytes"} {
		if _, err := reader.next(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestErrorsOfTheFileAreHandedOn(t *testing.T) {
	broken := errors.New("disk full")
	if err := Write(failing{broken}, sample(), nil); !errors.Is(err, broken) {
		t.Errorf("Write says %v", err)
	}
	if _, err := Read(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("Read says %v", err)
	}
	bad := sample()
	bad.Header.Options.Allow = []Role{{Name: "x", Arguments: map[string]any{"f": func() {}}}}
	if err := Write(io.Discard, bad, NewRedactor()); err == nil {
		t.Error("arguments without a JSON form were written")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

func FuzzReadTranscript(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, sample(), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("{\"header\":{\"format\":\"mcp-litmus transcript 1\"}}\n{\"footer\":{}}\n"))
	f.Add([]byte("{\"header\":{\"format\":\"mcp-litmus transcript 1\",\"options\":{\"roles\":{\"a\":{\"arguments\":{\"x\":1e400}}}}}}\n{\"session\":{\"client\":{\"a\":[1,1.5]}}}\n{\"event\":{\"bytes\":\"/w==\"}}\n{\"footer\":{\"sessions\":1,\"events\":1}}\n"))
	f.Add([]byte("{\"header\":null}\n"))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := Read(bytes.NewReader(text))
		if err != nil {
			if run != nil || err.Error() == "" {
				t.Fatal("an error and a run")
			}
			return
		}
		r := NewRedactor("secret-value-1")
		var b bytes.Buffer
		if err := Write(&b, run, r); err != nil {
			var unsupported *json.MarshalerError
			if errors.As(err, &unsupported) { // a year that RFC 3339 does not know
				return
			}
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if want := r.Run(run); !reflect.DeepEqual(want, again) {
			t.Fatal(cmp.Diff(want, again))
		}
		if twice := r.Run(again); !reflect.DeepEqual(again, twice) {
			t.Fatal("redacting twice: " + cmp.Diff(again, twice))
		}
	})
}
