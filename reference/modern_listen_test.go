package reference

import (
	"context"
	"testing"

	"github.com/onsi/gomega"
)

func subscriptionID(m message) any {
	params, _ := m["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	return meta[metaSubscription]
}

// listenHTTP opens a subscription and returns its stream and its acknowledgment.
func listenHTTP(c modernWeb, filter, capabilities object) (*sseReader, message) {
	c.t.Helper()
	stream := c.events(c.send("subscriptions/listen", withMeta(object{"notifications": filter}, capabilities), nil))
	_, first := stream.message()
	return stream, first
}

func TestSubscriptionsOverHTTP(t *testing.T) {
	g := gomega.NewWithT(t)
	c := modernWeb{dialHTTP(t)}
	trigger := func(tool string) { c.ask("tools/call", object{"name": tool}, object{}) }
	tools, ack := listenHTTP(c, object{"toolsListChanged": true, "promptsListChanged": false, "of another kind": true}, object{})
	g.Expect(ack["method"]).To(gomega.Equal("notifications/subscriptions/acknowledged"))
	g.Expect(ack["params"]).To(gomega.HaveKeyWithValue("notifications", map[string]any{"toolsListChanged": true}))
	g.Expect(subscriptionID(ack)).To(gomega.Equal(1.0))
	rest, ack := listenHTTP(c, object{"promptsListChanged": true, "resourcesListChanged": true,
		"resourceSubscriptions": []string{watchedURI, "test://no-such", watchedURI}}, object{})
	g.Expect(ack["params"]).To(gomega.HaveKeyWithValue("notifications", map[string]any{"promptsListChanged": true,
		"resourcesListChanged": true, "resourceSubscriptions": []any{watchedURI}}))
	g.Expect(subscriptionID(ack)).To(gomega.Equal(2.0))
	none, ack := listenHTTP(c, object{}, object{})
	g.Expect(ack["params"]).To(gomega.HaveKeyWithValue("notifications", map[string]any{}))

	for _, tool := range []string{"test_trigger_prompt_change", "test_trigger_tool_change", "update_watched_resource", "test_trigger_resource_change", "test_trigger_tool_change"} {
		trigger(tool)
	}
	next := func(stream *sseReader, method string, id any) message {
		t.Helper()
		_, m := stream.message()
		g.Expect(m["method"]).To(gomega.Equal(method))
		g.Expect(subscriptionID(m)).To(gomega.Equal(id))
		return m
	}
	next(tools, "notifications/tools/list_changed", 1.0)
	next(tools, "notifications/tools/list_changed", 1.0)
	next(rest, "notifications/prompts/list_changed", 2.0)
	g.Expect(next(rest, "notifications/resources/updated", 2.0)["params"]).To(gomega.HaveKeyWithValue("uri", watchedURI))
	next(rest, "notifications/resources/list_changed", 2.0)

	tools.body.Close() // cancels that one only
	trigger("test_trigger_prompt_change")
	next(rest, "notifications/prompts/list_changed", 2.0)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g.Expect(c.server.Shutdown(ctx)).To(gomega.Succeed())
	for id, stream := range map[float64]*sseReader{2: rest, 3: none} {
		_, end := stream.message()
		g.Expect(end["id"]).To(gomega.Equal(id))
		g.Expect(end.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
		g.Expect(end.result()["_meta"]).To(gomega.HaveKeyWithValue(metaSubscription, id))
		g.Expect(stream.messages()).To(gomega.BeEmpty())
	}
}

func TestSubscriptionsOverStdio(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t)
	open := func(id string, filter object) {
		t.Helper()
		c.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":` + string(encode(withMeta(object{"notifications": filter}, object{}))) + `}`)
		g.Expect(c.read()["method"]).To(gomega.Equal("notifications/subscriptions/acknowledged"))
	}
	open(`"text"`, object{"toolsListChanged": true})
	open(`77`, object{"toolsListChanged": true})
	open(`"77"`, object{"resourceSubscriptions": []string{watchedURI}})
	trigger := func(tool string) (ids []any) {
		t.Helper()
		c.request("tools/call", withMeta(object{"name": tool}, object{}))
		all := c.during
		c.request("server/discover", withMeta(object{}, object{}))
		for _, m := range append(all, c.during...) {
			ids = append(ids, subscriptionID(m))
		}
		return ids
	}
	// Notifications are queued beside the answer, so a later request may be needed to see them all.
	collect := func(tool string, want int) (ids []any) {
		t.Helper()
		ids = trigger(tool)
		for len(ids) < want {
			ids = append(ids, subscriptionID(c.read()))
		}
		return ids
	}
	g.Expect(collect("test_trigger_tool_change", 2)).To(gomega.ConsistOf("text", 77.0))
	g.Expect(collect("update_watched_resource", 1)).To(gomega.ConsistOf("77"))
	c.write(`{"jsonrpc":"2.0","id":77,"method":"server/discover","params":` + string(encode(withMeta(object{}, object{}))) + `}`)
	g.Expect(c.read().code()).To(gomega.Equal(codeInvalidRequest), "the id is in use")
	c.notify("notifications/cancelled", object{"requestId": 77})
	g.Expect(collect("test_trigger_tool_change", 1)).To(gomega.ConsistOf("text"))
	c.in.Close()
	ended := map[any]bool{}
	for line := range c.lines {
		m := parse(t, line)
		g.Expect(m.result()).To(gomega.HaveKeyWithValue("resultType", "complete"))
		g.Expect(m.result()["_meta"]).To(gomega.HaveKeyWithValue(metaSubscription, m["id"]))
		ended[m["id"]] = true
	}
	g.Expect(ended).To(gomega.Equal(map[any]bool{"text": true, "77": true}), "the cancelled one is not answered")
	g.Expect(<-c.served).NotTo(gomega.HaveOccurred())
}

func TestSubscriptionsEndWhenTheProcessIsToldTo(t *testing.T) {
	g := gomega.NewWithT(t)
	serverIn, clientOut := pipe(t)
	clientIn, serverOut := pipe(t)
	ctx, stop := context.WithCancel(t.Context())
	c := &stdioClient{t: t, in: clientOut, lines: make(chan []byte, 16), served: make(chan error, 1)}
	go func() {
		c.served <- New().ServeStdio(ctx, serverIn, serverOut)
		serverOut.Close()
	}()
	go readAll(clientIn, c.lines)
	t.Cleanup(func() { clientOut.Close() })
	c.send("subscriptions/listen", withMeta(object{"notifications": object{}}, object{}))
	c.read()
	c.send("tools/call", withMeta(object{"name": "slow", "arguments": object{"duration": 60000}, "_meta": object{"progressToken": 1}}, object{}))
	c.read()
	stop()
	g.Expect(c.read()["id"]).To(gomega.Equal(1.0), "the subscription is answered, the call is not")
	g.Expect(<-c.served).To(gomega.MatchError(context.Canceled))
	_, more := <-c.lines
	g.Expect(more).To(gomega.BeFalse())
}

func TestIgnoredCancellationsEndSubscriptions(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dialStdio(t, WithFlags(map[string]bool{FlagIgnoreCancellation: true}))
	c.write(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":` + string(encode(withMeta(object{"notifications": object{}}, object{}))) + `}`)
	g.Expect(c.read()["method"]).To(gomega.Equal("notifications/subscriptions/acknowledged"))
	c.notify("notifications/cancelled", object{"requestId": "s"})
	c.in.Close()
	_, more := <-c.lines
	g.Expect(more).To(gomega.BeFalse(), "a subscription that was cancelled is not answered")
}
