package script

import (
	"strings"
	"sync"
	"testing"
)

// A folder of someone's own may hold anything; reading it must end, and not with a crash.
func TestHostileFilesAreRefused(t *testing.T) {
	var staircase strings.Builder
	for i := range 2000 {
		staircase.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"brackets":   strings.Repeat("[", 200_000),
		"dashes":     strings.Repeat("- ", 200_000) + "a",
		"questions":  strings.Repeat("? ", 200_000) + "a",
		"staircase":  staircase.String(),
		"aliases":    "- &a [x]\n- &b [*a, *a]\n- &c [*b, *b]\n- [*c, *c]\n",
		"parens":     "- exchange: x\n  when: '" + strings.Repeat("(", 50_000) + "'\n",
		"large":      "- exchange: " + strings.Repeat("x", maxFile),
		"no text":    "\x00\x01\xff",
		"one mark":   "\ufeff- exchange: x\n",
		"tabs":       "-\texchange: x\n",
		"long chain": "- exchange: x\n  when: " + strings.Repeat("server.a && ", 20_000) + "true\n",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Load(files(nil), files(map[string]string{"hostile.yaml": text}))
			if err == nil || l != nil {
				t.Fatalf("it loaded: %v", l)
			}
			if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(first, "hostile.yaml") || len(first) > 1000 {
				t.Errorf("got %.300s", first)
			}
		})
	}
}

func TestExpressionsAreSafeForConcurrentUse(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				e, err := Compile(`items.all(i, isJSONSchema(i)) && schema(result, "Tool")`, Position{}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				vars := map[string]any{"items": []any{map[string]any{"type": "objekt"}}, "result": map[string]any{}, "revision": "2025-11-25"}
				if ok, err := e.Bool(vars); ok || err != nil {
					t.Errorf("got %v, %v", ok, err)
				}
				if parts := e.Explain(vars); len(parts) < 3 {
					t.Errorf("got %v", parts)
				}
			}
		})
	}
	group.Wait()
}
