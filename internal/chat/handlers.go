package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// handleSignal handles a signal of the conversation.
func (m *Model) handleSignal(s Signal) tea.Cmd {
	switch s.Kind {
	case Disconnected:
		if !m.lost {
			m.lost = true
			m.showNotice("connection lost, retrying: the chat keeps your messages and sends each one once")
		}
		return nil
	case Connected:
		if m.lost {
			m.lost = false
			m.showNotice("connected again")
		}
		m.pause = shortPause
		return tea.Batch(m.pullNext(), m.refreshConversation(), m.send(), m.refreshDeliveries())
	default:
		return m.handleEvent(s.Event)
	}
}

func (m *Model) handleEvent(e parley.Event) tea.Cmd {
	group, _, _ := strings.Cut(string(e.Kind), ".")
	switch {
	case e.Kind == parley.EventMessagePosted:
		return m.pullNext()
	case e.Kind == parley.EventMessageRedacted:
		return m.fetchMessage(e.Message)
	case e.Kind == parley.EventConversationDeleted && e.Conversation == m.conversation.View.ID:
		m.showError(parley.Errorf(parley.BadInput, "this conversation was deleted").Suggest("leave with /quit"))
		return nil
	case group == "delivery":
		m.deliveries.applyEvent(e)
		return nil
	case slices.Contains([]string{"agent", "member", "conversation"}, group):
		return m.refreshConversation()
	default:
		return nil
	}
}

func (m *Model) handlePage(msg pageMsg) tea.Cmd {
	if msg.page.Before != 0 {
		return m.handleOlderPage(msg)
	}
	again := m.pull.done()
	if msg.err != nil {
		return m.retry(msg.err)
	}
	var fresh []parley.Message
	m.keepScroll(func() {
		fresh = m.timeline.add(msg.page, msg.list)
		m.outbox.markArrived(fresh)
	})
	work := []tea.Cmd{m.markRead()}
	if !msg.page.Forward {
		work = append(work, m.refreshDeliveries())
	}
	if again || msg.page.Forward && len(fresh) > 0 && !msg.page.Last(msg.list) {
		work = append(work, m.pullNext())
	}
	return tea.Batch(work...)
}

// handleOlderPage adds older messages. Only the user asks for them again after an error.
func (m *Model) handleOlderPage(msg pageMsg) tea.Cmd {
	m.older.done()
	if msg.err != nil {
		m.showError(msg.err)
		return nil
	}
	m.timeline.add(msg.page, msg.list)
	return m.refreshDeliveries()
}

func (m *Model) handleConversation(msg conversationMsg) tea.Cmd {
	again := m.refresh.done()
	opened := false
	if msg.err == nil {
		opened = m.conversation.View.ID == "" && msg.conversation.View.ID != ""
		m.conversation = msg.conversation
	}
	var work []tea.Cmd
	if again {
		work = append(work, m.refreshConversation())
	}
	if opened {
		work = append(work, m.pullNext())
	}
	return tea.Batch(append(work, m.markRead())...)
}

func (m *Model) handlePosted(msg postedMsg) tea.Cmd {
	if msg.err != nil {
		return m.handleRefused(msg)
	}
	m.outbox.markAccepted(msg.draft.IdempotencyKey, msg.receipt.Message.ID)
	if _, shown := m.timeline.find(msg.receipt.Message.ID); shown {
		m.outbox.markArrived([]parley.Message{msg.receipt.Message})
	}
	var work []tea.Cmd
	if !m.deliveries.load(msg.receipt.Message.ID, msg.receipt.Deliveries, 0) {
		work = append(work, m.fetchMessage(msg.receipt.Message.ID))
	}
	for _, text := range msg.receipt.Notices {
		m.showNotice(text)
	}
	m.pause = shortPause
	work = append(work, m.pullNext(), m.send())
	if !m.conversation.View.Joined {
		work = append(work, m.refreshConversation()) // the first message joins or creates the conversation
	}
	return tea.Batch(work...)
}

func (m *Model) handleRefused(msg postedMsg) tea.Cmd {
	if !m.outbox.markRefused(msg.draft.IdempotencyKey, msg.err) {
		return m.retry(msg.err)
	}
	m.showError(msg.err)
	m.showNotice("this message was not sent; Up brings it back: " + plain.Line(msg.draft.Content.Text))
	return m.send()
}

func (m *Model) handleMessage(msg messageMsg) tea.Cmd {
	if msg.err != nil {
		return nil // a new connection loads it again
	}
	if !m.deliveries.load(msg.shown.ID, msg.shown.Deliveries, msg.after) {
		return m.fetchMessage(msg.shown.ID)
	}
	if there, ok := m.timeline.find(msg.shown.ID); ok {
		*there = msg.shown.Message
		delete(m.cache, there.ID)
	}
	return nil
}

// refreshDeliveries loads the deliveries of the user's newest messages that have not settled.
func (m *Model) refreshDeliveries() tea.Cmd {
	var work []tea.Cmd
	for _, message := range slices.Backward(m.timeline.messages) {
		if message.From == m.conversation.Me && !m.deliveries.isSettled(message.ID) && len(work) < maxFetches {
			work = append(work, m.fetchMessage(message.ID))
		}
	}
	return tea.Batch(work...)
}

func (m *Model) handleRead(msg readMsg) tea.Cmd {
	m.read.done()
	m.readTried = msg.upTo
	switch {
	case msg.err == nil:
		m.readUpTo = max(m.readUpTo, msg.upTo)
	case isTemporary(msg.err):
		m.readTried = 0
		return nil // the next refresh retries
	default:
		m.showError(msg.err)
	}
	return m.markRead()
}

// retry repeats work after a pause if the error is temporary. Each pause is longer than the one before.
func (m *Model) retry(err error) tea.Cmd {
	if !isTemporary(err) {
		m.showError(err)
		return nil
	}
	if m.retrying {
		return nil
	}
	m.retrying = true
	pause := max(m.pause, parley.AsError(err).RetryAfter)
	m.pause = min(2*m.pause, longPause)
	return m.later(pause, timerRetry)
}
