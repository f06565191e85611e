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

// fakeConversation is a conversation of user, arya and gendry in memory.
type fakeConversation struct {
	mu          sync.Mutex
	state       ConversationState
	messages    []parley.Message
	states      map[string][]parley.Delivery
	read        int64
	unreachable bool
	deaf        bool  // posts are stored, but their answers are lost
	refusal     error // of posts
	unread      error // refusal of what is read
	signals     chan Signal
	refused     chan error
}

func newConversation() *fakeConversation {
	until := start.Add(time.Hour)
	arya := parley.Presence{ID: "arya", Name: "Arya", Kind: parley.KindAgent, Status: parley.StatusIdle}
	gendry := parley.Presence{
		ID: "gendry", Name: "gendry", Kind: parley.KindAgent, Status: parley.StatusSleeping, SleepingUntil: &until,
	}
	return &fakeConversation{
		state: ConversationState{
			Me: "user", Title: "#forge", Present: []parley.Presence{arya, gendry}, Known: []parley.Presence{arya, gendry},
			View: parley.ConversationView{
				Conversation: parley.Conversation{ID: "c1", Name: "forge", Kind: parley.Channel, Topic: "swords"}, Joined: true,
			},
		},
		states:  map[string][]parley.Delivery{},
		signals: make(chan Signal, 100),
		refused: make(chan error, 1),
	}
}

var errUnreachable = parley.Errorf(parley.Unavailable, "the hub is not running").From(ErrUnreachable)

// put stores a message.
func (c *fakeConversation) put(from, text string) parley.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.store(from, parley.Draft{Content: parley.Content{Text: text}})
}

func (c *fakeConversation) store(from string, d parley.Draft) parley.Message {
	n := len(c.messages) + 1
	m := parley.Message{
		ID: fmt.Sprintf("m%d", n), Seq: int64(10 * n), Conversation: "c1", From: from, Type: parley.TypeChat,
		CreatedAt: start.Add(time.Duration(n) * time.Minute), Content: d.Content, InReplyTo: d.InReplyTo,
		IdempotencyKey: d.IdempotencyKey,
	}
	c.messages = append(c.messages, m)
	return m
}

func (c *fakeConversation) Describe(context.Context) (ConversationState, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreachable {
		return ConversationState{}, errUnreachable
	}
	return c.state, nil
}

func (c *fakeConversation) Page(_ context.Context, p parley.Page) ([]parley.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreachable {
		return nil, errUnreachable
	}
	list := slices.DeleteFunc(slices.Clone(c.messages), func(m parley.Message) bool {
		return p.Forward && m.Seq <= p.After || p.Before != 0 && m.Seq >= p.Before
	})
	if p.Forward {
		return list[:min(p.Limit, len(list))], nil
	}
	return list[max(0, len(list)-p.Limit):], nil
}

func (c *fakeConversation) Message(_ context.Context, id string) (parley.Shown, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.messages, func(m parley.Message) bool { return m.ID == id })
	if c.unreachable || i < 0 {
		return parley.Shown{}, errUnreachable
	}
	return parley.Shown{Message: c.messages[i], Deliveries: slices.Clone(c.states[id])}, nil
}

func (c *fakeConversation) Post(_ context.Context, d parley.Draft) (parley.Receipt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreachable {
		return parley.Receipt{}, errUnreachable
	}
	if c.refusal != nil {
		return parley.Receipt{}, c.refusal
	}
	i := slices.IndexFunc(c.messages, func(m parley.Message) bool { return m.IdempotencyKey == d.IdempotencyKey })
	if i < 0 {
		i = len(c.messages)
		m := c.store("user", d)
		for _, p := range c.state.Present {
			c.states[m.ID] = append(c.states[m.ID], parley.Delivery{Message: m.ID, Recipient: p.ID, State: parley.DeliveryAccepted})
		}
	}
	if c.deaf {
		return parley.Receipt{}, errUnreachable
	}
	m := c.messages[i]
	return parley.Receipt{Message: m, Deliveries: slices.Clone(c.states[m.ID])}, nil
}

func (c *fakeConversation) MarkShown(_ context.Context, list []parley.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreachable {
		return errUnreachable
	}
	if c.unread != nil {
		return c.unread
	}
	c.read = max(c.read, list[len(list)-1].Seq)
	return nil
}

func (c *fakeConversation) SetTopic(_ context.Context, topic string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.View.Topic = topic
	return nil
}

func (c *fakeConversation) Follow(ctx context.Context, report func(Signal)) error {
	for {
		select {
		case s := <-c.signals:
			report(s)
		case err := <-c.refused:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// testChat runs a model by hand: it makes the calls that the model wants when the test says so.
type testChat struct {
	*Model
	t            testing.TB
	conversation *fakeConversation
	todo         []tea.Cmd
	timers       []tea.Msg
	left         bool
}

func newTestChat(t testing.TB, conversation *fakeConversation) *testChat {
	s := &testChat{Model: New(t.Context(), conversation, conversation.state), t: t, conversation: conversation}
	s.Model.now = func() time.Time { return start }
	s.Model.later = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		s.timers = append(s.timers, msg)
		return nil
	}
	s.ask(s.Init())
	return s
}

// ask notes what the model wants done.
func (c *testChat) ask(cmd tea.Cmd) {
	if cmd != nil {
		c.todo = append(c.todo, cmd)
	}
}

// tell hands the model a message.
func (c *testChat) tell(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			c.ask(cmd)
		}
	case tea.QuitMsg:
		c.left = true
	default:
		_, cmd := c.Update(msg)
		c.ask(cmd)
	}
}

// settle does all there is to do.
func (c *testChat) settle() {
	for len(c.todo) > 0 {
		cmd := c.todo[0]
		c.todo = c.todo[1:]
		c.tell(cmd())
	}
}

// fire lets the time of every pause come.
func (c *testChat) fire() {
	timers := c.timers
	c.timers = nil
	for _, msg := range timers {
		c.tell(msg)
	}
	c.settle()
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
func (c *testChat) press(names ...string) {
	c.t.Helper()
	for _, name := range names {
		key, known := keys[name]
		if !known {
			c.t.Fatalf("there is no key %q", name)
		}
		c.tell(tea.KeyPressMsg(key))
	}
}

func (c *testChat) types(text string) {
	for _, r := range text {
		c.tell(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// screen is what can be seen, without colours.
func (c *testChat) screen() string {
	var lines []string
	for line := range strings.SplitSeq(ansi.Strip(c.View().Content), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

// sees fails the test unless all of the texts are on the screen.
func (c *testChat) sees(texts ...string) {
	c.t.Helper()
	for _, text := range texts {
		if !strings.Contains(c.screen(), text) {
			c.t.Fatalf("%q is not on the screen:\n%s", text, c.screen())
		}
	}
}

func (c *testChat) missing(text string) {
	c.t.Helper()
	if strings.Contains(c.screen(), text) {
		c.t.Fatalf("%q is on the screen:\n%s", text, c.screen())
	}
}

func happened(kind parley.EventKind) Signal {
	return Signal{Event: parley.Event{Kind: kind, Conversation: "c1"}}
}

func (c *fakeConversation) setUnreachable(unreachable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unreachable = unreachable
}
