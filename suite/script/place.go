package script

import (
	"unicode"

	"github.com/goccy/go-yaml/token"
)

// place is the position in the file of the rune at offset in a scalar's text: exact where the scalar is on
// one line or a block, and on the right line where lines were folded.
func (n *node) place(offset int) Position {
	if n.kind != scalarNode || n.pos.Line == 0 {
		return n.pos
	}
	line, col := n.pos.Line-1, n.pos.Column-1
	switch n.style {
	case token.LiteralType, token.FoldedType:
		line, col = line+1, 0
	case token.SingleQuoteType, token.DoubleQuoteType:
		col++
	}
	last := Position{n.pos.File, line + 1, col + 1}
	for i, r := range []rune(n.text) {
		if i >= offset && !unicode.IsSpace(r) {
			line, col = n.seek(line, col, r)
			return Position{n.pos.File, line + 1, col + 1}
		}
		if unicode.IsSpace(r) {
			continue // folding and indentation change space, never the letters
		}
		line, col = n.seek(line, col, r)
		col += n.width(line, col)
		last = Position{n.pos.File, line + 1, col + 1}
	}
	return last
}

// seek moves on to where the letter r stands in the source.
func (n *node) seek(line, col int, r rune) (int, int) {
	startLine, startCol := line, col
	for ; line < len(n.lines); line, col = line+1, 0 {
		for ; col < len(n.lines[line]); col++ {
			c := n.lines[line][col]
			if c == r || c == '\\' && n.style == token.DoubleQuoteType && !n.isSpaceEscape(line, col) {
				return line, col
			}
			if c == '\\' && n.style == token.DoubleQuoteType {
				col++
			}
		}
	}
	return startLine, startCol
}

// isSpaceEscape says whether the escape at col stands for white space.
func (n *node) isSpaceEscape(line, col int) bool {
	if col+1 >= len(n.lines[line]) {
		return true
	}
	switch n.lines[line][col+1] {
	case 'n', 't', 'r', 'v', 'f', ' ', '_', 'N', 'L', 'P':
		return true
	}
	return false
}

// width is how many runes of source one rune of text takes here.
func (n *node) width(line, col int) int {
	if line >= len(n.lines) || col >= len(n.lines[line]) {
		return 0
	}
	c := n.lines[line][col]
	switch {
	case n.style == token.SingleQuoteType && c == '\'':
		return 2
	case n.style == token.DoubleQuoteType && c == '\\' && col+1 < len(n.lines[line]):
		switch n.lines[line][col+1] {
		case 'x':
			return 4
		case 'u':
			return 6
		case 'U':
			return 10
		}
		return 2
	}
	return 1
}
