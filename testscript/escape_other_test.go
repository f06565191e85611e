//go:build !linux

package script

// lowerMark does nothing: on this system, the hub does not mark processes.
func lowerMark() {}
