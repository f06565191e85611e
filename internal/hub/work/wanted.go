package work

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MaxErrors bounds how many messages are searched for the errors about one message.
const MaxErrors = 100

// IsWanted reports whether a delivery still wants something from its recipient: an answer that the asker waits for, an open task of the
// recipient's own, a decision, or an ack by a deadline.
func IsWanted(u *unit.Unit, d parley.Delivery, m parley.Message) (bool, error) {
	switch d.Purpose {
	case parley.PurposeAsk:
		w, err := u.Waits().Ask(d.Message)
		return err == nil && !w.State.Ended() && w.State != parley.WaitAbandoned, unit.IgnoreNotFound(err)
	case parley.PurposeTask:
		t, err := u.Tasks().Get(m.Task)
		return err == nil && m.Type != parley.TypeStatus && !t.Status.Ended() && t.Assignee == d.Recipient, unit.IgnoreNotFound(err)
	case parley.PurposeApproval:
		a, err := u.Approvals().Get(ApprovalAskedFor(m))
		return err == nil && a.State == parley.ApprovalPending, unit.IgnoreNotFound(err)
	default:
		return d.Deadline != nil, nil
	}
}

// ArchiveAnswered archives an ephemeral conversation when its creator, the caller, has seen the answer, unless a delivery in it is
// open.
func ArchiveAnswered(u *unit.Unit, c parley.Conversation) error {
	if c.Kind != parley.Ephemeral || c.CreatedBy != u.Me.ID || c.ArchivedAt != nil {
		return nil
	}
	open, err := u.Deliveries().HasOpen(c.ID)
	if err != nil || open {
		return err
	}
	return conversations.SetArchived(u, &c, true)
}

// MaxWanted bounds how many deliveries that a person must act on are read.
const MaxWanted = 1000

// shownAndWanted returns the deliveries for a purpose that a person has fetched or seen, and has not acted on.
func shownAndWanted(u *unit.Unit, who parley.Agent, purpose parley.Purpose) ([]parley.Delivery, error) {
	if who.Kind != parley.KindHuman {
		return nil, nil
	}
	list, err := u.Queue().Newest(storage.InboxPage{Recipient: who.ID, Wanted: true, Limit: MaxWanted})
	return slices.DeleteFunc(list, func(d parley.Delivery) bool {
		return d.Purpose != purpose || d.State != parley.DeliveryDelivered && d.State != parley.DeliverySeen || d.Lease != ""
	}), err
}
