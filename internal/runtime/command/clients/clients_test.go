//go:build clients

package clients

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

var recordAnew = flag.Bool("record", false, "write the recordings anew")

// each runs a test with every client.
func each(t *testing.T, test func(t *testing.T, b *bench)) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, newBench(t, c))
		})
	}
}

func (r record) wantAnswer(t *testing.T) {
	t.Helper()
	if r.err != nil {
		t.Fatalf("the run failed: %v\n%s", r.err, r.output)
	}
	if r.Text != answer || !strings.Contains(r.progress, answer) {
		t.Errorf("the answer is %q, the text for watchers is %q", r.Text, r.progress)
	}
	if r.InputTokens != inputTokens || r.OutputTokens != outputTokens {
		t.Errorf("it used %+v", r.Usage)
	}
	if r.Session == "" {
		t.Error("it has no session")
	}
}

func (r record) wantFailure(t *testing.T, want parley.Failure) parley.RunError {
	t.Helper()
	why, ok := errors.AsType[*parley.RunError](r.err)
	if !ok || why.Failure != want {
		t.Fatalf("the run ended with %v, want %s\n%s", r.err, want, r.output)
	}
	return *why
}

func TestAClientAnswersAndGoesOnWithItsSession(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		first := b.run(t.Context(), t, "", "Remember the word tangerine.")
		first.wantAnswer(t)
		b.api.findRequest(t, "tangerine", "You are ana.")
		b.keep(t, "answer", first)

		second := b.run(t.Context(), t, first.Session, "Which fruit was it, persimmon?")
		second.wantAnswer(t)
		b.api.findRequest(t, "tangerine", "persimmon")
		if second.Session != first.Session {
			t.Errorf("session %s became %s", first.Session, second.Session)
		}
		b.keep(t, "resumed", second)
		if hosts := b.proxy.hosts(); len(hosts) > 0 {
			t.Errorf("it wanted to talk to %v", hosts)
		}
	})
}

// lostSessions are ids of sessions that do not exist, in the form of each client.
var lostSessions = map[string]string{
	"claude":   "478926a6-9737-4a77-b82a-6677c5fe14aa",
	"codex":    "01a1df29-77fb-7d70-af98-50b7390ffa00",
	"gemini":   "f55f9881-6e8a-48d3-bab7-22d33975bc2d",
	"opencode": "ses_e20d65998ffeLZnQ0rIXltW0PI",
}

func TestAClientWhoseSessionIsGoneStartsAFreshOne(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		r := b.run(t.Context(), t, lostSessions[b.name], "Which fruit was it?")
		r.wantAnswer(t)
		if len(r.begun) != 2 || r.Session == lostSessions[b.name] {
			t.Errorf("%d processes, session %s", len(r.begun), r.Session)
		}
	})
}

func TestFailuresOfTheAPIAreClassified(t *testing.T) {
	for _, test := range []struct {
		status int
		want   parley.Failure
	}{
		{401, parley.FailureFinal}, {429, parley.FailureBusy}, {529, parley.FailureServer},
	} {
		t.Run(string(test.want), func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, b *bench) {
				b.api.answerAlways(refusal(test.status))
				r := b.runInTime(t)
				if why := r.wantFailure(t, test.want); why.Hint == "" {
					t.Errorf("%q has no hint", why.Reason)
				}
				b.keep(t, string(test.want), r)
			})
		})
	}
}

// runInTime does a run with a deadline, because some clients, like OpenCode, retry for ever. The run must still report the
// cause. On a busy machine the client may need more time until it knows the cause, so runInTime repeats the run with a longer
// deadline.
func (b *bench) runInTime(t *testing.T) (r record) {
	t.Helper()
	for limit := 15 * time.Second; limit <= 2*time.Minute; limit *= 2 {
		if r = b.runWithin(limit, t); !r.late() {
			break
		}
	}
	return r
}

// runWithin does a run with a deadline, as the dispatcher sets it.
func (b *bench) runWithin(limit time.Duration, t *testing.T) record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return b.run(ctx, t, "", "Which fruit was it?")
}

// late reports whether the deadline ended a run without a known cause.
func (r record) late() bool {
	why, ok := errors.AsType[*parley.RunError](r.err)
	return ok && why.Failure == parley.FailureStopped && why.Reason == context.DeadlineExceeded.Error()
}

func TestAClientEndsWhenItIsAskedTo(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.api.answerAlways(silence)
		ctx, cancel := context.WithCancel(t.Context())
		var asked time.Time
		go func() {
			<-b.api.arrived
			asked = time.Now()
			cancel()
		}()
		r := b.run(ctx, t, "", "Which fruit was it?")
		r.wantFailure(t, parley.FailureStopped)
		if took := time.Since(asked); took > 8*time.Second {
			t.Errorf("it took %s to end: it was killed", took)
		} else {
			t.Logf("ended after %s", took)
		}
		if err := syscall.Kill(-r.begun[0].PID, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("its process group is still there: %v", err)
		}
	})
}

func TestADeadlineEndsAClient(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.api.answerAlways(silence)
		if r := b.runWithin(4*time.Second, t); !r.late() {
			t.Errorf("it ended with %v\n%s", r.err, r.output)
		}
	})
}

// keep writes a recording, with the flag -record. The tests of package command replay the recordings.
func (b *bench) keep(t *testing.T, name string, r record) {
	t.Helper()
	if !*recordAnew {
		return
	}
	write(t, filepath.Join("../testdata/recordings", b.name, name+".jsonl"), b.scrub(r.output))
	if err := os.Chmod(filepath.Join("../testdata/recordings", b.name, name+".jsonl"), 0o644); err != nil {
		t.Fatal(err)
	}
}
