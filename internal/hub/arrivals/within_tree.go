package arrivals

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/work"
)

// treeEffects is what a document between two agents of one tree changes in the hub: it may answer a delivered message, and
// may report on a task of the hub.
type treeEffects struct {
	answered *parley.Message
	work     *post.TaskEffect
}

// effectsWithinTree returns the effects of such a document. Channels have none, and requests between the two agents are
// their own matter.
func (in *documentWriter) effectsWithinTree(l *Document, m *parley.Message, answered parley.Message, where parley.Conversation) (w treeEffects, notices []string, err error) {
	if l.Channel != "" || answered.ID == "" {
		return w, nil, nil
	}
	w.answered = &answered
	p, receipt := l.Posting, parley.Receipt{}
	if p.Draft.Task = ""; p.Intent != nil && p.Intent.Wanted != nil {
		p.Intent = nil
	}
	w.work, err = post.FindTaskEffect(in.Unit, p, m, w.answered, where, &receipt)
	return w, receipt.Notices, err
}

// applyEffects applies the effects of a stored document. The recipient has the file already, so nobody is notified.
func (in *documentWriter) applyEffects(w treeEffects, m parley.Message) error {
	if w.answered == nil {
		return nil
	}
	if w.answered.From == m.To { // else it is passed on
		if err := work.Answer(in.Unit, w.answered, m, nil); err != nil {
			return err
		}
	}
	return post.ApplyTaskEffect(in.FoundBy(m.To), w.work, m, in.Tree)
}
