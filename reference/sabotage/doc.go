// Package sabotage applies deliberate violations, called faults, at the edge of the wire.
//
// A fault is data: a YAML file under fixtures/faults says when it strikes (a CEL expression over
// the message and the exchange it belongs to) and what it does to the outgoing message, the HTTP
// answer, the line or the process. The server behind the edge knows of no fault and stays correct,
// so that what a fault breaks is what its file says and nothing else. docs/faults.md is the format's
// reference for authors; fixtures/faults/fault.schema.json completes it in an editor.
//
//	faults, err := sabotage.Find("unknown-tool-is-internal-error")
//	serve := sabotage.Stdio(server.ServeStdio, faults, sabotage.Process{})
//	handler := sabotage.Handler(server.Handler(), faults)
//
// With no fault that concerns the transport, both return what they were given.
//
// # What is tracked
//
// One state is kept for each stdio stream and for each HTTP session: the client's requests by id (so that a
// reply can be matched by what it answers), the revision in force, how many client messages
// came and how often each fault struck. HTTP requests that carry no session share one state, because nothing on
// the wire tells them apart.
//
// # Flags
//
// A violation that cannot be made at the edge is a flag of the server itself; [Flags] collects those that a
// set of faults asks for, [KnownFlags] lists them with what they do.
package sabotage
