package suite_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
)

// From any program: run, look at the verdicts, write a report.
func ExampleRun() {
	target := suite.Handler(reference.New().Handler())
	outcome, err := suite.Run(context.Background(), target, suite.Revisions("2025-11-25"), suite.Select("ping"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Report.Server, outcome.Conforms())
	// Output: mcp-litmus-reference 0.1.0 true
}

// A server that is started as a child process, with a JUnit report.
func ExampleCommand() {
	outcome, err := suite.Run(context.Background(), suite.Command("node", "server.js"))
	if err != nil {
		log.Fatal(err)
	}
	if err := reports.JUnit(os.Stdout, outcome.Report, outcome.Strict); err != nil {
		log.Fatal(err)
	}
}

// A server that runs elsewhere, with a token that no report shows.
func ExampleURL() {
	target, err := suite.URL("http://127.0.0.1:3000/mcp")
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := suite.Run(context.Background(), target, suite.Token("valid", os.Getenv("MCP_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Report.Summary(false))
}
