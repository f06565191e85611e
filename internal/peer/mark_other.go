//go:build !linux

package peer

// ownLimit and ownProof return 0, because only Linux has limits that can serve as marks.
func ownLimit() uint64 { return 0 }

func ownProof() uint64 { return 0 }

func limitsOf(int) (limits, error) { return limits{}, nil }
