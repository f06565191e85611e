package unit

import (
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// Unit is one use case inside one transaction, in the name of one participant. As gives the same transaction in the name of
// another: the participant of a scene never changes.
type Unit struct {
	storage.Tx
	Core *Core
	Me   parley.Agent
	Now  time.Time

	Bridged bool           // what is done comes over a bridge, by a file that carries no credential
	Tree    *parley.Bridge // which one, while a document of it is stored
	// reporting is the message by which an assignee says at present how far its task has come, where it says so by one.
	Reporting *parley.Message
	Finder    string // who finds in its inbox what is said of a task now, by the document itself

	*Changes
}

// Changes are what one transaction has done so far, in whose name ever, and what is to be done once it is committed.
type Changes struct {
	endsAs     string // the participant that a refusal or a summary at the end of the update names
	Events     []parley.Event
	Woken      []string    // the agents with something to take
	Touched    []string    // the ids of the messages, waits, tasks, approvals and conversations in which something has happened
	Warnings   []string    // lines for the log
	Stirred    []string    // the agents whose state has changed
	Retasked   []string    // the agents whose tasks have changed
	Halts      []time.Time // the times at which something is due for halted agents
	Audited    bool        // the audit log has new entries
	NoticesDue bool        // a person is to be told something outside of the hub
	Fetching   bool        // what is acknowledged is so for having been fetched

	Unsettling []parley.Event // after which somebody may see less

	Joined []parley.Bridge // all, once they were read

	UnknownNames []string // names a message mentions that nobody has
	Opened       string   // a channel that was made for a message

	Modes map[string]parley.Answers // of conversations looked at

	CallerRules *Permissions // of who calls, once they were looked at
}

// Permissions are the rules of one agent, read once for a use case.
type Permissions struct {
	Of   string
	List []parley.Permission
}

func (c *Core) NewUnit(tx storage.Tx) *Unit {
	return &Unit{Tx: tx, Core: c, Now: c.Now(), Changes: &Changes{}}
}

// As is the same transaction in the name of another participant, with the rights of that one.
func (u *Unit) As(a parley.Agent) *Unit {
	as := *u
	as.Me = a
	return &as
}

// Over is As for the sender of a document that comes over a bridge.
func (u *Unit) Over(b *parley.Bridge, sender parley.Agent) *Unit {
	as := u.As(sender)
	as.Bridged, as.Tree = true, b
	return as
}

// ReportedBy is the same unit while a message says how far a task has come.
func (u *Unit) ReportedBy(m *parley.Message) *Unit {
	as := *u
	as.Reporting = m
	return &as
}

// FoundBy is the same unit while a participant finds in its inbox what a document says of a task.
func (u *Unit) FoundBy(agent string) *Unit {
	as := *u
	as.Finder = agent
	return &as
}

func (u *Unit) Enter(caller Caller) error {
	if caller.Kind == parley.TokenReply {
		return ErrReplyOnly()
	}
	me, err := u.Agents().Find(caller.Agent)
	if errors.Is(err, parley.ErrNotFound) || err == nil && (me.RemovedAt != nil || caller.AgentUUID != "" && caller.AgentUUID != me.UUID) {
		return parley.Errorf(parley.NotPermitted, "%s is not a participant of this hub", caller.Agent).
			Suggest("ask an owner of this hub to add it")
	}
	u.Me, u.Bridged = me, caller.Source == Bridged
	u.Core.Hooks.Heard(u, caller)
	return err
}

// enterFor finds the caller, and asks the table whether it may do what it wants to.
func (u *Unit) enterFor(caller Caller, do Op) error {
	if err := u.Enter(caller); err != nil {
		return err
	}
	return u.mayDo(do)
}

// mayDo refuses an operation for owners to everybody else.
func (u *Unit) mayDo(do Op) error {
	rule := do.Rule()
	if rule.Who == Owner || rule.Who == LocalOwner {
		return u.MustOwn(rule.Act)
	}
	return nil
}

func (u *Unit) Owner() bool {
	return u.Me.Kind == parley.KindHuman && u.Me.Access == parley.AccessOwner
}

// SeesAll holds for owners and the hub itself: they read everything, and may do what owners may.
func (u *Unit) SeesAll() bool { return u.Owner() || u.Me.Kind == parley.KindSystem }

// MustOwn refuses everybody but owners and the hub itself.
func (u *Unit) MustOwn(act string) error {
	if u.SeesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "only an owner may %s", act).Suggest("ask an owner of this hub")
}

// EndAs has the update end in the name of another participant: a refusal, or a summary of what has changed, names that one.
func (u *Unit) EndAs(a parley.Agent) { u.endsAs = a.ID }

// Note adds an event; it is written with the update.
func (u *Unit) Note(e parley.Event) {
	e.At, e.By = u.Now, u.Me.ID
	u.Events = append(u.Events, e)
	if Unsettles(e) {
		u.Unsettling = append(u.Unsettling, e)
	}
}

// WriteEvents writes what has been noted so far.
func (u *Unit) WriteEvents() error {
	noted := u.Events
	u.Events = nil
	return u.Log().Append(noted...)
}

// Wake rings for agents once the update is committed: they have something to take.
func (c *Changes) Wake(agents ...string) { c.Woken = append(c.Woken, agents...) }

// Touch has those look again who wait for something to happen to a message, a wait, a task, an approval or in a conversation.
func (c *Changes) Touch(ids ...string) { c.Touched = append(c.Touched, ids...) }

// Warn writes a line to the log, once the update is committed.
func (c *Changes) Warn(line string) { c.Warnings = append(c.Warnings, line) }

// Stir has the state of an agent looked at again.
func (c *Changes) Stir(agent string) { c.Stirred = append(c.Stirred, agent) }

// Retask has the tasks of agents summed up before the update ends.
func (c *Changes) Retask(agents ...string) { c.Retasked = append(c.Retasked, agents...) }

// HaltUntil has halted agents looked at again when something is due for them.
func (c *Changes) HaltUntil(at ...time.Time) { c.Halts = append(c.Halts, at...) }
