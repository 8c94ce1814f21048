package bench

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-litmus/mcp-litmus/suite/transcript"
)

const sessionHeader = "Mcp-Session-Id"

// exchange is one HTTP request of a replay.
type exchange struct {
	cancel   context.CancelFunc
	answered chan struct{}
	header   http.Header
	events   *counter // server-sent events; over at the end of the answer
	expected int
	recorded []string // the event ids of the recording, in order

	mu   sync.Mutex
	body []byte
}

var idLine = regexp.MustCompile(`(?m)^id: ?([^\r\n]*)`)

// eventID is the event id of now that stands where the recording has the other, or "".
func (x *exchange) eventID(recorded string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.Index(x.recorded, recorded)
	if ids := idLine.FindAllSubmatch(x.body, -1); i >= 0 && i < len(ids) {
		return string(ids[i][1])
	}
	return ""
}

// httpPlayer repeats conversations with an endpoint, with connections of its own for each.
func httpPlayer(endpoint string) player {
	to, err := url.Parse(endpoint)
	if err != nil {
		panic(err)
	}
	return func(c conversation, t *tally, closing *sync.WaitGroup) {
		transport := &http.Transport{DisableCompression: true}
		p := &httpReplay{to: to, t: t, ids: map[string]string{}, streams: map[int]*exchange{},
			client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
		for _, e := range c {
			if !p.event(e) {
				break
			}
		}
		closing.Go(func() {
			p.end()
			transport.CloseIdleConnections()
		})
	}
}

type httpReplay struct {
	to       *url.URL
	t        *tally
	client   *http.Client
	ids      map[string]string // session ids: those of the recording to those of now
	assigned string            // the session id of now
	ended    bool              // the recording ends the session itself
	streams  map[int]*exchange
	all      sync.WaitGroup
}

// event repeats or awaits one event; false when it did not come.
func (p *httpReplay) event(e transcript.Event) bool {
	if e.Kind == transcript.Send {
		return p.send(e)
	}
	x := p.streams[e.Stream]
	if x == nil {
		return true
	}
	ok := true
	switch e.Kind {
	case transcript.Answer:
		select {
		case <-x.answered:
		case <-x.over():
		}
		if now := x.header.Get(sessionHeader); now != "" && len(e.HTTP.Headers[sessionHeader]) > 0 {
			p.ids[e.HTTP.Headers[sessionHeader][0]], p.assigned = now, now
		}
	case transcript.Receive:
		if e.SSE == nil {
			break
		}
		if e.SSE.ID != nil {
			x.recorded = append(x.recorded, *e.SSE.ID)
		}
		x.expected++
		ok = x.events.await(x.expected)
	case transcript.End:
		if strings.Contains(e.Note, "ended early by the suite") {
			x.cancel()
		}
		ok = x.events.await(1 << 30)
	}
	if !ok {
		p.t.stall("request %d: no %s", e.Stream, e.Kind)
	}
	return ok
}

func (p *httpReplay) send(e transcript.Event) bool {
	u, err := url.Parse(e.HTTP.URL)
	if err != nil {
		p.t.stall("%v", err)
		return false
	}
	from := u.Host
	u.Scheme, u.Host = p.to.Scheme, p.to.Host
	req, err := http.NewRequest(e.HTTP.Method, u.String(), bytes.NewReader(e.Data))
	if err != nil {
		p.t.stall("%v", err)
		return false
	}
	for name, values := range e.HTTP.Headers {
		for _, v := range values {
			v = strings.ReplaceAll(v, from, p.to.Host)
			if now, ok := p.ids[v]; ok && name == sessionHeader {
				v = now
			}
			if name == "Last-Event-Id" {
				for _, x := range p.streams {
					if now := x.eventID(v); now != "" {
						v = now
						break
					}
				}
			}
			if name == "Host" {
				req.Host = v
				continue
			}
			req.Header[name] = append(req.Header[name], v)
		}
	}
	p.ended = p.ended || e.HTTP.Method == http.MethodDelete
	p.start(e.Stream, req, len(e.Data))
	return true
}

func (p *httpReplay) start(stream int, req *http.Request, size int) {
	ctx, cancel := context.WithCancel(context.Background())
	x := &exchange{cancel: cancel, answered: make(chan struct{}), events: newCounter()}
	p.streams[stream] = x
	p.all.Go(func() {
		defer x.events.add(0, true)
		resp, err := p.client.Do(req.WithContext(ctx))
		if err != nil {
			return // as it was recorded, or a stall of what is awaited next
		}
		defer resp.Body.Close()
		x.header = resp.Header
		close(x.answered)
		p.t.add(size, 0)
		buffer := make([]byte, 64<<10)
		for {
			n, err := resp.Body.Read(buffer)
			p.t.add(0, n)
			x.mu.Lock()
			x.body = append(x.body, buffer[:n]...)
			x.mu.Unlock()
			if k := bytes.Count(buffer[:n], []byte("\n\n")) + bytes.Count(buffer[:n], []byte("\n\r\n")); k > 0 {
				x.events.add(k, false)
			}
			if err != nil {
				return
			}
		}
	})
}

// end ends the session as the suite does, and drops what is still open.
func (p *httpReplay) end() {
	if p.assigned != "" && !p.ended {
		if req, err := http.NewRequest(http.MethodDelete, p.to.String(), nil); err == nil {
			req.Header.Set(sessionHeader, p.assigned)
			if resp, err := p.client.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
	}
	for _, x := range p.streams {
		x.cancel()
	}
	p.all.Wait()
}

// over is closed when the answer is over.
func (x *exchange) over() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		x.events.await(1 << 30)
		close(done)
	}()
	return done
}
