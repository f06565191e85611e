package hub_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley/internal/hubtest"
)

// stores is the kind of store on which the tests run now. All tests run on each kind.
var stores hubtest.StoreKind

// propertyChecks is how often each property is checked on a kind of store, unless the command line says otherwise.
var propertyChecks = map[string]int{"SQLite": 8, "PostgreSQL": 4}

// wanted returns the stores to test on: all, or only PostgreSQL with the race detector, because SQLite runs in this process and is
// ten times slower with the detector. PARLEY_STORES overrides this.
func wanted() []string {
	switch named := os.Getenv("PARLEY_STORES"); {
	case named != "":
		return strings.Split(named, ",")
	case raced:
		return []string{"PostgreSQL"}
	default:
		return []string{"SQLite", "PostgreSQL"}
	}
}

// TestMain keeps the properties short unless the command line asks for more, and fails when
// something goes on running after the tests.
func TestMain(m *testing.M) {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	code := 0
	for _, stores = range hubtest.StoreKinds {
		if !slices.Contains(wanted(), stores.Name) {
			continue
		}
		fmt.Println("on", stores.Name)
		for name, value := range map[string]string{
			"rapid.checks": fmt.Sprint(propertyChecks[stores.Name]), "rapid.steps": "50", "rapid.nofailfile": "true",
		} {
			if given[name] {
				continue
			}
			if err := flag.Set(name, value); err != nil {
				panic(err)
			}
		}
		code = max(code, m.Run())
	}
	hubtest.DropTemplates()
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}
