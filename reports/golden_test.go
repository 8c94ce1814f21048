package reports

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// TestGolden compares every format with its example under testdata. Look at what -update changed before it is kept.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file  string
		write func(*bytes.Buffer) error
	}{
		{"console.txt", func(b *bytes.Buffer) error { Console(b, sample(), ConsoleOptions{Width: 80}); return nil }},
		{"console-verbose.txt", func(b *bytes.Buffer) error { Console(b, sample(), ConsoleOptions{Verbose: true}); return nil }},
		{"report.json", func(b *bytes.Buffer) error { return JSON(b, sample()) }},
		{"report.html", func(b *bytes.Buffer) error { return HTML(b, sample(), false) }},
		{"junit.xml", func(b *bytes.Buffer) error { return JUnit(b, sample(), false) }},
		{"junit-strict.xml", func(b *bytes.Buffer) error { return JUnit(b, sample(), true) }},
	} {
		t.Run(c.file, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var got bytes.Buffer
			g.Expect(c.write(&got)).To(gomega.Succeed())
			path := filepath.Join("testdata", c.file)
			if *update {
				g.Expect(os.WriteFile(path, got.Bytes(), 0o644)).To(gomega.Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(got.String()).To(gomega.Equal(string(want)), "go test ./reports -update rewrites the golden files")
		})
	}
}
