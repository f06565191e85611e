//go:build !linux

package pgtest

// Memory returns "": on this system no directory is known to be in memory.
func Memory(uint64) string { return "" }
