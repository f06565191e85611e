package hub_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestHistoryIsPagedBothWays(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open")
	w.CreateChannel("ned", "other")
	var seqs []int64
	for i := range 60 {
		seqs = append(seqs, w.SayIn("arya", "open", strconv.Itoa(i)).Message.Seq)
		w.SayIn("ned", "other", "elsewhere")
		w.Clock.Advance(-time.Second) // order is not the clock's
	}
	page := func(p parley.Page) (first, last string, n int) {
		list, err := w.History(ctx, as("ned"), "open", p)
		w.NoError(err)
		if len(list) == 0 {
			return "", "", 0
		}
		return list[0].Content.Text, list[len(list)-1].Content.Text, len(list)
	}
	for _, c := range []struct {
		name        string
		page        parley.Page
		first, last string
		n           int
	}{
		{"the newest fifty", parley.Page{}, "10", "59", 50},
		{"the newest three", parley.Page{Limit: 3}, "57", "59", 3},
		{"before one", parley.Page{Before: seqs[10], Limit: 3}, "7", "9", 3},
		{"before the first", parley.Page{Before: seqs[0]}, "", "", 0},
		{"from the start", parley.Page{Forward: true, Limit: 2}, "0", "1", 2},
		{"after one", parley.Page{Forward: true, After: seqs[56]}, "57", "59", 3},
		{"after the last", parley.Page{Forward: true, After: seqs[59]}, "", "", 0},
		{"more than there are", parley.Page{Limit: 5000}, "0", "59", 60},
	} {
		first, last, n := page(c.page)
		same(t, c.name, []any{first, last, n}, []any{c.first, c.last, c.n})
	}
}

func TestContextIsAsLongAsTheReadersOwnLimit(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	_, err := w.ChangeAgent(ctx, user, "ned", func(a *parley.Agent) error { a.ContextMessages = 2; return nil })
	w.NoError(err)
	var conv string
	for i := range 25 {
		conv = w.SendDM("arya", "ned", strconv.Itoa(i)).Message.Conversation
		w.SendEphemeralDM("arya", "ned", "of another conversation")
	}
	context := func(who string) []string {
		list, err := w.Context(ctx, as(who), conv)
		w.NoError(err)
		return textsOf(list)
	}
	same(t, "ned's", context("ned"), []string{"23", "24"})
	same(t, "arya's default", []any{len(context("arya")), context("arya")[0]}, []any{20, "5"})
}

func TestThreadFollowsReplies(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open", "ned")
	root := w.SayIn("arya", "open", "root").Message.ID
	w.SayIn("arya", "open", "beside")
	a := w.ReplyAs("ned", root, "a").Message.ID
	w.ReplyAs("arya", root, "b")
	deep := w.ReplyAs("arya", a, "a-a").Message.ID
	w.ReplyAs("ned", deep, "a-a-a")
	w.ReplyAs("ned", root, "c")
	thread := func(id string) []string {
		found, err := w.Thread(ctx, as("ned"), id)
		w.NoError(err)
		same(t, "more", []any{found.Cut, found.Notice}, []any{false, ""})
		return textsOf(found.Items)
	}
	same(t, "from the root, in order", thread(root), []string{"root", "a", "b", "a-a", "a-a-a", "c"})
	same(t, "from within", thread(a), []string{"a", "a-a", "a-a-a"})
	same(t, "of a leaf", thread(deep)[:1], []string{"a-a"})
}

func TestUnreadCountsTheMessagesOfOthersSinceTheCursor(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	open := w.CreateChannel("arya", "open", "ned").ID
	unread := func(who string) int { return w.ConversationAs(who, open).Unread }
	first := w.SayIn("arya", open, "1").Message.Seq
	second := w.SayIn("arya", open, "2").Message.Seq
	w.SayIn("ned", open, "3")
	same(t, "own messages do not count", []int{unread("arya"), unread("ned")}, []int{1, 2})

	before := w.LastEventNumber()
	w.TextsIn("ned", open)
	_, err := w.Context(ctx, as("ned"), open)
	w.NoError(err)
	same(t, "peeking consumes nothing", []any{unread("ned"), w.LastEventNumber()}, []any{2, before})

	w.NoError(w.MarkRead(ctx, as("ned"), open, first))
	same(t, "up to a message", []any{unread("ned"), w.ConversationAs("ned", open).ReadSeq}, []any{1, first})
	same(t, "event", eventsAfter(w, before), []parley.Event{{
		Num: before + 1, At: began, Kind: parley.EventCursorMoved, Conversation: open, Agent: "ned", By: "ned",
		Data: fmt.Appendf(nil, `{"read_seq":%d}`, first),
	}})
	w.NoError(w.MarkRead(ctx, as("ned"), open, second))
	before = w.LastEventNumber()
	for _, back := range []int64{first, second, -1} {
		w.NoError(w.MarkRead(ctx, as("ned"), open, back))
	}
	same(t, "never back", []any{w.ConversationAs("ned", open).ReadSeq, w.LastEventNumber()}, []any{second, before})
	same(t, "the other's cursor is its own", w.ConversationAs("arya", open).ReadSeq, int64(0))

	last := w.SayIn("arya", open, "4").Message.Seq
	w.NoError(w.MarkRead(ctx, as("ned"), open, last+1000))
	same(t, "not beyond the newest", w.ConversationAs("ned", open).ReadSeq, last)
	w.SayIn("arya", open, "5")
	same(t, "what comes after counts again", unread("ned"), 1)
	w.NoError(w.MarkRead(ctx, as("ned"), open, 0))
	same(t, "zero is the newest", unread("ned"), 0)

	w.NoError(w.Join(ctx, as("bran"), open))
	same(t, "joining starts at the newest", unread("bran"), 0)
	w.SayIn("arya", open, "6")
	same(t, "and counts from there", unread("bran"), 1)
	w.NoError(w.Leave(ctx, as("bran"), open))
	same(t, "who has left has no cursor", []any{unread("bran"), w.ConversationAs("bran", open).ReadSeq}, []any{0, int64(0)})
	w.NoError(w.Join(ctx, as("bran"), open))
	same(t, "coming back starts at the newest", unread("bran"), 0)
}

func TestCursorIsApartFromDelivery(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "hi").Message
	w.NoError(w.MarkRead(ctx, as("ned"), m.Conversation, 0))
	shown, err := w.Message(ctx, as("ned"), m.ID)
	w.NoError(err)
	same(t, "state", shown.Deliveries[0].State, parley.DeliveryAccepted)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open")
	const nowhere = "0190a000-0000-7000-8000-000000000000"
	w.assertRefusals(t, []refusal{
		{
			"marking without being in it", func() error { return w.MarkRead(ctx, as("ned"), "open", 0) },
			refusalError(parley.BadInput, "", "ned does not take part in #open", "join it first"),
		},
		{
			"no such conversation", func() error { _, err := w.History(ctx, as("ned"), "opem", parley.Page{}); return err },
			notFoundError("conversation", "opem", "did you mean open?"),
		},
		{"no such id", func() error { _, err := w.Context(ctx, as("ned"), nowhere); return err }, notFoundError("conversation", nowhere, listConversations)},
		{"no such message", func() error { _, err := w.Message(ctx, as("ned"), nowhere); return err }, notFoundError("message", nowhere, checkName)},
		{"no id at all", func() error { _, err := w.Thread(ctx, as("ned"), "hello"); return err }, notFoundError("message", "hello", checkName)},
	})
}

func TestUnreadOfEveryConversationIsInTheList(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	pair := w.SendDM("arya", "ned", "1").Message.Conversation
	w.SendDM("arya", "ned", "2")
	open := w.CreateChannel("arya", "open").ID
	w.SayIn("arya", open, "3")
	views, _, err := w.Conversations(ctx, as("ned"), parley.ListFilter{All: true})
	w.NoError(err)
	got := map[string]any{}
	for _, v := range views {
		got[v.ID] = []any{v.Joined, v.Unread}
	}
	same(t, "list", got, map[string]any{pair: []any{true, 2}, open: []any{false, 0}})
}
