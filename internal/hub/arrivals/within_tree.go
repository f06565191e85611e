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

// effectsWithinTree returns the effects of a document between two agents of a tree. A document in a channel has none. For a
// document that asks for a task, it adds no task, because that task is a matter of the two agents.
func (in *documentWriter) effectsWithinTree(doc *Document, m *parley.Message, answered parley.Message, where parley.Conversation) (effects treeEffects, notices []string, err error) {
	if doc.Channel != "" || answered.ID == "" {
		return effects, nil, nil
	}
	effects.answered = &answered
	p, receipt := doc.Posting, parley.Receipt{}
	if p.Draft.Task = ""; p.Intent != nil && p.Intent.Wanted != nil {
		p.Intent = nil
	}
	effects.work, err = post.FindTaskEffect(in.Unit, p, m, effects.answered, where, &receipt)
	return effects, receipt.Notices, err
}

// applyEffects applies the effects of a stored document. The recipient has the file already, so nobody is notified.
func (in *documentWriter) applyEffects(effects treeEffects, m parley.Message) error {
	if effects.answered == nil {
		return nil
	}
	if effects.answered.From == m.To { // otherwise the document passes on the message of another sender
		if err := work.Answer(in.Unit, effects.answered, m, nil); err != nil {
			return err
		}
	}
	return post.ApplyTaskEffect(in.FoundBy(m.To), effects.work, m, in.Tree)
}
