//go:build !race

package hub_test

// raced says that the race detector watches.
const raced = false
