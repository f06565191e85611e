package chat

import (
	"fmt"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

// TestEveryMessageIsShownOnceInOrder lets calls, their answers and news overlap in any way, with a hub that
// comes and goes and sometimes stores what it cannot confirm.
func TestEveryMessageIsShownOnceInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		conversation := newConversation()
		for i := range rapid.IntRange(0, 130).Draw(rt, "before") {
			conversation.put("arya", fmt.Sprint("old ", i))
		}
		s := newTestChat(t, conversation)
		w := slowHub{testChat: s}
		typed := 0
		pick := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, name) }
		rt.Repeat(map[string]func(*rapid.T){
			"somebody writes": func(*rapid.T) {
				conversation.put("arya", "hello")
				w.queueNews(happened(parley.EventMessagePosted))
			},
			"user writes": func(*rapid.T) {
				typed++
				s.types(fmt.Sprint("mine ", typed))
				s.press("enter")
			},
			"the hub goes": func(*rapid.T) {
				if !conversation.unreachable {
					w.queueNews(Signal{Kind: Disconnected})
					conversation.unreachable = true
				}
			},
			"the hub comes":    func(*rapid.T) { w.comeBack() },
			"answers get lost": func(*rapid.T) { conversation.deaf = !conversation.deaf },
			"a call is made": func(*rapid.T) {
				if len(s.todo) > 0 {
					i := pick("call", len(s.todo))
					w.answers = append(w.answers, s.todo[i]())
					s.todo = slices.Delete(s.todo, i, i+1)
				}
			},
			"an answer comes": func(*rapid.T) {
				if len(w.answers) > 0 {
					i := pick("answer", len(w.answers))
					msg := w.answers[i]
					w.answers = slices.Delete(w.answers, i, i+1)
					s.tell(msg)
				}
			},
			"news comes":   func(*rapid.T) { w.deliverNews() },
			"a pause ends": func(*rapid.T) { s.fireOnly() },
			"look up":      func(*rapid.T) { s.press("pgup") },
		})
		w.settleEverything()
		w.assertAllShown(rt, typed)
	})
}

// slowHub is a hub with its news and answers on their way to a testChat.
type slowHub struct {
	*testChat
	news    []Signal
	answers []tea.Msg
}

// queueNews sends news, which an unreachable hub cannot.
func (w *slowHub) queueNews(s Signal) {
	if !w.conversation.unreachable {
		w.news = append(w.news, s)
	}
}

func (w *slowHub) comeBack() {
	if w.conversation.unreachable {
		w.conversation.unreachable = false
		w.queueNews(Signal{Kind: Connected})
	}
}

func (w *slowHub) deliverNews() {
	if len(w.news) > 0 {
		s := w.news[0]
		w.news = w.news[1:]
		w.tell(s)
	}
}

// fireOnly ends the pauses without doing what follows.
func (c *testChat) fireOnly() {
	timers := c.timers
	c.timers = nil
	for _, msg := range timers {
		c.tell(msg)
	}
}

// settleEverything lets everything come to rest, and looks back to the beginning.
func (w *slowHub) settleEverything() {
	w.comeBack()
	w.conversation.deaf = false
	for range maxAttempts {
		for len(w.news) > 0 {
			w.deliverNews()
		}
		for _, msg := range w.answers {
			w.tell(msg)
		}
		w.answers = nil
		w.settle()
		w.fire()
	}
	for !w.timeline.complete && len(w.timeline.messages) > 0 {
		w.press("pgup")
		w.settle()
	}
}

func (w *slowHub) assertAllShown(t *rapid.T, typed int) {
	if len(w.timeline.messages) != len(w.conversation.messages) {
		t.Fatalf("%d messages are shown, there are %d", len(w.timeline.messages), len(w.conversation.messages))
	}
	mine := 0
	for i, m := range w.conversation.messages {
		if w.timeline.messages[i].ID != m.ID {
			t.Fatalf("message %d is %s, want %s", i, w.timeline.messages[i].ID, m.ID)
		}
		if m.From == "user" {
			mine++
			if want := fmt.Sprint("mine ", mine); m.Content.Text != want {
				t.Fatalf("%q was stored, want %q", m.Content.Text, want)
			}
		}
	}
	if mine != typed || len(w.outbox.messages) != 0 {
		t.Fatalf("%d messages were typed, %d are stored, %d wait", typed, mine, len(w.outbox.messages))
	}
	if newest := w.timeline.newest(); len(w.rows()) > 0 && w.scroll == 0 && w.conversation.read != newest {
		t.Fatalf("read up to %d, want %d", w.conversation.read, newest)
	}
}
