package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readLines hands out every line of r without its newline: at most its first max bytes, with the length of the whole.
// Only the last line may lack the newline. The error is that of r; nil at its end.
func readLines(r io.Reader, max int64, emit func(line []byte, size int64, newline bool)) error {
	reader := bufio.NewReaderSize(r, 64<<10)
	line, size := []byte{}, int64(0)
	for {
		part, err := reader.ReadSlice('\n')
		newline := bytes.HasSuffix(part, []byte("\n"))
		if newline {
			part = part[:len(part)-1]
		}
		size += int64(len(part))
		line = append(line, part[:min(int64(len(part)), max-int64(len(line)))]...)
		if newline || err != nil && !errors.Is(err, bufio.ErrBufferFull) && size > 0 {
			emit(line, size, newline)
			line, size = []byte{}, 0 // a new one: the sink keeps what it got
		}
		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}
