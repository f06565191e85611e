// Package repeatable makes property tests draw the same values in every run of CI, so that CI never refuses a change because of an
// older fault. Outside of CI, as in make test and make soak, the tests draw at random. A test package that uses rapid imports this
// package for its effect.
package repeatable

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // defines the flag
)

func init() {
	if os.Getenv("CI") != "true" {
		return
	}
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}
