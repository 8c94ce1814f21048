package wire

// The names of the transports, as they stand in transcripts, verdicts and the catalogue.
const (
	Stdio          = "stdio"
	StreamableHTTP = "streamable-http"
	HTTPSSE        = "http+sse" // of 2024-11-05: messages are posted to one address and come on a stream from another
	InMemory       = "in-memory"
)

// Transports are the names of all transports.
var Transports = []string{Stdio, StreamableHTTP, HTTPSSE, InMemory}
