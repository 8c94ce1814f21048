package examples

import (
	"net/http/httptest"
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/mcp-litmus/mcp-litmus/reference"
	"github.com/mcp-litmus/mcp-litmus/suite"
)

// The tree of specs is built before anything runs, so the address must be known by then.
var server = httptest.NewServer(reference.New().Handler())

var _ = ginkgo.AfterSuite(func() { server.Close() })

// The suite beside the specs of one's own: `ginkgo --label-filter 'tools && MUST'` picks among them all.
var _ = ginkgo.Describe("my server", func() {
	ginkgo.Describe("in this process", func() {
		suite.Describe(suite.Handler(reference.New().Handler()), quick()...)
	})

	ginkgo.Describe("as a command", func() {
		self, err := os.Executable()
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		suite.Describe(suite.Command("env", "BE_THE_SERVER=1", self), quick()...)
	})

	ginkgo.Describe("at a URL", func() {
		target, err := suite.URL(server.URL)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		suite.Describe(target, quick()...)
	})
})

func TestGinkgo(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "my server")
}
