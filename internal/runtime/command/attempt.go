package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/parley-hub/parley"
)

// attempt is one process of a run.
type attempt struct {
	*runPlan
	resumed    string // the session to resume, or ""
	transcript transcript
	hasSpoken  bool // the program has written text of an answer
	stop       context.CancelCauseFunc

	mu      sync.Mutex // guards the fields below, and the log: the readers of both streams use them
	tail    string     // the end of stderr and of noise on stdout
	written int64
}

func newAttempt(plan *runPlan, session string) *attempt {
	return &attempt{runPlan: plan, resumed: session}
}

// run starts the program and waits until its whole process group has ended.
func (a *attempt) run(ctx context.Context) error {
	ctx, a.stop = context.WithCancelCause(ctx)
	defer a.stop(nil)
	if err := ctx.Err(); err != nil {
		return a.interrupted(ctx)
	}
	p, err := start(a)
	if err != nil {
		return startError(a.preset.Argv[0], err)
	}
	if err := a.request.Begin(ctx, parley.Process{PID: p.pid()}); err != nil {
		p.abandon()
		return err
	}
	p.watch()
	go p.writeInput(a.input)
	a.read(p)
	state, ended := p.wait(ctx, a.options.Grace)
	a.logExit(state)
	if ended && !a.finished() {
		return a.interrupted(ctx)
	}
	return a.judge(state)
}

// read starts reading both streams, in the background.
func (a *attempt) read(p *process) {
	parse := parsers[a.preset.Output]
	p.readStream(p.stdout, a, func(line string) {
		text, ok := parse(&a.transcript, []byte(line))
		if !ok {
			a.keepTail(line)
		}
		if text != "" {
			a.hasSpoken = true
			a.request.Say(hideSecrets(text, a.secrets))
		}
	})
	p.readStream(p.stderr, a, a.keepTail)
}

const maxTail = 8 << 10

// keepTail keeps the end of the output that is not the answer. If the program asks a person a question, keepTail ends the run,
// because nobody can answer.
func (a *attempt) keepTail(line string) {
	a.mu.Lock()
	a.tail += line + "\n"
	if len(a.tail) > maxTail {
		a.tail = strings.ToValidUTF8(a.tail[len(a.tail)-maxTail:], "")
	}
	a.mu.Unlock()
	for _, question := range a.questions {
		if question.MatchString(line) {
			a.stop(failed(question.Cause, ""))
		}
	}
}

// log writes a line of output to the log of the run, without secrets.
func (a *attempt) log(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.request.Log([]byte(hideSecrets(line, a.secrets) + "\n"))
}

// countOutput adds to the size of the output, and reports whether it is within the limit.
func (a *attempt) countOutput(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.written += int64(n)
	return a.written <= a.options.OutputLimit
}

func (a *attempt) stopForOutput(what string) {
	a.stop(failed(Cause{Reason: fmt.Sprintf("%s wrote %s", a.preset.Argv[0], what), Hint: "make the program write less: the hub uses its output as the answer"}, ""))
}

// logExit logs the exit code of a failed process. A run with a complete answer succeeds all the same.
func (a *attempt) logExit(state *os.ProcessState) {
	if state.ExitCode() != 0 {
		a.log(a.preset.Argv[0] + ": " + state.String())
	}
}

// finished reports whether the answer is complete.
func (a *attempt) finished() bool { return a.transcript.done && a.transcript.failure == "" }

// interrupted returns why the runtime ended the process.
func (a *attempt) interrupted(ctx context.Context) error {
	why := context.Cause(ctx)
	if runError, ok := errors.AsType[*parley.RunError](why); ok {
		return runError
	}
	if known, found := a.preset.cause(0, a.errorText(), 0); found && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed(known, "") // the program retried until the deadline
	}
	return &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureStopped, Reason: why.Error()}}
}

// judge returns nil if the process has answered, or else why it failed.
func (a *attempt) judge(state *os.ProcessState) error {
	exit := state.ExitCode()
	if a.finished() || a.preset.Output == FormatText && exit == 0 {
		return nil
	}
	detail := hideSecrets(a.transcript.failure, a.secrets)
	if detail == "" {
		detail = hideSecrets(a.tail, a.secrets)
	}
	if reason, notStarted := launchFailure(exit, a.tail); notStarted {
		return startError(a.preset.Argv[0], reason)
	}
	if cause, known := a.preset.cause(a.transcript.status, a.errorText(), exit); known {
		return failed(cause, detail)
	}
	return failed(a.unknownCause(state), detail)
}

// errorText returns all output about errors.
func (a *attempt) errorText() string {
	return strings.Join([]string{a.transcript.failure, a.transcript.retrying, a.tail}, "\n")
}

// unknownCause describes a failure that matches no known cause.
func (a *attempt) unknownCause(state *os.ProcessState) Cause {
	name := a.preset.Argv[0]
	switch exit := state.ExitCode(); {
	case a.transcript.failure != "":
		return Cause{Reason: name + " reports an error", Hint: "see the output of the run"}
	case exit < 0:
		return Cause{parley.FailureLost, fmt.Sprintf("a signal ended %s (%s)", name, state), "check whether the machine has enough memory, and see the output of the run"}
	case exit > 0:
		return Cause{Reason: fmt.Sprintf("%s failed with exit code %d", name, exit), Hint: "see the output of the run"}
	default:
		return Cause{
			Reason: name + " ended without an answer",
			Hint:   "run it once by hand in the agent's directory: it may ask for a permission or a sign-in",
		}
	}
}

// lostSession reports whether the program failed because the session to resume does not exist, before it did anything.
func (a *attempt) lostSession() bool {
	if a.resumed == "" || a.preset.Lost == "" || a.hasSpoken {
		return false
	}
	return regexp.MustCompile(a.preset.Lost).MatchString(a.transcript.failure + "\n" + a.tail)
}

// result returns the answer, session and usage of the attempt.
func (a *attempt) result() parley.Result {
	t := a.transcript
	r := parley.Result{Usage: t.usage}
	if sessionID.MatchString(t.session) {
		r.Session = t.session
	}
	if t.total != (parley.Usage{}) {
		r.Usage = a.totals().since(r.Session, t.total, t.usage)
	}
	r.Text = hideSecrets(strings.TrimSpace(strings.ReplaceAll(string(t.text), "\x00", "\uFFFD")), a.secrets)
	return r
}
