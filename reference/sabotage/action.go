package sabotage

import (
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// kind says what an action works on. One that works on two things has two bits.
type kind uint8

const (
	onMessage kind = 1 << iota // an outgoing message
	onAnswer                   // the HTTP answer as a whole: there may be no message in it
	onEvent                    // an SSE event, also one without a message
	anyKind   = onMessage | onAnswer | onEvent
)

// medium says on which transports an action can do anything.
type medium uint8

const (
	viaStdio medium = 1 << iota
	viaHTTP
	viaBoth = viaStdio | viaHTTP
)

func mediumOf(transport string) medium {
	if transport == TransportStdio {
		return viaStdio
	}
	return viaHTTP
}

type actionSpec struct {
	name  string
	kind  kind
	via   medium
	at    moment
	parse func(*loader, ast.Node) func(*effect, *scope) error // nil after a problem was noted
}

type action struct {
	spec  *actionSpec
	apply func(*effect, *scope) error
}

const anyMoment = atMessage | atReceive | atStart | atEOF

// maxDelay keeps a slip of the pen from stalling a whole run.
const maxDelay = time.Minute

// actionSpecs is every action there is; docs/faults.md and fault.schema.json list the same ones.
var actionSpecs []*actionSpec

// The table refers to functions that refer to it, so it is filled in here.
func init() {
	actionSpecs = []*actionSpec{
		{"set", onMessage, viaBoth, atMessage, parseSet},
		{"replace", onMessage, viaBoth, atMessage, parseReplace},
		{"drop-field", onMessage, viaBoth, atMessage, parseDropField},
		{"drop", onMessage, viaBoth, atMessage, parseTrue(func(e *effect) { e.drop = true })},
		{"duplicate", onMessage, viaBoth, atMessage, parseTrue(func(e *effect) { e.duplicate = true })},
		{"reorder", onMessage, viaBoth, atMessage, parseTrue(func(e *effect) { e.reorder = true })},
		{"emit", onMessage, viaBoth, anyMoment, parseEmit},
		{"raw", onMessage, viaBoth, atMessage, parseText(func(e *effect, s string) { e.raw, e.isRaw = []byte(s), true })},
		{"text", onMessage, viaBoth, atMessage, parseRewrite},
		{"encoding", onMessage, viaBoth, atMessage, parseEncoding},
		{"delay", onMessage | onAnswer, viaBoth, anyMoment, parseDelay},
		{"hang", onMessage | onAnswer, viaBoth, anyMoment, parseTrue(func(e *effect) { e.hang = true })},

		{"line", onMessage, viaStdio, atMessage, parseLine},
		{"stdout", onMessage, viaStdio, anyMoment, parseText(func(e *effect, s string) { e.stdout = append(e.stdout, s...) })},
		{"stderr", onMessage, viaStdio, anyMoment, parseText(func(e *effect, s string) { e.stderr = append(e.stderr, s...) })},
		{"exit", onMessage, viaStdio, anyMoment, parseExit},
		{"ignore-eof", onMessage, viaStdio, anyMoment, parseTrue(func(e *effect) { e.ignoreEOF = true })},

		{"status", onAnswer, viaHTTP, atMessage | atReceive, parseStatus},
		{"header", onAnswer, viaHTTP, atMessage | atReceive, parseHeader},
		{"content-type", onAnswer, viaHTTP, atMessage | atReceive, parseContentType},
		{"body", onAnswer, viaHTTP, atMessage | atReceive, parseBody},
		{"close", onAnswer | onMessage, viaHTTP, atMessage | atReceive, parseTrue(func(e *effect) { e.close = true })},
		{"stream", onMessage, viaHTTP, atMessage, parseStream},
		{"sse", onEvent, viaHTTP, atMessage, parseSSE},

		{"reply", onMessage, viaBoth, atReceive, parseReply},
		{"swallow", onMessage, viaBoth, atReceive, parseTrue(func(e *effect) { e.swallow = true })},
	}
}

func actionNames() []string {
	names := make([]string, len(actionSpecs))
	for i, spec := range actionSpecs {
		names[i] = spec.name
	}
	return names
}

func parseTrue(mark func(*effect)) func(*loader, ast.Node) func(*effect, *scope) error {
	return func(l *loader, n ast.Node) func(*effect, *scope) error {
		if !l.isTrue(n) {
			return nil
		}
		return func(e *effect, _ *scope) error { mark(e); return nil }
	}
}

// parseText is for a text in which `${CEL}` may stand.
func parseText(take func(*effect, string)) func(*loader, ast.Node) func(*effect, *scope) error {
	return func(l *loader, n ast.Node) func(*effect, *scope) error {
		text := l.textTemplate(n)
		if text == nil {
			return nil
		}
		return func(e *effect, names *scope) error {
			value, err := text.value(names)
			if err == nil {
				take(e, asText(value))
			}
			return err
		}
	}
}

func parseSet(l *loader, n ast.Node) func(*effect, *scope) error {
	entries, ok := l.mapping(n, "set")
	if !ok {
		return nil
	}
	type assignment struct {
		path  path
		value template
	}
	var assignments []assignment
	for _, entry := range entries {
		to, err := parsePath(entry.key)
		if err != nil {
			l.fail(entry.keyNode, "%v", err)
			continue
		}
		if value := l.template(entry.value); value != nil {
			assignments = append(assignments, assignment{to, value})
		}
	}
	return func(e *effect, names *scope) error {
		var problems []error
		for _, a := range assignments {
			changed, err := a.path.set(e.message, func() (any, error) { return a.value.value(names) })
			if err != nil {
				problems = append(problems, err)
				continue
			}
			e.message, e.changed = changed, true
			names.message = changed
		}
		return errors.Join(problems...)
	}
}

func parseReplace(l *loader, n ast.Node) func(*effect, *scope) error {
	message := l.template(n)
	if message == nil {
		return nil
	}
	return func(e *effect, names *scope) error {
		value, err := message.value(names)
		if err == nil {
			e.message, e.changed = value, true
		}
		return err
	}
}

func parseDropField(l *loader, n ast.Node) func(*effect, *scope) error {
	var paths []path
	for _, item := range l.list(n, "drop-field") {
		text, ok := l.text(item)
		if !ok {
			continue
		}
		p, err := parsePath(text)
		if err != nil {
			l.fail(item, "%v", err)
			continue
		}
		paths = append(paths, p)
	}
	return func(e *effect, _ *scope) error {
		for _, p := range paths {
			changed, dropped := p.drop(e.message)
			e.message = changed
			e.changed = e.changed || dropped
		}
		return nil
	}
}

func parseEmit(l *loader, n ast.Node) func(*effect, *scope) error {
	entries, ok := l.mapping(n, "emit")
	if !ok {
		return nil
	}
	var before, after []template
	for _, entry := range entries {
		into := &before
		switch {
		case entry.key == "before":
		case entry.key == "after" && l.moment == atMessage:
			into = &after
		case entry.key == "after":
			l.fail(entry.keyNode, "`after` has no meaning here; with on-receive and at, emit has only `before`")
		default:
			l.unknown(entry.keyNode, entry.key, "emit", []string{"before", "after"})
		}
		for _, item := range l.list(entry.value, entry.key) {
			if message := l.template(item); message != nil {
				*into = append(*into, message)
			}
		}
	}
	return func(e *effect, names *scope) error {
		for _, t := range before {
			message, err := t.value(names)
			if err != nil {
				return err
			}
			e.before = append(e.before, encodeJSON(message))
		}
		for _, t := range after {
			message, err := t.value(names)
			if err != nil {
				return err
			}
			e.after = append(e.after, encodeJSON(message))
		}
		return nil
	}
}

func parseReply(l *loader, n ast.Node) func(*effect, *scope) error {
	reply := l.template(n)
	if reply == nil {
		return nil
	}
	return func(e *effect, names *scope) error {
		message, err := reply.value(names)
		if err == nil {
			e.before = append(e.before, encodeJSON(message))
		}
		return err
	}
}

func parseRewrite(l *loader, n ast.Node) func(*effect, *scope) error {
	entries, ok := l.mapping(n, "text")
	if !ok {
		return nil
	}
	var pattern *regexp.Regexp
	var with []byte
	has := map[string]bool{}
	for _, entry := range entries {
		has[entry.key] = true
		text, ok := l.text(entry.value)
		if !ok {
			continue
		}
		switch entry.key {
		case "replace":
			compiled, err := regexp.Compile(text)
			if err != nil {
				l.fail(entry.value, "%v; write a regular expression of Go", err)
			}
			pattern = compiled
		case "with":
			with = []byte(text)
		default:
			l.unknown(entry.keyNode, entry.key, "text", []string{"replace", "with"})
		}
	}
	for _, key := range []string{"replace", "with"} {
		if !has[key] {
			l.fail(n, "text lacks `%s`; write {replace: regular expression, with: text}", key)
		}
	}
	return func(e *effect, _ *scope) error {
		e.rewrite = append(e.rewrite, func(data []byte) []byte { return pattern.ReplaceAll(data, with) })
		return nil
	}
}

func parseEncoding(l *loader, n ast.Node) func(*effect, *scope) error {
	encode := map[string]func([]byte) []byte{"latin-1": toLatin1, "utf-16": toUTF16}
	name, ok := l.oneOf(n, "encoding", "latin-1", "utf-16")
	if !ok {
		return nil
	}
	return func(e *effect, _ *scope) error {
		e.rewrite = append(e.rewrite, encode[name])
		return nil
	}
}

func parseDelay(l *loader, n ast.Node) func(*effect, *scope) error {
	text, ok := l.text(n)
	if !ok {
		return nil
	}
	delay, err := time.ParseDuration(text)
	if err != nil || delay <= 0 || delay > maxDelay {
		l.fail(n, "%q is no delay; write a duration up to one minute, such as 300ms", text)
		return nil
	}
	return func(e *effect, _ *scope) error { e.delay += delay; return nil }
}

func parseLine(l *loader, n ast.Node) func(*effect, *scope) error {
	entries, ok := l.mapping(n, "line")
	if !ok {
		return nil
	}
	var prefix, suffix template
	var split, join bool
	for _, entry := range entries {
		switch entry.key {
		case "prefix":
			prefix = l.textTemplate(entry.value)
		case "suffix":
			suffix = l.textTemplate(entry.value)
		case "split":
			split = l.isTrue(entry.value)
		case "join":
			join = l.isTrue(entry.value)
		default:
			l.unknown(entry.keyNode, entry.key, "line", []string{"prefix", "suffix", "split", "join"})
		}
	}
	return func(e *effect, names *scope) error {
		e.split = e.split || split
		e.join = e.join || join
		for to, t := range map[*[]byte]template{&e.prefix: prefix, &e.suffix: suffix} {
			if t == nil {
				continue
			}
			value, err := t.value(names)
			if err != nil {
				return err
			}
			*to = append(*to, asText(value)...)
		}
		return nil
	}
}

func parseExit(l *loader, n ast.Node) func(*effect, *scope) error {
	code, ok := l.integer(n, "exit", 0, 255)
	if !ok {
		return nil
	}
	return func(e *effect, _ *scope) error { e.exit = &code; return nil }
}

func parseStatus(l *loader, n ast.Node) func(*effect, *scope) error {
	status, ok := l.integer(n, "status", 200, 599)
	if !ok {
		return nil
	}
	return func(e *effect, _ *scope) error { e.status = status; return nil }
}

func parseHeader(l *loader, n ast.Node) func(*effect, *scope) error {
	entries, ok := l.mapping(n, "header")
	if !ok {
		return nil
	}
	type edit struct {
		name   string
		values []template
	}
	var edits []edit
	for _, entry := range entries {
		e := edit{name: http.CanonicalHeaderKey(entry.key)}
		items := []ast.Node{entry.value}
		if isNull(entry.value) {
			items = nil
		} else if sequence, ok := entry.value.(*ast.SequenceNode); ok {
			items = sequence.Values
		}
		for _, item := range items {
			if text := l.textTemplate(item); text != nil {
				e.values = append(e.values, text)
			}
		}
		edits = append(edits, e)
	}
	return func(e *effect, names *scope) error {
		for _, edit := range edits {
			var values []string
			for _, t := range edit.values {
				value, err := t.value(names)
				if err != nil {
					return err
				}
				values = append(values, asText(value))
			}
			e.headers = append(e.headers, headerEdit{edit.name, values})
		}
		return nil
	}
}

func parseContentType(l *loader, n ast.Node) func(*effect, *scope) error {
	const name = "Content-Type"
	if isNull(n) {
		return func(e *effect, _ *scope) error { e.headers = append(e.headers, headerEdit{name: name}); return nil }
	}
	return parseText(func(e *effect, text string) {
		e.headers = append(e.headers, headerEdit{name, []string{text}})
	})(l, n)
}

func parseBody(l *loader, n ast.Node) func(*effect, *scope) error {
	body := l.template(n)
	if body == nil {
		return nil
	}
	return func(e *effect, names *scope) error {
		value, err := body.value(names)
		if err == nil {
			e.body, e.isBody = []byte(asText(value)), true
		}
		return err
	}
}

func parseStream(l *loader, n ast.Node) func(*effect, *scope) error {
	name, ok := l.oneOf(n, "stream", "other", "both")
	if !ok {
		return nil
	}
	return func(e *effect, _ *scope) error { e.stream = name; return nil }
}

func parseSSE(l *loader, n ast.Node) func(*effect, *scope) error {
	entries, ok := l.mapping(n, "sse")
	if !ok {
		return nil
	}
	keepOpen := false
	fields := map[string]template{}
	for _, entry := range entries {
		switch entry.key {
		case "keep-open":
			keepOpen = l.isTrue(entry.value)
		case "event", "id", "retry":
			fields[entry.key] = nil
			if !isNull(entry.value) {
				fields[entry.key] = l.textTemplate(entry.value)
			}
		default:
			l.unknown(entry.keyNode, entry.key, "sse", append([]string{"keep-open"}, sseFields...))
		}
	}
	return func(e *effect, names *scope) error {
		e.sse.keepOpen = e.sse.keepOpen || keepOpen
		for name, t := range fields {
			edit := fieldEdit{drop: t == nil}
			if t != nil {
				value, err := t.value(names)
				if err != nil {
					return err
				}
				edit.value = asText(value)
			}
			e.sse.put(name, edit)
		}
		return nil
	}
}
