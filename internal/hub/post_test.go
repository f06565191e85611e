package hub_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func TestPostFillsTheEnvelope(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	open := w.CreateChannel("arya", "open", "ned").ID
	before := w.LastEventNumber()
	d := parley.Draft{
		Conversation: "#open", To: "NED", Type: "qc_review",
		Content: parley.Content{Text: "look", Code: "x()", Artifacts: []parley.Artifact{{Name: "a", Path: "/a"}}},
		Payload: json.RawMessage(`{ "n": 1.0 }`), Metadata: json.RawMessage(`{"agentos": {"b":"<&>"}}`),
	}
	got := w.PostAs("arya", d)
	m := got.Message
	want := parley.Message{
		ID: m.ID, Seq: before + 1, TraceID: m.ID, Conversation: open, From: "arya", To: "ned", Type: "qc_review",
		Priority: parley.DefaultPriority, CreatedAt: began, Content: d.Content, Payload: json.RawMessage(`{"n":1.0}`),
		Metadata: json.RawMessage(`{"agentos":{"b":"<&>"}}`), Source: "test", Hops: 1, Checksum: m.Checksum,
	}
	same(t, "message", m, want)
	delivery := parley.Delivery{
		Message: m.ID, Seq: m.Seq, Conversation: open, From: "arya", Recipient: "ned", State: parley.DeliveryAccepted,
		Waking: true, Priority: parley.DefaultPriority, PairSeq: 1, AcceptedAt: began,
	}
	same(t, "deliveries", got.Deliveries, []parley.Delivery{delivery})
	shown, err := w.Message(ctx, as("ned"), m.ID)
	w.NoError(err)
	same(t, "stored", shown, parley.Shown{Message: want, Deliveries: []parley.Delivery{delivery}})
	if !shown.Intact() {
		t.Error("the checksum does not hold")
	}
	same(t, "event", eventsAfter(w, before), []parley.Event{{
		Num: m.Seq, At: began, Kind: parley.EventMessagePosted, Conversation: open, Agent: "arya", By: "arya", Message: m.ID,
	}})
	view := w.ConversationAs("arya", open)
	same(t, "counted", []int64{view.Messages, view.LastSeq}, []int64{1, m.Seq})
}

func TestMessageIsFoundByItsIDInAnyCase(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	id := w.SendDM("arya", "ned", "hi").Message.ID
	shown, err := w.Message(ctx, as("ned"), strings.ToUpper(id))
	w.NoError(err)
	same(t, "ids", []string{shown.ID, shown.Deliveries[0].Message}, []string{id, id})
}

func TestSourceIsTheInterface(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for source, want := range map[string]string{"": "api", "mcp": "mcp"} {
		r, err := w.Post(ctx, hub.Caller{Agent: "arya", Source: source}, parley.Draft{Direct: []string{"user"}, Content: text("hi")})
		w.NoError(err)
		same(t, "source", r.Message.Source, want)
	}
}

// TestOnePairHasOneDM lets many open the same conversation at once, from both sides and in any order.
func TestOnePairHasOneDM(t *testing.T) {
	t.Parallel()
	sets := map[string][]string{"dm": {"arya", "ned"}, "group": {"arya", "ned", "bran", "user"}}
	for kind, set := range sets {
		t.Run(kind, func(t *testing.T) {
			w := newHub(t)
			w.AddAgents("arya", "ned", "bran")
			drafts := make([]parley.Draft, 64)
			for i := range drafts {
				others := append(append([]string{}, set[:i%len(set)]...), set[i%len(set)+1:]...)
				rand.Shuffle(len(others), func(a, b int) { others[a], others[b] = others[b], others[a] })
				if i%3 == 0 {
					others = append(others, strings.ToUpper(others[0])) // naming one twice makes no other set
				}
				drafts[i] = parley.Draft{Direct: others, Content: text(fmt.Sprint("message ", i))}
			}
			found := postAtOnce(w, drafts, func(i int) string { return set[i%len(set)] })
			same(t, "conversations", len(found), 1)
			for id, n := range found {
				same(t, "messages in it", []int{n, len(w.ConversationIDs("arya", parley.ListFilter{}))}, []int{64, 1})
				same(t, "its kind", string(w.ConversationAs("arya", id).Kind), kind)
				same(t, "its members", len(w.ConversationAs("arya", id).Members), len(set))
			}
		})
	}
}

// postAtOnce posts drafts from as many goroutines and counts the conversations they went to.
func postAtOnce(w *fixture, drafts []parley.Draft, from func(int) string) map[string]int {
	w.T.Helper()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		start = make(chan struct{})
		found = map[string]int{}
	)
	for i, d := range drafts {
		wg.Go(func() {
			<-start
			r, err := w.Post(ctx, as(from(i)), d)
			if err != nil {
				w.T.Errorf("post %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			found[r.Message.Conversation]++
		})
	}
	close(start)
	wg.Wait()
	return found
}

func TestTwoAndThreeAreDifferentConversations(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	conv := func(from string, others ...string) string {
		return w.PostAs(from, parley.Draft{Direct: others}).Message.Conversation
	}
	pair, three, other := conv("arya", "ned"), conv("arya", "ned", "bran"), conv("arya", "bran")
	if pair == three || pair == other || three == other {
		t.Errorf("not three conversations: %s %s %s", pair, three, other)
	}
	same(t, "oneself among the others", conv("arya", "arya", "ned"), pair)
	same(t, "one named twice", conv("ned", "arya", "Arya"), pair)
	first, second := w.SendEphemeralDM("arya", "ned", "?").Message.Conversation, w.SendEphemeralDM("arya", "ned", "?").Message.Conversation
	same(t, "each ephemeral is its own", []bool{first == second, first == pair}, []bool{false, false})
}

func TestEphemeralIsArchivedOnceAnswered(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.SendDM("arya", "ned", "earlier")
	asked := w.SendEphemeralDM("arya", "ned", "where?").Message
	conv := asked.Conversation
	archived := func() bool { return w.ConversationAs("arya", conv).ArchivedAt != nil }
	same(t, "its history is its own", w.TextsIn("ned", conv), []string{"where?"})
	w.PostAs("arya", parley.Draft{InReplyTo: asked.ID, Content: text("I mean the sword")})
	same(t, "archived by the asker's own addition", archived(), false)
	w.PostAs("ned", parley.Draft{Conversation: conv, Content: text("hm")})
	same(t, "archived by a message that answers nothing", archived(), false)
	w.PostAs(parley.System, parley.Draft{Conversation: conv, InReplyTo: asked.ID, Type: parley.TypeError, Content: text("not delivered")})
	same(t, "archived by the hub's own words", archived(), false)
	answer := w.ReplyAs("ned", asked.ID, "there").Message
	same(t, "archived by the answer", archived(), true)
	same(t, "still readable", w.TextsIn("arya", conv), []string{"where?", "I mean the sword", "hm", "not delivered", "there"})
	w.PostAs("arya", parley.Draft{Conversation: conv, Content: text("thanks")})
	same(t, "archived after a new message", archived(), false)
	w.ReplyAs("ned", asked.ID, "once more")
	same(t, "archived by another answer", archived(), true)
	follow := w.ReplyAs("arya", answer.ID, "and the shield?").Message
	same(t, "archived by the asker's reply to the answer", archived(), false)
	w.ReplyAs("ned", follow.ID, "there too")
	same(t, "archived by the answer to that", archived(), true)
}

func TestReplyGoesWhereTheQuestionIs(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	open := w.CreateChannel("arya", "open", "ned").ID
	w.SendDM("arya", "ned", "elsewhere")
	asked := w.PostAs("arya", parley.Draft{Conversation: open, TraceID: "winter-1"})
	got := w.ReplyAs("ned", asked.Message.ID, "yes")
	m := got.Message
	same(t, "reply", []string{m.Conversation, m.To, m.InReplyTo, m.TraceID}, []string{open, "arya", asked.Message.ID, "winter-1"})
	same(t, "reaches", wakesByRecipient(got.Deliveries), map[string]bool{"arya": true})

	self := w.ReplyAs("arya", asked.Message.ID, "I add").Message
	same(t, "to one's own message: to nobody", []string{self.Conversation, self.To, self.TraceID}, []string{open, "", "winter-1"})
	outsider := w.ReplyAs("bran", asked.Message.ID, "may I?").Message
	same(t, "from outside a public channel: joins", []any{outsider.To, w.ConversationAs("bran", open).Joined}, []any{"arya", true})
	told := w.PostAs(parley.System, parley.Draft{Conversation: open, Content: text("notice")}).Message
	same(t, "to the hub: to nobody", w.ReplyAs("ned", told.ID, "ok").Message.To, "")
	given := w.PostAs("ned", parley.Draft{InReplyTo: asked.Message.ID, TraceID: "other", To: "bran"}).Message
	same(t, "trace and addressee given", []string{given.TraceID, given.To}, []string{"other", "bran"})
	plain := w.PostAs("ned", parley.Draft{Conversation: "open", InReplyTo: asked.Message.ID}).Message
	same(t, "with its conversation named: to nobody", []string{plain.To, plain.InReplyTo}, []string{"", asked.Message.ID})
}

func TestReplyToAFormerMemberIsForTheChannel(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	_, err := w.CreateConversation(ctx, as("arya"), parley.NewConversation{Name: "shut", With: []string{"ned"}, Private: true})
	w.NoError(err)
	said := w.SayIn("ned", "shut", "I am off").Message.ID
	w.NoError(w.Leave(ctx, as("ned"), "shut"))
	same(t, "a reply is for the channel", w.ReplyAs("arya", said, "bye").Message.To, "")
}

func elsewhere(id string) *parley.Error {
	return refusalError(parley.BadInput, "", "message "+id+" is in another conversation", "answer it where it is: leave the conversation out")
}

func TestReplyRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.CreateChannel("arya", "open", "ned")
	asked := w.SayIn("arya", "open", "?").Message.ID
	foreign := w.SendDM("arya", "ned", "?").Message.ID
	post := func(from string, d parley.Draft) func() error {
		d.Content = text("hello")
		return func() error { _, err := w.Post(ctx, as(from), d); return err }
	}
	const nowhere = "0190a000-0000-7000-8000-000000000000"
	w.assertRefusals(t, []refusal{
		{"to nothing", post("ned", parley.Draft{InReplyTo: nowhere}), notFoundError("message", nowhere, checkName)},
		{"to no id", post("ned", parley.Draft{InReplyTo: "x"}), notFoundError("message", "x", checkName)},
		{"to the unseen", post("bran", parley.Draft{InReplyTo: foreign}), notFoundError("message", foreign, checkName)},
		{
			"in another conversation", post("ned", parley.Draft{Conversation: "open", InReplyTo: foreign}),
			elsewhere(foreign),
		},
		{
			"in a new ephemeral", post("ned", parley.Draft{Direct: []string{"arya"}, Ephemeral: true, InReplyTo: asked}),
			elsewhere(asked),
		},
	})
}

func TestTraceIsGivenOrMade(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	m := w.SendDM("arya", "user", "hi").Message
	same(t, "made", m.TraceID, m.ID)
	same(t, "given", w.PostAs("arya", parley.Draft{Direct: []string{"user"}, TraceID: "kept-as-is"}).Message.TraceID, "kept-as-is")
}

func TestHopsCountAutomaticMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.AddPerson("jon", parley.AccessMember)
	first := w.PostAs("arya", parley.Draft{Direct: []string{"ned", "jon"}}).Message
	second := w.ReplyAs("ned", first.ID, "2").Message
	third := w.ReplyAs("arya", second.ID, "3").Message
	person := w.ReplyAs("jon", third.ID, "4").Message
	after := w.ReplyAs("ned", person.ID, "5").Message
	hub := w.PostAs(parley.System, parley.Draft{Conversation: first.Conversation, InReplyTo: third.ID}).Message
	same(t, "hops", []int{first.Hops, second.Hops, third.Hops, person.Hops, after.Hops, hub.Hops}, []int{1, 2, 3, 0, 1, 0})
}

func TestTimesOfAMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	at := func(d time.Duration) *time.Time { due := began.Add(d); return &due }
	zoned := began.Add(time.Hour).In(time.FixedZone("", 3600)).Add(1500 * time.Microsecond)
	for _, c := range []struct {
		name              string
		draft             parley.Draft
		expires, deadline *time.Time
	}{
		{"nothing", parley.Draft{}, nil, nil},
		{"ttl", parley.Draft{TTL: 90}, at(90 * time.Second), nil},
		{"deadline in UTC milliseconds", parley.Draft{Deadline: &zoned}, nil, at(time.Hour + time.Millisecond)},
		{"ack by default", parley.Draft{RequiresAck: true}, nil, at(30 * time.Minute)},
		{"ack low", parley.Draft{RequiresAck: true, Priority: level(3)}, nil, at(24 * time.Hour)},
		{"ack normal", parley.Draft{RequiresAck: true, Priority: level(4)}, nil, at(30 * time.Minute)},
		{"ack high", parley.Draft{RequiresAck: true, Priority: level(7)}, nil, at(5 * time.Minute)},
		{"ack critical", parley.Draft{RequiresAck: true, Priority: level(10)}, nil, at(5 * time.Second)},
		{"ack with a deadline", parley.Draft{RequiresAck: true, Deadline: at(time.Second)}, nil, at(time.Second)},
	} {
		c.draft.Direct = []string{"user"}
		m := w.PostAs("arya", c.draft).Message
		same(t, c.name, []*time.Time{m.ExpiresAt, m.Deadline}, []*time.Time{c.expires, c.deadline})
		same(t, c.name+": ack", m.RequiresAck, c.draft.RequiresAck)
	}
}

func level(n int) parley.Priority {
	p, err := parley.PriorityOf(n)
	if err != nil {
		panic(err)
	}
	return p
}

func TestPriorityWordComesBack(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for _, c := range []struct {
		given string
		level int
		json  string
	}{
		{"low", 2, `"low"`},
		{"normal", 5, `"normal"`},
		{"HIGH", 8, `"high"`},
		{"urgent", 10, `"urgent"`},
		{"critical", 10, `"critical"`},
		{"0", 0, "0"},
		{"10", 10, "10"},
	} {
		p, err := parley.ParsePriority(c.given)
		w.NoError(err)
		id := w.PostAs("arya", parley.Draft{Direct: []string{"user"}, Priority: p}).Message.ID
		shown, err := w.Message(ctx, user, id)
		w.NoError(err)
		raw, err := json.Marshal(shown.Priority)
		w.NoError(err)
		same(t, c.given, []any{shown.Priority.Level(), string(raw)}, []any{c.level, c.json})
	}
}

func TestSenderIsTheCaller(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	arya := resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "arya", Name: "NoOne"}))
	w.AddAgents("ned", "bran")
	w.NoError(w.RemoveAgent(ctx, user, "bran"))
	for _, own := range []string{"", "arya", "ARYA", "noone", "ＮｏＯｎｅ", arya.UUID, strings.ToUpper(arya.UUID)} {
		m := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, From: own}).Message
		same(t, "claiming "+own, m.From, "arya")
	}
	var table []refusal
	for _, other := range []string{"ned", "user", "parley", "nobody", "bran", "all", "arya "} {
		table = append(table, refusal{"claiming " + other, func() error {
			_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, From: other, Content: text("hi")})
			return err
		}, refusalError(parley.NotPermitted, "", fmt.Sprintf("arya cannot send as %q", other), "leave the sender out: it is known from the credential")})
	}
	table = append(table, refusal{"an owner claiming an agent", func() error {
		_, err := w.Post(ctx, user, parley.Draft{Direct: []string{"ned"}, From: "arya", Content: text("hi")})
		return err
	}, refusalError(parley.NotPermitted, "", `user cannot send as "arya"`, "leave the sender out: it is known from the credential")})
	w.assertRefusals(t, table)
}

func TestIdempotencyKeyReturnsTheFirstMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open")
	keyed := func(from, words string) parley.Receipt {
		return w.PostAs(from, parley.Draft{Direct: []string{"user"}, Content: text(words), IdempotencyKey: "k"})
	}
	first := keyed("arya", "one")
	same(t, "the key is kept", []any{first.Duplicate, first.Message.IdempotencyKey}, []any{false, "k"})
	w.Clock.Advance(24*time.Hour - time.Millisecond)
	before := w.storeSnapshot()
	again := w.PostAs("arya", parley.Draft{Conversation: "open", Content: text("other words, other place"), IdempotencyKey: "k"})
	same(t, "again", again, parley.Receipt{Message: first.Message, Deliveries: first.Deliveries, Duplicate: true})
	same(t, "state", w.storeSnapshot(), before)
	w.NoError(w.Sweep(ctx))
	w.Restart()
	same(t, "through sweep and restart", keyed("arya", "two").Message.ID, first.Message.ID)

	other := keyed("ned", "mine")
	same(t, "per sender", []any{other.Duplicate, other.Message.From}, []any{false, "ned"})
	w.Clock.Advance(time.Millisecond)
	late := keyed("arya", "three")
	same(t, "after 24 hours", []any{late.Duplicate, late.Message.ID == first.Message.ID}, []any{false, false})
	same(t, "from then on", keyed("arya", "four").Message.ID, late.Message.ID)

	w.CreatePrivateChannel("user", "shut", "arya")
	hidden := parley.Draft{Conversation: "shut", Content: text("secret"), IdempotencyKey: "h"}
	w.PostAs("arya", hidden)
	w.NoError(w.RemoveMember(ctx, user, "shut", "arya"))
	w.NoError(w.DeleteConversation(ctx, user, late.Message.Conversation))
	again2 := func(d parley.Draft) func() error {
		return func() error { _, err := w.Post(ctx, as("arya"), d); return err }
	}
	w.assertRefusals(t, []refusal{
		{"once its conversation is deleted", again2(parley.Draft{Direct: []string{"user"}, Content: text("x"), IdempotencyKey: "k"}), usedUp("k")},
		{"once it was taken out of it", again2(hidden), usedUp("h")},
	})
}

func usedUp(key string) *parley.Error {
	return refusalError(parley.BadInput, parley.Conflict, fmt.Sprintf("the idempotency key %q was used for a message that was removed", key), "use another key")
}

func TestManyWithOneKeyStoreOneMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	drafts := make([]parley.Draft, 64)
	for i := range drafts {
		drafts[i] = parley.Draft{Direct: []string{"user"}, Content: text("once"), IdempotencyKey: "k"}
	}
	for conv := range postAtOnce(w, drafts, func(int) string { return "arya" }) {
		same(t, "messages", w.TextsIn("arya", conv), []string{"once"})
	}
}

func TestRefusedPostDoesNotUseUpItsKey(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	d := parley.Draft{Conversation: "nowhere", Content: text("hi"), IdempotencyKey: "k"}
	_, err := w.Post(ctx, as("arya"), d)
	wantError(t, err, notFoundError("conversation", "nowhere", listConversations))
	w.CreateChannel("arya", "nowhere")
	same(t, "duplicate", w.PostAs("arya", d).Duplicate, false)
}

func TestPairSeqCountsFromOneSenderToOneRecipient(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.CreateChannel("arya", "open", "ned", "bran")
	count := func(r parley.Receipt) map[string]int64 {
		seqs := map[string]int64{}
		for _, d := range r.Deliveries {
			seqs[d.Recipient] = d.PairSeq
		}
		return seqs
	}
	same(t, "dm", count(w.SendDM("arya", "ned", "1")), map[string]int64{"ned": 1})
	same(t, "ephemeral", count(w.SendEphemeralDM("arya", "ned", "2")), map[string]int64{"ned": 2})
	same(t, "to all", count(w.PostAs("arya", parley.Draft{Conversation: "open", To: "all"})), map[string]int64{"ned": 3, "bran": 1})
	same(t, "the other way", count(w.SendDM("ned", "arya", "1")), map[string]int64{"arya": 1})
	w.SayIn("arya", "open", "no delivery")
	_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned", "nobody"}, Content: text("refused")})
	wantError(t, err, notFoundError("agent", "nobody", listAgents))
	w.Restart()
	same(t, "without gaps", count(w.SendDM("arya", "ned", "4")), map[string]int64{"ned": 4})
}

func TestPostRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.CreateChannel("arya", "open", "ned")
	w.CreatePrivateChannel("arya", "closed", "ned")
	pair := w.SendDM("arya", "ned", "hi").Message.Conversation
	past, now := began.Add(-time.Second), began
	never := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)) // JSON has this, but not in UTC
	post := func(from string, d parley.Draft) func() error {
		if d.Content.Text == "" {
			d.Content = text("hello")
		}
		return func() error { _, err := w.Post(ctx, as(from), d); return err }
	}
	bad := func(sentence, hint string) *parley.Error { return refusalError(parley.BadInput, "", sentence, hint) }
	direct := func(names ...string) parley.Draft { return parley.Draft{Direct: names} }
	outside := func(title string) *parley.Error {
		return refusalError(parley.NotPermitted, "", "user does not take part in "+title, "join it first, or write in a conversation of your own")
	}
	w.assertRefusals(t, []refusal{
		{"nowhere", post("arya", parley.Draft{}), bad("the message has no conversation", "name a conversation or the recipients")},
		{
			"to two places", post("arya", parley.Draft{Conversation: "open", Direct: []string{"ned"}}),
			bad("the message names both a conversation and recipients", "name only one of them"),
		},
		{
			"ephemeral for three", post("arya", parley.Draft{Direct: []string{"ned", "bran"}, Ephemeral: true}),
			bad("an ephemeral conversation needs exactly one recipient", "name one recipient in direct"),
		},
		{"without words", post("arya", parley.Draft{Conversation: "open", Content: text(" \n")}), bad("the message is empty", "give it a text")},
		{
			"of a bad type", post("arya", parley.Draft{Conversation: "open", Type: "Chat"}),
			bad(`"Chat" is not a message type`, "a type is 1 to 64 of a-z, 0-9, _ and -, starting with a letter"),
		},
		{"into the unknown", post("arya", parley.Draft{Conversation: "opne"}), notFoundError("conversation", "opne", "did you mean open?")},
		{"into the unseen", post("bran", parley.Draft{Conversation: "closed"}), notFoundError("conversation", "closed", listConversations)},
		{"an owner into a private channel", post("user", parley.Draft{Conversation: "closed"}), outside("#closed")},
		{"an owner into another's dm", post("user", parley.Draft{Conversation: pair}), outside("dm " + pair)},
		{"to oneself", post("arya", parley.Draft{Conversation: "open", To: "Arya"}), bad("arya cannot write to itself", "name another participant")},
		{"directly to oneself", post("arya", direct("arya")), bad("arya cannot write to itself", "name another participant")},
		{
			"ephemeral to oneself", post("arya", parley.Draft{Direct: []string{"arya"}, Ephemeral: true}),
			bad("arya cannot write to itself", "name another participant"),
		},
		{"to the hub", post("arya", parley.Draft{Conversation: "open", To: "Parley"}), bad("parley cannot receive messages", "name an agent or a person")},
		{"directly to the hub", post("arya", direct("parley")), bad("parley cannot receive messages", "name an agent or a person")},
		{"to nobody", post("arya", parley.Draft{Conversation: "open", To: "nedd"}), notFoundError("agent", "nedd", "did you mean ned?")},
		{"directly to nobody", post("arya", direct("nedd")), notFoundError("agent", "nedd", "did you mean ned?")},
		{"directly to all", post("arya", direct("all")), notFoundError("agent", "all", listAgents)},
		{
			"past its deadline", post("arya", parley.Draft{Conversation: "open", Deadline: &past}),
			bad("the deadline 2026-03-01T08:59:59Z has passed", "use a time in the future, or leave the deadline out"),
		},
		{
			"due at once", post("arya", parley.Draft{Conversation: "open", Deadline: &now}),
			bad("the deadline 2026-03-01T09:00:00Z has passed", "use a time in the future, or leave the deadline out"),
		},
		{
			"due when no year has four digits", post("arya", parley.Draft{Conversation: "open", Deadline: &never}),
			bad("the deadline 10000-01-01T00:59:59Z is too far ahead", "use a time within ten years, or leave the deadline out"),
		},
		{"of negative life", post("arya", parley.Draft{Conversation: "open", TTL: -1}), bad("ttl is -1 seconds", "use 1 to 315360000")},
		{
			"with a bad trace", post("arya", parley.Draft{Conversation: "open", TraceID: "a b"}),
			bad(`trace_id "a b" contains a space or control character`, "use a UUID, 32 hexadecimal digits, or one word"),
		},
		{"with NUL", post("arya", parley.Draft{Conversation: "open", Content: text("a\x00b")}), bad("text contains a NUL character", "remove it")},
	})
}

func TestSizeLimits(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.CreateChannel("arya", "open")
	const body = 256 << 10
	large := func(sentence, hint string) *parley.Error {
		return refusalError(parley.BadInput, parley.TooLarge, sentence, hint)
	}
	short := "shorten it, or send an artifact"
	payload := func(size int) json.RawMessage { return json.RawMessage(`{"a":"` + strings.Repeat("x", size-8) + `"}`) }
	deep := func(levels int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels))
	}
	artifact := func(size int64) parley.Content {
		return parley.Content{Text: "see", Artifacts: []parley.Artifact{{Path: "/a", Size: size}}}
	}
	cases := []struct {
		name     string
		at, over parley.Draft
		want     *parley.Error
	}{
		{
			"text",
			parley.Draft{Content: text(strings.Repeat("x", body))},
			parley.Draft{Content: text(strings.Repeat("x", body+1))},
			large("text has 262145 bytes, the limit is 262144", short),
		},
		{
			"payload",
			parley.Draft{Payload: payload(body)},
			parley.Draft{Payload: payload(body + 1)},
			large("payload has 262145 bytes, the limit is 262144", short),
		},
		{
			"text and payload",
			parley.Draft{Content: text("xx"), Payload: payload(body - 2)},
			parley.Draft{Content: text("xx"), Payload: payload(body - 1)},
			large("text, code and payload has 262145 bytes, the limit is 262144", short),
		},
		{
			"depth",
			parley.Draft{Payload: deep(32)},
			parley.Draft{Payload: deep(33)},
			large("payload is nested 33 levels deep, the limit is 32", "use fewer levels, or send an artifact"),
		},
		{
			"artifact",
			parley.Draft{Content: artifact(64 << 20)},
			parley.Draft{Content: artifact(64<<20 + 1)},
			large("an artifact has 67108865 bytes, the limit is 67108864", "split it, or refer to it by a path"),
		},
	}
	var table []refusal
	for _, c := range cases {
		c.at.Conversation, c.over.Conversation = "open", "open"
		if _, err := w.Post(ctx, as("arya"), c.at); err != nil {
			t.Errorf("%s at the limit: %v", c.name, err)
		}
		table = append(table, refusal{c.name, func() error { _, err := w.Post(ctx, as("arya"), c.over); return err }, c.want})
	}
	w.assertRefusals(t, table)
}

func TestLimitsAreConfigured(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) {
		w.Config.Limits = parley.Limits{Body: 10, Artifact: 1, Depth: 1, Mentions: 1}
	})
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open", "ned")
	w.SayIn("arya", "open", "@ned 67890")
	w.assertRefusals(t, []refusal{{"over", func() error {
		_, err := w.Post(ctx, as("arya"), parley.Draft{Conversation: "open", Content: text("@ned 678901")})
		return err
	}, refusalError(parley.BadInput, parley.TooLarge, "text has 11 bytes, the limit is 10", "shorten it, or send an artifact")}, {
		"mentions", func() error {
			_, err := w.Post(ctx, as("arya"), parley.Draft{Conversation: "open", Content: text("@ned @user")})
			return err
		}, refusalError(parley.BadInput, parley.TooLarge, "the text mentions 2 participants, the limit is 1", "mention fewer, or @all"),
	}})
}

func TestAtMostSixtyFourCanBeNamedDirectly(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	var names []string
	for i := range 65 {
		names = append(names, fmt.Sprint("agent", i))
	}
	w.AddAgents(names...)
	w.assertRefusals(t, []refusal{{"65", func() error {
		_, err := w.Post(ctx, user, parley.Draft{Direct: names, Content: text("hi")})
		return err
	}, refusalError(parley.BadInput, parley.TooLarge, "the message names 65 recipients, the limit is 64", "create a channel")}})
	same(t, "deliveries", len(w.PostAs("user", parley.Draft{Direct: names[:64]}).Deliveries), 64)
}

func TestRemovedRecipient(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.CreateChannel("arya", "open", "ned")
	pair := w.SendDM("arya", "ned", "hi").Message
	quick := w.SendEphemeralDM("arya", "ned", "hi").Message
	three := w.PostAs("arya", parley.Draft{Direct: []string{"ned", "bran"}}).Message.Conversation
	said := w.SayIn("ned", "open", "last words").Message.ID
	w.NoError(w.RemoveAgent(ctx, user, "ned"))
	post := func(d parley.Draft) func() error {
		d.Content = text("hello")
		return func() error { _, err := w.Post(ctx, as("arya"), d); return err }
	}
	w.assertRefusals(t, []refusal{
		{"to it", post(parley.Draft{Conversation: "open", To: "ned"}), removed("ned")},
		{"directly", post(parley.Draft{Direct: []string{"ned"}}), removed("ned")},
		{"in its group", post(parley.Draft{Direct: []string{"bran", "ned"}}), removed("ned")},
		{"ephemeral", post(parley.Draft{Direct: []string{"ned"}, Ephemeral: true}), removed("ned")},
		{"in the dm", post(parley.Draft{Conversation: pair.Conversation}), removed("ned")},
		{"in the ephemeral", post(parley.Draft{Conversation: quick.Conversation}), removed("ned")},
		{"a reply in the dm", post(parley.Draft{InReplyTo: pair.ID}), removed("ned")},
	})
	same(t, "a reply is for the channel", w.ReplyAs("arya", said, "we remember").Message.To, "")
	left := w.SayIn("arya", three, "you and me")
	same(t, "the rest of a group", wakesByRecipient(left.Deliveries), map[string]bool{"bran": false})
	same(t, "the sender is told", left.Notices, []string{"ned was removed and does not receive this"})
	mention := w.SayIn("arya", "open", "remember @ned")
	same(t, "a mention of it", []any{mention.Message.Mentions, len(mention.Deliveries)}, []any{[]string(nil), 0})
	same(t, "its messages stay", w.TextsIn("arya", pair.Conversation), []string{
		"hi", "Error: ned was removed. Hint: write to another participant.",
	})
}

func TestSystemPostsEverywhereAndIsNoMember(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	for kind, id := range at {
		before := w.ConversationAs("user", id).Members
		r := w.PostAs(parley.System, parley.Draft{Conversation: id, To: "ned"})
		same(t, kind+": from", r.Message.From, parley.System)
		same(t, kind+": wakes whom it is to", wakesByRecipient(r.Deliveries)["ned"], true)
		same(t, kind+": members", w.ConversationAs("user", id).Members, before)
		all := w.PostAs("arya", parley.Draft{Conversation: id, To: "all", Content: text("@parley @all")})
		if _, reached := wakesByRecipient(all.Deliveries)[parley.System]; reached {
			t.Errorf("%s: a delivery to the system", kind)
		}
	}
	r := w.PostAs(parley.System, parley.Draft{Direct: []string{"bran"}})
	same(t, "it can write to one alone", wakesByRecipient(r.Deliveries), map[string]bool{"bran": true})
}
