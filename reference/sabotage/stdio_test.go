package sabotage

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

const (
	initialize   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	initReply    = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`
	echo         = `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"b":1.0,"a":12345678901234567890,"l":[{"n":1},{"n":2}]}}`
	echoReply    = `{"jsonrpc":"2.0","id":1,"result":{"a":12345678901234567890,"b":1.0,"l":[{"n":1},{"n":2}]}}`
	chatty       = `{"jsonrpc":"2.0","id":2,"method":"chatty"}`
	hello        = `{"jsonrpc":"2.0","method":"notifications/hello"}`
	chatReply    = `{"jsonrpc":"2.0","id":2,"result":{}}`
	unknown      = `{"jsonrpc":"2.0","id":3,"method":"nope"}`
	unknReply    = `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no such method"}}`
	note         = `{"jsonrpc":"2.0","method":"notifications/x"}`
	parseReplied = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`
)

// lines ends each with a newline.
func lines(texts ...string) string { return strings.Join(texts, "\n") + "\n" }

func TestStdioActions(t *testing.T) {
	for _, test := range []struct {
		name   string
		fault  string
		in     []string
		out    string
		stderr string
		exits  []int
	}{
		{"nothing strikes: byte for byte", one(`when: request.method == "other"`, "drop: true"),
			[]string{initialize, echo, note, "junk", unknown}, lines(initReply, echoReply, parseReplied, unknReply), "", nil},
		{"set", one("when: has(message.error)", "set: {error.code: -32603, error.data.why: [1, null]}"),
			[]string{echo, unknown},
			lines(echoReply, `{"error":{"code":-32603,"data":{"why":[1,null]},"message":"no such method"},"id":3,"jsonrpc":"2.0"}`), "", nil},
		{"set keeps the digits of other numbers", one("when: response", "set: {id: x}"),
			[]string{echo}, lines(`{"id":"x","jsonrpc":"2.0","result":{"a":12345678901234567890,"b":1.0,"l":[{"n":1},{"n":2}]}}`), "", nil},
		{"set computes values of any type", one("when: response", `set: {result: {all: "${request.params.l}", n: "${request.params.l[1].n + 1}", text: "<${request.method} ${request.params.l[0]}>", plain: "$${x}"}}`),
			[]string{echo}, lines(`{"id":1,"jsonrpc":"2.0","result":{"all":[{"n":1},{"n":2}],"n":3,"plain":"${x}","text":"<echo {\"n\":1}>"}}`), "", nil},
		{"set on every element, appending, quoted name", one("when: response", `set: {result.l.*.n: 7, result.l.-: 8, 'result."x.y"': 9}`),
			[]string{echo}, lines(`{"id":1,"jsonrpc":"2.0","result":{"a":12345678901234567890,"b":1.0,"l":[{"n":7},{"n":7},8],"x.y":9}}`), "", nil},
		{"replace", one(`when: has(message.error)`, `replace: {id: "${request.id}", error: {code: 1}}`, "set: {b: 2}"),
			[]string{unknown}, lines(`{"b":2,"error":{"code":1},"id":3}`), "", nil},
		{"client of the session", one(`when: request.method == "echo" && client.clientInfo.name == "me"`, `raw: "${client.capabilities}"`),
			[]string{echo, `{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"me"},"capabilities":{"a":{}}}}`, echo},
			lines(echoReply, initReply, `{"a":{}}`), "", nil},
		{"client of the request", one(`when: client.clientInfo.name == "me"`, `raw: "${client.capabilities} ${client.protocolVersion}"`),
			[]string{`{"id":0,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"me"},"io.modelcontextprotocol/clientCapabilities":{"a":{}}}}}`},
			lines(`{"a":{}} 2026-07-28`), "", nil},
		{"set that cannot be done says so", one("when: response", "set: {result.b.x: 1}"),
			[]string{echo}, lines(echoReply), "fault under-test (test.yaml:1:3): set: `x` would go into 1.0; the action has no effect\n", nil},
		{"drop-field", one("when: response", "drop-field: [jsonrpc, result.l.0, result.l.*.n, result.none.x]"),
			[]string{echo}, lines(`{"id":1,"result":{"a":12345678901234567890,"b":1.0,"l":[{}]}}`), "", nil},
		{"drop", one("when: notification", "drop: true"), []string{chatty}, lines(chatReply), "", nil},
		{"duplicate", one("when: notification", "duplicate: true"), []string{chatty}, lines(hello, hello, chatReply), "", nil},
		{"reorder", one("when: notification", "reorder: true"), []string{chatty, echo}, lines(chatReply, hello, echoReply), "", nil},
		{"reorder of the last one", one("when: message.id == 1", "reorder: true"), []string{echo}, lines(echoReply), "", nil},
		{"emit", one("when: response", `emit: {before: [{m: "${message.id}"}], after: [{}, [1]]}`),
			[]string{chatty}, lines(hello, `{"m":2}`, chatReply, `{}`, `[1]`), "", nil},
		{"raw", one("when: response", `raw: "no JSON ${message.id}"`), []string{chatty}, lines(hello, "no JSON 2"), "", nil},
		{"text", one("when: response", `text: {replace: '"id":(\d)', with: '"id":1,"id":$1'}`),
			[]string{chatty}, lines(hello, `{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`), "", nil},
		{"encoding latin-1", one("when: response", `raw: "\u00e9\u20ac"`, "encoding: latin-1"), []string{echo}, "\xe9?\n", "", nil},
		{"encoding utf-16", one("when: response", `raw: "a"`, "encoding: utf-16"), []string{echo}, "\xff\xfea\x00\n", "", nil},
		{"delay", one("when: notification", "delay: 1ms"), []string{chatty}, lines(hello, chatReply), "", nil},
		{"line prefix and suffix", one("when: response", `line: {prefix: "> ", suffix: "${message.id}\r"}`),
			[]string{chatty}, lines(hello, "> "+chatReply+"2\r"), "", nil},
		{"line split", one("when: notification", `line: {split: true}`), []string{chatty},
			"{\n" + hello[1:] + "\n" + chatReply + "\n", "", nil},
		{"line join", one("when: notification", `line: {join: true}`), []string{chatty}, hello + chatReply + "\n", "", nil},
		{"stdout and stderr", one("when: response", `stdout: "out ${count}\n"`, `stderr: "err\n"`),
			[]string{chatty, echo}, lines(hello, "out 0", chatReply, "out 1", echoReply), "err\nerr\n", nil},
		{"exit", one("when: message.id == 2", `stdout: "bye"`, "exit: 3"), []string{chatty, echo}, hello + "\nbye", "", []int{3}},
		{"hang", one("when: message.id == 2", "hang: true"), []string{echo, chatty, echo}, lines(echoReply, hello), "", nil},
		{"count: first only", one("when: response && count == 0", "drop: true"), []string{echo, chatty}, lines(hello, chatReply), "", nil},
		{"received", one("when: received == 2 && response", "drop: true"), []string{echo, echo, echo}, lines(echoReply, echoReply), "", nil},
		{"an error in the condition is false", one("when: message.no.such == 1", "drop: true"), []string{echo}, lines(echoReply), "", nil},
		{"a request is known once", one(`when: request.method == "echo"`, "set: {result: 1}"), []string{echo},
			lines(`{"id":1,"jsonrpc":"2.0","result":1}`), "", nil},
		{"ids keep their type", one(`when: request.method == "echo"`, "drop: true"), []string{
			`{"jsonrpc":"2.0","id":"2","method":"echo"}`, chatty}, lines(hello, chatReply), "", nil},
		{"the elements of a batch", one(`when: request.method == "echo"`, "set: {result: 0}", "duplicate: true"),
			[]string{"[" + unknown + "," + echo + "," + note + "]"},
			lines(`[` + `{"error":{"code":-32601,"message":"no such method"},"id":3,"jsonrpc":"2.0"},` + `{"id":1,"jsonrpc":"2.0","result":0},{"id":1,"jsonrpc":"2.0","result":0}]`), "", nil},
		{"a batch emptied is not sent", one("when: response", "drop: true"), []string{"[" + echo + "]", unknown}, "", "", nil},
		{"a batch as a whole", one("when: type(message) == list", `emit: {before: ["${message[0]}"]}`, "drop: true"),
			[]string{"[" + unknown + "]"}, lines(`{"error":{"code":-32601,"message":"no such method"},"id":3,"jsonrpc":"2.0"}`), "", nil},
		{"revisions: the one negotiated", "- {fault: a, breaks: [], why: x, revisions: [2025-11-25], when: response, do: [{drop: true}]}",
			[]string{initialize, echo}, "", "", nil},
		{"revisions: another one", "- {fault: a, breaks: [], why: x, revisions: [2025-06-18], when: response, do: [{drop: true}]}",
			[]string{initialize, echo}, lines(initReply, echoReply), "", nil},
		{"revisions: not negotiated yet", "- {fault: a, breaks: [], why: x, revisions: [2025-11-25], when: response, do: [{drop: true}]}",
			[]string{echo}, lines(echoReply), "", nil},
		{"revisions: declared by the request", "- {fault: a, breaks: [], why: x, revisions: [2026-07-28], when: 'true', do: [{raw: '${revision}'}]}",
			[]string{`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`}, "2026-07-28\n", "", nil},
		{"revisions: a declared one that nobody knows", "- {fault: a, breaks: [], why: x, revisions: [2026-07-28], when: 'true', do: [{raw: '${revision}'}]}",
			[]string{`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}`}, "2026-07-28\n", "", nil},
		{"on-receive: reply", one(`on-receive: request.method.startsWith("notifications/")`, `reply: {jsonrpc: "2.0", id: null, result: {}}`),
			[]string{note, echo}, lines(`{"id":null,"jsonrpc":"2.0","result":{}}`, echoReply), "", nil},
		{"on-receive: swallow", one(`on-receive: request.method == "echo"`, "swallow: true"), []string{echo, chatty}, lines(hello, chatReply), "", nil},
		{"on-receive: a line that is not JSON", one(`on-receive: request == null && line == "junk"`, "emit: {before: [1]}", `stderr: "!"`, "swallow: true"),
			[]string{"junk", echo}, lines("1", echoReply), "!", nil},
		{"on-receive: exit", one(`on-receive: request == null`, "exit: 1"), []string{echo, "junk", echo}, lines(echoReply), "", []int{1}},
		{"on-receive: hang", one(`on-receive: request.id == 2`, "hang: true"), []string{echo, chatty, echo}, lines(echoReply), "", nil},
		{"on-receive: revision asked for", "- {fault: a, breaks: [], why: x, revisions: [2025-11-25], on-receive: request.method == \"initialize\", do: [{swallow: true}]}",
			[]string{initialize, echo}, lines(echoReply), "", nil},
		{"at start", one("at: start", `stdout: "banner\n"`, `stderr: "hi"`, "emit: {before: [{a: 1}]}"), []string{echo},
			lines("banner", `{"a":1}`, echoReply), "hi", nil},
		{"at start: exit", one("at: start", "exit: 9"), []string{echo}, "", "", []int{9}},
		{"at eof", one("at: eof", `stdout: "tail"`, "exit: 4"), []string{echo}, lines(echoReply) + "tail", "", []int{4}},
		{"two faults, in order", one("when: response", "set: {id: 8}") + strings.Replace(one("when: message.id == 8", "drop: true"), "under-test", "second", 1),
			[]string{echo}, "", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := runStdio(t, test.fault, test.in...)
			if run.err != nil {
				t.Errorf("serve returned %v", run.err)
			}
			if run.out != test.out {
				t.Errorf("stdout\n got %q\nwant %q", run.out, test.out)
			}
			if run.stderr != test.stderr {
				t.Errorf("stderr\n got %q\nwant %q", run.stderr, test.stderr)
			}
			if len(run.exits) != len(test.exits) || len(run.exits) == 1 && run.exits[0] != test.exits[0] {
				t.Errorf("exits %v, want %v", run.exits, test.exits)
			}
		})
	}
}

func TestStdioWithoutFaultIsServeItself(t *testing.T) {
	called := false
	serve := func(_ context.Context, in io.Reader, _ io.Writer) error {
		_, wrapped := in.(*stdioReader)
		called = !wrapped
		return io.ErrUnexpectedEOF
	}
	onlyHTTP := load(t, one("when: response", "status: 500"))
	if err := Stdio(serve, onlyHTTP, Process{})(context.Background(), strings.NewReader(""), io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) || !called {
		t.Errorf("got %v, called with the caller's reader: %v", err, called)
	}
}

func TestIgnoreEOFEndsOnlyWithTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	clientIn, serverOut := pipe(t)
	serverIn, clientOut := pipe(t)
	inner := make(chan struct{})
	serve := Stdio(func(ctx context.Context, in io.Reader, out io.Writer) error {
		defer close(inner)
		return serveLines(ctx, in, out)
	}, load(t, one("at: eof", "ignore-eof: true", `stdout: "still here\n"`)), Process{})
	var done sync.WaitGroup
	var err error
	done.Go(func() { err = serve(ctx, serverIn, serverOut) })
	clientOut.Close()
	line, readErr := bufio.NewReader(clientIn).ReadString('\n')
	if line != "still here\n" || readErr != nil {
		t.Fatalf("read %q, %v", line, readErr)
	}
	<-inner
	cancel()
	done.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("serve returned %v, want context.Canceled", err)
	}
}

// Two lines in one write and one line in two writes are both what a server may do.
func TestStdioWritesNeedNotBeLines(t *testing.T) {
	var out strings.Builder
	serve := Stdio(func(_ context.Context, _ io.Reader, out io.Writer) error {
		for _, part := range []string{hello + "\n" + hello[:10], hello[10:] + "\n", "tail"} {
			if _, err := io.WriteString(out, part); err != nil {
				return err
			}
		}
		return nil
	}, load(t, one("when: notification\n  skip: 1", "raw: second")), Process{})
	if err := serve(context.Background(), strings.NewReader(""), &out); err != nil {
		t.Fatal(err)
	}
	if want := lines(hello, "second") + "tail"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestFiredCounts(t *testing.T) {
	faults := load(t, one("when: response", "drop: true"))
	serve := Stdio(serveLines, faults, Process{})
	if err := serve(context.Background(), strings.NewReader(lines(echo, note, echo)), io.Discard); err != nil {
		t.Fatal(err)
	}
	if n := faults[0].Fired(); n != 2 {
		t.Errorf("fired %d times, want 2", n)
	}
}
