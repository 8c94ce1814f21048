package reports

import (
	"strings"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

const specification = "https://modelcontextprotocol.io/specification/"

// sample is a report with every status, several places, a known failure, and text that a hostile server sent.
func sample() *verdict.Report {
	r := &verdict.Report{
		Suite: "v0.1.0", Catalogue: "sha256:3f9a1c5e77b0d2aa41c6", Target: "node server.js", Server: "everything 1.2.0",
		Started: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC), Duration: 4250 * time.Millisecond, Complete: true,
		Runs: []verdict.Run{
			{Revision: "2024-11-05", Transport: "stdio"},
			{Revision: "2025-03-26", Transport: "stdio", Negotiated: "2024-11-05"},
			{Revision: "2025-11-25", Transport: "stdio"},
			{Revision: "2025-11-25", Transport: "streamable-http"},
		},
	}
	add := func(v verdict.Verdict) {
		if v.Duration == 0 {
			v.Duration = 12 * time.Millisecond
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	for _, run := range r.Runs {
		if run.Negotiated != "" {
			continue
		}
		at := func(v verdict.Verdict) verdict.Verdict {
			v.Revision, v.Transport = run.Revision, run.Transport
			v.Spec = specification + run.Revision + "/" + v.Spec
			return v
		}
		for _, id := range []string{"lifecycle.initialize.version", "lifecycle.initialize.capabilities", "lifecycle.initialize.server-info"} {
			add(at(verdict.Verdict{
				Requirement: id, Exchange: "initialize", Area: "basic/lifecycle", Level: "MUST", Status: verdict.Pass,
				Text: "The answer to initialize holds what the revision asks for.", Spec: "basic/lifecycle#initialization",
			}))
		}
		add(at(unknownTool("call a tool that does not exist")))
		if run.Transport == "streamable-http" {
			add(at(unknownTool("call a tool without a name")))
			add(at(foreignOrigin()))
			add(at(verdict.Verdict{
				Requirement: "http.get.405-or-stream", Exchange: "open the stream with GET", Area: "basic/transports/streamable-http",
				Level: "MUST", Status: verdict.Error, Reason: "the connection could not be made: dial tcp 127.0.0.1:3000: connection refused",
				Text: "GET is answered with an event stream or with 405.", Spec: "basic/transports#listening-for-messages-from-the-server",
				Evidence: &verdict.Evidence{Wire: []verdict.Line{{At: 2 * time.Second, Text: "GET /mcp: connection refused"}}},
			}))
		} else {
			add(at(verdict.Verdict{
				Requirement: "http.origin.validated", Exchange: "a foreign Origin is refused", Area: "basic/transports/streamable-http",
				Level: "MUST", Status: verdict.Skip, Reason: "it is about streamable-http",
				Text: "A request with an Origin that is not allowed is refused.", Spec: "basic/transports#security-warning",
			}))
			add(at(bannerOnStdout()))
		}
		add(at(verdict.Verdict{
			Requirement: "robustness.survives-garbage", Exchange: "a line that is not JSON", Area: "basic/transports/stdio",
			Level: "advice", Status: verdict.Note, Reason: "the server ended with exit code 1",
			Text: "A line that is not JSON does not end the server.", Spec: "basic/transports#stdio",
		}))
		for _, id := range []string{"tools.call.is-error", "tools.call.is-error-content"} {
			add(at(verdict.Verdict{
				Requirement: id, Exchange: "a tool that fails", Area: "server/tools", Level: "SHOULD", Status: verdict.Untested,
				Reason: "no known tool fails", Add: verdict.Additions{{Key: "roles", Name: "failing-tool", Value: "{name: …, arguments: {…}}"}},
				Text: "A failure of the tool itself is told in the result.", Spec: "server/tools#error-handling",
			}))
		}
		add(at(verdict.Verdict{
			Requirement: "resources.read.binary", Exchange: "read a binary resource", Area: "server/resources", Level: "MUST", Status: verdict.Untested,
			Reason: "no known resource is binary", Add: verdict.Additions{{Key: "roles", Name: "binary-resource", Value: "{uri: …}"}},
			Text: "Binary contents are base64.", Spec: "server/resources#resource-contents",
		}))
	}
	add(verdict.Verdict{
		Requirement: "tools.list.unique-names", Exchange: "follow the cursors to the last page", Area: "server/tools", Level: "MUST",
		Revision: "2025-11-25", Transport: "stdio", Status: verdict.Fail, Reason: "2 of 14 names occur twice", Known: "issue 42: fixed in the next release",
		Text: "Tool names are unique within a server.", Spec: specification + "2025-11-25/server/tools#tool",
	})
	return r
}

func unknownTool(exchange string) verdict.Verdict {
	return verdict.Verdict{
		Requirement: "tools.call.unknown-tool", Exchange: exchange, Area: "server/tools", Level: "MUST", Status: verdict.Fail,
		Reason: "error.code is -32601", Text: "A call to a tool that the server does not offer is answered with error -32602.",
		Spec: "server/tools#error-handling", Note: "a missing name counts as a tool that is not offered",
		Evidence: &verdict.Evidence{
			Expression: "error.code == -32602", Position: "server/tools.yaml:12:7",
			Parts: []verdict.Part{{Source: "error.code", Value: "-32601"}, {Source: "result.isError", Err: "no such key: result"},
				{Source: "error.code == -32602", Value: "false"}},
			Wire: []verdict.Line{
				{At: 120 * time.Millisecond, Direction: "sent", Text: `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"litmus-absent","arguments":{}}}`},
				{At: 124 * time.Millisecond, Direction: "received", Text: `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"` + strings.Repeat("no such tool ", 60) + `"}}`},
				{At: 125 * time.Millisecond, About: verdict.Stderr, Text: "\x1b[31mERROR\x1b[0m unknown tool\r\n\a"},
			},
		},
	}
}

func foreignOrigin() verdict.Verdict {
	return verdict.Verdict{
		Requirement: "http.origin.validated", Exchange: "a foreign Origin is refused", Area: "basic/transports/streamable-http", Level: "MUST",
		Status: verdict.Fail, Reason: "the status is 200, not 403", Text: "A request with an Origin that is not allowed is refused.",
		Spec: "basic/transports#security-warning",
		Evidence: &verdict.Evidence{
			Expression: "http.status == 403", Position: "basic/transports.yaml:80:9",
			Parts: []verdict.Part{{Source: "http.status", Value: "200"}},
			Wire: []verdict.Line{
				{At: time.Second, Direction: "sent", Stream: 4, Text: "POST /mcp Origin: https://evil.example", HTTP: &verdict.HTTP{
					Method: "POST", URL: "http://127.0.0.1:3000/mcp", Headers: map[string]string{"Origin": "https://evil.example", "Content-Type": "application/json"},
				}},
				{At: time.Second, Direction: "sent", Stream: 4, Text: `{"jsonrpc":"2.0","id":7,"method":"ping"}`},
				{At: time.Second + 3*time.Millisecond, Direction: "received", Stream: 4, Text: "200 OK Content-Type: text/event-stream", HTTP: &verdict.HTTP{
					Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"},
				}},
				{At: time.Second + 4*time.Millisecond, Direction: "received", Stream: 4, About: `event message id="1"`, Text: `{"jsonrpc":"2.0","id":7,"result":{}}`},
			},
		},
	}
}

func bannerOnStdout() verdict.Verdict {
	return verdict.Verdict{
		Requirement: "utilities.logging.level", Exchange: "log messages keep to the level", Area: "server/utilities/logging", Level: "SHOULD",
		Status: verdict.Warn, Reason: "2 messages are below the level that was set", Text: "Log messages below the level that the client set are not sent.",
		Spec: "server/utilities/logging#setting-log-level",
		Evidence: &verdict.Evidence{
			Expression: `it.params.level in ["error", "critical"]`, Position: "server/utilities/logging.yaml:20:5",
			Item: `{"level":"debug","data":"` + "\u202eevil \x9b31m 漢字 </testcase>]]>" + `"}`, Problems: 2,
		},
	}
}
