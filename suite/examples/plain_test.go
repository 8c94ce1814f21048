// Package examples holds tests of a server as its author would write them: of one in the same process, of a command and of a
// URL, with the testing package alone and with Ginkgo. The server is the reference server; put yours in its place.
package examples

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
)

// The test binary is the server, too, so that these tests have a command to start.
func TestMain(m *testing.M) {
	if os.Getenv("BE_THE_SERVER") != "" {
		if err := reference.New().ServeStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A server in the same process that speaks lines, as over stdio. One check of it is
//
//	go test -run 'TestInProcess/2025-11-25/in-memory/basic/utilities/ping'
func TestInProcess(t *testing.T) {
	suite.Test(t, suite.Pipe(reference.New().ServeStdio), quick()...)
}

// An HTTP handler in the same process.
func TestHandler(t *testing.T) {
	suite.Test(t, suite.Handler(reference.New().Handler()), quick()...)
}

// A program that speaks over its standard input and output.
func TestCommand(t *testing.T) {
	t.Setenv("BE_THE_SERVER", "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	suite.Test(t, suite.Command(self), quick()...)
}

// A server that runs already, at a URL.
func TestURL(t *testing.T) {
	server := httptest.NewServer(reference.New().Handler())
	defer server.Close()
	target, err := suite.URL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	outcome := suite.Test(t, target, quick()...)
	t.Logf("%s %s", outcome.Report.Server, outcome.Report.Summary(false))
}

// quick is what these examples judge. A real test has no options at all, and judges everything at every revision.
func quick() []suite.Option {
	return []suite.Option{suite.Revisions("2025-11-25"), suite.Select("lifecycle || ping")}
}
