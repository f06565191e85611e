package hub

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// composeAnswer makes the answer of a run from its final text, as far as it can be made outside the update.
// Without a text there is none.
func (h *Hub) composeAnswer(run, conversation, text string) (post, error) {
	p := post{
		draft:  parley.Draft{Type: parley.TypeResponse, Conversation: conversation, Content: parley.Content{Text: h.fitting(text)}},
		source: sourceRun, run: run, answers: true,
	}
	if p.draft.Content.Text == "" {
		return p, nil
	}
	var err error
	if p.draft, err = p.draft.Check(h.config.Limits); err != nil {
		return p, err
	}
	return p, p.compose()
}

// fitting is a runtime's text as it can be posted: without what no database keeps, and no longer than a
// message may be.
func (h *Hub) fitting(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"))
	most := h.config.Limits.Body
	if len(text) <= most {
		return text
	}
	note := cutNote(len(text), most)
	end := max(0, most-len(note))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return (text[:end] + note)[:min(most, end+len(note))]
}

// fittingWords does the same for a text of the hub's that repeats words of others.
func (h *Hub) fittingWords(w parley.Wording) parley.Wording {
	w = w.Map(func(text string) string {
		return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	})
	w = w.Cut(len(strings.TrimRightFunc(w.Text, unicode.IsSpace)))
	most := h.config.Limits.Body
	if len(w.Text) <= most {
		return w
	}
	note := cutNote(len(w.Text), most)
	return w.Cut(max(0, most-len(note))).Own(note).Cut(most)
}

func cutNote(size, most int) string {
	return fmt.Sprintf("\n\n[cut: this was %d bytes long, a message has at most %d]", size, most)
}

// answerOf is the message that answers what woke a run: what it has said already, or else what is posted
// now, as a reply to the newest of what woke it. None if it has nothing to say.
func (s *scene) answerOf(r parley.Run, p post) (id string, posted *parley.Message, err error) {
	text := p.draft.Content.Text
	if text == "" {
		return "", nil, nil
	}
	if id, err = s.alreadySaid(r, text); err != nil || id != "" {
		return id, nil, err
	}
	about, err := s.answersWhat(r)
	if err != nil {
		return "", nil, err
	}
	if p.draft.InReplyTo = about.ID; about.ID != "" {
		if p.draft.To, err = s.answersWhom(r, about); err != nil {
			return "", nil, err
		}
	}
	p.by = &r
	receipt, err := s.post(p)
	if err != nil {
		return "", nil, err
	}
	return receipt.Message.ID, &receipt.Message, nil
}

// answersWhat is the message that the answer of a run replies to: the newest that woke it, or, where that is the hub's,
// what the hub's is about: the message that began the task, or led to the call that was held. None if it was not kept
// that long.
func (s *scene) answersWhat(r parley.Run) (newest parley.Message, err error) {
	n := len(r.Triggers)
	if n == 0 {
		return newest, nil
	}
	newest, err = s.Messages().Get(r.Triggers[n-1])
	if err != nil || newest.From != parley.System {
		return newest, ignoreNotFound(err)
	}
	candidates := []string{newest.InReplyTo}
	if t, err := s.Tasks().Get(r.Task); err == nil {
		candidates = []string{t.Message, newest.InReplyTo}
	} else if !errors.Is(err, parley.ErrNotFound) {
		return newest, err
	}
	for _, id := range candidates {
		m, err := s.Messages().Get(id)
		if err == nil && m.Conversation == r.Conversation {
			return m, nil
		}
		if err = ignoreNotFound(err); err != nil {
			return newest, err
		}
	}
	return newest, nil
}

// answersWhom is whom the answer of a run to a message is for: its sender, or, where that is the hub, who has asked for
// the task.
func (s *scene) answersWhom(r parley.Run, about parley.Message) (string, error) {
	sender := about.From
	if t, err := s.Tasks().Get(r.Task); err == nil && sender == parley.System {
		sender = t.Requester
	} else if err = ignoreNotFound(err); err != nil {
		return "", err
	}
	where, err := s.Conversations().Find(r.Conversation)
	if err != nil || sender == r.Agent {
		return "", err
	}
	return s.replyTo(sender, where)
}

// alreadySaid is the message by which a run, or an earlier attempt of it, has said the same where it was
// woken.
func (s *scene) alreadySaid(r parley.Run, text string) (string, error) {
	list, err := s.said(r)
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

// answerReaches is whom the answer of a run reaches: beside those that any message would, whom it answers. Who waits for
// it by an ask or a delegation gets it there instead.
func (s *scene) answerReaches(m parley.Message, p *post, present *presence, members []string) ([]parley.Reach, error) {
	woken, err := s.Deliveries().GetAll(p.by.Agent, p.by.Triggers)
	if err != nil {
		return nil, err
	}
	senders, err := s.answered(m, woken)
	if err != nil {
		return nil, err
	}
	waiters, err := s.waitersFor(*p.by, woken)
	if err != nil {
		return nil, err
	}
	p.free = slices.Collect(maps.Keys(senders))
	for _, id := range slices.Sorted(maps.Keys(senders)) {
		in, err := present.has(id)
		if err != nil {
			return nil, err
		}
		if in && !slices.Contains(members, id) {
			members = append(members, id)
		}
	}
	here, _, err := s.stillHere(members)
	here = slices.DeleteFunc(here, func(id string) bool { return slices.Contains(waiters, id) })
	return m.AnswerReaches(present.conv, here, senders), err
}

// waitersFor are those who wait for a run: who asks what it answers, and whoever is called back at the end of its task.
func (s *scene) waitersFor(r parley.Run, woken []parley.Delivery) (ids []string, err error) {
	for _, d := range woken {
		if d.Purpose == parley.PurposeAsk {
			ids = append(ids, d.From)
		}
	}
	t, err := s.Tasks().Get(r.Task)
	if err != nil {
		return ids, ignoreNotFound(err)
	}
	if t.CallbackTo != "" && t.Assignee == r.Agent {
		ids = append(ids, t.Requester)
	}
	if t.Source != parley.TaskFromAsk {
		return ids, nil
	}
	w, err := s.Waits().Working(t.ID)
	if err == nil {
		ids = append(ids, w.Waiter)
	}
	return ids, ignoreNotFound(err)
}

// answered are those a run answers: who sent what woke it, and whom its answer is for. They are marked who fetch for
// themselves, or are people; the hub starts no run for them, so that an answer may wake them.
func (s *scene) answered(m parley.Message, woken []parley.Delivery) (map[string]bool, error) {
	ids := make([]string, 0, len(woken)+1)
	for _, d := range woken {
		ids = append(ids, d.From)
	}
	if m.To != "" {
		ids = append(ids, m.To)
	}
	senders := map[string]bool{}
	for _, id := range ids {
		sender, err := s.Agents().Find(id)
		if err != nil {
			return nil, err
		}
		senders[sender.ID] = !sender.Dispatched()
	}
	return senders, nil
}
