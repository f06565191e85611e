// Package turns holds the turns of agents: the next run, its context, its end, the sweeps of leases, and the recovery after a
// crash.
//
// NextRun makes the next run of an agent in one update. It checks whether the agent may start a run and has a slot, picks the
// most urgent message in a conversation without a run of the agent, and adds what is pending there. It stores the run, leases the
// messages to it and makes its token. It looks in a view first and writes only if there is something to start.
//
// RunContext returns what the prompt is made from, of the run's own conversation only. BeginRun records that the turn has
// started. ExtendRunLease extends the leases and reports whether the run must end. FinishRun posts the answer, settles the messages that
// woke the run and ends the run, in one update: nothing is answered twice, and nothing is settled without its answer. FailRun
// gives back the messages that may get another attempt. A run whose leases lapse is lost. The hub notes what a run posts with the
// digest of the call, so a later attempt that makes the same call gets the same message.
package turns

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/clients"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	names   *names.Service
	clients *clients.Service

	recovery recovery
}

// Hook delays every change until the leases of a former process of the hub are returned.
func Hook(s *Service, hooks *unit.Hooks) {
	hooks.Recovered = func(ctx context.Context) error { return FinishRecovery(ctx, s) }
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, names *names.Service, clients *clients.Service) *Service {
	return &Service{Core: core, names: names, clients: clients}
}

// AgentsToCheck tells the dispatcher of this process which agents to look at. agents returns the agents that may have new deliveries, or
// a run to cancel, since its last call. wait receives a signal when agents has something to return. Changes by other processes
// give no signal: see Waiting.
func (s *Service) AgentsToCheck() (agents func() []string, wait <-chan struct{}) {
	return s.WokenAgents.Take, s.WokenAgents.Sign
}

// maxWaiting is how many agents with pending deliveries one call looks at.
const maxWaiting = 10_000

// AgentsToWake returns the agents that the hub runs and that have pending deliveries which wake them. Paused and stopped agents are
// left out. A sleeping agent is left out unless somebody asks it.
func (s *Service) AgentsToWake(ctx context.Context) (ids []string, err error) {
	err = s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		all, err := u.Queue().AgentsToWake(maxWaiting)
		for _, id := range all {
			var waits bool
			if err == nil {
				waits, err = canStart(u, id)
			}
			if waits {
				ids = append(ids, id)
			}
		}
		return err
	})
	return ids, err
}

// canStart reports whether an agent that has a ready delivery could begin a run with it.
func canStart(u *unit.Unit, id string) (bool, error) {
	a, err := u.Agents().Find(id)
	if err != nil || a.RemovedAt != nil || !a.Dispatched() || a.Halted(u.Now) {
		return false, err
	}
	if !a.Asleep(u.Now) {
		return true, nil
	}
	_, asked, err := nextAsk(u, runStart{agent: a})
	return asked, err
}

// SweepWaits ends asks whose time is up and whose caller is not connected.
func (s *Service) SweepWaits(ctx context.Context) error {
	return work.EachWait(ctx, s.Core, func(u *unit.Unit, limit int) ([]parley.Wait, error) { return u.Waits().Due(u.Now, limit) }, work.MakeWaitLate)
}

// RecoverWaits detaches the waits of callers that were connected to a former process of this hub.
func (s *Service) RecoverWaits(ctx context.Context) error {
	return work.EachWait(ctx, s.Core, func(u *unit.Unit, limit int) ([]parley.Wait, error) {
		list, err := u.Waits().OfNode(s.Config.Node)
		return list[:min(limit, len(list))], err
	}, work.RecoverWait)
}
