// Package tasktree draws trees of tasks: once as text, live on a terminal, or as a line for each change.
//
// Drawing is a function of a snapshot, without I/O. Events only say that something has changed; then the package loads
// a new snapshot.
package tasktree
