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

// ComposeAnswer makes the answer of a run from its final text, outside of the transaction. Without a text the draft is empty, and
// PostAnswer posts nothing.
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

// PostAnswer returns the message that answers what woke a run: the message by which the run has already said the same, or a new message,
// which replies to the newest message that woke the run. Without a text it returns nothing.
func PostAnswer(u *unit.Unit, r parley.Run, p Posting) (id string, posted *parley.Message, err error) {
	text := p.Draft.Content.Text
	if text == "" {
		return "", nil, nil
	}
	if id, err = sameAnswer(u, r, text); err != nil || id != "" {
		return id, nil, err
	}
	about, err := reports.FindAnswered(u, r)
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

// answerAddressee returns the recipient of a run's answer: the sender of the message that it answers or, if that is the hub, the
// requester of the task.
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

// sameAnswer returns the message by which a run, or an earlier attempt of it, has posted the same text in the conversation that woke
// it. It returns nothing if there is none.
func sameAnswer(u *unit.Unit, r parley.Run, text string) (string, error) {
	list, err := runs.PostsOfAttempts(u, r)
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

// answerRecipients returns the participants that get the answer of a run: the recipients of any message, and the senders of the
// messages that woke the run. Participants that get the answer through an ask or a callback are left out.
func answerRecipients(u *unit.Unit, m parley.Message, p *Posting, present *conversations.MemberCache, members []string) ([]parley.NewDelivery, error) {
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
	return m.AnswerDeliveries(present.Conv, here, senders), err
}

// waitersFor returns the participants that get the outcome of a run in another way: the askers of the asks that it answers, and the
// requester that gets a callback at the end of its task.
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
	w, err := u.Waits().ParkedAs(t.ID)
	if err == nil {
		ids = append(ids, w.Waiter)
	}
	return ids, unit.IgnoreNotFound(err)
}

// answeredSenders returns the participants that a run answers: the senders of the messages that woke it, and the recipient of its
// answer. The value is true for people and for agents that the hub does not run. The answer may wake these, because the hub starts no
// run for them that would answer it.
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
