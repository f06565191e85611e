package roster

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// AddFirstAgents adds the two participants that every hub has. If they exist, it writes nothing, so that a hub whose store is
// read-only still starts.
func AddFirstAgents(ctx context.Context, core *unit.Core) error {
	err := core.Store.View(ctx, func(tx storage.Tx) error {
		_, err := tx.Agents().Find(parley.Owner) // the last one that it adds
		return err
	})
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return core.Store.Update(ctx, func(tx storage.Tx) error {
		u := core.NewUnit(tx)
		for _, n := range []parley.NewAgent{
			{ID: parley.System, Name: "Parley", Kind: parley.KindSystem},
			{ID: parley.Owner, Name: parley.Owner, Kind: parley.KindHuman, Access: parley.AccessOwner},
		} {
			if _, err := tx.Agents().Find(n.ID); !errors.Is(err, parley.ErrNotFound) {
				return err
			}
			n.Profile = parley.DefaultProfile()
			if _, err := agents.InsertAgent(u, n); err != nil {
				return err
			}
		}
		return u.WriteEvents()
	})
}

// AddAgent adds an agent or a person. Only an owner may call it.
func (s *Service) AddAgent(ctx context.Context, caller unit.Caller, n parley.NewAgent) (added parley.Agent, err error) {
	n = agents.WithDefaults(n)
	if err := agents.CheckNewAgent(n); err != nil {
		return added, err
	}
	if err := checkNewRuntime(ctx, s.Core, caller, n); err != nil {
		return added, err
	}
	if n.Reuse {
		s.reusing.Lock()
		defer s.reusing.Unlock()
		if err := setFilesAside(ctx, s.Core, caller, n); err != nil {
			return added, err
		}
		// The runtime's own files, for example the secret of a webhook, were set aside too.
		if err := checkNewRuntime(ctx, s.Core, caller, n); err != nil {
			return added, err
		}
	}
	var retired []retiredAgent
	err = s.Update(ctx, caller, unit.OpAddAgent, func(u *unit.Unit) error {
		n := n // because the update can run again
		if n.Manager, err = agents.Manager(u, n.ID, n.Manager); err != nil {
			return err
		}
		if n.Reuse {
			retired, err = retireHolders(u, n)
			if err != nil {
				return err
			}
		}
		if added, err = agents.InsertAgent(u, n); err != nil {
			return err
		}
		if err := auditReuse(u, added, retired); err != nil {
			return err
		}
		return access.Audit(u, "agent.add", added.ID, map[string]any{"kind": added.Kind, "access": added.Access})
	})
	if err == nil {
		for _, old := range retired {
			s.Attendance.Forget(old.oldID)
		}
	}
	return added, err
}

// checkRuntime checks whether the hub can run an agent. The check may look at the system, so it must not run inside an update.
func checkRuntime(ctx context.Context, core *unit.Core, a parley.Agent) error {
	if core.Config.CheckRuntime == nil || !a.Dispatched() {
		return nil
	}
	return core.Config.CheckRuntime(ctx, a)
}

// checkNewRuntime checks whether the hub can run a new agent. A caller who may not add agents gets only that error.
func checkNewRuntime(ctx context.Context, core *unit.Core, caller unit.Caller, n parley.NewAgent) error {
	if n.Runtime == "" {
		return nil
	}
	if err := core.View(ctx, caller, unit.OpAddAgent, func(*unit.Unit) error { return nil }); err != nil {
		return err
	}
	return checkRuntime(ctx, core, parley.Agent{ID: n.ID, Name: n.Name, Kind: n.Kind, Profile: n.Profile})
}
