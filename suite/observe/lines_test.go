package observe_test

import (
	"slices"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/suite/observe"
	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// lines are the documents of lines that a server wrote.
func lines(texts ...string) []any {
	var events []transcript.Event
	for _, text := range texts {
		events = append(events, transcript.Event{Kind: transcript.Receive, Data: []byte(text)})
	}
	return observe.Step(&script.Step{Verb: script.Quiet}, events, nil)["lines"].([]any)
}

// which lists the places, from 0, of the lines that have the member set.
func which(lines []any, member string) (places []int) {
	for i, l := range lines {
		if l.(map[string]any)[member] == true {
			places = append(places, i)
		}
	}
	return places
}

func TestPartsOfAMessage(t *testing.T) {
	message := `{"jsonrpc":"2.0","method":"notifications/litmus"}`
	for name, test := range map[string]struct {
		lines []string
		parts []int
	}{
		"indented":                        {[]string{message, "{", `  "jsonrpc": "2.0",`, `  "params": {"a": {}}`, "}", message}, []int{1, 2, 3, 4}},
		"within a text":                   {[]string{`{"jsonrpc":"2.0","method":"a`, `b"}`}, []int{0, 1}},
		"carriage returns":                {[]string{"{\r", "\"jsonrpc\":\"2.0\"\r", "}\r"}, []int{0, 1, 2}},
		"a line that is JSON by itself":   {[]string{`{"params":`, `{"a":1}`, `}`}, []int{0, 1, 2}},
		"broken off, then a message":      {[]string{`{"jsonrpc":`, message, `"2.0"}`}, nil},
		"a banner":                        {[]string{"{server} is ready", message, "}"}, nil},
		"banner and parts":                {[]string{"ready {", "{", `"a":1`, "}"}, []int{1, 2, 3}},
		"an array is no message":          {[]string{"[", "1", "]"}, nil},
		"nothing but the end of a braces": {[]string{"}", "}"}, nil},
	} {
		if got := which(lines(test.lines...), "part"); !slices.Equal(got, test.parts) {
			t.Errorf("%s: the parts are %v, not %v", name, got, test.parts)
		}
	}
}

func TestGluedMessages(t *testing.T) {
	message := `{"jsonrpc":"2.0","method":"notifications/litmus","params":{"text":"}{"}}`
	got := which(lines(
		message+message, message+" \t"+message+"\r", message, message+"ready", "ready"+message, message+"["+message+"]", message+`{"cut":`, "{}{}{}",
	), "glued")
	if want := []int{0, 1, 7}; !slices.Equal(got, want) {
		t.Errorf("glued are %v, not %v", got, want)
	}
}

func TestALineIsPartOfOneConnectionOnly(t *testing.T) {
	stretch := observe.Stretch{Name: "two connections", Session: 1, Events: []transcript.Event{
		{Kind: transcript.Receive, Data: []byte("{")},
		{Kind: transcript.Receive, Data: []byte("ready"), In: "other"},
		{Kind: transcript.Receive, Data: []byte(`"jsonrpc":"2.0","method":"a"`)},
		{Kind: transcript.Receive, Data: []byte("}")},
	}}
	got := which(new(observe.Reader).Watch("2025-11-25", []observe.Stretch{stretch})["lines"].([]any), "part")
	if want := []int{0, 1, 2}; !slices.Equal(got, want) { // one connection after the other
		t.Errorf("the parts are %v, not %v", got, want)
	}
}

func TestALineThatIsCutIsNotLookedInto(t *testing.T) {
	doc := observe.Step(&script.Step{Verb: script.Quiet}, []transcript.Event{
		{Kind: transcript.Receive, Data: []byte(`{"jsonrpc":"2.0",`), Size: 1 << 30},
		{Kind: transcript.Receive, Data: []byte(`"method":"a"}`)},
	}, nil)
	all := doc["lines"].([]any)
	if got := which(all, "cut"); !slices.Equal(got, []int{0}) {
		t.Errorf("cut are %v, not the first alone", got)
	}
	if got := which(all, "part"); got != nil {
		t.Errorf("parts are %v", got)
	}
	if size := all[0].(map[string]any)["size"]; size != int64(1<<30) {
		t.Errorf("the size is %v", size)
	}
}

func TestHalfObjectsWithoutEndAreBounded(t *testing.T) {
	var texts []string
	for range 20_000 {
		texts = append(texts, `{"a":{}`, `x}`)
	}
	if got := which(lines(texts...), "part"); got != nil {
		t.Errorf("%d parts were found where there are none", len(got))
	}
}
