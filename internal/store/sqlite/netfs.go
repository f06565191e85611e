package sqlite

import "github.com/parley-hub/parley"

// fileSystemOf is a variable so that tests can replace it: they cannot mount a network file system.
var fileSystemOf = networkFS

// refuseNetwork returns an error for a home on a network file system, where locks and shared memory are not reliable.
func refuseNetwork(home string) error {
	kind, err := fileSystemOf(home)
	if err != nil || kind == "" {
		return err
	}
	return parley.Errorf(parley.Unavailable, "the home %s is on a network file system (%s)", home, kind).
		Suggest("use a home on a local disk; to share a hub between machines, connect to it over its address")
}
