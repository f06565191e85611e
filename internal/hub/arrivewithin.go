package hub

import (
	"github.com/parley-hub/parley"
)

// aside is what a document between two who live in one tree says beside being read: it may answer what the hub has delivered, and
// tell of a task of the hub's how it goes.
type aside struct {
	answered *parley.Message
	job      *job
}

// heedWithin finds out what that is. What lies in channels was said before; and what one asks the other for is theirs.
func (in *intake) heedWithin(l *landing, m *parley.Message, answered parley.Message, where parley.Conversation) (w aside, notices []string, err error) {
	if l.Channel != "" || answered.ID == "" {
		return w, nil, nil
	}
	w.answered = &answered
	p, receipt := l.post, parley.Receipt{}
	if p.draft.Task = ""; p.deed != nil && p.deed.asks != nil {
		p.deed = nil
	}
	w.job, err = in.jobOf(p, m, w.answered, where, &receipt)
	return w, receipt.Notices, err
}

// settleWithin does what a stored document between two says. Whom it is for has it already: nobody is told again.
func (in *intake) settleWithin(w aside, m parley.Message) error {
	if w.answered == nil {
		return nil
	}
	if w.answered.From == m.To { // else it is passed on
		if err := in.answer(w.answered, m, nil); err != nil {
			return err
		}
	}
	return in.foundBy(m.To).do(w.job, m, in.tree)
}
