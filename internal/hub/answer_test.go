package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// answerCase is a test case: what woke a run of codex, its answer, and the participants that the answer reaches and wakes.
type answerCase struct {
	name   string
	before func(*fixture) // wakes codex
	text   string         // codex's answer
	want   map[string]bool
	starts []string // agents that have a run to start afterwards
}

// everybody adds codex, whose answers the test checks, and other participants of all kinds.
func everybody(w *fixture) {
	w.AddScriptAgents("codex", "gemini", "claude")
	w.AddPollingAgents("ana")
	w.AddAgents("rex") // has no runtime, so it polls its inbox
	w.AddPerson("sansa", parley.AccessMember)
	w.CreateChannel("sansa", "open", "codex", "gemini", "claude", "ana", "rex")
}

func answerCases() []answerCase {
	say := func(from, words string) func(*fixture) { return func(w *fixture) { w.SayIn(from, "open", words) } }
	dm := func(from string) func(*fixture) { return func(w *fixture) { w.SendDM(from, "codex", "hello") } }
	all := func(steps ...func(*fixture)) func(*fixture) {
		return func(w *fixture) {
			for _, step := range steps {
				step(w)
			}
		}
	}
	return []answerCase{
		{name: "two dispatched agents in their DM", before: dm("gemini"), text: "hi", want: map[string]bool{"gemini": false}},
		{
			name: "two dispatched agents in their DM, with a mention", before: dm("gemini"), text: "hi @gemini",
			want: map[string]bool{"gemini": true}, starts: []string{"gemini"},
		},
		{
			name: "a text that starts with the other's id", before: dm("gemini"), text: "gemini, hi",
			want: map[string]bool{"gemini": true}, starts: []string{"gemini"},
		},
		{name: "an id inside another word", before: dm("gemini"), text: "geminis and my@gemini.io", want: map[string]bool{"gemini": false}},
		{name: "a mention in code", before: dm("gemini"), text: "see `@gemini`", want: map[string]bool{"gemini": false}},
		{name: "a person in a DM", before: dm("sansa"), text: "hi", want: map[string]bool{"sansa": true}},
		{name: "an attached agent in a DM", before: dm("ana"), text: "hi", want: map[string]bool{"ana": true}},
		{name: "an agent without a runtime in a DM", before: dm("rex"), text: "hi", want: map[string]bool{"rex": true}},
		{name: "an agent in a channel", before: say("gemini", "@codex?"), text: "hi", want: map[string]bool{"gemini": false}},
		{name: "a person in a channel", before: say("sansa", "@codex?"), text: "hi", want: map[string]bool{"sansa": true}},
		{
			name: "another agent mentioned in a channel", before: say("gemini", "@codex?"), text: "ask @claude",
			want: map[string]bool{"gemini": false, "claude": true}, starts: []string{"claude"},
		},
		{
			name: "the sender mentioned in a channel", before: say("gemini", "@codex?"), text: "@gemini: yes",
			want: map[string]bool{"gemini": true}, starts: []string{"gemini"},
		},
		{
			name: "everybody mentioned", before: say("sansa", "@codex?"), text: "@all listen",
			want:   map[string]bool{"sansa": true, "gemini": true, "claude": true, "ana": true, "rex": true},
			starts: []string{"gemini", "claude"},
		},
		{name: "itself mentioned", before: say("sansa", "@codex?"), text: "I am @codex", want: map[string]bool{"sansa": true}},
		{
			name:   "several senders in a channel",
			before: all(say("gemini", "@codex?"), say("ana", "@codex?"), say("sansa", "@codex?"), say("claude", "@codex?")),
			text:   "to all of you", want: map[string]bool{"gemini": false, "ana": true, "sansa": true, "claude": false},
		},
		{
			name: "an implicit group", text: "hi", want: map[string]bool{"sansa": true, "gemini": false, "ana": false},
			before: func(w *fixture) {
				w.PostAs("sansa", parley.Draft{Direct: []string{"codex", "gemini", "ana"}})
				w.EndRun(w.StartRun("gemini"), "")
			},
		},
		{
			name: "a conversation of one question", text: "hi", want: map[string]bool{"gemini": false},
			before: func(w *fixture) { w.SendEphemeralDM("gemini", "codex", "what?") },
		},
		{
			name: "one who has left the channel", text: "hi", want: map[string]bool{},
			before: func(w *fixture) {
				w.SayIn("gemini", "open", "@codex?")
				w.NoError(w.Leave(ctx, as("gemini"), "open"))
			},
		},
		{
			name: "one who was removed", text: "hi", want: map[string]bool{},
			before: func(w *fixture) {
				w.SayIn("ana", "open", "@codex?")
				w.NoError(w.RemoveAgent(ctx, user, "ana"))
			},
		},
	}
}

func TestAnswerWakesMentionedAndPollingAgents(t *testing.T) {
	t.Parallel()
	for _, c := range answerCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			everybody(w)
			c.before(w)
			a := w.StartRun("codex")
			newest := a.Messages[len(a.Messages)-1]
			answer := resultOf[parley.Shown](w)(w.Message(ctx, user, w.EndRun(a, c.text).Answer))
			same(t, "whom it reaches, and whether it wakes", wakesByRecipient(answer.Deliveries), c.want)
			same(t, "type and source", []string{string(answer.Type), answer.Source}, []string{"response", "run"})
			same(t, "what it answers, and where", []string{answer.InReplyTo, answer.Conversation}, []string{newest.ID, newest.Conversation})
			same(t, "who starts a run", w.WokenAgents("codex", "gemini", "claude", "ana", "rex"), c.starts)
			for _, d := range a.Deliveries {
				after := w.DeliveryOf(d.Message, "codex")
				same(t, "what woke the run", []any{after.State, after.Answer, after.Run}, []any{parley.DeliveryAnswered, answer.ID, a.Run.ID})
			}
			w.AssertConsistent()
		})
	}
}

// An answer is an answer: what two agents say to each other in their DM ends by itself.
func TestTwoAgentsInTheirDMDoNotAnswerAnswers(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "gemini")
	w.SendDM("gemini", "codex", "hello")
	w.RunAndAnswer("codex", "hello to you")
	w.AssertIdle("codex", "gemini")
	// What an agent says of its own accord wakes as any other message.
	w.SendDM("codex", "gemini", "by the way")
	same(t, "woken", w.WokenAgents("codex", "gemini"), []string{"gemini"})
}

func TestAnswerOfAQuestionOfItsOwnArchivesIt(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.AddAgents("arya")
	asked := w.SendEphemeralDM("arya", "codex", "what?").Message // a person must see the answer first
	w.RunAndAnswer("codex", "that")
	if w.ConversationAs("user", asked.Conversation).ArchivedAt == nil {
		t.Error("the conversation is answered and not archived")
	}
}

func TestQuietTypesAndPartialNamesWakeNobody(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "gemini")
	for _, never := range []parley.Type{parley.TypeNotification, parley.TypeStatus, parley.TypeHeartbeat, parley.TypeError} {
		w.PostAs("gemini", parley.Draft{Direct: []string{"codex"}, Type: never, Payload: []byte(`{"health":"healthy"}`)})
	}
	w.CreateChannel("codex", "open", "gemini")
	w.SayIn("codex", "open", "I am @codex, codex")
	w.SayIn("user", "open", "the codex-2 of @codex-2, codexes, a@codex.io and `@codex`")
	w.PostAs("user", parley.Draft{Conversation: "open", To: parley.All})
	w.AssertIdle("codex", "gemini")
	for _, words := range []string{"@codex: look", "codex look", "CODEX, look", "so, @Codex"} {
		w.SayIn("user", "open", words)
		a := w.StartRun("codex")
		same(t, "woken by", textsOf(a.Messages), []string{words})
		w.EndRun(a, "")
	}
}

func TestEmptyAnswerPostsNothing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	r := w.EndRun(w.StartRun("codex"), " \n ")
	same(t, "run", []any{r.State, r.Answer}, []any{parley.RunSucceeded, ""})
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryAcked)
	same(t, "said", w.TextsIn("user", m.Conversation), []string{"hello"})
}

// A run that has said its text already has answered with that.
func TestTextARunHasPostedIsNotPostedAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "other", "codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	w.PostFromRun(a, parley.Draft{Conversation: "other", Content: text("done")})
	said := w.PostFromRun(a, parley.Draft{Conversation: m.Conversation, Content: text("done\n")}).Message
	r := w.EndRun(a, "\ndone")
	same(t, "answer", r.Answer, said.ID)
	same(t, "said", w.TextsIn("user", m.Conversation), []string{"hello", "done\n"})
	d := w.DeliveryOf(m.ID, "codex")
	same(t, "what woke it", []any{d.State, d.Answer}, []any{parley.DeliveryAnswered, said.ID})
	same(t, "posts", len(w.RunByID(r.ID).Posts), 2)
}

func TestAnswerIsMadeToFit(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Limits.Body = 200 })
	w.AddScriptAgents("codex")
	for _, c := range []struct{ text, want string }{
		{"a\x00b\xffc", "ab\uFFFDc"},
		{strings.Repeat("é", 200), strings.Repeat("é", 70) + "\n\n[cut: this was 400 bytes long, a message has at most 200]"},
	} {
		w.SendDM("user", "codex", "hello")
		same(t, "answer", w.RunAndAnswer("codex", c.text).Content.Text, c.want)
	}
}

// What cannot be posted fails the run, and whoever waits for it is told why.
func TestAnswerThatCannotBePostedFailsTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile    func(*fixture)
		text, reason string
	}{
		"it was taken out of the conversation": {
			func(w *fixture) { w.NoError(w.RemoveMember(ctx, user, "secret", "codex")) }, "hi",
			"the hub could not post its answer: there is no message",
		},
		"it calls too many": {
			func(*fixture) {}, manyNames(), "the hub could not post its answer: the text has 300 different @names",
		},
		"the inbox is full": {
			func(w *fixture) {
				w.SetInboxDepth("ana", 1, parley.OverflowReject)
				w.SendDM("user", "ana", "one")
			},
			"hi @ana", "the hub could not post its answer: the inbox of ana is full",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("codex")
			w.AddPollingAgents("ana")
			w.CreatePrivateChannel("user", "secret", "codex", "ana")
			m := w.SayIn("ana", "secret", "@codex?").Message
			a := w.StartRun("codex")
			c.meanwhile(w)
			r := w.EndRun(a, c.text)
			same(t, "state", r.State, parley.RunFailed)
			d := w.DeliveryOf(m.ID, "codex")
			same(t, "delivery", d.State, parley.DeliveryFailed)
			told := w.HubMessagesTo("ana")
			if len(told) != 1 || !strings.Contains(told[0].Content.Text, c.reason) {
				t.Errorf("told %q, want %q", textsOf(told), c.reason)
			}
			w.AssertConsistent()
		})
	}
}

func manyNames() string {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("@n%d", i))
	}
	return strings.Join(names, " ")
}
