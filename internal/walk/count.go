package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"runtime/coverage"
	"slices"
	"strings"
	"time"
)

// function is a function of the module: where it begins ("internal/hub/post/post.go:12") and its name.
type function struct{ place, name string }

func (f function) file() string { return f.place[:strings.LastIndexByte(f.place, ':')] }

func (f function) pkg() string { return path.Dir(f.file()) }

// inHub reports whether the function is one of the hub.
func (f function) inHub() bool { return strings.HasPrefix(f.file(), "internal/hub/") }

type set map[function]bool

// and returns the functions that are in both sets.
func (s set) intersect(t set) set {
	both := maps.Clone(s)
	maps.DeleteFunc(both, func(f function, _ bool) bool { return !t[f] })
	return both
}

// count holds a number of functions and the number of their files.
type count struct{ functions, files int }

func (c count) String() string { return fmt.Sprintf("%d in %d", c.functions, c.files) }

// count counts the functions that a condition selects.
func (s set) count(selects func(function) bool) (c count) {
	files := map[string]bool{}
	for f := range s {
		if selects(f) {
			c.functions++
			files[f.file()] = true
		}
	}
	c.files = len(files)
	return c
}

// countCall makes a call and returns the functions that run during the call and right after it, without those of this program.
func countCall(ctx context.Context, call func() error) (ran set, err error) {
	dir, err := os.MkdirTemp("", "parley-walk-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := coverage.WriteMetaDir(dir); err != nil {
		return nil, fmt.Errorf("%w; run make walk", err)
	}
	if err := coverage.ClearCounters(); err != nil {
		return nil, err
	}
	if err := call(); err != nil {
		return nil, err
	}
	time.Sleep(pause)
	if err := coverage.WriteCountersDir(dir); err != nil {
		return nil, err
	}
	report, err := exec.CommandContext(ctx, "go", "tool", "covdata", "func", "-i", dir).Output()
	if err != nil {
		return nil, fmt.Errorf("cannot read the counters: %w", err)
	}
	return parse(report), nil
}

// parse reads a report of go tool covdata func and returns the functions that ran. The report has a line for each function: its
// place, its name, and the share of its code that ran.
func parse(report []byte) set {
	ran := set{}
	for lines := bufio.NewScanner(bytes.NewReader(report)); lines.Scan(); {
		cells := strings.Fields(lines.Text())
		if len(cells) != 3 || cells[2] == "0.0%" {
			continue
		}
		place, inModule := strings.CutPrefix(strings.TrimSuffix(cells[0], ":"), module+"/")
		if inModule && !strings.HasPrefix(place, "internal/walk/") {
			ran[function{place, cells[1]}] = true
		}
	}
	return ran
}

// printTotals prints a row for each call: how many functions and files it runs in all, and in the hub.
func printTotals(out *strings.Builder, all []set) {
	fmt.Fprint(out, "| Call | Functions | Files | Functions of the hub | Files of the hub |\n|---|---|---|---|---|\n")
	for i, s := range all {
		total, hub := s.count(func(function) bool { return true }), s.count(function.inHub)
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d |\n", walks[i].name, total.functions, total.files, hub.functions, hub.files)
	}
	fmt.Fprintln(out)
}

// printPackages prints a row for each package: how many functions each call runs there, in how many files.
func printPackages(out *strings.Builder, all []set) {
	packages := map[string]bool{}
	fmt.Fprint(out, "| Package |")
	for i, s := range all {
		fmt.Fprintf(out, " %s |", walks[i].name)
		for f := range s {
			packages[f.pkg()] = true
		}
	}
	fmt.Fprint(out, "\n|---|", strings.Repeat("---|", len(all)), "\n")
	for _, p := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(out, "| `%s` |", p)
		for _, s := range all {
			cell := ""
			if c := s.count(func(f function) bool { return f.pkg() == p }); c.functions > 0 {
				cell = c.String() + " "
			}
			fmt.Fprintf(out, " %s|", cell)
		}
		fmt.Fprintln(out)
	}
}
