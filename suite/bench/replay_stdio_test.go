package bench

import (
	"bufio"
	"bytes"
	"errors"
	"os/exec"
	"sync"
	"time"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

// stdioPlayer repeats conversations with a command, a process for each.
func stdioPlayer(argv []string, dir string) player {
	return func(c conversation, t *tally, closing *sync.WaitGroup) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		in, err := cmd.StdinPipe()
		if err != nil {
			t.stall("%v", err)
			return
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.stall("%v", err)
			return
		}
		if err := cmd.Start(); err != nil {
			t.stall("%v", err)
			return
		}
		replies, requests := newCounter(), newCounter()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r := bufio.NewReaderSize(out, 64<<10)
			begun := false // within a line that is longer than the buffer
			for {
				part, err := r.ReadSlice('\n')
				t.add(0, len(part))
				switch {
				case len(part) == 0 || begun:
				case isReply(part):
					replies.add(1, false)
				case isRequest(part):
					requests.add(1, false)
				}
				begun = errors.Is(err, bufio.ErrBufferFull)
				if err != nil && !begun {
					replies.add(0, true)
					requests.add(0, true)
					return
				}
			}
		}()
		came, asked := 0, 0
		var last []byte
		for _, e := range c {
			ok := true
			switch e.Kind {
			case transcript.Send:
				if isReply(e.Data) && !requests.await(asked) {
					t.stall("%d requests of the server did not come before %s, after %s", asked, short(e.Data), short(last))
				}
				data := e.Data
				if !bytes.HasSuffix(data, []byte("\n")) {
					data = append(append(make([]byte, 0, len(data)+1), data...), '\n')
				}
				n, _ := in.Write(data) // a server that is gone does not read; so it was recorded
				t.add(n, 0)
				last = e.Data
			case transcript.Receive:
				if isReply(e.Data) {
					came++
					ok = replies.await(came)
				} else if isRequest(e.Data) {
					asked++
				}
			case transcript.Closed:
				in.Close()
			case transcript.EOF:
				ok = replies.await(1 << 30)
			}
			if !ok {
				t.stall("%d replies did not come after %s", came, short(last))
				break
			}
		}
		in.Close()
		closing.Go(func() {
			grace := time.AfterFunc(2*time.Second, func() { _ = cmd.Process.Kill() })
			defer grace.Stop()
			<-ended
			_ = cmd.Wait()
		})
	}
}
