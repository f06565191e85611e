package chat

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestScreens draws a conversation with a bit of everything.
func TestScreens(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 32}, {Width: 40, Height: 40}, {Width: 40, Height: 10}} {
		t.Run(fmt.Sprint(size.Width, "x", size.Height), func(t *testing.T) {
			conversation := newConversation()
			conversation.messages = append(conversation.messages, parley.Message{
				ID: "m0", Seq: 1, From: "gendry", Type: parley.TypeNotification, CreatedAt: start.Add(-24 * time.Hour),
				Content: parley.Content{Text: "the fire is lit", Artifacts: []parley.Artifact{{Name: "plan.txt", Size: 512, SHA256: strings.Repeat("ab", 32)}}},
			})
			first := conversation.put("arya", "needle needs an edge; could you have a look at it before the rain comes and everything rusts again?")
			conversation.put("arya", "日本刀 is sharper 👩‍💻")
			conversation.put("user", "On it. @gendry, can you take the left side? I have my hands full with the helmets of the whole watch")
			conversation.messages = append(conversation.messages, parley.Message{
				ID: "m9", Seq: 90, From: "gendry", Type: parley.TypeChat, CreatedAt: start.Add(10 * time.Minute), InReplyTo: first.ID,
				Content: parley.Content{Text: "Like so:", Code: "for range 1000 {\n\tstrike()\n}"},
			})
			conversation.states["m4"] = []parley.Delivery{
				{Message: "m4", Recipient: "arya", State: parley.DeliverySeen}, {Message: "m4", Recipient: "gendry", State: parley.DeliveryAnswered},
			}
			s := newTestChat(t, conversation)
			s.tell(size)
			s.settle()
			s.types("thanks, both!")
			s.press("alt+enter")
			s.types("see you at nine")
			golden(t, fmt.Sprintf("%dx%d.txt", size.Width, size.Height), s.screen())
			if lines := strings.Count(s.screen(), "\n"); lines != size.Height {
				t.Errorf("the screen has %d lines, want %d", lines, size.Height)
			}
		})
	}
}

func TestTalking(t *testing.T) {
	conversation := newConversation()
	s := newTestChat(t, conversation)
	s.settle()
	s.types("hello")
	s.press("enter")
	s.sees("hello", "sending")
	s.settle()
	s.sees("accepted")
	s.missing("sending")
	if len(s.outbox.messages) != 0 {
		t.Error("a letter waits that is shown as a message")
	}
	step := func(agent string, state parley.DeliveryState) {
		e := parley.Event{Kind: parley.EventDelivery(state), Agent: agent, Message: "m1"}
		s.tell(Signal{Event: e})
	}
	step("arya", parley.DeliverySeen)
	s.sees("1 seen, 1 accepted")
	step("gendry", parley.DeliverySeen)
	s.sees("  seen")
	step("gendry", parley.DeliveryDead)
	s.sees("1 seen, 1 dead")
	conversation.put("arya", "hi yourself")
	s.tell(happened(parley.EventMessagePosted))
	s.settle()
	s.sees("hi yourself")
	if conversation.read != 20 {
		t.Errorf("read up to %d, want 20", conversation.read)
	}
}

// TestMessagesOfAnotherTypeGetTheirOwnHeading: what follows a command of the same person is not headed as one.
func TestMessagesOfAnotherTypeGetTheirOwnHeading(t *testing.T) {
	conversation := newConversation()
	conversation.put("arya", "pause")
	conversation.messages[0].Type = parley.TypeCommand
	conversation.put("arya", "hello there")
	conversation.put("arya", "are you there?")
	s := newTestChat(t, conversation)
	s.settle()
	s.sees("hello there", "are you there?")
	if n := strings.Count(s.screen(), "\narya "); n != 2 {
		t.Errorf("there are %d headings, want 2:\n%s", n, s.screen())
	}
}

func TestConnectionLost(t *testing.T) {
	conversation := newConversation()
	s := newTestChat(t, conversation)
	s.settle()
	conversation.unreachable = true
	s.tell(Signal{Kind: Disconnected})
	s.sees("connection lost")
	s.types("are you there?")
	s.press("enter")
	s.settle()
	s.types("half a thou")
	conversation.put("arya", "I was away")
	s.fire()
	s.sees("are you there?", "sending", "half a thou")
	conversation.unreachable = false
	s.tell(Signal{Kind: Connected})
	s.settle()
	s.sees("connected again", "I was away", "are you there?", "accepted", "half a thou")
	s.missing("sending")
	if len(conversation.messages) != 2 {
		t.Errorf("%d messages are stored, want 2", len(conversation.messages))
	}
}

// TestLostAnswer stores a message and loses the hub's yes: it is neither repeated nor shown twice.
func TestLostAnswer(t *testing.T) {
	conversation := newConversation()
	conversation.deaf = true
	s := newTestChat(t, conversation)
	s.types("once")
	s.press("enter")
	s.settle()
	conversation.deaf = false
	s.tell(Signal{Kind: Connected})
	s.settle()
	s.fire()
	if n := strings.Count(s.screen(), "once"); n != 1 || len(conversation.messages) != 1 {
		t.Errorf("it is %d times on the screen and %d times stored:\n%s", n, len(conversation.messages), s.screen())
	}
}

func TestRefusedMessage(t *testing.T) {
	conversation := newConversation()
	conversation.refusal = parley.Errorf(parley.BadInput, "arya is busy").Suggest("try gendry")
	s := newTestChat(t, conversation)
	s.types("hello")
	s.press("enter")
	s.settle()
	s.sees("arya is busy (try gendry)", "not sent", "hello")
	s.missing("sending")
	s.press("up")
	s.sees("› hello")
	conversation.refusal = parley.Errorf(parley.Unavailable, "the inbox is full")
	s.press("enter")
	s.settle()
	for range maxAttempts - 1 {
		s.missing("the inbox is full")
		s.fire()
	}
	s.sees("the inbox is full")
	s.missing("sending")
}

func TestCommands(t *testing.T) {
	for _, test := range []struct {
		typed string
		sees  []string
	}{
		{"/help", []string{"/topic [text]", "Alt+Enter", "PgUp"}},
		{"/who", []string{"arya (Arya): idle", "gendry: sleeping until 10:26"}},
		{"/topic", []string{"topic: swords"}},
		{"/topic shields", []string{"#forge · shields"}},
		{"/reply yes, I am", []string{"↳ arya: anybody here?", "yes, I am"}},
		{"/reply", []string{"the reply is empty"}},
		{"/hlep", []string{"there is no command /hlep", "did you mean /help?"}},
		{"/frobnicate", []string{"there is no command /frobnicate", "see /help"}},
		{"//etc/hosts", []string{"  /etc/hosts"}},
	} {
		t.Run(test.typed, func(t *testing.T) {
			conversation := newConversation()
			conversation.put("arya", "anybody here?")
			s := newTestChat(t, conversation)
			s.settle()
			s.types(test.typed)
			s.press("enter")
			s.settle()
			s.tell(happened(parley.EventConversationChanged))
			s.settle()
			s.sees(test.sees...)
		})
	}
}

func TestLeaving(t *testing.T) {
	for _, leave := range []func(*testChat){
		func(s *testChat) { s.press("ctrl+c") },
		func(s *testChat) { s.types("half"); s.press("ctrl+d") },
		func(s *testChat) { s.types("/quit"); s.press("enter") },
	} {
		s := newTestChat(t, newConversation())
		leave(s)
		s.settle()
		if !s.left {
			t.Error("the chat goes on")
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, test := range []struct {
		typed string
		tabs  []string
		want  string
	}{
		{"@ar", []string{"tab"}, "@arya "},
		{"hello (@GEN", []string{"tab"}, "hello (@gendry "},
		{"@a", []string{"tab"}, "@all "},
		{"@a", []string{"tab", "tab"}, "@arya "},
		{"@a", []string{"tab", "tab", "tab"}, "@all "},
		{"@a", []string{"shift+tab"}, "@arya "},
		{"@x", []string{"tab"}, "@x"},
		{"arya", []string{"tab"}, "arya"},
		{"/to", []string{"tab"}, "/topic "},
		{"see /to", []string{"tab"}, "see /to"},
	} {
		s := newTestChat(t, newConversation())
		s.types(test.typed)
		s.press(test.tabs...)
		if got := s.input.String(); got != test.want {
			t.Errorf("%q and %q make %q, want %q", test.typed, test.tabs, got, test.want)
		}
	}
}

func TestRecall(t *testing.T) {
	s := newTestChat(t, newConversation())
	for _, text := range []string{"one", "two"} {
		s.types(text)
		s.press("enter")
	}
	s.types("thr")
	for _, step := range []struct{ key, want string }{
		{"up", "two"}, {"up", "one"}, {"up", "one"}, {"down", "two"}, {"down", "thr"}, {"down", "thr"},
	} {
		s.press(step.key)
		if got := s.input.String(); got != step.want {
			t.Errorf("after %s the box holds %q, want %q", step.key, got, step.want)
		}
	}
}

func TestLookingBack(t *testing.T) {
	conversation := newConversation()
	for i := range 120 {
		conversation.put("arya", fmt.Sprintf("<%d>", i))
	}
	s := newTestChat(t, conversation)
	s.settle()
	s.sees("<119>")
	s.press("pgup")
	s.missing("<119>")
	s.sees("more lines below")
	before := s.screen()
	read := conversation.read
	conversation.put("arya", "new")
	s.tell(happened(parley.EventMessagePosted))
	s.settle()
	if got, want := s.screen()[:200], before[:200]; got != want {
		t.Errorf("what is looked at has moved:\n%s\n%s", got, want)
	}
	if conversation.read != read {
		t.Error("what was not shown counts as read")
	}
	for range 30 {
		s.press("pgup")
		s.settle()
	}
	s.sees("<0>")
	s.press("ctrl+end")
	s.settle()
	s.sees("new")
	if conversation.read != conversation.messages[120].Seq {
		t.Error("what was shown does not count as read")
	}
}

func TestRefusedReadingIsSaidOnce(t *testing.T) {
	conversation := newConversation()
	conversation.put("arya", "one")
	conversation.unread = parley.Errorf(parley.NotPermitted, "this may not be read")
	s := newTestChat(t, conversation)
	s.settle()
	s.sees("one", "this may not be read")
	s.tell(timerRefresh)
	s.settle()
	if n := strings.Count(s.screen(), "this may not be read"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, s.screen())
	}
	conversation.unread = nil
	conversation.put("arya", "two")
	s.tell(happened(parley.EventMessagePosted))
	s.settle()
	if conversation.read != conversation.messages[1].Seq {
		t.Errorf("read up to %d after the refusal", conversation.read)
	}
}

func TestReadingIsTriedAgainWhenTheHubIsBack(t *testing.T) {
	conversation := newConversation()
	conversation.put("arya", "one")
	conversation.unread = errUnreachable
	s := newTestChat(t, conversation)
	s.settle()
	s.missing("the hub is not running")
	conversation.unread = nil
	s.tell(timerRefresh)
	s.settle()
	if conversation.read != conversation.messages[0].Seq {
		t.Errorf("read up to %d", conversation.read)
	}
}

// TestHostileTextOnTheScreen puts escape sequences wherever others can write.
func TestHostileTextOnTheScreen(t *testing.T) {
	const hostile = "x\x1b]0;owned\a\x1b[2J\u202e\u009b31m\r\x00y"
	conversation := newConversation()
	conversation.state.Title, conversation.state.View.Topic = hostile, hostile
	conversation.state.Present[0] = parley.Presence{ID: hostile, Name: hostile, Status: hostile, Reason: hostile}
	m := conversation.put(hostile, hostile)
	conversation.messages[0].Type = parley.Type(hostile)
	conversation.messages[0].Content.Code = hostile
	conversation.messages[0].Content.Artifacts = []parley.Artifact{{Name: hostile, SHA256: hostile}, {Path: hostile}}
	conversation.put("arya", "")
	conversation.messages[1].Payload, conversation.messages[1].InReplyTo = []byte(hostile), m.ID
	conversation.refusal = parley.Errorf(parley.BadInput, "%s", hostile).Suggest(hostile)
	s := newTestChat(t, conversation)
	s.tell(tea.WindowSizeMsg{Width: 80, Height: 60})
	s.tell(tea.PasteMsg{Content: hostile})
	s.press("enter")
	s.settle()
	s.types("/who")
	s.press("enter")
	view := s.View()
	for _, bad := range []string{"\x1b]", "\x1b[2J", "\u202e", "\u009b", "\r", "\x00", "\a"} {
		if strings.Contains(view.Content+view.WindowTitle, bad) {
			t.Errorf("%q reaches the terminal", bad)
		}
	}
}

func TestRedaction(t *testing.T) {
	conversation := newConversation()
	conversation.put("arya", "my password is hunter2")
	s := newTestChat(t, conversation)
	s.settle()
	s.sees("hunter2")
	conversation.messages[0] = conversation.messages[0].Redacted(start)
	s.tell(Signal{Event: parley.Event{Kind: parley.EventMessageRedacted, Message: "m1"}})
	s.settle()
	s.missing("hunter2")
	s.sees("this message was redacted")
}
