package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func (w *fixture) textsOfTrace(who, id string) []string {
	w.T.Helper()
	words := []string{}
	for _, m := range resultOf[parley.Traced](w)(w.Trace(ctx, as(who), id)).Items {
		words = append(words, m.Content.Text)
	}
	return words
}

func TestTraceShowsOnlyMessagesTheCallerMayRead(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.Start(ctx)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	say := func(from, to, words string) parley.Message {
		return w.PostAs(from, parley.Draft{Direct: []string{to}, TraceID: trace, Content: text(words)}).Message
	}
	first := say("user", "arya", "one")
	w.SendDM("user", "arya", "of another trace")
	w.ReplyAs("arya", first.ID, "two")
	say("arya", "gendry", "three")
	same(t, "arya's, who has posted last", w.textsOfTrace("arya", trace), []string{"one", "two", "three"})
	for _, id := range []string{trace, strings.ToUpper(trace), "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", first.ID} {
		same(t, "the owner's "+id, w.textsOfTrace("user", id), []string{"one", "two", "three"})
	}
	same(t, "gendry's", w.textsOfTrace("gendry", trace), []string{"three"})
	shown := resultOf[parley.Traced](w)(w.Trace(ctx, user, trace)).Items
	same(t, "what became of the first", shown[0].Deliveries[0].State, parley.DeliveryAnswered)
	_, err := w.Trace(ctx, as("gendry"), first.ID)
	wantError(t, err, notFoundError("trace", first.ID, checkName))
	_, err = w.Trace(ctx, user, "a b")
	wantError(t, err, refusalError(parley.BadInput, "", `trace_id "a b" contains a space or control character`,
		"use a UUID, 32 hexadecimal digits, or one word"))
}

// Without the indexer only replies lead on, as they do to what was redacted or came a moment ago.
func TestTraceFollowsReplies(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya")
	root := w.SendDM("user", "arya", "one").Message
	second := w.ReplyAs("arya", root.ID, "two").Message
	third := w.ReplyAs("user", second.ID, "three").Message
	w.PostAs("user", parley.Draft{InReplyTo: third.ID, TraceID: "elsewhere", Content: text("of another trace")})
	for _, id := range []string{root.ID, second.ID, third.ID} {
		same(t, "from "+id, w.textsOfTrace("arya", id), []string{"one", "two", "three"})
	}
	resultOf[parley.Message](w)(w.Redact(ctx, user, second.ID, "a secret"))
	same(t, "redacted", w.textsOfTrace("arya", root.ID), []string{"one", "", "three"})
}

// TestTraceSaysThatItIsCut: one that fits is whole, one message more is said.
func TestTraceSaysThatItIsCut(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya")
	room := w.CreateConversationAs("user", parley.NewConversation{Name: "hall"}).ID
	w.Start(ctx)
	say := func() { w.PostAs("user", parley.Draft{Conversation: room, TraceID: "long", Content: text("x")}) }
	for range 1000 {
		say()
	}
	whole := resultOf[parley.Traced](w)(w.Trace(ctx, user, "long"))
	same(t, "as many as fit", []any{len(whole.Items), whole.Cut}, []any{1000, false})
	say()
	cut := resultOf[parley.Traced](w)(w.Trace(ctx, user, "long"))
	same(t, "one more", []any{len(cut.Items), cut.Cut}, []any{1000, true})
}

func TestSearchByTrace(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya")
	w.Start(ctx)
	w.PostAs("user", parley.Draft{Direct: []string{"arya"}, TraceID: "build-7", Content: text("red")})
	w.PostAs("user", parley.Draft{Direct: []string{"arya"}, Content: text("red")})
	found := resultOf[parley.SearchResult](w)(w.Search(ctx, user, parley.SearchRequest{Query: "red trace:build-7"}))
	same(t, "hits", len(found.Hits), 1)
}

// TestTraceByTheNameOfAFile: who works in a tree knows no other ids. What a caller may not read is not found by its name either.
func TestTraceByTheNameOfAFile(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.Start(ctx)
	mail := joinInboxTree(w)
	came := mail.arriveMessage(mail.document("ana", "arya", "from a file"))
	sent := w.SendDM("arya", "ana", "into a file").Message
	mail.departs(sent, "ana", "msg_0a1b2c3d")
	same(t, "of what came", w.textsOfTrace("user", "msg_00000001"), []string{"from a file"})
	same(t, "of what departed", w.textsOfTrace("arya", "msg_0a1b2c3d"), []string{"into a file"})
	_, err := w.Trace(ctx, as("gendry"), "msg_0a1b2c3d")
	wantError(t, err, notFoundError("trace", "msg_0a1b2c3d", checkName))
	for name, m := range map[string]parley.Message{"msg_00000001": came, "msg_0a1b2c3d": sent} {
		f := resultOf[parley.LogFilter](w)(w.LogFilter(ctx, user, parley.LogFilter{Trace: name}))
		same(t, "of the log of "+name, f.Trace, m.TraceID)
	}

	board := w.joinBridge(parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"cat"}})
	w.Clock.Advance(time.Second)
	board.arriveMessage(board.document("cat", "arya", "newer, in another tree"))
	same(t, "the newest", w.textsOfTrace("user", "msg_00000001"), []string{"newer, in another tree"})

	w.PostAs("user", parley.Draft{Direct: []string{"arya"}, TraceID: "msg_0a1b2c3d", Content: text("a trace of that id")})
	same(t, "a trace has its own id", w.textsOfTrace("user", "msg_0a1b2c3d"), []string{"a trace of that id"})
	f := resultOf[parley.LogFilter](w)(w.LogFilter(ctx, user, parley.LogFilter{Trace: "msg_0a1b2c3d"}))
	same(t, "as the log says", f.Trace, "msg_0a1b2c3d")
}
