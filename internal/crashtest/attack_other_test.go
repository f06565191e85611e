//go:build !linux

package crashtest

// removeBuilt has nothing to remove: attacks are measured on Linux.
func removeBuilt() {}
