package transport

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/tmaxmax/go-sse"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// parse gives one line for each event of a stream, and the note at its end.
func parse(r io.Reader, limit int64) (lines []string, note string, err error) {
	p := eventReader{max: limit, emit: func(data []byte, size int64, meta transcript.SSE) {
		line := fmt.Sprintf("%q", data)
		if size > int64(len(data)) {
			line += fmt.Sprintf(" of %d", size)
		}
		if !meta.HasData {
			line += " none"
		}
		if meta.Event != "" {
			line += " event=" + meta.Event
		}
		if meta.ID != nil {
			line += fmt.Sprintf(" id=%q", *meta.ID)
		}
		if meta.Retry != nil {
			line += fmt.Sprintf(" retry=%d", *meta.Retry)
		}
		lines = append(lines, line)
	}}
	note, err = p.read(r)
	return lines, note, err
}

func TestEventStream(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
		note         string
	}{
		{"plain", "data: {}\n\n", []string{`"{}"`}, ""},
		{"all fields", "event: message\nid: 7\nretry: 300\ndata: a\n\n", []string{`"a" event=message id="7" retry=300`}, ""},
		{"lines of data", "data: a\ndata\ndata:b\ndata:  c\n\n", []string{`"a\n\nb\n c"`}, ""},
		{"CRLF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []string{`"a\nb"`, `"c"`}, ""},
		{"CR", "data: a\r\rdata: b\r\r", []string{`"a"`, `"b"`}, ""},
		{"comments", ": hello\n\n:\ndata: a\n: b\n\n", []string{`"a"`}, ""},
		{"priming", "id: 1\ndata:\n\nid\nretry: 0\n\n", []string{`"" id="1"`, `"" none id="" retry=0`}, ""},
		{"nothing carries over", "event: x\nid: 1\ndata: a\n\ndata: b\n\n", []string{`"a" event=x id="1"`, `"b"`}, ""},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", []string{`"a"`}, `1 lines are no field of an event, the first: "\ufeffdata: b"`},
		{"unfinished", "data: a\n\ndata: b\n", []string{`"a"`}, `the stream ended inside an event, which a client drops (data: "b"; then: "")`},
		{"unfinished line", "data: b", nil, `the stream ended inside an event, which a client drops (data: ""; then: "data: b")`},
		{"what is ignored", "{\"jsonrpc\":\"2.0\"}\nretry: 1s\nretry: -1\nid: a\x00b\nDATA: x\n data: y\n\n", nil,
			`6 lines are no field of an event, the first: "{\"jsonrpc\":\"2.0\"}"`},
		{"empty", "", nil, ""},
		{"too long", "data: 0123456789abcdef0123456789abcdef\ndata: x\n\ndata: 0123456789\n\n", []string{`"0123456789" of 34`, `"0123456789"`}, ""},
	} {
		for way, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "late error": iotest.DataErrReader,
		} {
			lines, note, err := parse(wrap(strings.NewReader(c.stream)), 10)
			if err != nil || !reflect.DeepEqual(lines, c.want) || note != c.note {
				t.Errorf("%s in %s: %q, %q, %v; want %q, %q", c.name, way, lines, note, err, c.want, c.note)
			}
		}
	}
}

// A client must see an event as soon as its blank line is there, even if that ends in \r and more may follow.
func TestEventsComeAsSoonAsTheyCan(t *testing.T) {
	r, w := io.Pipe()
	events := make(chan string)
	go func() {
		p := eventReader{max: 100, emit: func(data []byte, _ int64, _ transcript.SSE) { events <- string(data) }}
		_, _ = p.read(r)
		close(events)
	}()
	for _, part := range []struct{ text, want string }{{"data: a\r\r", "a"}, {"\ndata: b\n\r\n", "b"}, {"data: c\r\n\r", "c"}} {
		if _, err := w.Write([]byte(part.text)); err != nil {
			t.Fatal(err)
		}
		if got := <-events; got != part.want {
			t.Errorf("after %q came %q", part.text, got)
		}
	}
	w.Close()
	if more, ok := <-events; ok {
		t.Errorf("one event too many: %q", more)
	}
}

func TestEventStreamThatBreaks(t *testing.T) {
	broken := errors.New("reset")
	lines, note, err := parse(io.MultiReader(strings.NewReader("data: a\n\ndata: {\"x"), iotest.ErrReader(broken)), 100)
	if !errors.Is(err, broken) || !reflect.DeepEqual(lines, []string{`"a"`}) || !strings.Contains(note, `then: "data: {\"x"`) {
		t.Errorf("%q, %q, %v", lines, note, err)
	}
}

// Where both say something, the parser agrees with another one.
func FuzzEventStream(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "\xef\xbb\xbfevent: x\r\nid: 1\r\rdata\ndata:b\n\n: c\n\nretry: 5\n\n", "data: a\r\n\r\n\r\ndata: b", "id: \x00\ndata: a\n\n", "\r\n\n\rdata\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		var got, want []string
		lastID := ""
		p := eventReader{max: 1 << 20, emit: func(data []byte, _ int64, meta transcript.SSE) {
			if meta.ID != nil {
				lastID = *meta.ID
			}
			if meta.HasData { // without, it is no event to the other one at times
				got = append(got, fmt.Sprintf("%q %q %q", data, meta.Event, lastID))
			}
		}}
		if _, err := p.read(strings.NewReader(stream)); err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(stream) || strings.Contains(stream, "\ufeff") {
			return
		}
		for event, err := range sse.Read(strings.NewReader(stream), &sse.ReadConfig{MaxEventSize: 1 << 20}) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%q %q %q", event.Data, event.Type, event.LastEventID))
		}
		// The other one gives events without data, too, as if it were empty: leave out of both what is empty.
		empty := func(lines []string) (kept []string) {
			for _, line := range lines {
				if !strings.HasPrefix(line, `"" `) {
					kept = append(kept, line)
				}
			}
			return kept
		}
		if got, want := empty(got), empty(want); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
