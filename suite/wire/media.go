package wire

import (
	"mime"
	"strings"
)

// EventStream is the media type of server-sent events.
const EventStream = "text/event-stream"

// MediaType is the media type that the value of a Content-Type header names, in lower case and without parameters; where the
// parameters are broken, what stands before them. "" for no value.
func MediaType(contentType string) string {
	if t, _, err := mime.ParseMediaType(contentType); err == nil {
		return t
	}
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}
