//go:build !unix

package command

// KeepFiles does nothing: on this system children inherit no files by default.
func KeepFiles() error { return nil }
