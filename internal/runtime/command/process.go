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

// process is a program that runs, the leader of a session of its own.
type process struct {
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr *os.File
	streams        sync.WaitGroup
	ended          chan struct{} // its leader has been waited for, and its group is no more
}

// start starts the program of an attempt. Its streams are pipes of our own: a child that holds one open must
// not keep us from seeing that the program has ended.
func start(a *attempt) (p *process, err error) {
	program, arguments := a.options.Launch(a.job.Run.ID, a.path, a.preset.arguments(a.resumed, a.settings.Model, a.file))
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
	closeAll(out, errs) // the program has its own
	if err != nil {
		closeAll(p.stdout, p.stderr)
		return nil, err
	}
	return p, nil
}

// watch waits for the program in the background. Before that its number stays its own, even if it has ended.
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

// writeInput gives the program its prompt, and an end of it: many wait for that. One that does not read all of it is
// no failure of ours.
func (p *process) writeInput(input string) {
	_, _ = io.WriteString(p.stdin, input)
	_ = p.stdin.Close()
}

// abandon ends a program that has been told nothing yet.
func (p *process) abandon() {
	killGroup(p.pid())
	reap(p.cmd)
	closeAll(p.stdout, p.stderr)
}

// leftoverGrace is how long output is still read after the program has ended, for what is in the pipe. Only a
// child in a group of its own can keep it open that long.
const leftoverGrace = time.Second

// wait waits for the program to end, and has it end when ctx is done. ended says that it was made to.
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

// end asks the group to end, and ends it if it does not.
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
			a.stopForOutput(fmt.Sprintf("a line of more than %d MiB", longestLine>>20))
		case errors.Is(err, errOutputLimit):
			a.stopForOutput(fmt.Sprintf("more than %d bytes", a.options.OutputLimit))
		}
	})
}

// countedReader reads until the count says that it is too much.
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

// readLines hands on line by line, as valid UTF-8, the last one also without its end.
func readLines(r io.Reader, each func(line string)) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, 64<<10), longestLine)
	for scanner.Scan() {
		each(strings.ToValidUTF8(scanner.Text(), "\uFFFD"))
	}
	return scanner.Err()
}
