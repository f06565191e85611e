//go:build !unix

package sqlite

import "github.com/parley-hub/parley"

type lock struct{}

func acquireLock(home, _ string) (*lock, error) {
	return nil, parley.Errorf(parley.Unavailable, "a hub cannot keep its home %s on this system", home).
		Suggest("run the hub on Linux or macOS, and use this machine as a client")
}

func (l *lock) release() error { return nil }
