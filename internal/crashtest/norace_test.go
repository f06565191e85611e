//go:build !race

package crashtest

// raced says that the race detector watches, which makes everything many times slower.
const raced = false
