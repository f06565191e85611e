// Package local holds what one process of the hub remembers and no database does: who attends, which agents have something to
// take, who waits for a change, and what live runs say. It is lost with the process.
package local
