package policy

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MustWrite returns unit.HeldBy if a write of a supervised or strict caller needs an approval. A write to the conversation
// that woke the caller needs none.
func MustWrite(u *unit.Unit, o unit.Origin, conversation string) error {
	if u.Me.Mode != parley.ModeSupervised && u.Me.Mode != parley.ModeStrict {
		return nil
	}
	return needApproval(u, o, conversation)
}

// MustRead returns unit.HeldBy if a read of a strict caller needs an approval. A read of the conversation that woke the
// caller needs none.
func MustRead(u *unit.Unit, o unit.Origin, conversation string) error {
	if u.Me.Mode != parley.ModeStrict {
		return nil
	}
	return needApproval(u, o, conversation)
}

// needApproval returns unit.HeldBy unless the call is approved, the caller sees everything, or the conversation woke the caller.
func needApproval(u *unit.Unit, o unit.Origin, conversation string) error {
	if o.Approved != nil || o.Caller.Approved || u.SeesAll() {
		return nil
	}
	if woken, err := wokeCaller(u, o, conversation); woken || err != nil {
		return err
	}
	return unit.HeldBy{Verdict: parley.Verdict{Allowed: true}.ByMode(u.Me.Mode)}
}

// MustReadMessage is MustRead for one message. A message that the caller wrote or got needs no approval.
func MustReadMessage(u *unit.Unit, caller unit.Caller, m parley.Message) error {
	if u.Me.Mode != parley.ModeStrict || m.From == u.Me.ID {
		return nil
	}
	d, err := u.Deliveries().Get(m.ID, u.Me.ID)
	if err == nil && d.Damage != nil {
		return d.Damage.Err() // a damaged row may belong to another recipient
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return MustRead(u, unit.Origin{Caller: caller}, m.Conversation)
}

// MayAdd checks whether the caller may add participants to a conversation, which counts as contacting them. It returns E001
// if one is not allowed, and unit.HeldBy if one needs an approval. A refusal comes before an approval, and an approval that
// needs a person before any other.
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
		hold, held := errors.AsType[unit.HeldBy](err)
		if err != nil && !held {
			return err
		}
		if held && (needed == nil || hold.Verdict.RequiresHuman) {
			needed = err
		}
	}
	return needed
}

// HeldTarget returns the id of the agent that a call contacts, if the call needs an approval and contacts exactly one agent,
// and else the name. The stored call has the id because another agent may have the name later.
func HeldTarget(err error, name string) string {
	if hold, held := errors.AsType[unit.HeldBy](err); held && hold.Target != "" {
		return hold.Target
	}
	return name
}

// PendingApproval sets the oldest approval that an agent waits for, if there is one.
func PendingApproval(u *unit.Unit, agent string, waits *parley.Awaiting) error {
	list, err := u.Approvals().Pending(agent)
	if err == nil && len(list) > 0 {
		waits.ApprovalID, waits.Number = list[0].ID, list[0].Number
	}
	return err
}

// wokeCaller reports whether a conversation woke the caller: it is the conversation of the caller's run, or, outside of runs, of a
// delivery that the caller took and that is not settled.
func wokeCaller(u *unit.Unit, o unit.Origin, conversation string) (bool, error) {
	switch {
	case conversation == "":
		return false, nil
	case o.Run != nil:
		return o.Run.Conversation == conversation, nil
	case o.Caller.Run != "":
		r, err := u.Runs().Get(o.Caller.Run)
		return err == nil && r.Conversation == conversation, unit.IgnoreNotFound(err)
	}
	held, err := u.Queue().LeasedOrPaused(u.Me.ID, 0, maxTakenSeen)
	return slices.ContainsFunc(held, func(d parley.Delivery) bool {
		return d.Conversation == conversation && d.Lease != ""
	}), err
}

// maxTakenSeen is how many taken deliveries woke checks.
const maxTakenSeen = 200
