package parley

import (
	"testing"
	"time"
)

func TestStatesOfStatuses(t *testing.T) {
	for status, want := range map[string]struct {
		State
		Substate
	}{
		StatusOffline: {Offline, ""}, StatusWorking: {Awake, Working}, StatusAwaitingApproval: {Awake, AwaitingApproval},
		StatusAwaitingDelegation: {Awake, AwaitingDelegation}, StatusSleeping: {Awake, Sleeping}, StatusIdle: {Awake, Idle},
	} {
		state, sub := Status{Status: status}.State()
		if state != want.State || sub != want.Substate {
			t.Errorf("%s: %s/%s, want %s/%s", status, state, sub, want.State, want.Substate)
		}
	}
}

func TestHaltsHoldUntilTheirEnd(t *testing.T) {
	now := time.Unix(1000, 0)
	later := now.Add(time.Millisecond)
	for name, c := range map[string]struct {
		agent Agent
		want  bool
	}{
		"nothing":                {Agent{}, false},
		"paused":                 {Agent{Paused: &Halt{}}, true},
		"paused for a while":     {Agent{Paused: &Halt{Until: &later}}, true},
		"paused until now":       {Agent{Paused: &Halt{Until: &now}}, false},
		"stopped":                {Agent{Stopped: &Halt{}}, true},
		"stopped, its time over": {Agent{Stopped: &Halt{Until: &now}}, true},
	} {
		if got := c.agent.Halted(now); got != c.want {
			t.Errorf("%s: halted is %v", name, got)
		}
	}
}
