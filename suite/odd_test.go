package suite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// What is said is right, and how it is said is as odd as JSON, event streams and HTTP allow: nothing is held against it.
func TestOddButCorrectServers(t *testing.T) {
	for name, c := range map[string]struct {
		target suite.Target
		among  string // what is played of it
	}{
		"every letter escaped":        {target: respelled(escaped), among: "basic/index || tools || resources"},
		"blanks wherever they may be": {target: respelled(spaced), among: "basic/index || tools"},
		"lines that end with CR LF": {among: "stdio || ping", target: respelled(func(line []byte) []byte {
			return append(bytes.TrimSuffix(line, []byte("\n")), '\r', '\n')
		})},
		"event streams with all that may be in them": {among: "transports || tools || subscriptions", target: suite.Handler(odd(func(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
			return &oddStream{ResponseWriter: w}
		}))},
		"JSON over many lines": {among: "transports || discover", target: suite.Handler(odd(func(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
			return &oddJSON{ResponseWriter: w}
		}))},
		"too much to do": {target: suite.Handler(impatient(http.StatusServiceUnavailable, "")), among: "basic/index || ping || tools"},
		"asked too often": {target: suite.Handler(impatient(http.StatusTooManyRequests,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slow down"}}`)), among: "basic/index || ping || tools"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := run(t, c.target, suite.Revisions("2025-11-25", "2026-07-28"), suite.Select("(MUST || SHOULD) && ("+c.among+")"))
			passed := 0
			for _, v := range o.Report.Verdicts {
				switch v.Status {
				case verdict.Fail, verdict.Warn, verdict.Error:
					t.Errorf("%s %s at %s, %q: %s", v.Status, v.Requirement, v.Revision, v.Exchange, v.Reason)
				case verdict.Pass:
					passed++
				}
			}
			if passed == 0 || len(o.Report.Problems) > 0 {
				t.Errorf("%d passed; %v", passed, o.Report.Problems)
			}
		})
	}
}

// respelled serves the reference server, but each line is written as spell does.
func respelled(spell func(line []byte) []byte) suite.Target {
	return suite.Pipe(func(ctx context.Context, in io.Reader, out io.Writer) error {
		return reference.New().ServeStdio(ctx, in, &lineWriter{out: out, spell: spell})
	})
}

type lineWriter struct {
	out   io.Writer
	spell func([]byte) []byte
	rest  []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		if _, err := w.out.Write(w.spell(bytes.Clone(w.rest[:i+1]))); err != nil {
			return 0, err
		}
		w.rest = w.rest[i+1:]
	}
}

// escaped writes each letter and digit of each text as an escape.
func escaped(line []byte) []byte {
	var out bytes.Buffer
	text := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"':
			text = !text
			out.WriteByte(c)
		case text && c == '\\':
			n := 2
			if line[i+1] == 'u' {
				n = 6
			}
			out.Write(line[i : i+n])
			i += n - 1
		case text && c < 0x80:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteByte(c)
		}
	}
	return out.Bytes()
}

// spaced puts blanks around what stands between texts.
func spaced(line []byte) []byte {
	var out bytes.Buffer
	text := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case text && c == '\\':
			out.Write(line[i : i+2])
			i++
			continue
		case c == '"':
			text = !text
		case !text && strings.ContainsRune("{}[],:", rune(c)):
			out.WriteString(" \t" + string(c) + "\r ")
			continue
		}
		out.WriteByte(c)
	}
	return out.Bytes()
}

// odd serves the reference server through another writer of answers.
func odd(through func(http.ResponseWriter, *http.Request) http.ResponseWriter) http.Handler {
	server := reference.New().Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = through(w, r)
		server.ServeHTTP(w, r)
		if last, ok := w.(interface{ finish() }); ok {
			last.finish()
		}
	})
}

// oddStream begins event streams with a byte order mark, comments, an unknown field and a time to come back after, ends lines
// with CR, and sends three bytes at a time, which tears characters apart.
type oddStream struct {
	http.ResponseWriter
	isStream, begun bool
}

func (w *oddStream) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *oddStream) WriteHeader(status int) {
	if w.isStream = strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream"); w.isStream {
		w.Header().Set("Content-Type", `Text/Event-Stream; Charset="UTF-8"`)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *oddStream) Write(p []byte) (int, error) {
	if !w.isStream {
		return w.ResponseWriter.Write(p)
	}
	text := bytes.ReplaceAll(p, []byte("\n"), []byte("\r"))
	if !w.begun {
		w.begun = true
		text = append([]byte("\ufeff: good day\r\rretry: 100\r\r:\r\n\r\nlitmus: yes\r\r"), text...)
	}
	for len(text) > 0 {
		n := min(3, len(text))
		if _, err := w.ResponseWriter.Write(text[:n]); err != nil {
			return 0, err
		}
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		text = text[n:]
	}
	return len(p), nil
}

// oddJSON lays JSON out over many lines, and names its media type in capital letters and with a parameter.
type oddJSON struct {
	http.ResponseWriter
	body   *bytes.Buffer
	status int
}

func (w *oddJSON) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *oddJSON) WriteHeader(status int) {
	if w.Header().Get("Content-Type") != "application/json" {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "Application/JSON;charset=utf-8")
	w.Header().Del("Content-Length")
	w.status, w.body = status, &bytes.Buffer{}
}

func (w *oddJSON) Write(p []byte) (int, error) {
	if w.body == nil {
		return w.ResponseWriter.Write(p)
	}
	return w.body.Write(p)
}

func (w *oddJSON) finish() {
	if w.body == nil {
		return
	}
	w.ResponseWriter.WriteHeader(w.status)
	var laidOut bytes.Buffer
	if json.Indent(&laidOut, w.body.Bytes(), "\r\n", "\t") != nil {
		laidOut = *w.body
	}
	_, _ = fmt.Fprintf(w.ResponseWriter, "\n%s\r\n", laidOut.Bytes())
}

// impatient serves the reference server, but puts every ninth request off, once sessions have been opened.
func impatient(status int, body string) http.Handler {
	server := reference.New().Handler()
	var asked atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); n > 60 && n%9 == 0 {
			w.Header().Set("Retry-After", "1")
			if body != "" {
				w.Header().Set("Content-Type", "application/json")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return
		}
		server.ServeHTTP(w, r)
	})
}
