package hub

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// answersIn is who answers in a conversation when several are woken. Where it is gone, nobody does.
func (s *scene) answersIn(conversation string) (parley.Answers, error) {
	if mode, known := s.modes[conversation]; known {
		return mode, nil
	}
	c, err := s.Conversations().Find(conversation)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	if s.modes == nil {
		s.modes = map[string]parley.Answers{}
	}
	s.modes[conversation] = c.Answers
	return c.Answers, nil
}

// whoseTurn is those of some deliveries of one conversation whose recipient may answer now. Where one
// answers at a time, that is not before those who were mentioned before it.
func (s *scene) whoseTurn(list []parley.Delivery) (now []parley.Delivery, err error) {
	for _, d := range list {
		mode, err := s.answersIn(d.Conversation)
		if err != nil {
			return nil, err
		}
		if mode == parley.AnswersRoundRobin && d.Purpose == "" {
			if before, err := s.isBefore(d); err != nil {
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
func (s *scene) isBefore(d parley.Delivery) (bool, error) {
	m, err := s.Messages().Get(d.Message)
	if err != nil {
		return false, ignoreNotFound(err) // what has a damaged id ends when it comes first
	}
	list, err := s.Deliveries().Of(d.Message)
	if err != nil {
		return false, err
	}
	for _, other := range inTurn(m, list) {
		if other.Recipient == d.Recipient {
			return false, nil
		}
		if answers, err := s.willAnswer(other); err != nil || answers {
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

// longestTurn is how long others wait for one that will try again.
const longestTurn = time.Minute

// willAnswer says whether somebody is at a message, or will be by itself. Who has answered is at it until the
// end of its run. Who cannot start, or not soon, is passed over, and so is who fetches for itself and has not.
func (s *scene) willAnswer(d parley.Delivery) (bool, error) {
	if !d.Open() {
		_, lives, err := s.lives(d.Run)
		return lives, err
	}
	if d.Lease != "" {
		return true, nil
	}
	now, err := s.Queue().Now()
	if err != nil || d.Until > now.After(longestTurn) {
		return false, err
	}
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil || !recipient.Dispatched() {
		return false, err
	}
	_, ok, err := s.mayStart(recipient)
	return ok, err
}

// turnMoved follows a delivery that is over.
func (s *scene) turnMoved(_, after parley.Delivery) error {
	if !after.Waking || after.Open() {
		return nil
	}
	return s.passTurn(after)
}

// passTurn is called with a delivery that woke somebody and is not open any more. Where one answers at a
// time, the others look whether it is their turn; where the first answer stands, the others are spared.
func (s *scene) passTurn(d parley.Delivery) error {
	mode, err := s.answersIn(d.Conversation)
	if err != nil || mode != parley.AnswersRoundRobin && (mode != parley.AnswersFirst || d.State != parley.DeliveryAnswered) {
		return err
	}
	list, err := s.Deliveries().Of(d.Message)
	if err != nil {
		return ignoreNotFound(err) // its id is damaged
	}
	for _, other := range list {
		switch {
		case other.Recipient == d.Recipient || !other.Waking || !other.Open():
		case mode == parley.AnswersRoundRobin:
			s.wake(other.Recipient)
		default:
			if err := s.spare(other); err != nil {
				return err
			}
		}
	}
	return nil
}

// spare settles what an agent need not answer any more, because another has. A run that nothing else has
// woken is to end.
func (s *scene) spare(d parley.Delivery) error {
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil || recipient.Kind != parley.KindAgent {
		return err
	}
	r, has, err := s.runOf(d)
	if err != nil {
		return err
	}
	if err := s.move(&d, parley.DeliveryAcked, nil); err != nil || !has {
		return err
	}
	left, err := s.Queue().Leased(r.ID)
	if err != nil || len(left) > 0 {
		return err
	}
	return s.cancel(&r, "another answer came first")
}

// runOf is the live run that has a delivery, if one does.
func (s *scene) runOf(d parley.Delivery) (r parley.Run, has bool, err error) {
	if d.Lease == "" || d.Lease != d.Run {
		return r, false, nil
	}
	return s.lives(d.Run)
}

// lives is the run of a name, if there is one and it has not ended.
func (s *scene) lives(run string) (r parley.Run, lives bool, err error) {
	r, err = s.Runs().Get(run)
	if errors.Is(err, parley.ErrNotFound) {
		return r, false, nil
	}
	return r, err == nil && r.State.Live(), err
}

// passTurns has those look who wait, where one answers at a time, for the end of a run that has answered.
func (s *scene) passTurns(r parley.Run) error {
	mode, err := s.answersIn(r.Conversation)
	if err != nil || mode != parley.AnswersRoundRobin {
		return err
	}
	for _, message := range r.Triggers {
		list, err := s.Deliveries().Of(message)
		if err != nil {
			return err
		}
		for _, d := range list {
			if d.Waking && d.Open() {
				s.wake(d.Recipient)
			}
		}
	}
	return nil
}
