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
	sendRounds  = 60
	startRounds = 7
)

// measureProgram measures the built program: sending a message from a shell, and starting a hub with many stored messages.
func measureProgram(ctx context.Context, large *sharedLibrary) ([]result, error) {
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
	stored, err := large.closedHome(ctx)
	if err != nil {
		return nil, err
	}
	up, err := p.measureUp(ctx, stored, large.size)
	return []result{send, up}, err
}

// program holds the path of the built program and the directory of its homes.
type program struct{ path, dir string }

// run runs the program and returns how long that took. The home is a path, or the name of a home in the program's directory.
func (p program) run(ctx context.Context, home string, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, p.path, args...)
	if !filepath.IsAbs(home) {
		home = filepath.Join(p.dir, home)
	}
	cmd.Env = append(os.Environ(), "PARLEY_HOME="+home, "PARLEY_ADDR=127.0.0.1:0")
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
	var sendTimes, versionTimes []time.Duration
	for range sendRounds {
		a, err := p.run(ctx, "small", "send", "arya", "quick question")
		if err != nil {
			return result{}, err
		}
		b, err := p.run(ctx, "small", "version")
		if err != nil {
			return result{}, err
		}
		sendTimes, versionTimes = append(sendTimes, a), append(versionTimes, b)
	}
	_, err := p.run(ctx, "small", "down")
	a, b := median(sendTimes), median(versionTimes)
	return result{
		What: "`parley send` from a shell, p50, against `parley version`", Ratio: float64(a) / float64(b),
		Parley: a.Round(100 * time.Microsecond).String(), Baseline: b.Round(100 * time.Microsecond).String(),
		Goal: "< 40 ms", Met: a < 40*time.Millisecond,
	}, err
}

func (p program) measureUp(ctx context.Context, stored string, size int) (result, error) {
	var fullTimes, emptyTimes []time.Duration
	for range startRounds {
		a, err := p.run(ctx, stored, "up", "--detach")
		if err != nil {
			return result{}, err
		}
		b, err := p.run(ctx, "empty", "up", "--detach")
		if err != nil {
			return result{}, err
		}
		_, err = p.run(ctx, stored, "down")
		_, emptyErr := p.run(ctx, "empty", "down")
		if err := errors.Join(err, emptyErr); err != nil {
			return result{}, err
		}
		fullTimes, emptyTimes = append(fullTimes, a), append(emptyTimes, b)
	}
	a, b := median(fullTimes), median(emptyTimes)
	return result{
		What: fmt.Sprintf("`parley up` to ready, %d messages stored, p50, against an empty home", size), Ratio: float64(a) / float64(b),
		Parley: a.Round(time.Millisecond).String(), Baseline: b.Round(time.Millisecond).String(),
		Goal: "< 1 s", Met: a < time.Second,
	}, nil
}
