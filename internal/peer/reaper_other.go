//go:build !linux

package peer

import "os"

// Adopt does nothing, because only Linux can give orphans to a process other than the first.
func Adopt() error { return nil }

func notifyOfChildren() (ended <-chan os.Signal, ignore func()) { return nil, func() {} }

func processes() map[int]processState { return nil }

func waitFor(int) {}

func (r *Reaper) kill(int, liveRuns) bool { return false }

func ownSession() int { return 0 }
