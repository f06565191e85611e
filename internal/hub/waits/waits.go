package waits

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SourceAsk is the source of an answer that was late.
const SourceAsk = "ask_result"

// Shift takes a wait to another state. It is the only place where the state of a wait changes. edit sets what goes
// with it. Whoever waits looks again.
func Shift(u *unit.Unit, w *parley.Wait, to parley.WaitState, edit func(*parley.Wait)) error {
	if !w.State.May(to) {
		return parley.Errorf(parley.BadInput, "the wait for message %s is %s and cannot become %s", w.Message, w.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	after := *w
	if after.State = to; to != parley.WaitWaiting {
		after.Node = ""
	}
	if to.Ended() {
		after.EndedAt = &u.Now
	}
	if edit != nil {
		edit(&after)
	}
	return KeepWait(u, w, after)
}

// KeepWait writes what a wait has become.
func KeepWait(u *unit.Unit, w *parley.Wait, after parley.Wait) error {
	err := u.Waits().Put(after)
	if err == nil {
		*w = after
		u.Touch(w.ID)
	}
	return err
}

// Awaits says that somebody waits for an ask, who is not brought what comes of it: it is connected, or an approval.
func Awaits(u *unit.Unit, w parley.Wait) (bool, error) {
	if w.State != parley.WaitWaiting || w.Node != "" {
		return w.State == parley.WaitWaiting, nil
	}
	return ApprovalWaits(u, w)
}

// ApprovalWaits says that an ask was made because of an approval whose caller has not been told what came of it.
func ApprovalWaits(u *unit.Unit, w parley.Wait) (bool, error) {
	if w.Approval == "" {
		return false, nil
	}
	a, err := u.Approvals().Get(w.Approval)
	return a.State == parley.ApprovalApproved, unit.IgnoreNotFound(err)
}

// Asked is an ask with its request.
type Asked struct {
	parley.Wait
	Request parley.Message
}

// WhyRemoved is the reason for which an ask ends when its recipient is removed.
const WhyRemoved = "removed"

// WhyAway is the reason for which an ask ends when its recipient goes away.
const WhyAway = "went away"

// AsksIn are the asks in a conversation that somebody waits for, or is to be brought the answer to.
func AsksIn(u *unit.Unit, conversation string) (list []Asked, err error) {
	waits, err := u.Waits().In(conversation)
	for _, w := range waits {
		if err != nil || !w.Ask || w.State == parley.WaitAbandoned {
			continue
		}
		var request parley.Message
		request, err = u.Messages().Get(w.Message)
		list = append(list, Asked{w, request})
	}
	return list, err
}

// LostError is what the caller of an ask is told whose question was deleted with its conversation.
func LostError(target parley.Agent) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s failed to respond: the conversation was deleted", target.Name)
}
