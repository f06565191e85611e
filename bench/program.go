package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	sends  = 60
	starts = 7
)

// measureProgram measures the program as a shell runs it: sending a message, and starting a hub that has
// stored much.
func measureProgram(ctx context.Context, size int) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := program{path: filepath.Join(dir, "parley"), dir: dir}
	build := exec.CommandContext(ctx, "go", "build", "-o", p.path, "./cmd/parley")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	send, err := p.measureSend(ctx)
	if err != nil {
		return nil, err
	}
	up, err := p.measureUp(ctx, size)
	return []result{send, up}, err
}

// program is the built program and where its homes are.
type program struct{ path, dir string }

// run runs the program in a home and says how long that took.
func (p program) run(ctx context.Context, home string, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Env = append(os.Environ(), "PARLEY_HOME="+filepath.Join(p.dir, home), "PARLEY_ADDR=127.0.0.1:0")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("parley %s: %w: %s", args[0], err, out)
	}
	return time.Since(began), err
}

func (p program) measureSend(ctx context.Context) (result, error) {
	for _, args := range [][]string{{"up", "--detach"}, {"agent", "add", "arya", "--inbox-overflow", "unbounded"}} {
		if _, err := p.run(ctx, "small", args...); err != nil {
			return result{}, err
		}
	}
	var whole, start []time.Duration
	for range sends {
		a, err := p.run(ctx, "small", "send", "arya", "quick question")
		if err != nil {
			return result{}, err
		}
		b, err := p.run(ctx, "small", "version")
		if err != nil {
			return result{}, err
		}
		whole, start = append(whole, a), append(start, b)
	}
	_, err := p.run(ctx, "small", "down")
	a, b := median(whole), median(start)
	return result{
		what: "`parley send` from a shell, p50, against `parley version`", ratio: float64(a) / float64(b),
		parley: a.Round(100 * time.Microsecond).String(), baseline: b.Round(100 * time.Microsecond).String(),
		goal: "< 40 ms", met: a < 40*time.Millisecond,
	}, err
}

func (p program) measureUp(ctx context.Context, size int) (result, error) {
	large, err := openHistory(ctx, filepath.Join(p.dir, "large"), size, 1000)
	if err == nil {
		err = large.close()
	}
	if err != nil {
		return result{}, err
	}
	var whole, empty []time.Duration
	for range starts {
		a, err := p.run(ctx, "large", "up", "--detach")
		if err != nil {
			return result{}, err
		}
		b, err := p.run(ctx, "empty", "up", "--detach")
		if err != nil {
			return result{}, err
		}
		_, err = p.run(ctx, "large", "down")
		_, also := p.run(ctx, "empty", "down")
		if err := errors.Join(err, also); err != nil {
			return result{}, err
		}
		whole, empty = append(whole, a), append(empty, b)
	}
	a, b := median(whole), median(empty)
	return result{
		what: fmt.Sprintf("`parley up` to ready, %d messages stored, p50, against an empty home", size), ratio: float64(a) / float64(b),
		parley: a.Round(time.Millisecond).String(), baseline: b.Round(time.Millisecond).String(),
		goal: "< 1 s", met: a < time.Second,
	}, nil
}
