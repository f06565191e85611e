// Command with runs the command in its arguments, with one PostgreSQL server for all tests that the command runs. That is the
// server that PARLEY_TEST_POSTGRES names, or else a private server that ends with the command.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/parley-hub/parley/internal/pgtest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(failed.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "with:", err)
		os.Exit(1)
	}
}

func run(command []string) error {
	if len(command) == 0 {
		return errors.New("no command was given")
	}
	if os.Getenv(pgtest.Variable) == "" {
		cluster, err := pgtest.Start(pgtest.Options{})
		switch {
		case err == nil:
			defer func() { _ = cluster.Stop() }()
			if err := os.Setenv(pgtest.Variable, cluster.URL("postgres")); err != nil {
				return err
			}
		case errors.Is(err, pgtest.ErrNoServer): // the tests themselves skip or fail
		default:
			return err
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
