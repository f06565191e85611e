//go:build race

package costtest

// raceEnabled reports whether the race detector is on.
const raceEnabled = true
