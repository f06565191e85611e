package roster

import (
	"bytes"
	"context"
	"errors"
	"reflect"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ChangeAgent edits an agent's name, access and profile with change. Only an owner may call it. It may call change again if
// another call changes the agent at the same time.
func (s *Service) ChangeAgent(ctx context.Context, caller unit.Caller, name string, change func(*parley.Agent) error) (parley.Agent, error) {
	for range maxChangeAttempts {
		after, err := tryChangeAgent(ctx, s.Core, caller, name, change)
		if err == nil {
			return after, nil
		}
		if !errors.Is(err, unit.ErrOvertaken) {
			return parley.Agent{}, err
		}
	}
	return parley.Agent{}, parley.Errorf(parley.Unavailable, "other calls keep changing %s", name).
		Retryable(0).Suggest("try again")
}

const maxChangeAttempts = 100

func tryChangeAgent(ctx context.Context, core *unit.Core, caller unit.Caller, name string, change func(*parley.Agent) error) (after parley.Agent, err error) {
	var before, edited parley.Agent
	err = core.View(ctx, caller, unit.OpChangeAgent, func(u *unit.Unit) (err error) {
		if before, err = findChangeable(u, name); err == nil {
			edited, err = findChangeable(u, name) // a separate copy, because change may write into its lists
		}
		return err
	})
	if err != nil {
		return after, err
	}
	if err := change(&edited); err != nil {
		return after, err
	}
	if edited.Runtime != before.Runtime || !bytes.Equal(edited.RuntimeConfig, before.RuntimeConfig) {
		if err := checkRuntime(ctx, core, edited); err != nil {
			return after, err
		}
	}
	err = core.Update(ctx, caller, unit.OpChangeAgent, func(u *unit.Unit) (err error) {
		after, err = storeChange(u, before, edited)
		return err
	})
	return after, err
}

func findChangeable(u *unit.Unit, name string) (parley.Agent, error) {
	a, err := agents.Agent(u, name)
	if err == nil && a.Kind == parley.KindSystem {
		err = parley.Errorf(parley.NotPermitted, "%s is the hub itself and cannot be changed", a.ID).Suggest("name an agent or a person")
	}
	return a, err
}

func storeChange(u *unit.Unit, before, edited parley.Agent) (parley.Agent, error) {
	after, err := findChangeable(u, before.ID)
	if err != nil {
		return after, err
	}
	if !reflect.DeepEqual(before, after) {
		return after, unit.ErrOvertaken
	}
	after.Name, after.Access, after.Profile, after.UpdatedAt = edited.Name, edited.Access, edited.Profile, u.Now
	if err := checkChange(u, before, &after); err != nil {
		return after, err
	}
	err = agents.Save(u.Tx, after)
	if errors.Is(err, parley.ErrTaken) {
		holder, err := u.Agents().Find(after.Name)
		if err != nil {
			return after, err
		}
		return after, agents.AgentNameHeld(after.Name, holder)
	}
	u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: after.ID})
	if err == nil && after.Manager != before.Manager {
		err = holding.ReassignApprovals(u, after.ID)
	}
	if err == nil && before.Runtime == parley.RuntimeBridge && after.Runtime != before.Runtime {
		err = departures.RecallFromAll(u, after.ID)
	}
	return after, errors.Join(err, access.Audit(u, "agent.change", after.ID, nil))
}

func checkChange(u *unit.Unit, before parley.Agent, after *parley.Agent) error {
	if after.Name != before.Name {
		if err := parley.CheckName(after.Name); err != nil {
			return err
		}
	}
	if err := agents.CheckAccess(after.Kind, after.Access); err != nil {
		return err
	}
	if err := after.Profile.Check(); err != nil {
		return err
	}
	if after.ID == parley.Owner && after.Access != parley.AccessOwner {
		return parley.Errorf(parley.NotPermitted, "%s set up this hub and stays its owner", after.ID).
			Suggest("you can make other people owners too")
	}
	var err error
	after.Manager, err = agents.Manager(u, after.ID, after.Manager)
	return err
}
