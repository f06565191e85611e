package hub

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
)

// withoutAsker removes the asker from the recipients of an answer: it gets the answer by its ask. The final text of a run
// does not reach it anyway: see waitersFor.
func (s *scene) withoutAsker(p post, m parley.Message, parent *parley.Message, audience []parley.Reach) ([]parley.Reach, *parley.Wait, error) {
	w, open, err := s.askedFor(p, m, parent)
	if err != nil || !open || w.Waiter == m.From {
		return audience, nil, err
	}
	return slices.DeleteFunc(audience, func(r parley.Reach) bool { return r.Agent == w.Waiter }), &w, nil
}

// tellAnswerer tells the sender of an answer what it did to the ask, which was open before.
func (s *scene) tellAnswerer(ask *parley.Wait, receipt *parley.Receipt) error {
	if ask == nil {
		return nil
	}
	now, err := s.Waits().Ask(ask.Message)
	if err != nil {
		return ignoreNotFound(err)
	}
	notice := fmt.Sprintf("%s gets this as the answer to its ask", now.Waiter)
	switch {
	case !now.State.Ended() && now.Work != "":
		notice = fmt.Sprintf("%s still waits for the answer to its ask, which is the end of %s", now.Waiter, now.Work)
	case !now.State.Ended():
		notice = fmt.Sprintf("%s still waits for the answer to its ask", now.Waiter)
	case now.Callback != "":
		notice = fmt.Sprintf("%s was told: the answer to its ask was late, and went to it as a callback", now.Waiter)
	case ask.State == parley.WaitAbandoned:
		notice = fmt.Sprintf("nobody waits for this answer any more: the run of %s that asked has ended", now.Waiter)
	}
	receipt.Asker, receipt.Notices = now.Waiter, append(receipt.Notices, notice)
	return nil
}

// askedFor is the open ask that a message concerns: the one that it replies to, or the one that its task answers.
func (s *scene) askedFor(p post, m parley.Message, parent *parley.Message) (w parley.Wait, open bool, err error) {
	switch {
	case p.answers:
		return w, false, nil
	case parent != nil && isAsk(*parent):
		w, err = s.Waits().Ask(parent.ID)
		return w, err == nil && !w.State.Ended(), ignoreNotFound(err)
	case m.Task != "" && !p.request:
		return s.askOf(m.Task)
	case parent != nil && parent.From == parley.System && p.by != nil && p.by.Task == parent.Task: // of what woke it
		return s.askOf(parent.Task)
	default:
		return w, false, nil
	}
}

// answerTo returns who answered an ask, and the text, if there is one. The answerer is the asked agent, unless the task was
// reassigned.
func (s *scene) answerTo(w parley.Wait) (who parley.Agent, text string, err error) {
	from := w.Target
	if w.Answer != "" {
		m, err := s.Messages().Get(w.Answer)
		switch {
		case m.Damage != nil:
			text = "Error: " + m.Damage.Message
		case err == nil:
			from, text = m.From, spoken(m.Content)
		case !errors.Is(err, parley.ErrNotFound):
			return who, "", err
		}
	}
	who, err = s.Agents().Find(from)
	return who, text, err
}
