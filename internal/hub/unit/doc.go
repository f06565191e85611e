// Package unit holds one use case in one transaction: the caller, which never changes, the changes made so far, and what follows
// them. Core is what all use cases of a hub share. The table of operations says who may do what.
package unit
