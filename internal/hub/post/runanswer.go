package post

import (
	"maps"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ComposeAnswer makes the answer of a run from its final text, as far as it can be made outside the update.
// Without a text there is none.
func ComposeAnswer(core *unit.Core, run, conversation, text string) (Posting, error) {
	p := Posting{
		Draft:  parley.Draft{Type: parley.TypeResponse, Conversation: conversation, Content: parley.Content{Text: core.Fitting(text)}},
		Source: runs.SourceRun, Run: run, runAnswer: true,
	}
	if p.Draft.Content.Text == "" {
		return p, nil
	}
	var err error
	if p.Draft, err = p.Draft.Check(core.Config.Limits); err != nil {
		return p, err
	}
	return p, p.Compose()
}

// AnswerOf is the message that answers what woke a run: what it has said already, or else what is posted
// now, as a reply to the newest of what woke it. None if it has nothing to say.
func AnswerOf(u *unit.Unit, r parley.Run, p Posting) (id string, posted *parley.Message, err error) {
	text := p.Draft.Content.Text
	if text == "" {
		return "", nil, nil
	}
	if id, err = sameAnswer(u, r, text); err != nil || id != "" {
		return id, nil, err
	}
	about, err := reports.AnswersWhat(u, r)
	if err != nil {
		return "", nil, err
	}
	if p.Draft.InReplyTo = about.ID; about.ID != "" {
		if p.Draft.To, err = answerAddressee(u, r, about); err != nil {
			return "", nil, err
		}
	}
	p.By = &r
	receipt, err := Store(u, p)
	if err != nil {
		return "", nil, err
	}
	return receipt.Message.ID, &receipt.Message, nil
}

// answerAddressee is whom the answer of a run to a message is for: its sender, or, where that is the hub, who has asked for
// the task.
func answerAddressee(u *unit.Unit, r parley.Run, about parley.Message) (string, error) {
	sender := about.From
	if t, err := u.Tasks().Get(r.Task); err == nil && sender == parley.System {
		sender = t.Requester
	} else if err = unit.IgnoreNotFound(err); err != nil {
		return "", err
	}
	where, err := u.Conversations().Find(r.Conversation)
	if err != nil || sender == r.Agent {
		return "", err
	}
	return replyRecipient(u, sender, where)
}

// sameAnswer is the message by which a run, or an earlier attempt of it, has said the same where it was
// woken.
func sameAnswer(u *unit.Unit, r parley.Run, text string) (string, error) {
	list, err := runs.Said(u, r)
	if err != nil {
		return "", err
	}
	for _, m := range slices.Backward(list) {
		if m.Conversation == r.Conversation && strings.TrimSpace(m.Content.Text) == text {
			return m.ID, nil
		}
	}
	return "", nil
}

// answerRecipients is whom the answer of a run reaches: beside those that any message would, whom it answers. Who waits for
// it by an ask or a delegation gets it there instead.
func answerRecipients(u *unit.Unit, m parley.Message, p *Posting, present *conversations.Presence, members []string) ([]parley.Reach, error) {
	woken, err := u.Deliveries().GetAll(p.By.Agent, p.By.Triggers)
	if err != nil {
		return nil, err
	}
	senders, err := answeredSenders(u, m, woken)
	if err != nil {
		return nil, err
	}
	waiters, err := waitersFor(u, *p.By, woken)
	if err != nil {
		return nil, err
	}
	p.mayWake = slices.Collect(maps.Keys(senders))
	for _, id := range slices.Sorted(maps.Keys(senders)) {
		in, err := present.Has(id)
		if err != nil {
			return nil, err
		}
		if in && !slices.Contains(members, id) {
			members = append(members, id)
		}
	}
	here, _, err := withoutRemoved(u, members)
	here = slices.DeleteFunc(here, func(id string) bool { return slices.Contains(waiters, id) })
	return m.AnswerReaches(present.Conv, here, senders), err
}

// waitersFor are those who wait for a run: who asks what it answers, and whoever is called back at the end of its task.
func waitersFor(u *unit.Unit, r parley.Run, woken []parley.Delivery) (ids []string, err error) {
	for _, d := range woken {
		if d.Purpose == parley.PurposeAsk {
			ids = append(ids, d.From)
		}
	}
	t, err := u.Tasks().Get(r.Task)
	if err != nil {
		return ids, unit.IgnoreNotFound(err)
	}
	if t.CallbackTo != "" && t.Assignee == r.Agent {
		ids = append(ids, t.Requester)
	}
	if t.Source != parley.TaskFromAsk {
		return ids, nil
	}
	w, err := u.Waits().Working(t.ID)
	if err == nil {
		ids = append(ids, w.Waiter)
	}
	return ids, unit.IgnoreNotFound(err)
}

// answeredSenders are those a run answers: who sent what woke it, and whom its answer is for. They are marked who fetch for
// themselves, or are people; the hub starts no run for them, so that an answer may wake them.
func answeredSenders(u *unit.Unit, m parley.Message, woken []parley.Delivery) (map[string]bool, error) {
	ids := make([]string, 0, len(woken)+1)
	for _, d := range woken {
		ids = append(ids, d.From)
	}
	if m.To != "" {
		ids = append(ids, m.To)
	}
	senders := map[string]bool{}
	for _, id := range ids {
		sender, err := u.Agents().Find(id)
		if err != nil {
			return nil, err
		}
		senders[sender.ID] = !sender.Dispatched()
	}
	return senders, nil
}
