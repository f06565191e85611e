package policy

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MustWrite holds a write tool of a supervised or strict caller, unless it stays in the conversation that woke it.
func MustWrite(u *unit.Unit, o unit.Origin, conversation string) error {
	if u.Me.Mode != parley.ModeSupervised && u.Me.Mode != parley.ModeStrict {
		return nil
	}
	return mustAsk(u, o, conversation)
}

// MustRead holds a read tool of a strict caller, unless it stays in the conversation that woke it.
func MustRead(u *unit.Unit, o unit.Origin, conversation string) error {
	if u.Me.Mode != parley.ModeStrict {
		return nil
	}
	return mustAsk(u, o, conversation)
}

func mustAsk(u *unit.Unit, o unit.Origin, conversation string) error {
	if o.Approved != nil || o.Caller.Approved || u.SeesAll() {
		return nil
	}
	if woken, err := woke(u, o, conversation); woken || err != nil {
		return err
	}
	return unit.HeldBy{Verdict: parley.Verdict{Allowed: true}.ByMode(u.Me.Mode)}
}

// MustReadMessage is mustRead for one message. What the caller wrote, or was delivered, is its own to read.
func MustReadMessage(u *unit.Unit, caller unit.Caller, m parley.Message) error {
	if u.Me.Mode != parley.ModeStrict || m.From == u.Me.ID {
		return nil
	}
	d, err := u.Deliveries().Get(m.ID, u.Me.ID)
	if err == nil && d.Damage != nil {
		return d.Damage.Err() // it may be another's
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return MustRead(u, unit.Origin{Caller: caller}, m.Conversation)
}

// MayAdd refuses or holds adding participants to a conversation, because that is contacting them. A refusal comes before an
// approval, and an approval that only a person may give comes before any other.
func MayAdd(u *unit.Unit, o unit.Origin, ids ...string) error {
	var needed error
	for _, id := range ids {
		if id == u.Me.ID {
			continue
		}
		target, err := u.Agents().Find(id)
		if err != nil {
			return err
		}
		v, err := Rules(u, target)
		if err == nil {
			err = ObeyVerdict(u, o, v, target)
		}
		why, held := errors.AsType[unit.HeldBy](err)
		if err != nil && !held {
			return err
		}
		if held && (needed == nil || why.Verdict.RequiresHuman) {
			needed = err
		}
	}
	return needed
}

// HeldTarget is the id of whom a held call contacts, where the call names one in particular: a name may be another's by
// the time the call is made.
func HeldTarget(err error, name string) string {
	if why, held := errors.AsType[unit.HeldBy](err); held && why.Target != "" {
		return why.Target
	}
	return name
}

// PendingApproval puts down the oldest approval an agent waits for, if there is one.
func PendingApproval(u *unit.Unit, agent string, waits *parley.Awaiting) error {
	list, err := u.Approvals().Pending(agent)
	if err == nil && len(list) > 0 {
		waits.ApprovalID, waits.Number = list[0].ID, list[0].Number
	}
	return err
}

// woke says whether a conversation is the one that woke the caller: that of its run, or, outside of runs, one of
// which it has taken a message that is not settled.
func woke(u *unit.Unit, o unit.Origin, conversation string) (bool, error) {
	switch {
	case conversation == "":
		return false, nil
	case o.Run != nil:
		return o.Run.Conversation == conversation, nil
	case o.Caller.Run != "":
		r, err := u.Runs().Get(o.Caller.Run)
		return err == nil && r.Conversation == conversation, unit.IgnoreNotFound(err)
	}
	held, err := u.Queue().Held(u.Me.ID, 0, mostTakenSeen)
	return slices.ContainsFunc(held, func(d parley.Delivery) bool {
		return d.Conversation == conversation && d.Lease != ""
	}), err
}

// mostTakenSeen is how many of what a participant has taken are looked at.
const mostTakenSeen = 200
