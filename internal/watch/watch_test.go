package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestChangesAreTold(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(gomega.Succeed())
		g.Expect(os.WriteFile(path, []byte(time.Now().String()), 0o644)).To(gomega.Succeed())
		return path
	}
	for _, name := range []string{"src/server.js", "src/deep/lib.js", "one.json", "two.json", "src/report.xml"} {
		write(name)
	}
	c, err := Paths([]string{filepath.Join(dir, "src"), filepath.Join(dir, "one.json")}, filepath.Join(dir, "src/report.xml"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer c.Close()
	for _, name := range []string{"src/server.js", "src/deep/lib.js", "one.json", "src/new.js", "src/made/later.js", "src/made/again.js"} {
		// What is nobody's business comes first: were it told, it would be told instead.
		for _, other := range []string{"two.json", "src/report.xml", "src/.hidden", "src/node_modules/x.js"} {
			write(other)
		}
		path := write(name)
		changed, err := c.Next(t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if name == "src/made/later.js" {
			g.Expect(filepath.Dir(path)).To(gomega.HavePrefix(filepath.Join(dir, "src/made")))
			continue // the folder itself is a change, too
		}
		if filepath.Base(changed) != "node_modules" {
			g.Expect(changed).To(gomega.Equal(path))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for { // what was written last may still be told
		if _, err = c.Next(ctx); err != nil {
			break
		}
	}
	g.Expect(errors.Is(err, context.Canceled)).To(gomega.BeTrue())
}

func TestWhatCannotBeWatchedIsTold(t *testing.T) {
	_, err := Paths([]string{"no-such-folder"})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError("no-such-folder cannot be watched: no such file or directory"))
}
