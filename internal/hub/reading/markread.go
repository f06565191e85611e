package reading

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MarkRead moves the caller's read cursor in a conversation forward to a seq, or to the newest message if the seq is 0. It
// never moves back. MarkRead marks a person's deliveries as seen in small updates that do not block others for long.
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

// advanceCursor moves the caller's cursor towards a seq. In one call it marks at most unit.ReadBatch deliveries to a person as
// seen. It returns true when the cursor has reached the seq.
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

// markPassedSeen marks the deliveries that a person's cursor has passed as seen.
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
