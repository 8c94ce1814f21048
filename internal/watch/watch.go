// Package watch tells of changes of files.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Settle is how long nothing must change before a change is told: editors and compilers write in several steps.
const Settle = 200 * time.Millisecond

// mostFolders bounds what is watched, so that a home folder given by mistake is told and not tried.
const mostFolders = 10_000

// Changes are those of some files and of all in some folders.
type Changes struct {
	watcher *fsnotify.Watcher
	files   []string // watched alone, absolute
	trees   []string // folders, absolute
	ignored []string // absolute
}

// Paths watches files and folders, with the folders in them, also those that are made later. Hidden folders, node_modules and
// __pycache__ are left out, as are the files ignored. The error says which path cannot be watched.
func Paths(paths []string, ignored ...string) (*Changes, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("files cannot be watched here: %w", err)
	}
	c := &Changes{watcher: watcher}
	if err := c.begin(paths, ignored); err != nil {
		_ = watcher.Close()
		return nil, err
	}
	return c, nil
}

func (c *Changes) begin(paths, ignored []string) error {
	for _, name := range ignored {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		c.ignored = append(c.ignored, path)
	}
	for _, name := range paths {
		path, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("%s cannot be watched: %w", name, pathless(err))
		}
		if info.IsDir() {
			c.trees = append(c.trees, path)
			err = c.addTree(path)
		} else { // its folder: an editor may put another file in its place
			c.files = append(c.files, path)
			err = c.watcher.Add(filepath.Dir(path))
		}
		if err != nil {
			return fmt.Errorf("%s cannot be watched: %w", name, err)
		}
	}
	return nil
}

func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// addTree watches a folder and those in it.
func (c *Changes) addTree(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // gone again, or not ours to read
		case !d.IsDir():
			return nil
		case path != root && leftOut(d.Name()):
			return filepath.SkipDir
		case len(c.watcher.WatchList()) >= mostFolders:
			return fmt.Errorf("it holds more than %d folders; name a smaller one", mostFolders)
		}
		return c.watcher.Add(path)
	})
}

func leftOut(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "__pycache__"
}

// Next waits for a change since the last Next, lets it settle, and names one of the files. It returns ctx's error when
// that is over.
func (c *Changes) Next(ctx context.Context) (changed string, err error) {
	var settled <-chan time.Time
	for {
		select {
		case e, ok := <-c.watcher.Events:
			if !ok {
				return "", errors.New("the files are not watched any more")
			}
			if info, err := os.Stat(e.Name); err == nil && info.IsDir() && e.Has(fsnotify.Create) && !leftOut(filepath.Base(e.Name)) {
				if err := c.addTree(e.Name); err != nil {
					return "", err
				}
			}
			if c.concerns(e) {
				changed, settled = e.Name, time.After(Settle)
			}
		case err := <-c.watcher.Errors:
			if errors.Is(err, fsnotify.ErrEventOverflow) { // too many to tell which: something has changed
				changed, settled = "much", time.After(Settle)
				continue
			}
			return "", err
		case <-settled:
			return changed, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// concerns says whether the event is a change of what is watched.
func (c *Changes) concerns(e fsnotify.Event) bool {
	switch {
	case e.Op == fsnotify.Chmod || slices.Contains(c.ignored, e.Name):
		return false
	case slices.Contains(c.files, e.Name):
		return true
	case leftOut(filepath.Base(e.Name)):
		return false
	}
	return slices.ContainsFunc(c.trees, func(root string) bool {
		return strings.HasPrefix(e.Name, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
	})
}

// Close ends the watching.
func (c *Changes) Close() error { return c.watcher.Close() }
