//go:build race

package crashtest

// raced reports that the race detector is on. It makes programs many times slower.
const raced = true
