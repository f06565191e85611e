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

// FindAnswerMode returns which of several woken agents answer in a conversation. It returns nothing if the conversation was deleted.
func FindAnswerMode(u *unit.Unit, conversation string) (parley.Answers, error) {
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

// DeliveriesInTurn returns those deliveries of a conversation whose recipients may answer now. In a round robin, a recipient waits for those
// that were mentioned before it.
func DeliveriesInTurn(u *unit.Unit, list []parley.Delivery) (now []parley.Delivery, err error) {
	for _, d := range list {
		mode, err := FindAnswerMode(u, d.Conversation)
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

// isBefore reports whether another agent is to answer a message before the recipient of a delivery.
func isBefore(u *unit.Unit, d parley.Delivery) (bool, error) {
	m, err := u.Messages().Get(d.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err) // a delivery with a damaged id ends when it is taken
	}
	list, err := u.Deliveries().OfMessage(d.Message)
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

// inTurn returns the deliveries that wake, in the order in which the message names their recipients. Recipients that it does not name
// come last.
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

// maxRetryWait is how long others wait for an agent whose delivery will be retried.
const maxRetryWait = time.Minute

// willAnswer reports whether the recipient works on a message, or will soon without further help. After its answer it works until its
// run ends. A recipient that cannot start soon is passed over, and so is an agent that polls and has not fetched the message.
func willAnswer(u *unit.Unit, d parley.Delivery) (bool, error) {
	if !d.Open() {
		_, lives, err := runs.Lives(u, d.Run)
		return lives, err
	}
	if d.Lease != "" {
		return true, nil
	}
	now, err := u.Queue().Now()
	if err != nil || d.Until > now.After(maxRetryWait) {
		return false, err
	}
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || !recipient.Dispatched() {
		return false, err
	}
	_, ok, err := presence.MayStart(u, recipient)
	return ok, err
}

// PassTurn passes the turn on when a delivery is over.
func PassTurn(u *unit.Unit, _, after parley.Delivery) error {
	if !after.Waking || after.Open() {
		return nil
	}
	return endTurn(u, after)
}

// endTurn is called with a waking delivery that is no longer open. In a round robin, it lets the others check whether it is their
// turn. If the first answer counts, it settles the deliveries of the others.
func endTurn(u *unit.Unit, d parley.Delivery) error {
	mode, err := FindAnswerMode(u, d.Conversation)
	if err != nil || mode != parley.AnswersRoundRobin && (mode != parley.AnswersFirst || d.State != parley.DeliveryAnswered) {
		return err
	}
	list, err := u.Deliveries().OfMessage(d.Message)
	if err != nil {
		return unit.IgnoreNotFound(err) // the id of the message is damaged
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

// settleOutdone settles a delivery that another agent has answered first. It cancels a run that only this delivery has woken.
func settleOutdone(u *unit.Unit, d parley.Delivery) error {
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || recipient.Kind != parley.KindAgent {
		return err
	}
	r, has, err := runs.RunOf(u, d)
	if err != nil {
		return err
	}
	if err := deliveries.SetState(u, &d, parley.DeliveryAcked, nil); err != nil || !has {
		return err
	}
	left, err := u.Queue().Leased(r.ID)
	if err != nil || len(left) > 0 {
		return err
	}
	return runs.Cancel(u, &r, "another answer came first")
}

// passTurns passes the turn on, in a round robin, when a run that has answered ends.
func passTurns(u *unit.Unit, r parley.Run) error {
	mode, err := FindAnswerMode(u, r.Conversation)
	if err != nil || mode != parley.AnswersRoundRobin {
		return err
	}
	for _, message := range r.Triggers {
		list, err := u.Deliveries().OfMessage(message)
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
