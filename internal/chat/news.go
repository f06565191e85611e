package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// hear takes in news from the hub.
func (m *Model) hear(s Signal) tea.Cmd {
	switch s.Kind {
	case Lost:
		if !m.lost {
			m.lost = true
			m.say("connection lost, retrying: the chat keeps your messages and sends each one once")
		}
		return nil
	case Back:
		if m.lost {
			m.lost = false
			m.say("connected again")
		}
		m.pause = shortPause
		return tea.Batch(m.pullNext(), m.lookAgain(), m.send(), m.refreshRungs())
	default:
		return m.happened(s.Event)
	}
}

func (m *Model) happened(e parley.Event) tea.Cmd {
	group, _, _ := strings.Cut(string(e.Kind), ".")
	switch {
	case e.Kind == parley.EventMessagePosted:
		return m.pullNext()
	case e.Kind == parley.EventMessageRedacted:
		return m.fetch(e.Message)
	case e.Kind == parley.EventConversationDeleted && e.Conversation == m.scene.Conversation.ID:
		m.complain(parley.Errorf(parley.BadInput, "this conversation was deleted").Suggest("leave with /quit"))
		return nil
	case group == "delivery":
		m.ladder.step(e)
		return nil
	case slices.Contains([]string{"agent", "member", "conversation"}, group):
		return m.lookAgain()
	default:
		return nil
	}
}

func (m *Model) paged(msg pageMsg) tea.Cmd {
	if msg.page.Before != 0 {
		return m.pagedBack(msg)
	}
	again := m.pull.done()
	if msg.err != nil {
		return m.retry(msg.err)
	}
	var fresh []parley.Message
	m.grow(func() {
		fresh = m.timeline.add(msg.page, msg.list)
		m.outbox.arrived(fresh)
	})
	work := []tea.Cmd{m.markRead()}
	if !msg.page.Forward {
		work = append(work, m.refreshRungs())
	}
	if again || msg.page.Forward && len(fresh) > 0 && !msg.page.Last(msg.list) {
		work = append(work, m.pullNext())
	}
	return tea.Batch(work...)
}

// pagedBack takes in older messages. Nobody asks for them again but by the key.
func (m *Model) pagedBack(msg pageMsg) tea.Cmd {
	m.older.done()
	if msg.err != nil {
		m.complain(msg.err)
		return nil
	}
	m.timeline.add(msg.page, msg.list)
	return m.refreshRungs()
}

func (m *Model) looked(msg sceneMsg) tea.Cmd {
	again := m.look.done()
	opened := false
	if msg.err == nil {
		opened = m.scene.Conversation.ID == "" && msg.scene.Conversation.ID != ""
		m.scene = msg.scene
	}
	var work []tea.Cmd
	if again {
		work = append(work, m.lookAgain())
	}
	if opened {
		work = append(work, m.pullNext())
	}
	return tea.Batch(append(work, m.markRead())...)
}

func (m *Model) posted(msg postedMsg) tea.Cmd {
	if msg.err != nil {
		return m.notPosted(msg)
	}
	m.outbox.accepted(msg.draft.IdempotencyKey, msg.receipt.Message.ID)
	if _, shown := m.timeline.find(msg.receipt.Message.ID); shown {
		m.outbox.arrived([]parley.Message{msg.receipt.Message})
	}
	var work []tea.Cmd
	if !m.ladder.learn(msg.receipt.Message.ID, msg.receipt.Deliveries, 0) {
		work = append(work, m.fetch(msg.receipt.Message.ID))
	}
	for _, text := range msg.receipt.Notices {
		m.say(text)
	}
	m.pause = shortPause
	work = append(work, m.pullNext(), m.send())
	if !m.scene.Conversation.Joined {
		work = append(work, m.lookAgain()) // by writing one joins, or opens the conversation
	}
	return tea.Batch(work...)
}

func (m *Model) notPosted(msg postedMsg) tea.Cmd {
	if !m.outbox.refused(msg.draft.IdempotencyKey, msg.err) {
		return m.retry(msg.err)
	}
	m.complain(msg.err)
	m.say("this message was not sent; Up brings it back: " + plain.Line(msg.draft.Content.Text))
	return m.send()
}

func (m *Model) shown(msg shownMsg) tea.Cmd {
	if msg.err != nil {
		return nil // it is asked for again when the connection is back
	}
	if !m.ladder.learn(msg.shown.ID, msg.shown.Deliveries, msg.after) {
		return m.fetch(msg.shown.ID)
	}
	if there, ok := m.timeline.find(msg.shown.ID); ok {
		*there = msg.shown.Message
		delete(m.cache, there.ID)
	}
	return nil
}

// refreshRungs asks what has become of the newest messages of one's own of which more may be to come.
func (m *Model) refreshRungs() tea.Cmd {
	var work []tea.Cmd
	for _, message := range slices.Backward(m.timeline.messages) {
		if message.From == m.scene.Me && !m.ladder.settled(message.ID) && len(work) < mostLookups {
			work = append(work, m.fetch(message.ID))
		}
	}
	return tea.Batch(work...)
}

func (m *Model) marked(msg readMsg) tea.Cmd {
	m.read.done()
	m.readTried = msg.upTo
	switch {
	case msg.err == nil:
		m.readUpTo = max(m.readUpTo, msg.upTo)
	case passes(msg.err):
		m.readTried = 0
		return nil // it is tried again with the next look
	default:
		m.complain(msg.err)
	}
	return m.markRead()
}

// retry tries again after a pause, each time a longer one, what may go better then.
func (m *Model) retry(err error) tea.Cmd {
	if !passes(err) {
		m.complain(err)
		return nil
	}
	if m.retrying {
		return nil
	}
	m.retrying = true
	pause := max(m.pause, parley.AsError(err).RetryAfter)
	m.pause = min(2*m.pause, longPause)
	return m.later(pause, dueRetry)
}
