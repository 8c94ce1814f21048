package wire

import "testing"

func TestMediaTypes(t *testing.T) {
	for value, want := range map[string]string{
		"text/event-stream": EventStream, "Text/Event-Stream; charset=utf-8": EventStream, "text/event-stream;": EventStream,
		"text/event-stream; charset=utf-8; charset=latin1": EventStream, // the parameter stands twice
		" application/json ; =":                            "application/json", "text/event-streams": "text/event-streams", "nothing": "nothing", "": "",
	} {
		if got := MediaType(value); got != want {
			t.Errorf("%q names %q, not %q", value, got, want)
		}
	}
}
