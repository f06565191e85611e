//go:build !unix

package command

// CloseFilesOnExec does nothing: on this system children inherit no files by default.
func CloseFilesOnExec() error { return nil }
