// Package tasktree draws trees of tasks: once as text, live on a terminal, or as lines that tell each change.
//
// A drawing is a function of what was looked at, without I/O. Who watches is told by events that something has
// happened; what, is looked at again.
package tasktree
