package hub_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

// Who lives only in channels cannot be written to alone: E002 says where it can.
func TestAgentsInChannelTreesGetNoDirectMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	contact := func(p parley.Pattern) func() error {
		return func() error {
			_, err := w.Contact(ctx, as("bot"), parley.Contact{Pattern: p, Agent: "claude", Message: "well?"})
			return err
		}
	}
	post := func(d parley.Draft) func() error {
		return func() error {
			d.Direct, d.Content = []string{"claude"}, text("hello")
			_, err := w.Post(ctx, user, d)
			return err
		}
	}
	all := func(want *parley.Error) {
		contacted := *want
		contacted.Message = want.Sentence()
		w.assertRefusals(t, []refusal{
			{"ask", contact(parley.PatternAsk), &contacted},
			{"delegate", contact(parley.PatternDelegate), &contacted},
			{"notify", contact(parley.PatternNotify), &contacted},
			{"DM", post(parley.Draft{}), want},
			{"send", post(parley.Draft{Ephemeral: true}), want},
		})
	}
	all(refusalError(parley.Unavailable, "", "claude reads only the channels of a directory tree, and takes part in none yet",
		"post in a channel that has a directory there, with @claude"))
	w.CreateChannel("user", "paper", "claude")
	all(refusalError(parley.Unavailable, "", "claude reads only the channels of a directory tree: #paper",
		`post there and mention it: parley chat --conv paper "@claude …"`))
	w.mapChannels("tree", "thesis", "letters")
	all(refusalError(parley.Unavailable, "", "claude reads only the channels of a directory tree: #letters, #thesis",
		`post there and mention it: parley chat --conv letters "@claude …"`))
	task := w.Delegate(user, "bot", "Draft it")
	_, err := w.ReassignTask(ctx, user, task, "claude")
	same(t, "to be given a task", parley.CodeOf(err), parley.Unavailable)
	w.commandAs("user", "claude", parley.ActionResume, parley.CommandParameters{}) // which is the hub's to obey
	w.joinTree(parley.LayoutInbox, "other", "claude")
	w.SendDM("user", "claude", "hello")
	same(t, "by the other tree", len(w.departuresOf("other")), 2)
}

// A run that was woken by somebody who lives in channels may answer where it was woken.
func TestAnAnswerToAnAgentInAChannelTree(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	w.SendDM("claude", "bot", "by another door")
	same(t, "the answer", w.RunAndAnswer("bot", "hello").Content.Text, "hello")
}

// What the hub itself says in a channel goes into a tree only if it is for one who lives there.
func TestErrorsAreWrittenOnlyForAgentsOfTheTree(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ben")
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	w.CreateChannel("user", "paper", "claude", "ben")
	for _, who := range []string{"user", "claude"} {
		w.PostAs(who, parley.Draft{Conversation: "paper", To: "ben", TTL: 60, Content: text("by " + who)})
	}
	w.reportDepartures("tree", parley.DepartureWritten, w.departuresOf("tree", "paper")...)
	w.Clock.Advance(2 * time.Minute)
	w.SweepDueDeliveries()
	out := w.onlyDepartureOf("tree", "paper")
	same(t, "who is told", []any{out.Message.To, out.Message.Type, out.Final, out.ReplyTo}, []any{"claude", parley.TypeError, true, "msg-20260301-090000-claude-0000"})
}

// Whatever is said where, only what is said in mapped channels gets into a tree of channels, each once, and in private ones
// only if an owner has named them.
func TestOnlyMappedChannelsAreExported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := openFixture(rt, stores.NewPlace(t), mayLoop)
		defer w.Close()
		w.AddScriptAgents("bot")
		w.joinTree(parley.LayoutAgentOS, "tree", "claude")
		w.CreateChannel("user", "open", "bot", "claude")
		w.CreateChannel("user", "other", "bot", "claude")
		w.CreatePrivateChannel("user", "secret", "bot", "claude")
		w.CreateGroup("user", "circle", "bot", "claude")
		named := rapid.Bool().Draw(rt, "secret is named")
		if named {
			w.mapChannels("tree", "open", "secret")
		}
		directories := []string{"open", "secret", "circle"}
		want, got := []string{}, []string{}
		for i := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			words := fmt.Sprintf("%d @claude", i)
			exported := false
			switch where := rapid.SampledFrom([]string{"open", "other", "secret", "circle", "dm", "group", "ephemeral", "file", "beat"}).Draw(rt, "where"); where {
			case "dm":
				w.SendDM("user", "bot", words)
			case "group":
				w.PostAs("user", parley.Draft{Direct: []string{"bot", "claude"}, Content: text(words)})
			case "ephemeral":
				w.SendEphemeralDM("user", "bot", words)
			case "file":
				w.arriveFrom("tree", parley.Arrival{
					Name: fmt.Sprintf("msg-20260301-090000-claude-%04x", i), From: "claude", Channel: "open", Draft: parley.Draft{Content: text(words)},
				})
			case "beat":
				w.PostAs("bot", parley.Draft{Conversation: "open", Type: parley.TypeHeartbeat, Payload: []byte(`{"health":"healthy"}`)})
			default:
				exported = where == "open" || where == "secret" && named
				w.SayIn(rapid.SampledFrom([]string{"user", "bot"}).Draw(rt, "who"), where, words)
			}
			if exported {
				want = append(want, words)
			}
			if rapid.Bool().Draw(rt, "look") {
				list := w.departuresOf("tree", directories...)
				got = append(got, wordsOf(list)...)
				w.reportDepartures("tree", parley.DepartureWritten, list...)
			}
		}
		list := w.departuresOf("tree", directories...)
		same(rt, "what was exported", append(got, wordsOf(list)...), want)
	})
}
