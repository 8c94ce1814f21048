package suite_test

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
)

// The suite inside somebody's own Ginkgo suite.
var _ = ginkgo.Describe("my server", func() {
	suite.Describe(suite.Handler(reference.New().Handler()), suite.Revisions("2025-11-25"), suite.Select("lifecycle"))
})

func TestInsideGinkgo(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "a server's own suite")
}
