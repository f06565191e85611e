//go:build !linux

package bridge

// isRemote reports whether processes of other machines may write into a directory. Where that cannot be known, they may.
func isRemote(string) bool { return true }
