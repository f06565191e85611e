package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/parley-hub/parley/internal/plain"
)

const (
	maxStderr   = 500
	pipeTimeout = time.Second // after the program has ended, while a child still holds its output open
)

// commandWay runs a program and writes the notification to its standard input. No part of the notification becomes an
// argument.
type commandWay struct {
	argv []string
	env  []string
}

func (p commandWay) name() string { return hashedName("command", p.argv...) }

func (p commandWay) send(ctx context.Context, n notification) (string, error) {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...) //nolint:gosec // the owner has set it in config.yaml
	stderr := &limitedBuffer{max: maxStderr}
	cmd.Env, cmd.Stdin, cmd.Stderr, cmd.WaitDelay = p.env, strings.NewReader(n.fullText()+"\n"), stderr, pipeTimeout
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean the environment of the hub
	}
	err := cmd.Run()
	if err == nil {
		return "", nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s took longer than %s", p.argv[0], sendTimeout)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return "", fmt.Errorf("%s: %w: %s", p.argv[0], err, plain.Line(stderr.String()))
	}
	return "", err
}

// limitedBuffer keeps the first bytes that are written to it and discards the rest.
type limitedBuffer struct {
	bytes.Buffer
	max int
}

func (l *limitedBuffer) Write(b []byte) (int, error) {
	l.Buffer.Write(b[:min(len(b), l.max-l.Len())])
	return len(b), nil
}
