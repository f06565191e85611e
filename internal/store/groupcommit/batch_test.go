package groupcommit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

func TestLoneUpdateIsCommittedAtOnce(t *testing.T) {
	withWriter(t, func(f *fixture) {
		began := time.Now()
		f.Submit("lone")
		f.WG.Wait()
		f.Acknowledged("lone")
		if waited := time.Since(began); waited > 0 {
			f.Errorf("it waited %v for company", waited)
		}
		f.Batches(1)
	})
}

func TestQueuedUpdatesShareOneCommit(t *testing.T) {
	withWriter(t, func(f *fixture) {
		f.Together(func() {
			for i := range 100 {
				f.Submit(fmt.Sprint("waiting-", i))
			}
		})
		for i := range 100 {
			f.Acknowledged(fmt.Sprint("waiting-", i))
		}
		f.Batches(101)
		if n := f.Conn.Succeeded("COMMIT"); n != 1 {
			f.Errorf("%d commits for 101 updates", n)
		}
	})
}

func TestBatchHas256UpdatesAtMost(t *testing.T) {
	withWriter(t, func(f *fixture) {
		f.Together(func() {
			for i := range 2*batchUpdates + 10 {
				f.Submit(fmt.Sprint("waiting-", i))
			}
		})
		f.Batches(256, 256, 11)
	})
}

func TestBatchIsClosedAfterItsTime(t *testing.T) {
	withWriter(t, func(f *fixture) {
		takes := func(d time.Duration) func(*tx) error {
			return func(*tx) error {
				time.Sleep(d)
				return nil
			}
		}
		f.Together(
			f.With("within", takes(batchTime)), f.With("beyond", takes(1)), f.Plain("next"), f.Plain("with it"),
		)
		f.Acknowledged("within", "beyond", "next", "with it")
		f.Batches(3, 2)
	})
}

func TestNoOutcomeIsReportedBeforeTheCommit(t *testing.T) {
	withWriter(t, func(f *fixture) {
		gate := make(chan struct{})
		release := f.Hold()
		f.Submit("good")
		f.Submit("bad", func(*tx) error { return committest.ErrInjected })
		f.Conn.Before = func(_ *committest.Conn, query string) error {
			if query == "COMMIT" {
				<-gate
			}
			return nil
		}
		go release()
		synctest.Wait()
		if f.CountOutcomes() > 0 {
			f.Error("somebody was told before the commit")
		}
		close(gate)
		f.WG.Wait()
		f.Acknowledged("held", "good")
		f.Refused("bad", committest.ErrInjected)
	})
}

func TestFailingUpdateLeavesItsBatchAlone(t *testing.T) {
	withWriter(t, func(f *fixture) {
		f.Together(f.Plain("before"), f.With("bad", func(*tx) error { return committest.ErrInjected }), f.Plain("after"))
		f.Acknowledged("held", "before", "after")
		f.Refused("bad", committest.ErrInjected)
		f.Ran("bad", 1)
		f.Batches(4)
	})
}

// The first update of a batch runs without a savepoint.
func TestFirstUpdateOfABatchFails(t *testing.T) {
	for name, end := range map[string]func(*tx) error{
		"by its own error": func(*tx) error { return committest.ErrInjected },
		"by a panic":       func(*tx) error { panic("an end") },
		"by the database": hides(func(t *tx) error {
			return errors.Join(t.add("arya"), t.label("too late"))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				f.Conn.Before = committest.End("INSERT INTO names", 1)
				gate := make(chan struct{})
				f.Submit("first", func(*tx) error {
					<-gate
					return nil
				}, end)
				f.Submit("second", func(t *tx) error { return t.label("second too") })
				f.Submit("third")
				close(gate)
				f.WG.Wait()
				f.Expect("second too")
				if f.Outcome("first") == nil {
					f.Error("the first was acknowledged")
				}
				f.Acknowledged("second", "third")
				f.Ran("first", 1)
				f.Batches(1, 3)
			})
		})
	}
}

// An update is refused because of a row that another update of its batch wrote. If that one is rolled back, the refused one
// runs again.
func TestRefusalIsForgottenWithItsBatch(t *testing.T) {
	withWriter(t, func(f *fixture) {
		winner := ""
		insert := func(label string) func() {
			return f.With(label, func(t *tx) error {
				err := t.add("arya")
				if err == nil {
					winner = label
				}
				return err
			})
		}
		repairing := false
		f.Conn.Before = func(_ *committest.Conn, query string) error {
			if query == "COMMIT" && winner == "first" && !repairing {
				return committest.ErrInjected
			}
			repairing = strings.HasPrefix(query, "UPDATE repairs")
			return nil
		}
		f.Together(insert("first"), insert("second"), insert("third"))
		f.Refused("first", committest.ErrInjected)
		f.Acknowledged("second")
		f.Refused("third", parley.ErrTaken)
	})
}

// There are more callers than the queue has room for. Each gets its outcome, once.
func TestNoUpdateIsLeftWaiting(t *testing.T) {
	d := openDatabase(t)
	w := newWriter(d)
	const callers, each = 2 * batchUpdates, 4
	var (
		group sync.WaitGroup
		ran   atomic.Int64
	)
	for range callers {
		group.Go(func() {
			for range each {
				err := w.Update(t.Context(), func(*tx) error {
					ran.Add(1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := ran.Load(); n != callers*each {
		t.Errorf("%d updates ran, want %d", n, callers*each)
	}
	w.Close()
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// An update that ends its goroutine ends the process, so the test runs it in a process of its own.
func TestGoexitInAnUpdateEndsTheProcess(t *testing.T) {
	if os.Getenv("PARLEY_TEST_GOEXIT") == "" {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), "PARLEY_TEST_GOEXIT=1")
		out, err := again.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the store has stopped") {
			t.Errorf("it went on: %v: %.500s", err, out)
		}
		return
	}
	_ = newWriter(openDatabase(t)).Update(t.Context(), func(*tx) error {
		runtime.Goexit()
		return nil
	})
}
