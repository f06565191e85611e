// Package repeatable makes property tests draw the same values in every run of CI, so that a change is never refused
// for what another one has broken. Elsewhere they draw at random: make test and make soak explore. A test package that
// uses rapid imports it for this effect.
package repeatable

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // has the flag
)

func init() {
	if os.Getenv("CI") != "true" {
		return
	}
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}
