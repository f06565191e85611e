package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
)

// start is when every test begins.
var start = time.Date(2026, 3, 14, 9, 26, 0, 0, time.UTC)

// fakeRoom is a conversation of user, arya and gendry in memory.
type fakeRoom struct {
	mu       sync.Mutex
	state    RoomState
	messages []parley.Message
	states   map[string][]parley.Delivery
	read     int64
	away     bool
	deaf     bool  // posts are stored, but their answers are lost
	refusal  error // of posts
	unread   error // refusal of what is read
	signals  chan Signal
	refused  chan error
}

func newRoom() *fakeRoom {
	until := start.Add(time.Hour)
	arya := parley.Presence{ID: "arya", Name: "Arya", Kind: parley.KindAgent, Status: parley.StatusIdle}
	gendry := parley.Presence{
		ID: "gendry", Name: "gendry", Kind: parley.KindAgent, Status: parley.StatusSleeping, SleepingUntil: &until,
	}
	return &fakeRoom{
		state: RoomState{
			Me: "user", Title: "#forge", Present: []parley.Presence{arya, gendry}, Known: []parley.Presence{arya, gendry},
			Conversation: parley.ConversationView{
				Conversation: parley.Conversation{ID: "c1", Name: "forge", Kind: parley.Channel, Topic: "swords"}, Joined: true,
			},
		},
		states:  map[string][]parley.Delivery{},
		signals: make(chan Signal, 100),
		refused: make(chan error, 1),
	}
}

var errAway = parley.Errorf(parley.Unavailable, "the hub is not running").From(ErrAway)

// put stores a message.
func (r *fakeRoom) put(from, text string) parley.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store(from, parley.Draft{Content: parley.Content{Text: text}})
}

func (r *fakeRoom) store(from string, d parley.Draft) parley.Message {
	n := len(r.messages) + 1
	m := parley.Message{
		ID: fmt.Sprintf("m%d", n), Seq: int64(10 * n), Conversation: "c1", From: from, Type: parley.TypeChat,
		CreatedAt: start.Add(time.Duration(n) * time.Minute), Content: d.Content, InReplyTo: d.InReplyTo,
		IdempotencyKey: d.IdempotencyKey,
	}
	r.messages = append(r.messages, m)
	return m
}

func (r *fakeRoom) Describe(context.Context) (RoomState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return RoomState{}, errAway
	}
	return r.state, nil
}

func (r *fakeRoom) Page(_ context.Context, p parley.Page) ([]parley.Message, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return nil, errAway
	}
	list := slices.DeleteFunc(slices.Clone(r.messages), func(m parley.Message) bool {
		return p.Forward && m.Seq <= p.After || p.Before != 0 && m.Seq >= p.Before
	})
	if p.Forward {
		return list[:min(p.Limit, len(list))], nil
	}
	return list[max(0, len(list)-p.Limit):], nil
}

func (r *fakeRoom) Message(_ context.Context, id string) (parley.Shown, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.messages, func(m parley.Message) bool { return m.ID == id })
	if r.away || i < 0 {
		return parley.Shown{}, errAway
	}
	return parley.Shown{Message: r.messages[i], Deliveries: slices.Clone(r.states[id])}, nil
}

func (r *fakeRoom) Post(_ context.Context, d parley.Draft) (parley.Receipt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return parley.Receipt{}, errAway
	}
	if r.refusal != nil {
		return parley.Receipt{}, r.refusal
	}
	i := slices.IndexFunc(r.messages, func(m parley.Message) bool { return m.IdempotencyKey == d.IdempotencyKey })
	if i < 0 {
		i = len(r.messages)
		m := r.store("user", d)
		for _, p := range r.state.Present {
			r.states[m.ID] = append(r.states[m.ID], parley.Delivery{Message: m.ID, Recipient: p.ID, State: parley.DeliveryAccepted})
		}
	}
	if r.deaf {
		return parley.Receipt{}, errAway
	}
	m := r.messages[i]
	return parley.Receipt{Message: m, Deliveries: slices.Clone(r.states[m.ID])}, nil
}

func (r *fakeRoom) MarkShown(_ context.Context, list []parley.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return errAway
	}
	if r.unread != nil {
		return r.unread
	}
	r.read = max(r.read, list[len(list)-1].Seq)
	return nil
}

func (r *fakeRoom) SetTopic(_ context.Context, topic string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Conversation.Topic = topic
	return nil
}

func (r *fakeRoom) Follow(ctx context.Context, report func(Signal)) error {
	for {
		select {
		case s := <-r.signals:
			report(s)
		case err := <-r.refused:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// stage runs a model by hand: what it asks for is done when the test says so.
type stage struct {
	*Model
	t      testing.TB
	room   *fakeRoom
	todo   []tea.Cmd
	timers []tea.Msg
	left   bool
}

func newStage(t testing.TB, room *fakeRoom) *stage {
	s := &stage{Model: New(t.Context(), room, room.state), t: t, room: room}
	s.Model.now = func() time.Time { return start }
	s.Model.later = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		s.timers = append(s.timers, msg)
		return nil
	}
	s.ask(s.Init())
	return s
}

// ask notes what the model wants done.
func (s *stage) ask(cmd tea.Cmd) {
	if cmd != nil {
		s.todo = append(s.todo, cmd)
	}
}

// tell hands the model a message.
func (s *stage) tell(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			s.ask(cmd)
		}
	case tea.QuitMsg:
		s.left = true
	default:
		_, cmd := s.Update(msg)
		s.ask(cmd)
	}
}

// settle does all there is to do.
func (s *stage) settle() {
	for len(s.todo) > 0 {
		cmd := s.todo[0]
		s.todo = s.todo[1:]
		s.tell(cmd())
	}
}

// fire lets the time of every pause come.
func (s *stage) fire() {
	timers := s.timers
	s.timers = nil
	for _, msg := range timers {
		s.tell(msg)
	}
	s.settle()
}

var keys = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "tab": {Code: tea.KeyTab},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	"backspace": {Code: tea.KeyBackspace}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl},
	"ctrl+end": {Code: tea.KeyEnd, Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "home": {Code: tea.KeyHome},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl}, "end": {Code: tea.KeyEnd},
	"alt+left": {Code: tea.KeyLeft, Mod: tea.ModAlt}, "alt+right": {Code: tea.KeyRight, Mod: tea.ModAlt}, "delete": {Code: tea.KeyDelete},
}

// press presses keys by their names.
func (s *stage) press(names ...string) {
	s.t.Helper()
	for _, name := range names {
		key, known := keys[name]
		if !known {
			s.t.Fatalf("there is no key %q", name)
		}
		s.tell(tea.KeyPressMsg(key))
	}
}

func (s *stage) types(text string) {
	for _, r := range text {
		s.tell(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// screen is what can be seen, without colours.
func (s *stage) screen() string {
	var lines []string
	for line := range strings.SplitSeq(ansi.Strip(s.View().Content), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

// sees fails the test unless all of the texts are on the screen.
func (s *stage) sees(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.screen(), text) {
			s.t.Fatalf("%q is not on the screen:\n%s", text, s.screen())
		}
	}
}

func (s *stage) missing(text string) {
	s.t.Helper()
	if strings.Contains(s.screen(), text) {
		s.t.Fatalf("%q is on the screen:\n%s", text, s.screen())
	}
}

func happened(kind parley.EventKind) Signal {
	return Signal{Event: parley.Event{Kind: kind, Conversation: "c1"}}
}

func (r *fakeRoom) setAway(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}
