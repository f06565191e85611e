// Command walk counts the functions and files that a message runs through. It makes three calls on SQLite and prints
// Markdown tables: in all, inside the hub, and by package. "make walk" builds it with the counters of a coverage build.
//
// The program clears the counters before each call and reads them a moment after its end, when the hub is quiet again. It makes
// each call several times on one hub. A function counts only if it ran each time, so that a timer of the hub adds nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	module      = "github.com/parley-hub/parley"
	warmUp      = 3 // calls before the first that counts, in which the hub and its connections prepare themselves
	repetitions = 7
	pause       = 100 * time.Millisecond // for the work of the hub after a call
	maxWait     = 20 * time.Second
)

// walk is one of the measured calls.
type walk struct {
	name  string
	quiet bool // neither the hub's services nor a dispatcher run in the background
	// prepare sets up the hub and returns the call. The call returns when the hub has handled the message completely.
	prepare func(context.Context, *walkedHub) (call func(n int) error, err error)
}

var walks = []walk{
	{"A plain DM, posted over HTTP", true, plainMessage},
	{"A mention of a script agent, to the event of its answer", false, mention},
	{"A file in an inbox, to the file with its result", false, fileToFile},
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var all []set
	for _, w := range walks {
		functions, err := w.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		all = append(all, functions)
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return fmt.Errorf("cannot name the commit: %w", err)
	}
	fmt.Printf("Measured at commit %s on %s.\n\n", strings.TrimSpace(string(commit)), time.Now().UTC().Format(time.DateOnly))
	var out strings.Builder
	printTotals(&out, all)
	printPackages(&out, all)
	if _, err := os.Stdout.WriteString(out.String()); err != nil {
		return err
	}
	return nil
}

// measure returns the functions that one call runs.
func (w walk) measure(ctx context.Context) (functions set, err error) {
	hub, err := newWalkedHub(ctx, w.quiet)
	if err != nil {
		return nil, err
	}
	defer hub.close()
	call, err := w.prepare(ctx, hub)
	if err != nil {
		return nil, err
	}
	for n := range warmUp + repetitions {
		ran, err := countCall(ctx, func() error { return call(n) })
		if err != nil {
			return nil, err
		}
		switch {
		case n == warmUp:
			functions = ran
		case n > warmUp:
			functions = functions.intersect(ran)
		}
	}
	return functions, nil
}
