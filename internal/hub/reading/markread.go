package reading

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MarkRead moves the caller's read cursor in a conversation forward, to a message or (0) to the
// newest. It never moves back. What a person has not seen for long is passed in small updates, so that
// nobody waits for it.
func (s *Service) MarkRead(ctx context.Context, caller unit.Caller, ref string, seq int64) error {
	if err := access.Limit(ctx, s.access, caller); err != nil {
		return err
	}
	for there := false; !there; {
		err := s.Write(ctx, caller, unit.OpMarkRead, func(u *unit.Unit) (err error) {
			p, err := conversations.Conversation(u, ref)
			if err != nil {
				return err
			}
			if seq == 0 || seq > p.LastSeq {
				seq = p.LastSeq
			}
			there, err = advanceCursor(u, p, seq)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// advanceCursor moves the caller's cursor towards a message, past at most readBatch of what was delivered to a
// person, which has seen that with it. It says whether the cursor is there.
func advanceCursor(u *unit.Unit, p conversations.Place, seq int64) (there bool, err error) {
	if !p.Joined {
		return false, parley.Errorf(parley.BadInput, "%s does not take part in %s", u.Me.ID, p.Title()).Suggest("join it first")
	}
	m, err := u.Members().Get(p.ID, u.Me.ID)
	if err != nil || seq <= m.ReadSeq {
		return true, err
	}
	var passed []parley.Delivery
	if u.Me.Kind == parley.KindHuman {
		if passed, err = u.Deliveries().Between(p.ID, u.Me.ID, m.ReadSeq, seq, unit.ReadBatch); err != nil {
			return false, err
		}
	}
	m.ReadSeq = seq
	if len(passed) == unit.ReadBatch {
		m.ReadSeq = passed[unit.ReadBatch-1].Seq
	}
	if err := conversations.MoveCursor(u, m); err != nil {
		return false, err
	}
	return m.ReadSeq == seq, markPassedSeen(u, passed)
}

// markPassedSeen marks what a person's cursor has passed as seen.
func markPassedSeen(u *unit.Unit, list []parley.Delivery) error {
	for i := range list {
		if list[i].State != parley.DeliveryAccepted && list[i].State != parley.DeliveryDelivered {
			continue
		}
		if err := deliveries.Move(u, &list[i], parley.DeliverySeen, nil); err != nil {
			return err
		}
	}
	return nil
}
