// Command with runs the command in its arguments, with one PostgreSQL server for all tests that the command runs. That is the
// server that PARLEY_TEST_POSTGRES names, or else a private server that ends with the command. Where TMPDIR is not set and there
// is enough memory, the command gets a temporary directory in memory, because tests sync many files.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

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
	if memory := pgtest.Memory(8 << 30); memory != "" && os.Getenv("TMPDIR") == "" {
		dir, err := os.MkdirTemp(memory, "p") // short, because tests bind sockets below it
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		// The server runs as another user, who must get through to its own directory.
		if err := errors.Join(os.Chmod(dir, 0o711), os.Setenv("TMPDIR", dir)); err != nil {
			return err
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A signal ends the command, and then this program removes what it has made.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	return cmd.Wait()
}
