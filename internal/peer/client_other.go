//go:build !linux && !darwin

package peer

func programOf(int) program { return program{} }
