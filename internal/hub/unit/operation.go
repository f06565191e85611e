package unit

import (
	"slices"

	"github.com/parley-hub/parley"
)

// Operation is what the hub demands of the caller of a use case.
type Operation struct {
	ID      string
	Scope   parley.Scope // the scope that the credential needs; empty: any credential
	Who     Who
	Changes bool
	Work    Work
	Held    Holding // when a call of an agent needs an approval; empty where agents may not call it
	Act     string  // the operation in words, for the error "only an owner may …"
}

// Who says which participants may call an operation. Before a use case the hub checks the rules that depend on the caller
// alone. The use case checks a rule that depends on the subject of the call.
type Who string

// The rules.
const (
	Anyone         Who = "anyone"            // even without a credential
	Everyone       Who = "every participant" // each sees only what it may read
	Owner          Who = "owners"
	LocalOwner     Who = "owners, by the local socket"
	People         Who = "owners, and people for themselves"
	SelfOrOwner    Who = "its holder, and owners"
	ManagerOrOwner Who = "the agent itself, its manager, and owners"
	MemberOrOwner  Who = "those who take part, and owners"
	SessionOnly    Who = "people who have signed in with a browser"
	Itself         Who = "the hub itself"

	Self            Who = "the agent itself"
	SuperiorOrOwner Who = "the agent's manager, and owners"
	RunnerOrOwner   Who = "the agent whose run it is, and owners"

	AgentOrOwner     Who = "the agent itself, and owners"
	ConcernedOrOwner Who = "those who asked for the task or for one it is part of, its assignee, and owners"
	AssigneeOrOwner  Who = "the task's assignee, and owners"
	RequesterOrOwner Who = "those who asked for the task or for one it is part of, and owners"
	CallerOrDecider  Who = "the agent whose call it is, its manager, and owners"
	Decider          Who = "the manager of the agent whose call it is, and owners; never the agent itself"
)

// Known reports whether the rule exists.
func (w Who) Known() bool {
	return slices.Contains([]Who{
		Anyone, Everyone, Owner, LocalOwner, People, SelfOrOwner, ManagerOrOwner, MemberOrOwner, SessionOnly, Itself, Self, SuperiorOrOwner,
		RunnerOrOwner, AgentOrOwner, ConcernedOrOwner, AssigneeOrOwner, RequesterOrOwner, CallerOrDecider, Decider,
	}, w)
}

// Holding says in which modes of an agent a call of an operation needs an approval.
type Holding string

// When a call needs an approval.
const (
	NeverHeld      Holding = "never"
	HeldStrict     Holding = "strict"
	HeldSupervised Holding = "supervised and strict"
)

// Admits returns why the credential of a caller does not allow the operation, or nil.
func (o Operation) Admits(caller Caller) error {
	switch {
	case o.Who == Itself:
		if caller.Agent != parley.System || !caller.InProcess() {
			return parley.Errorf(parley.NotPermitted, "only the hub itself may do this").Suggest("leave it to the hub")
		}
	case caller.InProcess():
	case o.Scope != "" && !caller.Scopes.Has(o.Scope):
		return parley.Errorf(parley.NotPermitted, "this needs a credential with the scope %s", o.Scope).
			Suggest("ask an owner of this hub for a token with it")
	case o.Who == SessionOnly && caller.Kind != parley.TokenSession:
		return parley.Errorf(parley.NotPermitted, "this is for people who have signed in with a browser").
			Suggest("a token needs no session")
	case o.Who == LocalOwner && !caller.Local:
		return parley.Errorf(parley.NotPermitted, "this can be done on the hub's own machine only").
			Suggest("call it by the hub's socket")
	}
	return nil
}
