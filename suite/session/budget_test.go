package session_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/session"
	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
	"github.com/mcp-litmus/mcp-litmus/suite/transport"
)

// chatty is a server that upon the first line writes what talk does, until that or the client ends.
func chatty(talk func(out io.Writer) error) transport.Target {
	return transport.Pipe(func(_ context.Context, in io.Reader, out io.Writer) error {
		lines := bufio.NewReader(in)
		if _, err := lines.ReadString('\n'); err != nil {
			return nil
		}
		talked := make(chan struct{})
		go func() {
			defer close(talked)
			_ = talk(out) // the client has gone
		}()
		_, _ = io.Copy(io.Discard, lines)
		_ = out.(io.Closer).Close()
		<-talked
		return nil
	})
}

func flood(out io.Writer) error {
	for {
		if _, err := io.WriteString(out, `{"jsonrpc":"2.0","method":"notifications/message"}`+"\n"); err != nil {
			return err
		}
	}
}

// ask opens a session, asks something that is never answered, and gives why the wait ended.
func ask(t *testing.T, target transport.Target, budget *session.Budget) (*session.Session, error) {
	t.Helper()
	s, err := session.Open(t.Context(), target, session.Options{Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s, s.Barrier(ctx)
}

func TestASessionEndsAFlood(t *testing.T) {
	s, err := ask(t, chatty(flood), nil)
	if err == nil || !strings.Contains(err.Error(), "more than 10000 messages in one session") {
		t.Fatalf("the wait ended with %v", err)
	}
	if s.Overflow() == nil || s.Overflow().Error() != err.Error() {
		t.Errorf("Overflow says %v", s.Overflow())
	}
	s.Close()
	received := 0
	for _, e := range s.Take() {
		if e.Kind == transcript.Receive {
			received++
		}
	}
	if received != 10_000 {
		t.Errorf("%d messages were kept", received)
	}
}

func TestFloodsSpendTheBudgetOfTheRun(t *testing.T) {
	var budget session.Budget
	floods := 0
	for ; budget.Spent() == nil && floods < 100; floods++ {
		if _, err := ask(t, chatty(flood), &budget); err == nil {
			t.Fatal("a flood was borne")
		}
	}
	if floods != 5 {
		t.Errorf("the budget bore %d floods", floods)
	}
	if err := budget.Spent(); err == nil || !strings.Contains(err.Error(), "50000 messages in this run") {
		t.Errorf("spent for the reason %v", err)
	}
}

func TestAMessageThatCannotBeReadEndsTheSession(t *testing.T) {
	const size = 17 << 20
	s, err := ask(t, chatty(func(out io.Writer) error {
		_, err := fmt.Fprintf(out, `{"padding":"%s"}`+"\n", strings.Repeat("x", size))
		return err
	}), nil)
	if err == nil || !strings.Contains(err.Error(), "more than the suite reads of one") {
		t.Fatalf("the wait ended with %v", err)
	}
	s.Close()
	for _, e := range s.Take() {
		if e.Kind == transcript.Receive {
			if e.Size < size || len(e.Data) != 64<<10 || !strings.HasPrefix(string(e.Data), `{"padding":"xx`) {
				t.Errorf("of %d bytes %d are kept", e.Size, len(e.Data))
			}
			return
		}
	}
	t.Error("nothing of it is kept")
}
