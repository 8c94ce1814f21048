package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-litmus/mcp-litmus/suite/script"
	"github.com/mcp-litmus/mcp-litmus/suite/verdict"
)

// What reports tell people to add can be added: each entry that an exchange asks for is read, with its keys where they belong.
func TestAdditionsCanBeRead(t *testing.T) {
	lib, err := script.Default()
	if err != nil {
		t.Fatal(err)
	}
	var all verdict.Additions
	gather := func(adds []string) {
		for _, add := range adds {
			key, name, example, _ := lib.Addition(add)
			all = append(all, verdict.Addition{Key: key, Name: name, Value: example})
		}
	}
	for _, ex := range lib.Exchanges {
		gather(ex.Add)
		for _, c := range ex.AllChecks() {
			gather(c.Add)
		}
	}
	path := filepath.Join(t.TempDir(), "litmus.yaml")
	if err := os.WriteFile(path, []byte(all.Block()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, all.Block())
	}
	if len(c.Roles) < 20 || len(c.Allow) != 1 || len(c.Auth.Tokens) < 5 {
		t.Errorf("%d roles, %d tools and %d tokens were read", len(c.Roles), len(c.Allow), len(c.Auth.Tokens))
	}
}
