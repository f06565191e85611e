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
	ctx   context.Context // of the program: its end ends every call
	room  Room
	now   func() time.Time
	later func(time.Duration, tea.Msg) tea.Cmd

	scene    Scene
	timeline timeline
	outbox   outbox
	ladder   ladder
	notices  []notice
	lost     bool  // the hub cannot be reached
	failure  error // why the chat ended

	pull, look, older, read once
	readUpTo, readTried     int64         // what the hub was told, and what it has refused or taken
	pause                   time.Duration // before the next try
	retrying                bool          // that pause has begun

	input  editor
	recall recall
	offer  offer

	width, height int
	scroll        int // rows between the last one shown and the last one there is
	style         style
	cache         map[string]block
}

// notice is a line of the program itself. It stays below the message that was the last when it was made.
type notice struct {
	after int64
	text  string
	bad   bool
}

const (
	mostNotices  = 50
	shortPause   = 500 * time.Millisecond
	longPause    = 10 * time.Second
	lookInterval = 15 * time.Second
	mostLookups  = 20 // messages of which the rung is asked for at once
)

// New makes a chat in a room that looks as given.
func New(ctx context.Context, room Room, scene Scene) *Model {
	return &Model{
		ctx: ctx, room: room, scene: scene, now: time.Now,
		later:  live.Later(ctx),
		ladder: newLadder(), style: newStyle(), cache: map[string]block{},
		width: 80, height: 24, pause: shortPause,
	}
}

// once keeps work from being done twice at a time. What is asked for meanwhile is done afterwards.
type once struct{ busy, again bool }

func (o *once) start() bool {
	if o.busy {
		o.again = true
		return false
	}
	o.busy = true
	return true
}

func (o *once) done() (again bool) {
	again = o.again
	*o = once{}
	return again
}

// Init asks for the first messages.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.pullNext(), m.later(lookInterval, dueLook))
}

// due says that a time has come.
type due int

const (
	dueLook due = iota
	dueRetry
)

// Update takes in what has happened.
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
		return m, m.hear(msg)
	case live.Ended:
		m.failure = msg.Err
		return m, tea.Quit
	case due:
		return m, m.fallDue(msg)
	default:
		return m, m.answer(msg)
	}
}

// answer takes in the outcome of a call.
func (m *Model) answer(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case pageMsg:
		return m.paged(msg)
	case sceneMsg:
		return m.looked(msg)
	case postedMsg:
		return m.posted(msg)
	case shownMsg:
		return m.shown(msg)
	case readMsg:
		return m.marked(msg)
	case topicMsg:
		if msg.err != nil {
			m.complain(msg.err)
		}
	}
	return nil
}

func (m *Model) fallDue(what due) tea.Cmd {
	if what == dueLook {
		return tea.Batch(m.lookAgain(), m.later(lookInterval, dueLook))
	}
	m.retrying = false
	return tea.Batch(m.pullNext(), m.send())
}

// say adds a line of the program's own.
func (m *Model) say(text string) { m.add(notice{text: text}) }

// complain says what went wrong, and what to do.
func (m *Model) complain(err error) {
	e := parley.AsError(err)
	text := e.Message
	if e.Suggestion != "" {
		text += " (" + e.Suggestion + ")"
	}
	m.add(notice{text: text, bad: true})
}

func (m *Model) add(n notice) {
	n.after = m.timeline.newest()
	m.grow(func() {
		m.notices = append(m.notices, n)
		m.notices = m.notices[max(0, len(m.notices)-mostNotices):]
	})
}

// grow adds to what is below. What is looked at further up stays where it is.
func (m *Model) grow(change func()) {
	before := len(m.rows())
	change()
	if m.scroll > 0 {
		m.scroll = max(m.scroll+len(m.rows())-before, 0)
	}
}
