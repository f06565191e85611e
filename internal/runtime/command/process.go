package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a running program. It leads a session of its own.
type process struct {
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr *os.File
	streams        sync.WaitGroup
	ended          chan struct{} // closed when the program and its process group have ended
}

// start starts the program of an attempt. It makes the pipes itself, so that a child that holds one open cannot hide that the
// program has ended.
func start(a *attempt) (p *process, err error) {
	program, arguments := a.options.Launch(a.request.Run.ID, a.path, a.preset.arguments(a.resumed, a.settings.Model, a.file))
	cmd := exec.Command(program, arguments...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = a.dir, a.env, ownSession()
	p = &process{cmd: cmd, ended: make(chan struct{})}
	var out, errs *os.File
	p.stdin, err = cmd.StdinPipe()
	if err == nil {
		p.stdout, out, err = os.Pipe()
	}
	if err == nil {
		p.stderr, errs, err = os.Pipe()
	}
	if err == nil {
		cmd.Stdout, cmd.Stderr = out, errs
		err = cmd.Start()
	}
	closeAll(out, errs) // the program has its own copies
	if err != nil {
		closeAll(p.stdout, p.stderr)
		return nil, err
	}
	return p, nil
}

// watch waits for the program in the background. Before watch is called, no other process can get the number of the program,
// even if the program has ended.
func (p *process) watch() {
	go func() {
		defer close(p.ended)
		reap(p.cmd)
	}()
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// writeInput writes the prompt to stdin and closes it, because many programs read until the end. It is not an error if the
// program does not read all of it.
func (p *process) writeInput(input string) {
	_, _ = io.WriteString(p.stdin, input)
	_ = p.stdin.Close()
}

// abandon ends a program that has not read its prompt yet.
func (p *process) abandon() {
	killGroup(p.pid())
	reap(p.cmd)
	closeAll(p.stdout, p.stderr)
}

// leftoverGrace is how long the runtime reads output after the program has ended. Only a child in another process group can
// keep a pipe open for that long.
const leftoverGrace = time.Second

// wait waits until the program has ended. It ends the program when ctx is done, and then returns ended as true.
func (p *process) wait(ctx context.Context, grace time.Duration) (state *os.ProcessState, ended bool) {
	select {
	case <-p.ended:
	case <-ctx.Done():
		ended = true
		p.end(grace)
	}
	limit := time.Now().Add(leftoverGrace)
	_, _ = p.stdout.SetReadDeadline(limit), p.stderr.SetReadDeadline(limit)
	p.streams.Wait()
	closeAll(p.stdout, p.stderr)
	return p.cmd.ProcessState, ended
}

// end sends TERM to the process group, and KILL after the grace period.
func (p *process) end(grace time.Duration) {
	termGroup(p.pid())
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		killGroup(p.pid())
		<-p.ended
	}
}

var errOutputLimit = errors.New("too much")

// readStream reads a stream, line by line, in the background.
func (p *process) readStream(stream *os.File, a *attempt, each func(line string)) {
	p.streams.Go(func() {
		counted := countedReader{stream, a.countOutput}
		err := readLines(counted, func(line string) {
			a.log(line)
			each(line)
		})
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			a.stopForOutput(fmt.Sprintf("a line of more than %d MiB", maxLine>>20))
		case errors.Is(err, errOutputLimit):
			a.stopForOutput(fmt.Sprintf("more than %d bytes", a.options.OutputLimit))
		}
	})
}

// countedReader reads until count returns false.
type countedReader struct {
	io.Reader
	count func(n int) bool
}

func (c countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if !c.count(n) {
		return 0, errOutputLimit
	}
	return n, err
}

// readLines passes each line to a function, as valid UTF-8. The last line may lack a newline.
func readLines(r io.Reader, each func(line string)) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
	for scanner.Scan() {
		each(strings.ToValidUTF8(scanner.Text(), "\uFFFD"))
	}
	return scanner.Err()
}
