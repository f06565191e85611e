// Package parley defines the domain: agents, conversations, messages, deliveries, tasks, approvals and runs, with their ids,
// limits and state machines. It also defines the errors that the HTTP API, the CLI and the bridges share, and the interfaces that
// the hub needs from other packages.
//
// The package does no I/O and imports no other package of this module. Beside the standard library it imports only the Unicode
// tables of golang.org/x/text.
package parley

// Version is the version of this program. A database stores the oldest version that may use it.
const Version = "0.1.0"
