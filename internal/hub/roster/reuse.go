package roster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// retiredAgent is a removed agent whose names a new agent takes.
type retiredAgent struct {
	oldID string
	newID string
	uuid  string
}

// retireHolders renames the removed agents that have the id or name of a new agent. They keep everything that belongs to their
// rows.
func retireHolders(u *unit.Unit, n parley.NewAgent) (retired []retiredAgent, err error) {
	holders, err := removedHolders(u, n)
	if err != nil {
		return nil, err
	}
	for _, old := range holders {
		if err := withdrawCallsNaming(u, old); err != nil {
			return nil, err
		}
		id, err := freeRetiredName(u, old.ID)
		called := id
		if err == nil && old.Name != old.ID {
			called, err = freeRetiredName(u, old.Name)
		}
		if err == nil {
			err = agents.RetireRow(u.Tx, old.ID, id, called)
		}
		if err != nil {
			return nil, err
		}
		u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: id})
		retired = append(retired, retiredAgent{old.ID, id, old.UUID})
	}
	return retired, nil
}

// removedHolders returns the removed agents that have the id or name of a new agent. It returns E003 if an agent that was not
// removed has one of these names, or if a name is a uuid.
func removedHolders(u *unit.Unit, n parley.NewAgent) (holders []parley.Agent, err error) {
	for _, name := range []string{n.ID, n.Name} {
		holder, err := u.Agents().Find(name)
		if errors.Is(err, parley.ErrNotFound) {
			continue
		}
		if err == nil && (holder.RemovedAt == nil || !agents.CalledBy(holder, name)) {
			err = agents.AgentNameTaken(name, holder)
		}
		if err == nil {
			err = checkUnused(u, holder)
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(holders, func(a parley.Agent) bool { return a.UUID == holder.UUID }) {
			holders = append(holders, holder)
		}
	}
	return holders, nil
}

// setFilesAside moves away the files of the removed agents whose names a new agent takes, because the new agent must not get
// their memories and secrets. It does so before the names change, so that a crash in between leaves no files to the new agent.
// The caller holds Service.reusing.
func setFilesAside(ctx context.Context, core *unit.Core, caller unit.Caller, n parley.NewAgent) error {
	if core.Config.SetFilesAside == nil {
		return nil
	}
	var holders []parley.Agent
	err := core.View(ctx, caller, unit.OpAddAgent, func(u *unit.Unit) (err error) {
		if _, err = agents.Manager(u, n.ID, n.Manager); err == nil {
			holders, err = removedHolders(u, n)
		}
		return err
	})
	for _, old := range holders {
		if err != nil {
			return err
		}
		err = core.Config.SetFilesAside(old.ID)
	}
	return err
}

// checkUnused returns an error if something still uses the id of a removed agent: an open session, whose process speaks for the
// id, or a bridge.
func checkUnused(u *unit.Unit, old parley.Agent) error {
	if u.Core.Attendance.Attends(old.ID) {
		return parley.Errorf(parley.Unavailable, "%s was removed, but a session of it is still open", old.ID).
			Retryable(0).Suggest("close the client of this session, and try again")
	}
	trees, err := u.Bridges().List()
	for _, b := range trees {
		if b.HasAgent(old.ID) || b.QueueAgent == old.ID && old.ID != parley.QueueAgent {
			return parley.Errorf(parley.BadInput, "the bridge %s still uses the id %s", b.ID, old.ID).Because(parley.Conflict).
				Suggest("remove the bridge first: parley bridge remove %s", b.ID)
		}
	}
	return err
}

// freeRetiredName returns a new name for a removed agent in place of its id or name. Nobody else has it.
func freeRetiredName(u *unit.Unit, name string) (string, error) {
	for n := 1; ; n++ {
		retired := parley.RetiredName(name, n)
		_, err := u.Agents().Find(retired)
		if errors.Is(err, parley.ErrNotFound) {
			return retired, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// withdrawCallsNaming withdraws the held calls that name an agent by its id or name. After the reuse, an approval would send
// such a call to an agent that nobody has approved.
func withdrawCallsNaming(u *unit.Unit, old parley.Agent) error {
	list, err := u.Approvals().List(parley.ApprovalFilter{State: parley.ApprovalPending, Limit: math.MaxInt32}, "", true)
	if err != nil {
		return err
	}
	return work.Withdraw(u, slices.DeleteFunc(list, func(a parley.Approval) bool {
		return a.Target != old.ID && !containsName(a.Call.Args, old.ID) && !containsName(a.Call.Args, old.Name)
	}))
}

// containsName reports whether a string in a JSON text is a name.
func containsName(args json.RawMessage, name string) bool {
	return strings.Contains(parley.Fold(string(args)), parley.Fold(strconv.Quote(name)))
}

// auditReuse writes audit entries about the names that a new agent has taken.
func auditReuse(u *unit.Unit, added parley.Agent, retired []retiredAgent) error {
	for _, old := range retired {
		err := access.Audit(u, "agent.reuse", old.oldID, map[string]any{"removed": old.uuid, "now": old.newID, "by": added.UUID})
		if err != nil {
			return fmt.Errorf("cannot audit that %s took a name: %w", added.ID, err)
		}
	}
	return nil
}
