package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

func TestWireLinesKeepHTTPApartFromTheMessage(t *testing.T) {
	g := gomega.NewWithT(t)
	id := "7"
	got := wireLines([]transcript.Event{
		{Kind: transcript.Step, Step: 1},
		{Kind: transcript.Send, At: time.Second, Stream: 2, Data: []byte(`{"id":1}`), HTTP: &transcript.HTTP{
			Method: "POST", URL: "http://127.0.0.1:3000/mcp", Headers: map[string][]string{"Origin": {"https://a.example"}, "User-Agent": {"x"}},
		}},
		{Kind: transcript.Answer, Stream: 2, HTTP: &transcript.HTTP{Status: 200, Headers: map[string][]string{"X-Two": {"a", "b"}}}},
		{Kind: transcript.Receive, Stream: 2, Size: 9000, SSE: &transcript.SSE{Event: "message", ID: &id}, Data: []byte("{}")},
		{Kind: transcript.Stderr, Data: []byte("oh no\n")},
		{Kind: transcript.Send, Note: transcript.Automatic, Data: []byte(`{"result":{}}`)},
	})
	g.Expect(got).To(gomega.Equal([]verdict.Line{
		{At: time.Second, Direction: "sent", Stream: 2, Text: "POST http://127.0.0.1:3000/mcp (Origin: https://a.example)", HTTP: &verdict.HTTP{
			Method: "POST", URL: "http://127.0.0.1:3000/mcp", Headers: map[string]string{"Origin": "https://a.example", "User-Agent": "x"},
		}},
		{At: time.Second, Direction: "sent", Stream: 2, Text: `{"id":1}`},
		{Direction: "received", Stream: 2, Text: "HTTP 200", HTTP: &verdict.HTTP{Status: 200, Headers: map[string]string{"X-Two": "a, b"}}},
		{Direction: "received", Stream: 2, About: `event message id="7", the first of 9000 bytes`, Text: "{}"},
		{About: verdict.Stderr, Text: "oh no"},
		{Direction: "sent", About: transcript.Automatic, Text: `{"result":{}}`},
	}))
}

func TestLongHeadersAreCut(t *testing.T) {
	g := gomega.NewWithT(t)
	h := map[string][]string{"Long": {strings.Repeat("x", 100_000)}}
	for c := 'a'; c <= 'z'; c++ {
		h["A"+string(c)], h["B"+string(c)] = []string{"1"}, []string{"1"}
	}
	got := begins(verdict.Line{}, &transcript.HTTP{Status: 200, Headers: h})
	g.Expect(got.HTTP.Headers).To(gomega.HaveLen(mostHeaders))
	h = map[string][]string{"Long": h["Long"]}
	got = begins(verdict.Line{}, &transcript.HTTP{Status: 200, Headers: h})
	g.Expect(len(got.HTTP.Headers["Long"])).To(gomega.BeNumerically("<", 2*longestHeader))
	g.Expect(got.HTTP.Headers["Long"]).To(gomega.ContainSubstring("bytes left out"))
}

func TestTheEvidenceOfAnHTTPAnswerShowsRequestAndAnswer(t *testing.T) {
	g := gomega.NewWithT(t)
	got := itemLines(map[string]any{
		"method": "POST", "request": map[string]any{"content-type": "application/json"}, "sent": map[string]any{"method": "ping"},
		"status": int64(202), "headers": map[string]any{"content-type": "text/plain"}, "body": "Accepted",
		"events": []any{map[string]any{"event": "message", "data": "{}"}},
	})
	g.Expect(got).To(gomega.Equal([]verdict.Line{
		{Direction: "sent", Text: "POST (Content-Type: application/json)", HTTP: &verdict.HTTP{
			Method: "POST", Headers: map[string]string{"Content-Type": "application/json"},
		}},
		{Direction: "sent", Text: `{"method":"ping"}`},
		{Direction: "received", Text: "HTTP 202 (Content-Type: text/plain)", HTTP: &verdict.HTTP{
			Status: 202, Headers: map[string]string{"Content-Type": "text/plain"},
		}},
		{Direction: "received", Text: "Accepted"},
		{Direction: "received", About: "event message", Text: "{}"},
	}))
}
