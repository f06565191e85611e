package chat

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// The results of calls.
type (
	pageMsg struct {
		page parley.Page
		list []parley.Message
		err  error
	}
	conversationMsg struct {
		conversation ConversationState
		err          error
	}
	postedMsg struct {
		draft   parley.Draft
		receipt parley.Receipt
		err     error
	}
	messageMsg struct {
		shown parley.Shown
		after int // the number of its events when the call began
		err   error
	}
	readMsg struct {
		upTo int64
		err  error
	}
	topicMsg struct{ err error }
)

// runCall returns a command that makes a call. The conversation limits how long the call may take.
func (m *Model) runCall(do func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg { return do(m.ctx) }
}

func (m *Model) pullNext() tea.Cmd {
	if !m.pull.start() {
		return nil
	}
	next := m.timeline.next()
	if !next.Forward { // the first page has all unread messages, up to a limit
		next.Limit = min(max(next.Limit, m.conversation.View.Unread), maxFirstPage)
	}
	return m.loadPage(next)
}

func (m *Model) pullOlder() tea.Cmd {
	if m.timeline.complete || len(m.timeline.messages) == 0 || m.older.busy {
		return nil
	}
	m.older.start()
	return m.loadPage(m.timeline.older())
}

func (m *Model) loadPage(page parley.Page) tea.Cmd {
	return m.runCall(func(ctx context.Context) tea.Msg {
		list, err := m.source.Page(ctx, page)
		return pageMsg{page, list, err}
	})
}

func (m *Model) refreshConversation() tea.Cmd {
	if !m.refresh.start() {
		return nil
	}
	return m.runCall(func(ctx context.Context) tea.Msg {
		state, err := m.source.Describe(ctx)
		return conversationMsg{state, err}
	})
}

// send sends the next message of the outbox, unless one is being sent.
func (m *Model) send() tea.Cmd {
	draft, ok := m.outbox.next()
	if !ok {
		return nil
	}
	return m.runCall(func(ctx context.Context) tea.Msg {
		receipt, err := m.source.Post(ctx, draft)
		return postedMsg{draft, receipt, err}
	})
}

func (m *Model) fetchMessage(id string) tea.Cmd {
	after := m.deliveries.changes[id]
	return m.runCall(func(ctx context.Context) tea.Msg {
		shown, err := m.source.Message(ctx, id)
		return messageMsg{shown, after, err}
	})
}

// markRead tells the hub which messages were shown, if the newest one is on the screen.
func (m *Model) markRead() tea.Cmd {
	newest, known := m.timeline.newest(), max(m.readUpTo, m.readTried, m.conversation.View.ReadSeq)
	if !m.conversation.View.Joined || m.scroll > 0 || newest <= known || m.read.busy {
		return nil
	}
	m.read.start()
	from := slices.IndexFunc(m.timeline.messages, func(message parley.Message) bool { return message.Seq > m.readUpTo })
	list := slices.Clone(m.timeline.messages[from:])
	return m.runCall(func(ctx context.Context) tea.Msg {
		return readMsg{newest, m.source.MarkShown(ctx, list)}
	})
}

func (m *Model) setTopic(topic string) tea.Cmd {
	return m.runCall(func(ctx context.Context) tea.Msg { return topicMsg{m.source.SetTopic(ctx, topic)} })
}
