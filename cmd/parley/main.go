// Command parley is the hub, its HTTP API and its command line in one program.
package main

import (
	"os"

	"github.com/parley-hub/parley/internal/cli"
)

func main() {
	os.Exit(cli.RunAs(os.Args[0], os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
