package work

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MostErrors bounds what is looked at to find the errors about one message.
const MostErrors = 100

// Wants reports whether a delivery still wants something of its recipient: an answer to an ask that somebody waits for, a
// task that is open and its own, a decision, or an ack by a deadline.
func Wants(u *unit.Unit, d parley.Delivery, m parley.Message) (bool, error) {
	switch d.Purpose {
	case parley.PurposeAsk:
		w, err := u.Waits().Ask(d.Message)
		return err == nil && !w.State.Ended() && w.State != parley.WaitAbandoned, unit.IgnoreNotFound(err)
	case parley.PurposeTask:
		t, err := u.Tasks().Get(m.Task)
		return err == nil && m.Type != parley.TypeStatus && !t.Status.Ended() && t.Assignee == d.Recipient, unit.IgnoreNotFound(err)
	case parley.PurposeApproval:
		a, err := u.Approvals().Get(approvalAskedFor(m))
		return err == nil && a.State == parley.ApprovalPending, unit.IgnoreNotFound(err)
	default:
		return d.Deadline != nil, nil
	}
}

// ArchiveAnswered archives an ephemeral conversation whose answer the caller, who began it, has seen, unless something in
// it is open.
func ArchiveAnswered(u *unit.Unit, c parley.Conversation) error {
	if c.Kind != parley.Ephemeral || c.CreatedBy != u.Me.ID || c.ArchivedAt != nil {
		return nil
	}
	open, err := u.Deliveries().Open(c.ID)
	if err != nil || open {
		return err
	}
	return conversations.SetArchived(u, &c, true)
}

// MostWanted bounds what is read of what a person must act on.
const MostWanted = 1000

// shownAndWanted are the deliveries for a purpose that a person has fetched or seen and has not acted on.
func shownAndWanted(u *unit.Unit, who parley.Agent, purpose parley.Purpose) ([]parley.Delivery, error) {
	if who.Kind != parley.KindHuman {
		return nil, nil
	}
	list, err := u.Queue().Newest(storage.InboxPage{Recipient: who.ID, Wanted: true, Limit: MostWanted})
	return slices.DeleteFunc(list, func(d parley.Delivery) bool {
		return d.Purpose != purpose || d.State != parley.DeliveryDelivered && d.State != parley.DeliverySeen || d.Lease != ""
	}), err
}
