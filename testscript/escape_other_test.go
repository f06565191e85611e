//go:build !linux

package script

// lowerMark does nothing: there are no marks.
func lowerMark() {}
