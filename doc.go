// Package parley holds the words of the domain: agents, conversations, messages, deliveries, tasks,
// approvals and runs, their ids and limits, their state machines, the errors that the HTTP API, the CLI, the MCP server and
// the bridges share, and the small interfaces that the hub needs from the outside.
//
// It does no I/O and knows no other package of this module. Its only imports beside the standard
// library are the Unicode tables of golang.org/x/text.
package parley

// Version is the version of this program. A database stores the oldest version that may use it.
const Version = "0.1.0"
