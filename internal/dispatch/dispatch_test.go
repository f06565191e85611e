package dispatch

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASignalStartsARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		begin(t, h, options(h, fakeRuntime{}))
		h.post("arya", "hello")
		synctest.Wait()
		h.wantCalls(t, "run-1 begun with 0", `run-1 says "hello"`)
	})
}

func TestWorkFromBeforeTheStartIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		h.addWork("arya", "hello")
		begin(t, h, options(h, fakeRuntime{}))
		synctest.Wait()
		if h.started != 1 {
			t.Errorf("%d runs were made", h.started)
		}
	})
}

func TestPollingFindsWorkWithoutASignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		begin(t, h, options(h, fakeRuntime{}))
		synctest.Wait()
		h.addWork("arya", "hello")
		time.Sleep(pollEvery)
		synctest.Wait()
		h.wantCalls(t, "run-1 begun with 0", `run-1 says "hello"`)
	})
}

// gate lets runs end one by one, and records the agents whose runs have begun.
type gate struct {
	begun chan string
	open  chan struct{}
}

func newGate() gate { return gate{make(chan string, 100), make(chan struct{})} }

func (g gate) run(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
	g.begun <- request.Agent.ID
	select {
	case <-g.open:
		return parley.Result{}, nil
	case <-ctx.Done():
		return parley.Result{}, ctx.Err()
	}
}

// startedAgents returns the agents whose runs have begun since the last call, sorted.
func (g gate) startedAgents() (agents []string) {
	for len(g.begun) > 0 {
		agents = append(agents, <-g.begun)
	}
	slices.Sort(agents)
	return agents
}

func TestTheTotalLimitsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, g := newFakeHub(), newGate()
		o := options(h, fakeRuntime{do: g.run})
		o.Total = 3
		begin(t, h, o)
		for n := range 5 {
			h.post(fmt.Sprint("agent-", n), "a", "b")
		}
		synctest.Wait()
		if began := g.startedAgents(); len(began) != 3 {
			t.Errorf("%q began", began)
		}
		for range 7 {
			g.open <- struct{}{}
			synctest.Wait()
			if began := g.startedAgents(); len(began) != 1 {
				t.Errorf("after the end of one, %q began", began)
			}
		}
		close(g.open)
	})
}

// The runs that hold all slots may wait for answers, so runs that answer asks begin without a free slot.
func TestAsksStartBeyondTheTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, g := newFakeHub(), newGate()
		o := options(h, fakeRuntime{do: g.run})
		o.Total = 1
		begin(t, h, o)
		h.post("arya", "work", "more work")
		synctest.Wait()
		h.post("bran", slices.Repeat([]string{askWork}, 2*maxRequests)...)
		h.post("cersei", "work")
		synctest.Wait()
		want := append([]string{"arya"}, slices.Repeat([]string{"bran"}, 2*maxRequests)...)
		if began := g.startedAgents(); !slices.Equal(began, want) {
			t.Errorf("%q began", began)
		}
		close(g.open)
		synctest.Wait()
		if began := g.startedAgents(); !slices.Equal(began, []string{"arya", "cersei"}) {
			t.Errorf("with room, %q began", began)
		}
	})
}

func TestAgentsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, g := newFakeHub(), newGate()
		o := options(h, fakeRuntime{do: g.run})
		o.Total = 1
		begin(t, h, o)
		h.post("arya", slices.Repeat([]string{"much"}, 20)...)
		synctest.Wait()
		for _, agent := range []string{"bran", "cersei", "dany"} {
			h.post(agent, "little")
		}
		synctest.Wait()
		var order []string
		for range 5 {
			order = append(order, g.startedAgents()...)
			g.open <- struct{}{}
			synctest.Wait()
		}
		if want := []string{"arya", "arya", "bran", "cersei", "dany"}; !slices.Equal(order, want) {
			t.Errorf("they ran in the order %q, want %q", order, want)
		}
		close(g.open)
	})
}

func TestAStopWaitsForTheGracePeriodAndStopsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		d := begin(t, h, options(h, fakeRuntime{do: func(ctx context.Context, request parley.RunRequest) (parley.Result, error) {
			if request.Agent.ID == "slow" {
				return untilEnded(ctx, request)
			}
			time.Sleep(5 * time.Second)
			return parley.Result{Text: "done"}, nil
		}}))
		h.post("quick", "a")
		synctest.Wait()
		h.post("slow", "b")
		synctest.Wait()
		began := time.Now()
		h.addWork("quick", "c") // too late
		d.Stop()
		if took := time.Since(began); took != defaultGrace {
			t.Errorf("the stop took %s", took)
		}
		h.wantCalls(t, "run-1 begun with 0", `run-1 says "done"`, "run-2 failed, stopped: the hub is stopping")
	})
}

func TestAStartRecoversLostRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHub()
		h.lost = []parley.Run{{ID: "run-a"}, {ID: "run-b"}}
		h.addWork("arya", "hello")
		d := New(h, options(h, fakeRuntime{}))
		d.Start(t.Context())
		synctest.Wait()
		h.wantCalls(t, "lost runs of here", "run-a killed", "run-b killed", "run-a recovered", "run-b recovered",
			"run-1 begun with 0", `run-1 says "hello"`)
		d.Stop()
	})
}
