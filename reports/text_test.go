package reports

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onsi/gomega"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain ünï 漢字 é":    "plain ünï 漢字 é",
		"\x1b[2J\a\x00\x7f": "␛[2J␇␀␡",
		"a\tb\r\nc":         "a␉b␍␊c",
		`a\nb`:              `a\nb`,
		"\x9b31m\xff":       "‹9B›31m‹FF›",
		"\u009b31m":         "‹U+009B›31m",
		"\u202egnp.exe":     "‹U+202E›gnp.exe",
		"a\u2028b\u200bc":   "a‹U+2028›b‹U+200B›c",
		"\ufffd":            "\ufffd", // sent as such: valid UTF-8
		"\ufffe":            "‹U+FFFE›",
		"":                  "",
	} {
		gomega.NewWithT(t).Expect(printable(in)).To(gomega.Equal(want), "%q", in)
	}
	gomega.NewWithT(t).Expect(printableLines("a\nb\rc")).To(gomega.Equal("a\nb␍c"))
}

func TestCutMiddle(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(cutMiddle("short", 5)).To(gomega.Equal("short"))
	g.Expect(cutMiddle(strings.Repeat("a", 20)+strings.Repeat("z", 1300), 30)).To(
		gomega.Equal(strings.Repeat("a", 20) + " … 1,290 bytes cut … " + strings.Repeat("z", 10)))
	for max := range 20 {
		g.Expect(utf8.ValidString(cutMiddle(strings.Repeat("漢é", 10), max))).To(gomega.BeTrue(), "max %d", max)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 0, []string{"one two three"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"see https://example.org/a/long/address#that-stays-whole, and more", 30, []string{"see", "https://example.org/a/long/address#that-stays-whole,", "and more"}},
		{"a longest-word-of-all", 12, []string{"a longest-wo", "rd-of-all"}},
		{"a word-that-fits", 14, []string{"a", "word-that-fits"}},
		{`{"a":"bcd","e":"fgh/ijk","l":1}`, 20, []string{`{"a":"bcd",`, `"e":"fgh/ijk","l":1}`}},
		{`{"a":1 … 3,551 cut … {"bbbbbbbbbbbbbbbbbbbbbbbb":1}`, 26, []string{`{"a":1 … 3,551 cut …`, `{"bbbbbbbbbbbbbbbbbbbbbbbb`, `":1}`}},
		{"  a = bcdefghijkl", 12, []string{"  a =", "bcdefghijkl"}},
		{"漢漢漢", 4, []string{"漢漢", "漢"}},
		{"漢漢", 1, []string{"漢", "漢"}},
		{"a\nb", 9, []string{"a", "b"}},
		{"", 4, []string{""}},
	} {
		gomega.NewWithT(t).Expect(wrap(c.in, c.max)).To(gomega.Equal(c.want), "%q at %d", c.in, c.max)
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[0m 漢\u202e\xff\n", 5)
	f.Fuzz(func(t *testing.T, s string, max int) {
		max = max&63 + 2
		p := printable(s)
		for _, r := range p {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e {
				t.Fatalf("%q shows %U", s, r)
			}
		}
		if !utf8.ValidString(cutMiddle(p, max)) {
			t.Fatalf("cut at %d: not UTF-8", max)
		}
		lines := wrap(p, max)
		for _, l := range lines {
			if columns(l) > max {
				t.Fatalf("%q is wider than %d", l, max)
			}
		}
		if got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(p, " ", ""); got != want {
			t.Fatalf("wrapped at %d: %q, was %q", max, got, want)
		}
		if columns(fit(p, max)) > max {
			t.Fatalf("fit does not fit: %q", fit(p, max))
		}
	})
}
