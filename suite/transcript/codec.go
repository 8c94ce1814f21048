package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/mcp-litmus/mcp-litmus/suite/wire"
)

// maxLine bounds one line of a file, and with it what Read holds of a broken file.
const maxLine = 256 << 20

// The lines of a file: each is an object with exactly one member, which says what it is.
type line struct {
	Header  *Header     `json:"header,omitempty"`
	Session *sessionRow `json:"session,omitempty"`
	Play    *Play       `json:"play,omitempty"`
	Event   *eventRow   `json:"event,omitempty"`
	Footer  *footer     `json:"footer,omitempty"`
}

type footer struct {
	Sessions int  `json:"sessions"`
	Plays    int  `json:"plays"`
	Events   int  `json:"events"`
	Complete bool `json:"complete"`
}

// eventRow writes bytes that are text as text, others in base64: people and grep read the file, too.
type eventRow struct {
	Event
	Text  *string `json:"data,omitempty"`
	Bytes []byte  `json:"bytes,omitempty"`
}

// sessionRow keeps integers and floats in Client apart, as wire does.
type sessionRow struct {
	Session
	Client json.RawMessage `json:"client,omitempty"`
}

// roleRow is Role with its arguments as text, for the same reason.
type roleRow struct {
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	URI       string          `json:"uri,omitempty"`
}

// MarshalJSON keeps integers and floats in the arguments apart.
func (r Role) MarshalJSON() ([]byte, error) {
	arguments, err := encodeObject(r.Arguments)
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s: %w", r.Name, err)
	}
	return json.Marshal(roleRow{Name: r.Name, URI: r.URI, Arguments: arguments})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Role) UnmarshalJSON(text []byte) error {
	var row roleRow
	if err := strict(text, &row); err != nil {
		return err
	}
	arguments, err := decodeObject(row.Arguments)
	*r = Role{Name: row.Name, URI: row.URI, Arguments: arguments}
	return err
}

func encodeObject(object map[string]any) (json.RawMessage, error) {
	if len(object) == 0 {
		return nil, nil
	}
	return wire.Encode(object)
}

func decodeObject(text json.RawMessage) (map[string]any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	value, _, err := wire.Decode(text)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("not an object")
	}
	return object, nil
}

// Write writes a run as JSON Lines: the header; each session and each play followed by its events; the footer.
// What is written is r.Run(run), so that Read gives exactly that back. A nil r redacts nothing.
//
// Errors are those of w, and of values in the options that have no JSON form.
func Write(w io.Writer, run *Run, r *Redactor) error {
	run = r.Run(run)
	buffered := bufio.NewWriterSize(w, 64<<10)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	var events int
	put := func(l line) error {
		if err := encoder.Encode(l); err != nil {
			return fmt.Errorf("the transcript cannot be written: %w", err)
		}
		return nil
	}
	putEvents := func(list []Event) error {
		events += len(list)
		for i := range list {
			row := eventRow{Event: list[i]}
			if data := list[i].Data; data != nil {
				if utf8.Valid(data) {
					text := string(data)
					row.Text = &text
				} else {
					row.Bytes = data
				}
			}
			if err := put(line{Event: &row}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := put(line{Header: &run.Header}); err != nil {
		return err
	}
	for _, session := range run.Sessions {
		client, err := encodeObject(session.Client)
		if err != nil {
			return fmt.Errorf("the transcript cannot be written: the client capabilities of session %d: %w", session.Number, err)
		}
		if err := put(line{Session: &sessionRow{Session: *session, Client: client}}); err != nil {
			return err
		}
		if err := putEvents(session.Events); err != nil {
			return err
		}
	}
	for _, play := range run.Plays {
		if err := put(line{Play: play}); err != nil {
			return err
		}
		if err := putEvents(play.Events); err != nil {
			return err
		}
	}
	if err := put(line{Footer: &footer{len(run.Sessions), len(run.Plays), events, run.Complete}}); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("the transcript cannot be written: %w", err)
	}
	return nil
}

// Read reads what Write wrote. The error names the line, what is wrong with it and what can be done: a file that is no
// transcript or of another format, one that is cut off or was edited, a line longer than 256 MB.
func Read(r io.Reader) (*Run, error) {
	reader := &rows{reader: bufio.NewReaderSize(r, 64<<10), max: maxLine}
	run := &Run{}
	var seen footer
	var events *[]Event // where the next event belongs
	for {
		l, err := reader.next()
		if errors.Is(err, io.EOF) {
			if reader.number == 0 {
				return nil, errors.New("the transcript is empty: record it again")
			}
			return nil, reader.fail("the transcript ends without its footer: it was cut off. Copy it again, or record it again")
		}
		if err != nil {
			return nil, err
		}
		if (l.Header != nil) != (reader.number == 1) {
			if reader.number == 1 {
				return nil, reader.fail("the header is missing: this is no transcript of mcp-litmus, or its beginning was cut off")
			}
			return nil, reader.fail("a second header: two transcripts were joined. Split them")
		}
		switch {
		case l.Header != nil:
			if l.Header.Format != FormatName {
				return nil, reader.fail("the format is %q, and this version of mcp-litmus reads %q: use the version that wrote it (%q)",
					l.Header.Format, FormatName, l.Header.Suite)
			}
			run.Header = *l.Header
		case l.Session != nil:
			session := l.Session.Session
			if session.Client, err = decodeObject(l.Session.Client); err != nil {
				return nil, reader.fail("the client capabilities cannot be read: %v. %s", err, damaged)
			}
			run.Sessions = append(run.Sessions, &session)
			seen.Sessions++
			events = &session.Events
		case l.Play != nil:
			run.Plays = append(run.Plays, l.Play)
			seen.Plays++
			events = &l.Play.Events
		case l.Event != nil:
			if events == nil {
				return nil, reader.fail("an event before any session or play. %s", damaged)
			}
			event := l.Event.Event
			switch {
			case l.Event.Text != nil && l.Event.Bytes != nil:
				return nil, reader.fail("an event with data and bytes. %s", damaged)
			case l.Event.Text != nil:
				event.Data = []byte(*l.Event.Text)
			case l.Event.Bytes != nil:
				event.Data = l.Event.Bytes
			}
			*events = append(*events, event)
			seen.Events++
		case l.Footer != nil:
			seen.Complete = l.Footer.Complete
			if *l.Footer != seen {
				return nil, reader.fail("the footer counts %d sessions, %d plays and %d events, but there are %d, %d and %d. %s",
					l.Footer.Sessions, l.Footer.Plays, l.Footer.Events, seen.Sessions, seen.Plays, seen.Events, damaged)
			}
			run.Complete = seen.Complete
			if _, err := reader.next(); !errors.Is(err, io.EOF) {
				return nil, reader.fail("something follows the footer. %s", damaged)
			}
			return run, nil
		}
	}
}

const damaged = "The transcript was damaged or edited: take an untouched copy, or record it again"

// rows reads a file line by line.
type rows struct {
	reader *bufio.Reader
	max    int
	number int // of the line that was read last
}

func (r *rows) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", r.number, fmt.Errorf(format, args...))
}

// next reads one line. The error is io.EOF at the end of the file only.
func (r *rows) next() (*line, error) {
	var text []byte
	for {
		part, err := r.reader.ReadSlice('\n')
		if len(text) == 0 && len(part) > 0 {
			r.number++
		}
		text = append(text, part...)
		if len(text) > r.max {
			return nil, r.fail("longer than %d bytes: this is no transcript of mcp-litmus", r.max)
		}
		if err == nil {
			break
		}
		if errors.Is(err, io.EOF) {
			if len(text) == 0 {
				return nil, io.EOF
			}
			return nil, r.fail("the transcript ends in the middle of a line: it was cut off. Copy it again, or record it again")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, r.fail("the transcript cannot be read: %w", err)
		}
	}
	var l line
	if err := strict(text, &l); err != nil {
		if r.number == 1 {
			return nil, r.fail("this is no transcript of mcp-litmus: %w", err)
		}
		return nil, r.fail("%w. %s", err, damaged)
	}
	var members int
	for _, there := range []bool{l.Header != nil, l.Session != nil, l.Play != nil, l.Event != nil, l.Footer != nil} {
		if there {
			members++
		}
	}
	if members != 1 {
		return nil, r.fail("not exactly one of header, session, play, event and footer. %s", damaged)
	}
	return &l, nil
}

// strict decodes JSON into v and refuses members that v does not have.
func strict(text []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); errors.Is(err, io.EOF) { // which would be taken for the end of the file
		return errors.New("nothing but white space")
	} else if err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}
