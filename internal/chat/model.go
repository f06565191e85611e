package chat

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/live"
)

// Model is a chat on a screen.
type Model struct {
	ctx    context.Context // of the program; its end cancels every call
	source Conversation
	now    func() time.Time
	later  func(time.Duration, tea.Msg) tea.Cmd

	conversation ConversationState
	timeline     timeline
	outbox       outbox
	deliveries   deliveryStates
	notices      []notice
	lost         bool  // the connection to the hub is lost
	failure      error // why the chat ended

	pull, refresh, older, read singleFlight
	readUpTo, readTried        int64         // the seq that the hub has, and the last one that it accepted or refused
	pause                      time.Duration // before the next attempt
	retrying                   bool          // the pause has begun

	input      editor
	history    inputHistory
	completion completion

	width, height int
	scroll        int // rows below the last shown row
	style         style
	cache         map[string]drawnMessage
}

// notice is a line from the program itself. It stays below the message that was the last one when it was added.
type notice struct {
	after int64
	text  string
	bad   bool
}

const (
	maxNotices      = 50
	shortPause      = 500 * time.Millisecond
	longPause       = 10 * time.Second
	refreshInterval = 15 * time.Second
	maxFetches      = 20 // messages whose deliveries are loaded at once
)

// New returns a chat in a conversation with the given state.
func New(ctx context.Context, conversation Conversation, state ConversationState) *Model {
	return &Model{
		ctx: ctx, source: conversation, conversation: state, now: time.Now,
		later:      live.Delayer(ctx),
		deliveries: newDeliveryStates(), style: newStyle(), cache: map[string]drawnMessage{},
		width: 80, height: 24, pause: shortPause,
	}
}

// singleFlight keeps work from running twice at a time. If the work is requested meanwhile, it runs again afterwards.
type singleFlight struct{ busy, again bool }

func (s *singleFlight) start() bool {
	if s.busy {
		s.again = true
		return false
	}
	s.busy = true
	return true
}

func (s *singleFlight) done() (again bool) {
	again = s.again
	*s = singleFlight{}
	return again
}

// Init loads the first messages.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.pullNext(), m.later(refreshInterval, timerRefresh))
}

// timer is a message to the model that a time has come.
type timer int

const (
	timerRefresh timer = iota
	timerRetry
)

// Update handles a message to the model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		clear(m.cache)
		return m, nil
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		m.input.insert(msg.Content)
		return m, nil
	case Signal:
		return m, m.handleSignal(msg)
	case live.FollowEnded:
		m.failure = msg.Err
		return m, tea.Quit
	case timer:
		return m, m.handleTimer(msg)
	default:
		return m, m.handleResult(msg)
	}
}

// handleResult handles the result of a call.
func (m *Model) handleResult(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case pageMsg:
		return m.handlePage(msg)
	case conversationMsg:
		return m.handleConversation(msg)
	case postedMsg:
		return m.handlePosted(msg)
	case messageMsg:
		return m.handleMessage(msg)
	case readMsg:
		return m.handleRead(msg)
	case topicMsg:
		if msg.err != nil {
			m.showError(msg.err)
		}
	}
	return nil
}

func (m *Model) handleTimer(what timer) tea.Cmd {
	if what == timerRefresh {
		return tea.Batch(m.refreshConversation(), m.later(refreshInterval, timerRefresh))
	}
	m.retrying = false
	return tea.Batch(m.pullNext(), m.send())
}

// showNotice adds a notice.
func (m *Model) showNotice(text string) { m.addNotice(notice{text: text}) }

// showError adds an error and its suggestion as a notice.
func (m *Model) showError(err error) {
	e := parley.AsError(err)
	text := e.Message
	if e.Suggestion != "" {
		text += " (" + e.Suggestion + ")"
	}
	m.addNotice(notice{text: text, bad: true})
}

func (m *Model) addNotice(n notice) {
	n.after = m.timeline.newest()
	m.keepScroll(func() {
		m.notices = append(m.notices, n)
		m.notices = m.notices[max(0, len(m.notices)-maxNotices):]
	})
}

// keepScroll makes a change at the bottom. If the user has scrolled up, the rows on the screen stay.
func (m *Model) keepScroll(change func()) {
	before := len(m.rows())
	change()
	if m.scroll > 0 {
		m.scroll = max(m.scroll+len(m.rows())-before, 0)
	}
}
