// Package waits holds the rows of asks and other waits, and the graph of who waits for whom, without cycles.
package waits

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new wait.
func InsertRow(tx storage.Tx, w parley.Wait) error {
	return tx.Waits().Insert(w)
}

// EraseRow removes a wait.
func EraseRow(tx storage.Tx, id string) error {
	return tx.Waits().Erase(id)
}

// SetState takes a wait to another state. No other function changes the state of a wait. edit sets other fields with the state.
// Shift wakes the callers that wait for the wait.
func SetState(u *unit.Unit, w *parley.Wait, to parley.WaitState, edit func(*parley.Wait)) error {
	if !w.State.May(to) {
		return parley.Errorf(parley.BadInput, "the wait for message %s is %s and cannot become %s", w.Message, w.State, to).
			Because(parley.Conflict).Suggest("check its present state")
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
	return Save(u, w, after)
}

// Save stores a changed wait.
func Save(u *unit.Unit, w *parley.Wait, after parley.Wait) error {
	err := u.Waits().Put(after)
	if err == nil {
		*w = after
		u.Touch(w.ID)
	}
	return err
}

// OpenAsks returns the asks that an agent has not answered yet.
func OpenAsks(u *unit.Unit, to string) ([]parley.Delivery, error) {
	list, err := u.Queue().Ready(storage.QueueFilter{Recipient: to, Wakes: true, Urgent: true, Purpose: parley.PurposeAsk, Limit: unit.MaxAsks})
	if err != nil {
		return nil, err
	}
	held, err := u.Queue().LeasedOrPaused(to, 0, unit.MaxAsks)
	for _, d := range held {
		if d.Purpose == parley.PurposeAsk {
			list = append(list, d)
		}
	}
	return list, err
}

// IsAsk reports whether a message is the request of an ask.
func IsAsk(m parley.Message) bool {
	return m.Source == unit.SourceContact && m.Type == parley.TypeRequest
}

// Asked is an ask with its request.
type Asked struct {
	parley.Wait
	Request parley.Message
}

// AsksIn returns the asks in a conversation whose answer a caller waits for or will get as a callback.
func AsksIn(u *unit.Unit, conversation string) (list []Asked, err error) {
	waits, err := u.Waits().InConversation(conversation)
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

// Awaits reports whether the caller of an ask receives the answer directly, because its connection is open or because an
// approval will carry the answer. If not, the answer must be delivered as a callback.
func Awaits(u *unit.Unit, w parley.Wait) (bool, error) {
	if w.State != parley.WaitWaiting || w.Node != "" {
		return w.State == parley.WaitWaiting, nil
	}
	return ApprovalWaits(u, w)
}

// ApprovalWaits reports whether an approval whose outcome is not delivered yet will carry the answer of an ask.
func ApprovalWaits(u *unit.Unit, w parley.Wait) (bool, error) {
	if w.Approval == "" {
		return false, nil
	}
	a, err := u.Approvals().Get(w.Approval)
	return a.State == parley.ApprovalApproved, unit.IgnoreNotFound(err)
}

// LostError returns the error of an ask whose question was deleted with its conversation.
func LostError(target parley.Agent) *parley.Error {
	return parley.Errorf(parley.DependencyFailed, "%s failed to respond: the conversation was deleted", target.Name)
}

// WhyRemoved is the reason of an ask that ends because its recipient was removed.
const WhyRemoved = "removed"

// WhyAway is the reason of an ask that ends because its recipient went away.
const WhyAway = "went away"

// SourceAsk is the source of an answer that came late.
const SourceAsk = "ask_result"
