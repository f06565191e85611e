//go:build !race

package costtest

// raced reports whether the race detector is on. It allocates memory too.
const raced = false
