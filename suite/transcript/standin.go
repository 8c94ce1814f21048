package transcript

import (
	"strconv"
	"strings"
)

// standIns holds what stands for session ids.
type standIns struct {
	byID   map[string]string
	shapes map[string]int // how many ids there are that differ in their visible characters only
}

func newStandIns() *standIns {
	return &standIns{byID: map[string]string{}, shapes: map[string]int{}}
}

// visible are the characters of a session id that the specification allows: visible ASCII (0x21 to 0x7E), here the plainest first.
var visible = func() string {
	s := "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for c := byte(0x21); c <= 0x7e; c++ {
		if strings.IndexByte(s, c) < 0 {
			s += string(c)
		}
	}
	return s
}()

func isVisible(r rune) bool { return r >= 0x21 && r <= 0x7e }

// add returns what stands for an id. Ids that differ in their invalid characters are told apart by these; the others of the
// same length are numbered in the order in which they appear, so that the stand-in of a stand-in is itself.
func (s *standIns) add(id string) string {
	if standIn, ok := s.byID[id]; ok {
		return standIn
	}
	var free int
	shape := strings.Map(func(r rune) rune {
		if isVisible(r) {
			free++
			return '!'
		}
		return r
	}, id)
	s.shapes[shape]++
	letters := standInText(s.shapes[shape], free)
	var used int
	standIn := strings.Map(func(r rune) rune {
		if isVisible(r) {
			used++
			return rune(letters[used-1])
		}
		return r
	}, id)
	s.byID[id] = standIn
	return standIn
}

// standInText gives every number its own text of n visible characters: "session-1" with filling where there is room for it.
func standInText(number, n int) string {
	text := "session-" + strconv.Itoa(number)
	if len(text) <= n {
		return text + strings.Repeat("x", n-len(text))
	}
	digits := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		digits[i] = visible[number%len(visible)]
		number /= len(visible)
	}
	return string(digits)
}
