//go:build race

package hub_test

// raced reports that the race detector is on.
const raced = true
