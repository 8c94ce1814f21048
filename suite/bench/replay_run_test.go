package bench

import (
	"bytes"
	"context"
	"net/http/httptest"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// TestReplayMovesTheSameBytes holds the replay to what it claims: it sends what the run sent, gets answers to all of it,
// and never waits in vain.
func TestReplayMovesTheSameBytes(t *testing.T) {
	target := transport.Handler(reference.New().Handler())
	out, err := suite.Run(context.Background(), target, suite.Revisions("2025-11-25"), suite.Select("basic && lifecycle"))
	if err != nil {
		t.Fatal(err)
	}
	var sent, received int
	for _, c := range conversations(out.Transcript) {
		for _, e := range c {
			switch e.Kind {
			case transcript.Send:
				sent += len(e.Data)
			case transcript.Receive:
				received += len(e.Data)
			}
		}
	}
	if sent == 0 || received == 0 {
		t.Fatalf("the run sent %d bytes and received %d", sent, received)
	}
	again := httptest.NewServer(reference.New().Handler())
	defer again.Close()
	moved := replay(out.Transcript, jobs, httpPlayer(again.URL))
	if len(moved.stalls) > 0 {
		t.Errorf("waited in vain: %v", moved.stalls)
	}
	if moved.sent != sent {
		t.Errorf("the run sent %d bytes, the replay %d", sent, moved.sent)
	}
	if moved.received < received {
		t.Errorf("the run received %d bytes of messages, the replay %d of bodies", received, moved.received)
	}
}

// TestMessagesAreToldApart covers the shapes that the replay of pipes counts by.
func TestMessagesAreToldApart(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 500)
	for _, c := range []struct {
		message        string
		reply, request bool
	}{
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, true, false},
		{`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, false, true},
		{`{"method":"sampling/createMessage","params":{"text":"` + string(long) + `"},"jsonrpc":"2.0","id":7}`, false, true},
		{`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + string(long) + `"}}`, false, false},
	} {
		if got := isReply([]byte(c.message)); got != c.reply {
			t.Errorf("isReply(%.60s) = %v", c.message, got)
		}
		if got := isRequest([]byte(c.message)); got != c.request {
			t.Errorf("isRequest(%.60s) = %v", c.message, got)
		}
	}
}
