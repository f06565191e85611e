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
	mostComplaint = 500
	pipeTime      = time.Second // for what a program that has ended leaves behind with its output open
)

// program gives the text to a program, on its standard input. Nothing of the text becomes an argument.
type program struct {
	argv []string
	env  []string
}

func (p program) name() string { return known("command", p.argv...) }

func (p program) send(ctx context.Context, l letter) (string, error) {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...) //nolint:gosec // the owner's own, from config.yaml
	complaint := &limited{most: mostComplaint}
	cmd.Env, cmd.Stdin, cmd.Stderr, cmd.WaitDelay = p.env, strings.NewReader(l.whole()+"\n"), complaint, pipeTime
	if cmd.Env == nil {
		cmd.Env = []string{} // not the hub's
	}
	err := cmd.Run()
	if err == nil {
		return "", nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s took longer than %s", p.argv[0], sendTime)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return "", fmt.Errorf("%s: %w: %s", p.argv[0], err, plain.Line(complaint.String()))
	}
	return "", err
}

// limited keeps the beginning of what is written.
type limited struct {
	bytes.Buffer
	most int
}

func (l *limited) Write(b []byte) (int, error) {
	l.Buffer.Write(b[:min(len(b), l.most-l.Len())])
	return len(b), nil
}
