//go:build !linux && !darwin

package peer

// kill finds nothing: processes cannot be told apart here.
func (l leftovers) kill() (none bool, err error) { return true, nil }
