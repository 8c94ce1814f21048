package sabotage

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"
)

// What mcp-reference --fault pays at its start when there are 400 faults.
func BenchmarkLoad400(b *testing.B) {
	var source strings.Builder
	for i := range 400 {
		fmt.Fprintf(&source, "- fault: fault-%d\n  breaks: [tools.call.unknown-tool]\n  why: It is one of many.\n"+
			"  when: request.method == \"tools/call\" && response && has(message.result.content) && count == 0\n"+
			"  do: [{set: {result.content.0.text: '${request.params.name}'}}, {drop-field: [id]}]\n", i)
	}
	files := fstest.MapFS{"many.yaml": {Data: []byte(source.String())}}
	for b.Loop() {
		if _, err := Load(files); err != nil {
			b.Fatal(err)
		}
	}
}

// What one request costs on stdio with a fault that does not strike; without a fault nothing is wrapped.
func BenchmarkUnmatched(b *testing.B) {
	faults, err := Load(fstest.MapFS{"one.yaml": {Data: []byte(one(`when: request.method == "tools/list" && message.result.tools.size() > 3`, "drop: true"))}})
	if err != nil {
		b.Fatal(err)
	}
	input := strings.Repeat(echo+"\n", 1000)
	for name, faults := range map[string][]Fault{"without": nil, "with": faults} {
		b.Run(name, func(b *testing.B) {
			serve := Stdio(serveLines, faults, Process{})
			for b.Loop() {
				if err := serve(context.Background(), strings.NewReader(input), io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/request")
		})
	}
}
