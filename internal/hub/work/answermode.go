package work

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// AnswersIn is who answers in a conversation when several are woken. Where it is gone, nobody does.
func AnswersIn(u *unit.Unit, conversation string) (parley.Answers, error) {
	if mode, known := u.Modes[conversation]; known {
		return mode, nil
	}
	c, err := u.Conversations().Find(conversation)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	if u.Modes == nil {
		u.Modes = map[string]parley.Answers{}
	}
	u.Modes[conversation] = c.Answers
	return c.Answers, nil
}

// WhoseTurn is those of some deliveries of one conversation whose recipient may answer now. Where one
// answers at a time, that is not before those who were mentioned before it.
func WhoseTurn(u *unit.Unit, list []parley.Delivery) (now []parley.Delivery, err error) {
	for _, d := range list {
		mode, err := AnswersIn(u, d.Conversation)
		if err != nil {
			return nil, err
		}
		if mode == parley.AnswersRoundRobin && d.Purpose == "" {
			if before, err := isBefore(u, d); err != nil {
				return nil, err
			} else if before {
				continue
			}
		}
		now = append(now, d)
	}
	return now, nil
}

// isBefore says whether somebody is to answer a message before the recipient of a delivery.
func isBefore(u *unit.Unit, d parley.Delivery) (bool, error) {
	m, err := u.Messages().Get(d.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err) // what has a damaged id ends when it comes first
	}
	list, err := u.Deliveries().Of(d.Message)
	if err != nil {
		return false, err
	}
	for _, other := range inTurn(m, list) {
		if other.Recipient == d.Recipient {
			return false, nil
		}
		if answers, err := willAnswer(u, other); err != nil || answers {
			return answers, err
		}
	}
	return false, nil
}

// inTurn is the deliveries that wake, in the order in which their recipients stand in the message. Whom it
// does not name comes last.
func inTurn(m parley.Message, list []parley.Delivery) []parley.Delivery {
	place := func(d parley.Delivery) int {
		at := slices.Index(m.Mentions, d.Recipient)
		switch {
		case d.Recipient == m.To:
			return -1
		case at < 0:
			return len(m.Mentions)
		default:
			return at
		}
	}
	woken := slices.DeleteFunc(slices.Clone(list), func(d parley.Delivery) bool { return !d.Waking })
	slices.SortStableFunc(woken, func(a, b parley.Delivery) int { return cmp.Compare(place(a), place(b)) })
	return woken
}

// longestWait is how long others wait for one that will try again.
const longestWait = time.Minute

// willAnswer says whether somebody is at a message, or will be by itself. Who has answered is at it until the
// end of its run. Who cannot start, or not soon, is passed over, and so is who fetches for itself and has not.
func willAnswer(u *unit.Unit, d parley.Delivery) (bool, error) {
	if !d.Open() {
		_, lives, err := runs.Lives(u, d.Run)
		return lives, err
	}
	if d.Lease != "" {
		return true, nil
	}
	now, err := u.Queue().Now()
	if err != nil || d.Until > now.After(longestWait) {
		return false, err
	}
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || !recipient.Dispatched() {
		return false, err
	}
	_, ok, err := presence.MayStart(u, recipient)
	return ok, err
}

// TurnMoved follows a delivery that is over.
func TurnMoved(u *unit.Unit, _, after parley.Delivery) error {
	if !after.Waking || after.Open() {
		return nil
	}
	return passTurn(u, after)
}

// passTurn is called with a delivery that woke somebody and is not open any more. Where one answers at a
// time, the others look whether it is their turn; where the first answer stands, the others are spared.
func passTurn(u *unit.Unit, d parley.Delivery) error {
	mode, err := AnswersIn(u, d.Conversation)
	if err != nil || mode != parley.AnswersRoundRobin && (mode != parley.AnswersFirst || d.State != parley.DeliveryAnswered) {
		return err
	}
	list, err := u.Deliveries().Of(d.Message)
	if err != nil {
		return unit.IgnoreNotFound(err) // its id is damaged
	}
	for _, other := range list {
		switch {
		case other.Recipient == d.Recipient || !other.Waking || !other.Open():
		case mode == parley.AnswersRoundRobin:
			u.Wake(other.Recipient)
		default:
			if err := settleOutdone(u, other); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleOutdone settles what an agent need not answer any more, because another has. A run that nothing else has
// woken is to end.
func settleOutdone(u *unit.Unit, d parley.Delivery) error {
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || recipient.Kind != parley.KindAgent {
		return err
	}
	r, has, err := runs.RunOf(u, d)
	if err != nil {
		return err
	}
	if err := deliveries.Move(u, &d, parley.DeliveryAcked, nil); err != nil || !has {
		return err
	}
	left, err := u.Queue().Leased(r.ID)
	if err != nil || len(left) > 0 {
		return err
	}
	return runs.Cancel(u, &r, "another answer came first")
}

// passTurns has those look who wait, where one answers at a time, for the end of a run that has answered.
func passTurns(u *unit.Unit, r parley.Run) error {
	mode, err := AnswersIn(u, r.Conversation)
	if err != nil || mode != parley.AnswersRoundRobin {
		return err
	}
	for _, message := range r.Triggers {
		list, err := u.Deliveries().Of(message)
		if err != nil {
			return err
		}
		for _, d := range list {
			if d.Waking && d.Open() {
				u.Wake(d.Recipient)
			}
		}
	}
	return nil
}
