//go:build !linux && !darwin

package peer

func describe(int) program { return program{} }
