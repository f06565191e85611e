package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// effect holds the recipients of a message. The value is whether the message wakes the recipient.
type effect map[string]bool

// TestRecipientsAndWakesOfEachMessage is the table of who gets a delivery and who is woken by it. The members
// are arya, who posts and is an agent, ned and bran; robb is an outsider everywhere. The dm and the
// ephemeral are arya's with ned.
func TestRecipientsAndWakesOfEachMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran", "robb")
	w.AddPerson("sansa", parley.AccessMember)
	at := map[string]string{
		"channel":   w.CreateChannel("arya", "open", "ned", "bran", "sansa").ID,
		"private":   w.CreatePrivateChannel("arya", "closed", "ned", "bran", "sansa").ID,
		"club":      w.CreateGroup("arya", "club", "ned", "bran", "sansa").ID,
		"group":     w.PostAs("arya", parley.Draft{Direct: []string{"ned", "bran", "sansa"}}).Message.Conversation,
		"dm":        w.SendDM("arya", "ned", "hi").Message.Conversation,
		"ephemeral": w.SendEphemeralDM("arya", "ned", "hi").Message.Conversation,
	}
	inbox := func(ids ...string) effect {
		e := effect{}
		for _, id := range ids {
			e[id] = false
		}
		return e
	}
	waking := func(ids ...string) effect {
		e := effect{}
		for _, id := range ids {
			e[id] = true
		}
		return e
	}
	const open, rest = "channel private club", "ned bran sansa"
	others := strings.Fields(rest)
	for _, c := range []struct {
		name, where, from string
		to, words         string
		want              effect
	}{
		{"a plain post is only unread", open, "arya", "", "hello", effect{}},
		{"to one", open, "arya", "ned", "hello", waking("ned")},
		{"to all", open, "arya", "ALL", "hello", inbox(others...)},
		{"@all", open, "arya", "", "hello @All", waking(others...)},
		{"@all inside to all", open, "arya", "all", "hello @all", waking(others...)},
		{"a mention", open, "arya", "", "hello @Ned.", waking("ned")},
		{"two mentions, one twice", open, "arya", "", "@bran @ned @bran", waking("ned", "bran")},
		{"a mention inside to all", open, "arya", "all", "hello @ned", effect{"ned": true, "bran": false, "sansa": false}},
		{"to one and a mention", open, "arya", "bran", "hello @ned", waking("ned", "bran")},
		{"a mention of oneself", open, "arya", "", "I, @arya", effect{}},
		{"a mention of the system", open, "arya", "", "hello @parley", effect{}},
		{"in code", open, "arya", "", "`@ned` and\n```\n@bran\n```\n", effect{}},
		{"an e-mail address", open, "arya", "", "mail a@ned.org", effect{}},
		{"a longer name", open, "arya", "", "hello @ned-2", effect{}},
		{"a leading id", open, "arya", "", "NED: hello", waking("ned")},
		{"a leading id alone", open, "arya", "", "ned", waking("ned")},
		{"a leading id with a comma", open, "arya", "", "ned, hello", waking("ned")},
		{"a leading id of an outsider", open, "arya", "", "robb: hello", effect{}},
		{"a leading all", open, "arya", "", "all: hello", effect{}},
		{"a leading word that is longer", open, "arya", "", "neds sword", effect{}},
		{"an id later on", open, "arya", "", "hello ned", effect{}},
		{"a person's plain post", open, "sansa", "", "hello", effect{}},

		{"an agent in an implicit group", "group", "arya", "", "hello", inbox(others...)},
		{"a person in an implicit group", "group", "sansa", "", "hello", waking("arya", "ned", "bran")},
		{"an agent to one in a group", "group", "arya", "ned", "hello", effect{"ned": true, "bran": false, "sansa": false}},
		{"a person to one in a group", "group", "sansa", "ned", "hello", waking("arya", "ned", "bran")},
		{"an agent's mention in a group", "group", "arya", "", "hello @bran", effect{"ned": false, "bran": true, "sansa": false}},
		{"an agent's @all in a group", "group", "arya", "", "hello @all", waking(others...)},
		{"a person to all in a group", "group", "sansa", "all", "hello", inbox("arya", "ned", "bran")},

		{"a dm needs no mention", "dm ephemeral", "arya", "", "hello", waking("ned")},
		{"to the other", "dm ephemeral", "arya", "ned", "hello", waking("ned")},
		{"to all in a dm", "dm ephemeral", "arya", "all", "hello", inbox("ned")},
		{"to all and a mention in a dm", "dm ephemeral", "arya", "all", "hello @ned", waking("ned")},
		{"the other way", "dm ephemeral", "ned", "", "hello", waking("arya")},
	} {
		for where := range strings.FieldsSeq(c.where) {
			r := w.PostAs(c.from, parley.Draft{Conversation: at[where], To: c.to, Content: text(c.words)})
			same(t, c.name+" in a "+where, effect(wakesByRecipient(r.Deliveries)), c.want)
			shown, err := w.Message(ctx, user, r.Message.ID)
			w.NoError(err)
			same(t, c.name+" in a "+where+", stored", effect(wakesByRecipient(shown.Deliveries)), c.want)
		}
	}
}

func TestSomeTypesNeverWake(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open", "ned")
	for kind, wakes := range map[parley.Type]bool{
		"notification": false, "status": false, "heartbeat": false, "error": false,
		"chat": true, "request": true, "response": true, "task": true, "result": true, "ha_report": true,
	} {
		for where, d := range map[string]parley.Draft{
			"dm":        {Direct: []string{"ned"}},
			"ephemeral": {Direct: []string{"ned"}, Ephemeral: true},
			"to":        {Conversation: "open", To: "ned"},
			"mention":   {Conversation: "open", Content: text("@ned")},
			"@all":      {Conversation: "open", Content: text("@all")},
		} {
			d.Type = kind
			same(t, fmt.Sprintf("%s by %s", kind, where), wakesByRecipient(w.PostAs("arya", d).Deliveries), map[string]bool{"ned": wakes})
		}
	}
}

func TestMentionsAreKeptInOrderAndOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	_, err := w.ChangeAgent(ctx, user, "bran", func(a *parley.Agent) error { a.Name = "Three-Eyed"; return nil })
	w.NoError(err)
	w.CreateChannel("arya", "open", "ned", "bran")
	m := w.SayIn("arya", "open", "ned: ask @three-eyed, @NED, @all and @Bran").Message
	same(t, "mentions", m.Mentions, []string{"ned", "bran", "all"})
}

func TestOutsiderNamedInAPublicChannelJoinsAndIsWoken(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran", "robb")
	open := w.CreateChannel("arya", "open").ID
	w.SayIn("arya", open, "before")
	before := w.LastEventNumber()
	r := w.SayIn("arya", open, "look, @Ned")
	same(t, "mentioned", wakesByRecipient(r.Deliveries), map[string]bool{"ned": true})
	same(t, "notices", r.Notices, []string{})
	same(t, "it joins, then the message comes", kindsAfter(w, before), []parley.EventKind{parley.EventMemberJoined, parley.EventMessagePosted})
	view := w.ConversationAs("ned", open)
	same(t, "and has just this to read", []any{view.Joined, view.Unread}, []any{true, 1})

	r = w.PostAs("arya", parley.Draft{Conversation: open, To: "bran"})
	same(t, "addressed", wakesByRecipient(r.Deliveries), map[string]bool{"bran": true})
	r = w.PostAs("robb", parley.Draft{Conversation: open})
	same(t, "who writes joins", []any{w.ConversationAs("robb", open).Joined, len(r.Deliveries)}, []any{true, 0})
	w.AddAgents("late")
	all := w.SayIn("arya", open, "@all")
	same(t, "@all brings nobody in", []any{len(all.Deliveries), w.ConversationAs("late", open).Joined}, []any{3, false})
	quiet := w.PostAs("arya", parley.Draft{Conversation: open, Type: parley.TypeStatus, Content: text("fyi @late")})
	same(t, "a status brings in and does not wake", wakesByRecipient(quiet.Deliveries), map[string]bool{"late": false})
}

func TestMentionedOutsiderIsNotWokenAndTheSenderGetsANotice(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	at := makeConversations(w)
	fixed := "bran was not woken: its members are fixed: write to bran directly, or use a channel"
	told := map[string]string{
		"private channel": "bran was not woken: add the agent first: parley conv add closed bran",
		"named group":     "bran was not woken: add the agent first: parley conv add club bran",
		"dm":              fixed, "ephemeral": fixed, "group": fixed,
	}
	for kind, notice := range told {
		members := w.ConversationAs("arya", at[kind]).Members
		r := w.SayIn("arya", at[kind], "what would @bran say")
		same(t, kind+": told", r.Notices, []string{notice})
		same(t, kind+": shown", r.Message.Mentions, []string{"bran"})
		if _, reached := wakesByRecipient(r.Deliveries)["bran"]; reached {
			t.Errorf("%s: the outsider got a delivery", kind)
		}
		words := w.TextsIn("ned", at[kind])
		same(t, kind+": stored", words[len(words)-1], "what would @bran say")
		same(t, kind+": members", w.ConversationAs("arya", at[kind]).Members, members)
	}
	var table []refusal
	to := func(id string) func() error {
		return func() error {
			_, err := w.Post(ctx, as("arya"), parley.Draft{Conversation: id, To: "bran", Content: text("hi")})
			return err
		}
	}
	for kind, name := range map[string]string{"private channel": "closed", "named group": "club"} {
		table = append(table, refusal{"to an outsider of a " + kind, to(at[kind]), refusalError(parley.BadInput, "",
			"bran does not take part in #"+name, "add the agent first: parley conv add "+name+" bran")})
	}
	for _, kind := range []string{"dm", "ephemeral", "group"} {
		table = append(table, refusal{"to an outsider of a " + kind, to(at[kind]), refusalError(parley.BadInput, "",
			"bran is not a member of this conversation", "its members are fixed: write to bran directly, or use a channel")})
	}
	w.assertRefusals(t, table)
}

func TestUnknownMentionIsAlwaysNamed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry", "sansa")
	w.CreateChannel("arya", "open", "gendry")
	alone := w.SayIn("arya", "open", "@gendri and @zzzzzz and @gendri, see `@gendrx` or arya@gendri.example")
	same(t, "notices", alone.Notices, []string{
		"nobody is called @gendri: did you mean gendry?",
		"nobody is called @zzzzzz: list agents: parley agent list",
	})
	same(t, "unknown", alone.UnknownMentions, []string{"gendri", "zzzzzz"})
	same(t, "reaches nobody", len(alone.Deliveries), 0)
	same(t, "mentions", alone.Message.Mentions, []string(nil))
	beside := w.SayIn("arya", "open", "@gendry and @sansaa")
	same(t, "beside a valid name", beside.Notices, []string{"nobody is called @sansaa: did you mean sansa?"})
	same(t, "the valid name is woken", len(beside.Deliveries), 1)
	dm := w.SendDM("arya", "gendry", "ask @zzzzzz")
	same(t, "in a DM", dm.UnknownMentions, []string{"zzzzzz"})
	same(t, "no mention", w.SayIn("arya", "open", "hello").UnknownMentions, []string(nil))
}

// Whoever turns to another participant learns of unknown names too, before the call waits, and the sentence stays as it is.
func TestUnknownMentionInAContactIsNamed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry", "sansa")
	want := []string{"nobody is called @sansaa: did you mean sansa?"}
	for pattern, says := range map[parley.Pattern]string{
		parley.PatternAsk:      "Response from user: yes",
		parley.PatternDelegate: "Delegated to user (subtask task-1). You'll receive the result automatically when user finishes.",
		parley.PatternNotify:   "Notification sent to user.",
	} {
		made := func(made parley.Contacted, _ time.Duration) {
			same(t, "before it waits", made.Notices, want)
			w.PostAs("user", parley.Draft{InReplyTo: made.Message, Content: text("yes")})
		}
		told := resultOf[parley.Contacted](w)(w.ContactTelling(ctx, as("arya"), parley.Contact{Pattern: pattern, Agent: "user", Message: "ask @sansaa"}, made))
		same(t, string(pattern), []any{told.Text, told.Notices, told.UnknownMentions}, []any{says, want, []string{"sansaa"}})
	}
	outside := resultOf[parley.Contacted](w)(w.Contact(ctx, as("arya"), notifyContact("user", "ask @gendry")))
	same(t, "not in the DM", outside.Notices, []string{"gendry was not woken: its members are fixed: write to gendry directly, or use a channel"})
	task := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("arya"), parley.NewTask{Text: "sew with @sansaa", Assignee: "user"}))
	same(t, "a task", []any{task.Notices, task.UnknownMentions}, []any{want, []string{"sansaa"}})
}

// The caller of a held call learns of unknown names when the call is made.
func TestUnknownMentionInAHeldContactIsNamed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.addInternOffice()
	held := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "ask @bosss")))
	a := resultOf[parley.Approval](w)(w.Decide(ctx, as("boss"), held.ID, parley.Decision{Approve: true}))
	same(t, "the result", a.Result, "Notification sent to senior.\nNote: nobody is called @bosss: did you mean boss?")
}

func TestMentionOfARemovedAgentIsNamed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.CreateChannel("arya", "open", "gendry")
	w.NoError(w.RemoveAgent(ctx, user, "gendry"))
	r := w.SayIn("arya", "open", "@gendry, where are you?")
	same(t, "notices", r.Notices, []string{"@gendry was removed and does not receive this"})
}

func TestManyUnknownMentionsAreCounted(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "@nobody%02d ", i)
	}
	r := w.SayIn("user", "open", text.String())
	same(t, "as many as are named, and the count of the rest", len(r.Notices), 9)
	same(t, "the rest", r.Notices[8], "nobody has the other 4 names that the text mentions")
}

func TestMentionLimit(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	var names []string
	for i := range 65 {
		names = append(names, fmt.Sprint("agent", i))
	}
	w.AddAgents(names...)
	words := "@" + strings.Join(names, " @")
	w.assertRefusals(t, []refusal{{"65", func() error {
		_, err := w.Post(ctx, user, parley.Draft{Conversation: "open", Content: text(words)})
		return err
	}, refusalError(parley.BadInput, parley.TooLarge, "the text mentions 65 participants, the limit is 64", "mention fewer, or @all")}})
	same(t, "64 are brought in and woken", len(w.SayIn("user", "open", strings.TrimSuffix(words, " @agent64")).Deliveries), 64)
}

func TestAtMost256NamesAreLookedUp(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.CreateChannel("user", "open")
	var words strings.Builder
	for i := range 256 {
		fmt.Fprintf(&words, "@stranger%d ", i)
	}
	same(t, "strangers are nobody", len(w.SayIn("user", "open", words.String()).Deliveries), 0)
	w.assertRefusals(t, []refusal{{"one more", func() error {
		_, err := w.Post(ctx, user, parley.Draft{Conversation: "open", Content: text(words.String() + "@another")})
		return err
	}, refusalError(parley.BadInput, parley.TooLarge, "the text has 257 different @names, the limit is 256", "write names that are not mentions as code, between backticks")}})
}
