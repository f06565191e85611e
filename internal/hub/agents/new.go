package agents

import (
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// WithDefaults returns the request with defaults in place of zero values.
func WithDefaults(n parley.NewAgent) parley.NewAgent {
	if n.Name == "" {
		n.Name = n.ID
	}
	if n.Kind == "" {
		n.Kind = parley.KindAgent
	}
	if n.Kind == parley.KindHuman && n.Access == "" {
		n.Access = parley.AccessMember
	}
	d := parley.DefaultProfile()
	p := &n.Profile
	unit.SetDefault(&p.Mode, d.Mode)
	unit.SetDefault(&p.ContextMessages, d.ContextMessages)
	unit.SetDefault(&p.InboxDepth, d.InboxDepth)
	unit.SetDefault(&p.InboxOverflow, d.InboxOverflow)
	unit.SetDefault(&p.Attempts, d.Attempts)
	unit.SetDefault(&p.Concurrency, d.Concurrency)
	return n
}

// CheckNewAgent returns E003 if a new agent's id, name, kind, access or profile is not valid.
func CheckNewAgent(n parley.NewAgent) error {
	if err := parley.CheckID(n.ID); err != nil {
		return err
	}
	if err := parley.CheckName(n.Name); err != nil {
		return err
	}
	if n.Kind != parley.KindAgent && n.Kind != parley.KindHuman {
		return parley.Errorf(parley.BadInput, "unknown kind %q", n.Kind).Suggest("use agent or human")
	}
	if err := CheckAccess(n.Kind, n.Access); err != nil {
		return err
	}
	return n.Profile.Check()
}

// CheckAccess returns E003 if a kind of participant cannot have an access.
func CheckAccess(kind parley.Kind, access parley.Access) error {
	people := []parley.Access{parley.AccessOwner, parley.AccessMember}
	if kind == parley.KindHuman && !slices.Contains(people, access) {
		return parley.Errorf(parley.BadInput, "unknown access %q", access).Suggest("use owner or member")
	}
	if kind != parley.KindHuman && access != "" {
		return parley.Errorf(parley.BadInput, "only people have a level of access").Suggest("leave it out, or use the kind human")
	}
	return nil
}

// InsertAgent stores a new agent and notes the event. It returns E003 with the reason conflict if another agent has the id
// or the name.
func InsertAgent(u *unit.Unit, n parley.NewAgent) (parley.Agent, error) {
	a := parley.Agent{
		ID: n.ID, UUID: uuid.NewString(), Name: n.Name, Kind: n.Kind, Access: n.Access,
		CreatedAt: u.Now, UpdatedAt: u.Now, Profile: n.Profile,
	}
	for _, name := range []string{n.ID, n.Name} {
		if holder, err := u.Agents().Find(name); err == nil {
			return a, AgentNameTaken(name, holder)
		} else if !errors.Is(err, parley.ErrNotFound) {
			return a, err
		}
	}
	err := InsertRow(u.Tx, a)
	u.Note(parley.Event{Kind: parley.EventAgentAdded, Agent: a.ID})
	return a, err
}

// AgentNameTaken returns the error for a name that another agent has, or had until it was removed.
func AgentNameTaken(name string, holder parley.Agent) *parley.Error {
	switch {
	case holder.RemovedAt == nil:
		return parley.Errorf(parley.BadInput, "the name %q belongs to another agent", name).
			Because(parley.Conflict).Suggest("choose another id or name")
	case CalledBy(holder, name):
		return parley.Errorf(parley.BadInput, "the name %q belongs to an agent that was removed", name).
			Because(parley.Conflict).Suggest("choose another id or name, or take it over for the new agent with --reuse")
	default: // the agent's UUID, which no other agent can take over
		return parley.Errorf(parley.BadInput, "the name %q belongs to an agent that was removed", name).
			Because(parley.Conflict).Suggest("choose another id or name")
	}
}

// CalledBy reports whether a name is the id or the name of an agent.
func CalledBy(a parley.Agent, name string) bool {
	folded := parley.Fold(name)
	return folded == parley.Fold(a.ID) || folded == parley.Fold(a.Name)
}

// AgentNameHeld returns the error for a rename, which cannot take over the name of a removed agent.
func AgentNameHeld(name string, holder parley.Agent) error {
	return AgentNameTaken(name, holder).Suggest("choose another name")
}
