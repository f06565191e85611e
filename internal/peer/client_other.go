//go:build !linux && !darwin

package peer

func programOf(int) program { return program{} }

func leadsSession(int) bool { return true }

func hasTerminal(int) bool { return true }

func userOf(int) int { return -1 }

func boot() string { return "" }

func (limits) lower(int) bool { return false }
