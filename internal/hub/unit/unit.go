// Package unit holds one use case in one transaction: the caller, which never changes, the changes made so far, and what follows
// them. Core is what all use cases of a hub share. The table of operations says who may do what.
package unit

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// Unit is one use case in one transaction, in the name of one participant. The participant of a unit never changes: As
// returns another unit on the same transaction.
type Unit struct {
	storage.Tx
	Core *Core
	Me   parley.Agent
	Now  time.Time

	Bridged bool           // the use case comes over a bridge, from a file without a credential
	Tree    *parley.Bridge // the bridge, while a document of its tree is stored
	// Reporting is the message by which an assignee reports the progress of its task, while that message is stored.
	Reporting      *parley.Message
	DocumentReader string // the participant that reads the current report on a task in its own inbox, as a document

	*Changes
}

// Changes are what one transaction did so far, in the name of any participant, and what to do once it is committed.
type Changes struct {
	endsAs        string // the participant named by a refusal or a summary at the end of the update
	Events        []parley.Event
	Woken         []string    // agents with a delivery to take
	Touched       []string    // ids of changed messages, waits, tasks, approvals and conversations
	Warnings      []string    // for the log
	ChangedAgents []string    // agents whose state changed
	TasksChanged  []string    // agents whose tasks changed
	Halts         []time.Time // times at which work is due for halted agents
	Audited       bool        // the audit log has new entries
	NoticesDue    bool        // a person must be notified outside of the hub
	Fetching      bool        // the deliveries are acknowledged because they were taken, at most once

	VisibilityReduced []parley.Event // events after which a participant may see less

	AllBridges []parley.Bridge // cache of all bridges; nil until read

	UnknownNames []string // mentioned names that no participant has
	Opened       string   // the channel that was created for a message

	Modes map[string]parley.Answers // cache of the answer modes of conversations

	LeaseHolders map[string]bool // cache of the participants that hold a lease; nil until read

	CallerRules *Permissions // cache of the caller's rules; nil until read
}

// Permissions are the rules of one agent, cached for one use case.
type Permissions struct {
	Of   string
	List []parley.Permission
}

// NewUnit returns a unit on a transaction, without a participant.
func (c *Core) NewUnit(tx storage.Tx) *Unit {
	return &Unit{Tx: tx, Core: c, Now: c.Now(), Changes: &Changes{}}
}

// As returns a unit on the same transaction in the name of another participant, with that participant's rights.
func (u *Unit) As(a parley.Agent) *Unit {
	as := *u
	as.Me = a
	return &as
}

// Over returns a unit in the name of the sender of a document that comes over a bridge.
func (u *Unit) Over(b *parley.Bridge, sender parley.Agent) *Unit {
	as := u.As(sender)
	as.Bridged, as.Tree = true, b
	return as
}

// ReportedBy returns a unit like this one, in which a message reports the progress of a task.
func (u *Unit) ReportedBy(m *parley.Message) *Unit {
	as := *u
	as.Reporting = m
	return &as
}

// FoundBy returns a unit like this one, in which an agent reads the report on a task in its own inbox, as a document.
func (u *Unit) FoundBy(agent string) *Unit {
	as := *u
	as.DocumentReader = agent
	return &as
}

// Enter finds the caller and makes it the participant of the unit. It refuses a caller that is not a participant, that was
// removed, or whose id another agent has by now.
func (u *Unit) Enter(caller Caller) error {
	if caller.Kind == parley.TokenReply {
		return ErrReplyOnly()
	}
	me, err := u.Agents().Find(caller.Agent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && (me.RemovedAt != nil || caller.AgentUUID != "" && caller.AgentUUID != me.UUID) {
		return parley.Errorf(parley.NotPermitted, "%s is not a participant of this hub", caller.Agent).
			Suggest("ask an owner of this hub to add it")
	}
	u.Me, u.Bridged = me, caller.Source == SourceFile
	u.Core.Hooks.Heard(u, caller)
	return err
}

// enterFor enters the caller, and checks whether it may do an operation for owners.
func (u *Unit) enterFor(caller Caller, do Op) error {
	if err := u.Enter(caller); err != nil {
		return err
	}
	return u.checkOwner(do)
}

// checkOwner returns an error if the operation is for owners and the caller is none.
func (u *Unit) checkOwner(do Op) error {
	rule := do.Rule()
	if rule.Callers == Owner || rule.Callers == LocalOwner {
		return u.MustOwn(rule.Act)
	}
	return nil
}

// Owner reports whether the caller is an owner.
func (u *Unit) Owner() bool {
	return u.Me.Kind == parley.KindHuman && u.Me.Access == parley.AccessOwner
}

// SeesAll reports whether the caller is an owner or the hub itself. These read everything, and may do what owners may.
func (u *Unit) SeesAll() bool { return u.Owner() || u.Me.Kind == parley.KindSystem }

// MustOwn returns an error unless the caller is an owner or the hub itself. The error names the act.
func (u *Unit) MustOwn(act string) error {
	if u.SeesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "only an owner may %s", act).Suggest("ask an owner of this hub")
}

// EndAs sets the participant that a refusal or a summary at the end of the update names.
func (u *Unit) EndAs(a parley.Agent) { u.endsAs = a.ID }

// Note adds an event. The update writes it at its end.
func (u *Unit) Note(e parley.Event) {
	e.At, e.By = u.Now, u.Me.ID
	u.Events = append(u.Events, e)
	if ReducesVisibility(e) {
		u.VisibilityReduced = append(u.VisibilityReduced, e)
	}
}

// WriteEvents writes the events that were noted so far.
func (u *Unit) WriteEvents() error {
	noted := u.Events
	u.Events = nil
	return u.Log().Append(noted...)
}

// Wake wakes agents once the update is committed, because they have a delivery to take or a run to end.
func (c *Changes) Wake(agents ...string) { c.Woken = append(c.Woken, agents...) }

// Touch wakes the callers that wait for a change to a message, a wait, a task, an approval or a conversation.
func (c *Changes) Touch(ids ...string) { c.Touched = append(c.Touched, ids...) }

// Warn writes a line to the log, once the update is committed.
func (c *Changes) Warn(line string) { c.Warnings = append(c.Warnings, line) }

// NoteChangedAgent marks the state of an agent as changed, so that the next state summary includes it.
func (c *Changes) NoteChangedAgent(agent string) { c.ChangedAgents = append(c.ChangedAgents, agent) }

// NoteChangedTasks marks agents whose tasks changed, so that the hub updates the task summaries of these agents before the update
// ends.
func (c *Changes) NoteChangedTasks(agents ...string) {
	c.TasksChanged = append(c.TasksChanged, agents...)
}

// HaltUntil sets times at which the hub looks at halted agents again.
func (c *Changes) HaltUntil(at ...time.Time) { c.Halts = append(c.Halts, at...) }

// Hooks connect the packages of the hub with every use case, so that the changing code need not know what follows its
// change. hub.New sets all of them. The functions of a list run in its order.
type Hooks struct {
	// Before a use case: Admit checks the credential, Limit checks the caller's rate, Count counts the call while it runs, and
	// Recovered makes sure that the hub is ready to change anything.
	Admit     func(Caller, Op) error
	Limit     func(context.Context, Caller) error
	Count     func(context.Context, Caller, Op) (Underway, error)
	Recovered func(context.Context) error

	// Heard notes that a participant called.
	Heard func(*Unit, Caller)

	// Refused notes that the hub refused a use case. Hint suggests what an unknown name may have meant.
	Refused func(Caller, error)
	Hint    func(*Unit, Caller, Unknown) (string, error)

	// Within the update: DeliveryChanged runs after each step of a delivery, DeliveryFailed after a delivery ended in a failure
	// that its sender is told of, and BeforeCommit before the update ends.
	DeliveryChanged []func(u *Unit, before, after parley.Delivery) error
	DeliveryFailed  []func(u *Unit, d parley.Delivery, cause *parley.Error) error
	BeforeCommit    []func(*Unit) error

	AfterCommit []func(*Changes)

	// Calls are the tools whose calls may need an approval.
	Calls map[string]ApprovableCall
}

// EventAudience names the participants that see an event, beside owners and the hub itself, who see every event.
type EventAudience struct {
	Everybody bool
	Readers   string // the participants that may read this conversation
	Only      string // of the readers, only this participant
	Also      string // this participant too
	Task      string // the participants that may see this task
	Approval  string // the agent whose call this is, and its approvers
}

// ReducesVisibility reports whether a participant may see less after an event than before it: the event's participant, or any
// participant if the event names none.
func ReducesVisibility(e parley.Event) bool {
	switch e.Kind {
	case parley.EventMemberLeft, parley.EventAgentChanged, parley.EventAgentRemoved, parley.EventConversationDeleted:
		return true
	default:
		return false
	}
}
