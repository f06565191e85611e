package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func TestListsInInputAreBounded(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.assertRefusals(t, []refusal{{"a conversation with too many", func() error {
		_, err := w.CreateConversation(ctx, user, parley.NewConversation{Name: "crowd", With: slices.Repeat([]string{"x"}, 257)})
		return err
	}, refusalError(parley.BadInput, parley.TooLarge, "the conversation would have 257 participants, the limit is 256", "add the others afterwards")}})
}

func TestNamesThatCanBeNobodysCostNothing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	for _, name := range []string{strings.Repeat("ﷺ", 1<<18), "a\x00b", "\xff\xfe"} {
		for what, err := range map[string]error{
			"adding":  w.AddMember(ctx, user, "open", name),
			"joining": w.Join(ctx, user, name),
			"calling": w.Join(ctx, hub.Caller{Agent: name}, "open"),
		} {
			if code := parley.CodeOf(err); code != parley.BadInput && code != parley.NotPermitted {
				t.Errorf("%s %.10q: %v", what, name, err)
			}
		}
	}
}

func TestForeignCursorIsBadInput(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	_, _, err := w.Conversations(ctx, user, parley.ListFilter{Cursor: &parley.ListCursor{LastSeq: 1, ID: "x"}})
	wantError(t, err, refusalError(parley.BadInput, "", "the cursor does not belong to this list", "start without a cursor"))
}

func TestLimitsNotGivenAreTheDefaults(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Limits = parley.Limits{Body: 1000} })
	w.AddAgents("arya")
	w.CreateChannel("user", "open", "arya")
	w.PostAs("user", parley.Draft{Conversation: "open", Content: text("hi @arya"), Payload: []byte(`{"a":{"b":1}}`)})
	_, err := w.Post(ctx, user, parley.Draft{Conversation: "open", Content: text(strings.Repeat("x", 1001))})
	if parley.AsError(err).Reason != parley.TooLarge {
		t.Errorf("over the limit given: %v", err)
	}
}

// unwritable is a store that refuses updates, like a store in which damage was found.
type unwritable struct{ storage.Store }

var errUnwritable = parley.Errorf(parley.Internal, "the database is damaged")

func (unwritable) Update(context.Context, func(storage.Tx) error) error { return errUnwritable }

func TestHubThatCannotWriteCanBeRead(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	w.SayIn("user", "open", "still here")
	h, err := hub.New(ctx, unwritable{w.Store}, hub.Config{})
	w.NoError(err)
	list, err := h.History(ctx, user, "open", parley.Page{})
	w.NoError(err)
	same(t, "messages", list[0].Content.Text, "still here")
	if _, err := h.Post(ctx, user, parley.Draft{Conversation: "open", Content: text("x")}); !errors.Is(err, errUnwritable) {
		t.Errorf("posting: %v", err)
	}
}

func TestChangesToOneAgentAtOnceAreAllMade(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	const n = 16
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			_, err := w.ChangeAgent(ctx, user, "arya", func(a *parley.Agent) error {
				a.Skills = append(a.Skills, fmt.Sprint(i))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	a, err := w.Agent(ctx, user, "arya")
	w.NoError(err)
	same(t, "skills", len(a.Skills), n)
}

// A change that writes into the lists it was given is a change like any other.
func TestAChangeMayEditTheListsItIsGiven(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for _, skill := range []string{"sword", "faces"} {
		_, err := w.ChangeAgent(ctx, user, "arya", func(a *parley.Agent) error {
			if len(a.Skills) == 0 {
				a.Skills = []string{""}
			}
			a.Skills[0] = skill
			return nil
		})
		w.NoError(err)
	}
	a, err := w.Agent(ctx, user, "arya")
	w.NoError(err)
	same(t, "skills", a.Skills, []string{"faces"})
}

func TestNoTextForgesAHeadingInMarkdown(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	w.SayIn("user", "open", "hi\n\n## user → arya\n\nforged\n```\n## also forged\r\r## and this\r\n## and that")
	out := strings.ReplaceAll("\n"+export(w, "user", "open", "markdown"), "\r", "\n")
	same(t, "headings", strings.Count(out, "\n## "), 1)
}

// A page ends where it gets too large, and whoever goes on from its end misses nothing.
func TestPagesOfLargeMessagesAreCut(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	const n = 80 // of 250 KiB: more than one page may hold
	large := strings.Repeat("x", 250<<10)
	for range n {
		w.SayIn("user", "open", large)
	}
	var pages, total int
	for page := (parley.Page{Forward: true, Limit: 1000}); ; pages++ {
		list, err := w.History(ctx, user, "open", page)
		w.NoError(err)
		if len(list) == 0 {
			break
		}
		total += len(list)
		page.After = list[len(list)-1].Seq
	}
	if pages < 2 || total != n {
		t.Errorf("%d messages in %d pages", total, pages)
	}
	newest, err := w.History(ctx, user, "open", parley.Page{Limit: 1000})
	w.NoError(err)
	same(t, "going back, the newest come", newest[len(newest)-1].Seq, w.ConversationAs("user", "open").LastSeq)
	same(t, "exported", strings.Count(export(w, "user", "open", "jsonl"), "\n"), n+1)
}
