// Command walk counts the functions and files that a message runs through. It makes three calls on SQLite and prints
// Markdown tables: in all, inside the hub, and by package. "make walk" builds it with the counters of a coverage build.
//
// The counters are cleared before each call and read a moment after its end, when the hub is quiet again. Every call is made several times on one
// hub, and a function counts if it ran each time, so that a timer of the hub that happens to expire adds nothing.
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
	warmUp      = 3 // calls before the first that counts: until then the hub and its connections prepare things
	repetitions = 7
	pause       = 100 * time.Millisecond // for what the hub does after a call
	maxWait     = 20 * time.Second
)

// walk is one of the calls whose way is measured.
type walk struct {
	name  string
	still bool // nothing runs in the background, neither the hub's services nor a dispatcher
	// prepare sets the walkedHub up and returns the call. The call returns when the message has come to its end.
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
	made, err := newWalkedHub(ctx, w.still)
	if err != nil {
		return nil, err
	}
	defer made.close()
	call, err := w.prepare(ctx, made)
	if err != nil {
		return nil, err
	}
	for n := range warmUp + repetitions {
		ran, err := counted(ctx, func() error { return call(n) })
		if err != nil {
			return nil, err
		}
		switch {
		case n == warmUp:
			functions = ran
		case n > warmUp:
			functions = functions.and(ran)
		}
	}
	return functions, nil
}
