package sabotage

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// guard bounds what must not hang; it decides nothing about a pass.
const guard = 20 * time.Second

// load reads faults from their YAML.
func load(t *testing.T, source string) []Fault {
	t.Helper()
	faults, err := Load(fstest.MapFS{"test.yaml": {Data: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// one is a fault with this moment (a YAML line such as `when: response`) and these actions.
func one(moment string, actions ...string) string {
	return "- fault: under-test\n  breaks: []\n  why: It is under test.\n  " + moment + "\n  do:\n    - " +
		strings.Join(actions, "\n    - ") + "\n"
}

// answerTo is what the test server says to one client message: further messages, then the reply (nil to a notification).
func answerTo(message map[string]any) (further [][]byte, reply []byte) {
	id, isRequest := message["id"]
	method, _ := message["method"].(string)
	if !isRequest || method == "" {
		return nil, nil
	}
	respond := func(key string, value any) []byte {
		encoded, _ := json.Marshal(value)
		name, _ := json.Marshal(id)
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"%s":%s}`, name, key, encoded)
	}
	switch method {
	case "initialize":
		version := dig(message, "params", "protocolVersion")
		return nil, respond("result", map[string]any{"protocolVersion": version})
	case "echo":
		return nil, respond("result", message["params"])
	case "chatty":
		return [][]byte{[]byte(`{"jsonrpc":"2.0","method":"notifications/hello"}`)}, respond("result", map[string]any{})
	}
	return nil, respond("error", map[string]any{"code": -32601, "message": "no such method"})
}

// serveLines is a small stdio server.
func serveLines(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := answerLine(line, out); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func answerLine(line []byte, out io.Writer) error {
	message, err := decodeJSON(line)
	if err != nil {
		_, err = out.Write([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}` + "\n"))
		return err
	}
	_, isBatch := message.([]any)
	var replies [][]byte
	each(message, func(one map[string]any) {
		further, reply := answerTo(one)
		for _, message := range further {
			_, err = out.Write(append(message, '\n'))
		}
		if reply != nil {
			replies = append(replies, reply)
		}
	})
	if len(replies) == 0 || err != nil {
		return err
	}
	if isBatch {
		replies = [][]byte{joinArray(replies)}
	}
	_, err = out.Write(append(replies[0], '\n'))
	return err
}

// stdioRun is what a client saw of one stdio stream.
type stdioRun struct {
	out    string
	stderr string
	exits  []int
	err    error
}

// runStdio sends lines over a real pipe, closes it and reads all that comes back.
func runStdio(t *testing.T, source string, lines ...string) stdioRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	clientIn, serverOut := pipe(t)
	serverIn, clientOut := pipe(t)
	var run stdioRun
	var stderr bytes.Buffer
	serve := Stdio(serveLines, load(t, source), Process{
		Exit:   func(code int) { run.exits = append(run.exits, code) },
		Stderr: &stderr,
	})
	var done sync.WaitGroup
	done.Go(func() {
		run.err = serve(ctx, serverIn, serverOut)
		serverOut.Close()
	})
	done.Go(func() {
		for _, line := range lines {
			io.WriteString(clientOut, line+"\n")
		}
		clientOut.Close()
	})
	out, err := io.ReadAll(clientIn)
	if err != nil {
		t.Fatal(err)
	}
	done.Wait()
	run.out, run.stderr = string(out), stderr.String()
	return run
}

func pipe(t *testing.T) (*os.File, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// httpServer is a small Streamable HTTP server. POST answers JSON, or an event stream to what asks for one with the header
// X-Stream; GET opens a stream that passes on what `poke` puts into it.
type httpServer struct {
	poke      chan string
	cancelled chan struct{} // a handler saw its client go away
}

func newHTTPServer() *httpServer {
	return &httpServer{poke: make(chan string), cancelled: make(chan struct{}, 8)}
}

func (s *httpServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") == "http://evil.example" {
		http.Error(w, "foreign origin", http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodGet:
		s.get(w, r)
	case http.MethodPost:
		s.post(w, r)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *httpServer) get(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", eventStream)
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.Flush()
	for {
		select {
		case <-r.Context().Done():
			s.cancelled <- struct{}{}
			return
		case text := <-s.poke:
			if text == "" {
				return
			}
			fmt.Fprintf(w, "id: g1\ndata: %s\n\n", text)
			_ = control.Flush()
		}
	}
}

func (s *httpServer) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	message, _ := decodeJSON(body)
	object, _ := message.(map[string]any)
	if object["method"] == "initialize" {
		w.Header().Set("Mcp-Session-Id", "session-"+string(encodeJSON(object["id"])))
	}
	further, reply := answerTo(object)
	if _, isBatch := message.([]any); isBatch {
		var replies [][]byte
		each(message, func(one map[string]any) {
			_, reply := answerTo(one)
			replies = append(replies, reply)
		})
		reply = joinArray(replies)
	}
	switch {
	case reply == nil:
		w.WriteHeader(http.StatusAccepted)
	case r.Header.Get("X-Stream") != "":
		w.Header().Set("Content-Type", eventStream)
		flusher := w.(http.Flusher)
		io.WriteString(w, "id: p0\ndata: \n\n")
		flusher.Flush()
		for _, message := range append(further, reply) {
			fmt.Fprintf(w, "event: message\nid: p1\ndata: %s\n\n", message)
			flusher.Flush()
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(reply)))
		w.Write(reply)
	}
}
