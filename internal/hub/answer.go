package hub

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
	note := fmt.Sprintf("\n\n[cut: this was %d bytes long, a message has at most %d]", len(text), most)
	end := max(0, most-len(note))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return (text[:end] + note)[:min(most, end+len(note))]
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
	if n := len(r.Triggers); n > 0 { // or else what woke it was not kept that long
		p.draft.InReplyTo = r.Triggers[n-1]
	}
	receipt, err := s.post(p)
	if err != nil {
		return "", nil, err
	}
	return receipt.Message.ID, &receipt.Message, nil
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

// answerReaches is whom the answer of a run reaches: beside those that any message would, whom it answers.
func (s *scene) answerReaches(m parley.Message, r parley.Run, present *presence, members []string) ([]parley.Reach, error) {
	senders, err := s.answered(r)
	if err != nil {
		return nil, err
	}
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
	return m.AnswerReaches(present.conv, here, senders), err
}

// answered are those a run answers: who sent what woke it. They are marked who fetch for themselves, or are
// people; the hub starts no run for them, so that an answer may wake them.
func (s *scene) answered(r parley.Run) (map[string]bool, error) {
	list, err := s.Deliveries().GetAll(r.Agent, r.Triggers)
	if err != nil {
		return nil, err
	}
	senders := map[string]bool{}
	for _, d := range list {
		sender, err := s.Agents().Find(d.From)
		if err != nil {
			return nil, err
		}
		senders[sender.ID] = !sender.Dispatched()
	}
	return senders, nil
}
