package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

func TestARunGetsPromptDirectoryTokenAndTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		o := options(h, fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
			err := request.Begin(ctx, parley.Process{PID: 42})
			request.Say("so")
			request.Log([]byte("far"))
			return parley.Result{Text: fmt.Sprint(request.Prompt, request.Dir, request.URL, len(request.Token), request.Triggers[0].Content.Text, request.Tools)}, err
		}})
		o.URL = func(k parley.TokenKind) string { return "hub of a " + string(k) }
		begin(t, h, o)
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, "process 42 is arya", "run-1 begun with 42", `run-1 said "so"`, `run-1 wrote "far"`, "process 42 is nobody",
			`run-1 says "{[{agents/arya }] [{reply }] false run-1}agents/aryahub of a run15hello[{reply }]"`)
	})
}

// Row "Secrets in logs": the dispatcher removes the run's token from all output of a runtime.
func TestSecretsInLogsOfARun(t *testing.T) {
	const secret = "secret of run-1"
	for name, err := range map[string]error{
		"it answers": nil,
		"it fails":   &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureFinal, Reason: "401 for " + secret}, Hint: "look at " + secret},
		"it breaks":  errors.New("no " + secret),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFakeHub()
				begin(t, h, options(h, fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
					if request.Token != secret {
						t.Errorf("the run is given %q", request.Token)
					}
					request.Say("my token is " + request.Token)
					request.Log([]byte("PARLEY_TOKEN=" + request.Token))
					return parley.Result{Text: "it is " + request.Token}, err
				}}))
				h.post("arya", "hello")
				synctest.Wait()
				h.mu.Lock()
				defer h.mu.Unlock()
				for _, call := range h.calls {
					if strings.Contains(call, secret) {
						t.Errorf("it is in %q", call)
					}
				}
				if len(h.calls) < 3 {
					t.Errorf("the calls were only %q", h.calls)
				}
			})
		})
	}
}

// Row "Agent as owner": when a run begins with a second process, the dispatcher removes the number of the first one, because
// another process may get that number.
func TestAgentAsAnotherByTheNumberOfAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		begin(t, h, options(h, fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
			err := request.Begin(ctx, parley.Process{PID: 42})
			return parley.Result{}, errors.Join(err, request.Begin(ctx, parley.Process{PID: 43}))
		}}))
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, "process 42 is arya", "run-1 begun with 42", "process 42 is nobody", "process 43 is arya", "run-1 begun with 43",
			"process 43 is nobody", `run-1 says ""`)
	})
}

func TestARunThatReportsNoBeginBeginsAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		begin(t, h, options(h, fakeRuntime{do: func(context.Context, parley.RunRequest) (parley.Result, error) {
			return parley.Result{Text: "at once"}, nil
		}}))
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, "run-1 begun with 0", `run-1 says "at once"`)
	})
}

func TestAnInstantRunReportsNoBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		o := options(h, instantRuntime{fakeRuntime: fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
			return parley.Result{Text: fmt.Sprint(request.Prompt, request.Triggers[0].Content.Text)}, request.Begin(ctx, parley.Process{})
		}}})
		o.Prompt = nil
		begin(t, h, o)
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, `run-1 says "{ }hello"`)
	})
}

func TestAnAgentsOwnDeadlineCounts(t *testing.T) {
	for _, own := range []time.Duration{time.Minute, 2 * defaultDeadline} {
		synctest.Test(t, func(t *testing.T) {
			h := newFakeHub()
			began, ended := time.Now(), make(chan time.Duration, 1)
			begin(t, h, options(h, instantRuntime{fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
				<-ctx.Done()
				ended <- time.Since(began)
				return parley.Result{}, ctx.Err()
			}}, own}))
			h.post("arya", "hello")
			if after := <-ended; after != own {
				t.Errorf("it ended after %s, want %s", after, own)
			}
		})
	}
}

func TestAClientThatIsStartedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		h.resumed = true
		begin(t, h, options(h, fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
			err := errors.Join(request.Begin(ctx, parley.Process{PID: 42}), request.Begin(ctx, parley.Process{PID: 43}))
			return parley.Result{Text: fmt.Sprint(request.Prompt.System, request.Fresh().System)}, err
		}}))
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, "process 42 is arya", "run-1 begun with 42", "process 42 is nobody",
			"process 43 is arya", "run-1 begun with 43", "process 43 is nobody",
			`run-1 says "[{agents/arya }] [{reply }] true[{agents/arya }] [{reply }] false"`)
	})
}

func TestFailuresOfARun(t *testing.T) {
	busy := &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureBusy, Reason: "too much to do"}}
	missing := parley.Errorf(parley.BadInput, "there is no claude").Suggest("install it")
	for name, test := range map[string]struct {
		runtime fakeRuntime
		want    string
	}{
		"it cannot be run": {fakeRuntime{check: missing}, "run-1 failed, nostart: there is no claude (install it)"},
		"it panics": {fakeRuntime{do: func(context.Context, parley.RunRequest) (parley.Result, error) {
			panic("oops")
		}}, "run-1 failed, final: the runtime fake has panicked: oops"},
		"its runtime says why": {fakeRuntime{do: func(context.Context, parley.RunRequest) (parley.Result, error) {
			return parley.Result{}, fmt.Errorf("so: %w", busy)
		}}, "run-1 failed, busy: too much to do"},
		"its runtime does not say why": {fakeRuntime{do: func(context.Context, parley.RunRequest) (parley.Result, error) {
			return parley.Result{}, errors.New("no")
		}}, "run-1 failed, final: no"},
		"it lasts too long": {
			fakeRuntime{do: untilEnded}, "run-1 failed, final: it did not end within 30m0s " +
				"(give it less work at once, or raise the deadline: runs.deadline in config.yaml, or deadline in its runtime_config)",
		},
		"it lasts too long, and its runtime knows why": {
			fakeRuntime{do: func(ctx context.Context, _ parley.RunRequest) (parley.Result, error) {
				<-ctx.Done()
				return parley.Result{}, &parley.RunError{
					Trouble: parley.Trouble{Failure: parley.FailureBusy, Reason: "too much to do"}, Hint: "wait",
				}
			}}, "run-1 failed, busy: it did not end within 30m0s: too much to do (wait)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFakeHub()
				begin(t, h, options(h, test.runtime))
				h.post("arya", "hello")
				time.Sleep(defaultDeadline)
				synctest.Wait()
				h.wantCalls(t, test.want)
			})
		})
	}
}

// The hub retries a run whose begin could not be stored.
func TestARunWhoseBeginIsNotStoredHasNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		h.beginErr = parley.Errorf(parley.Unavailable, "the disk is full").Suggest("make room")
		begin(t, h, options(h, fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
			return parley.Result{}, fmt.Errorf("so: %w", request.Begin(ctx, parley.Process{}))
		}}))
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, "run-1 failed, nostart: the disk is full (make room)")
	})
}

func TestAnUnknownRuntimeIsAFailedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		o := options(h, nil)
		o.Runtime = func(a parley.Agent) (parley.Runtime, error) {
			return nil, parley.Errorf(parley.BadInput, "no runtime %s", a.Runtime).Suggest("use claude")
		}
		begin(t, h, o)
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, "run-1 failed, nostart: no runtime fake (use claude)")
	})
}

func TestLeasesAreKeptWhileARunLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		began := time.Now()
		begin(t, h, options(h, fakeRuntime{do: func(context.Context, parley.RunRequest) (parley.Result, error) {
			time.Sleep(10 * time.Minute)
			return parley.Result{}, nil
		}}))
		h.post("arya", "hello")
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		h.wantCalls(t, "run-1 begun with 0", `run-1 says ""`)
		for last := began; len(h.kept) > 0; last, h.kept = h.kept[0], h.kept[1:] {
			if h.kept[0].Sub(last) > leaseTime/2 {
				t.Errorf("the lease was kept after %s", h.kept[0].Sub(last))
			}
		}
	})
}

func TestACancelledRunEndsWithinASecond(t *testing.T) {
	for name, after := range map[string]time.Duration{"soon": 10 * time.Millisecond, "later": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFakeHub()
				begin(t, h, options(h, fakeRuntime{do: untilEnded}))
				h.post("arya", "hello")
				time.Sleep(after)
				h.mu.Lock()
				h.cancel["run-1"] = "cancelled by user"
				h.mu.Unlock()
				h.signalChange("arya")
				time.Sleep(minAskInterval)
				synctest.Wait()
				h.wantCalls(t, "run-1 failed, final: cancelled by user")
			})
		})
	}
}

func TestARunThatIsOverElsewhereEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		ended := make(chan error, 1)
		begin(t, h, options(h, fakeRuntime{do: func(ctx context.Context, _ parley.RunRequest) (parley.Result, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return parley.Result{}, ctx.Err()
		}}))
		h.post("arya", "hello")
		synctest.Wait()
		h.mu.Lock()
		delete(h.live, "run-1")
		h.mu.Unlock()
		if cause := <-ended; !errors.Is(cause, errEnded) {
			t.Errorf("it ended because of %v", cause)
		}
		synctest.Wait()
		h.wantCalls(t)
	})
}

func TestARunWhoseLeaseCannotBeKeptEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		h.keepErr = parley.Errorf(parley.Unavailable, "no connection")
		begin(t, h, options(h, fakeRuntime{do: untilEnded}))
		h.post("arya", "hello")
		time.Sleep(leaseTime - time.Second)
		synctest.Wait()
		h.wantCalls(t)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		h.wantCalls(t, "run-1 failed, stopped: "+errLost.Error())
	})
}

func TestTheEndOfARunIsReportedUntilItIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		full := parley.Errorf(parley.Unavailable, "the disk is full").Because(parley.StorageFull)
		for range 20 {
			h.finishErr = append(h.finishErr, full)
		}
		begin(t, h, options(h, fakeRuntime{}))
		h.post("arya", "hello")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		h.wantCalls(t, "run-1 begun with 0", `run-1 says "hello"`)
		if len(h.kept) == 0 {
			t.Error("meanwhile the lease was not kept")
		}
	})
}

func TestAStopDoesNotWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		for range 1000 {
			h.finishErr = append(h.finishErr, parley.Errorf(parley.Unavailable, "the disk is full"))
		}
		d := begin(t, h, options(h, fakeRuntime{}))
		h.post("arya", "hello")
		synctest.Wait()
		began := time.Now()
		d.Stop()
		if took := time.Since(began); took > defaultGrace {
			t.Errorf("the stop took %s", took)
		}
		h.wantCalls(t, "run-1 begun with 0")
	})
}
