package waits

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// OpenAsks are the asks that somebody has not answered yet.
func OpenAsks(u *unit.Unit, to string) ([]parley.Delivery, error) {
	list, err := u.Queue().Ready(storage.Queue{Recipient: to, Wakes: true, Urgent: true, Purpose: parley.PurposeAsk, Limit: unit.MostAsks})
	if err != nil {
		return nil, err
	}
	held, err := u.Queue().Held(to, 0, unit.MostAsks)
	for _, d := range held {
		if d.Purpose == parley.PurposeAsk {
			list = append(list, d)
		}
	}
	return list, err
}

// IsAsk says whether a message is the request of an ask.
func IsAsk(m parley.Message) bool {
	return m.Source == unit.SourceContact && m.Type == parley.TypeRequest
}

// Asked is an ask with its request.
type Asked struct {
	parley.Wait
	Request parley.Message
}

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

// LostError is what the caller of an ask is told whose question was deleted with its conversation.
func LostError(target parley.Agent) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s failed to respond: the conversation was deleted", target.Name)
}

// WhyRemoved is the reason for which an ask ends when its recipient is removed.
const WhyRemoved = "removed"

// WhyAway is the reason for which an ask ends when its recipient goes away.
const WhyAway = "went away"

// SourceAsk is the source of an answer that was late.
const SourceAsk = "ask_result"
