package arrivals

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/work"
)

// treeEffects is what a document between two who live in one tree says beside being read: it may answer what the hub has delivered, and
// tell of a task of the hub's how it goes.
type treeEffects struct {
	answered *parley.Message
	work     *post.Job
}

// effectsWithinTree finds out what that is. What lies in channels was said before; and what one asks the other for is theirs.
func (in *documentWriter) effectsWithinTree(l *Landing, m *parley.Message, answered parley.Message, where parley.Conversation) (w treeEffects, notices []string, err error) {
	if l.Channel != "" || answered.ID == "" {
		return w, nil, nil
	}
	w.answered = &answered
	p, receipt := l.Post, parley.Receipt{}
	if p.Draft.Task = ""; p.Deed != nil && p.Deed.Asks != nil {
		p.Deed = nil
	}
	w.work, err = post.JobOf(in.Unit, p, m, w.answered, where, &receipt)
	return w, receipt.Notices, err
}

// applyEffects does what a stored document between two says. Whom it is for has it already: nobody is told again.
func (in *documentWriter) applyEffects(w treeEffects, m parley.Message) error {
	if w.answered == nil {
		return nil
	}
	if w.answered.From == m.To { // else it is passed on
		if err := work.Answer(in.Unit, w.answered, m, nil); err != nil {
			return err
		}
	}
	return post.Do(in.FoundBy(m.To), w.work, m, in.Tree)
}
