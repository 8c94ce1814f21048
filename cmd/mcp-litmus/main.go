// Command mcp-litmus judges MCP servers.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mcp-litmus/mcp-litmus/reports"
	"github.com/mcp-litmus/mcp-litmus/suite"
)

func main() {
	var t suite.Target
	if len(os.Args) == 3 && os.Args[1] == "--url" {
		t, _ = suite.URL(os.Args[2])
	} else {
		t = suite.Command(os.Args[1:]...)
	}
	o, err := suite.Run(context.Background(), t)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	reports.Console(os.Stdout, o.Report, reports.ConsoleOptions{Width: 120, Verbose: true})
}
