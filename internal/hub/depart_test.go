package hub_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// What is for an agent that lives in a tree of inboxes climbs with its file: in place, gone, answered. It keeps its name
// through restarts, and nobody's lease.
func TestStatesOfAFileInAnInbox(t *testing.T) {
	t.Parallel()
	for layout, form := range map[parley.Layout]string{
		parley.LayoutBlackboard: `^[0-9a-f]{8}-[0-9a-f-]{27}$`,
		parley.LayoutInbox:      `^msg_[0-9a-f]{8}$`,
	} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(layout, "tree", "ana")
			m := w.SendDM("user", "ana", "hello").Message
			out := w.onlyDepartureOf("tree")
			if !regexp.MustCompile(form).MatchString(out.Name) {
				t.Errorf("it is called %s", out.Name)
			}
			same(t, "it is for", []any{out.Recipient, out.Channel, out.Sequence, out.Wakes, out.Message.ID}, []any{"ana", "", int64(1), true, m.ID})
			w.Restart()
			same(t, "again", w.departuresOf("tree"), []parley.Departure{out})
			same(t, "before it is written", w.DeliveryState(m.ID, "ana"), parley.DeliveryAccepted)
			for range 2 {
				w.reportDepartures("tree", parley.DepartureWritten, out)
				same(t, "in place", w.DeliveryState(m.ID, "ana"), parley.DeliveryDelivered)
			}
			w.Restart()
			w.AdvanceLeases(24 * time.Hour)
			same(t, "still in place", w.DeliveryState(m.ID, "ana"), parley.DeliveryDelivered)
			same(t, "what lies there", [][]string{w.writtenDepartures("tree"), namesOf(w.departuresOf("tree"))}, [][]string{{out.Name}, {}})
			w.reportDepartures("tree", parley.DepartureSeen, out)
			w.reportDepartures("tree", parley.DepartureWritten, out) // which comes too late
			same(t, "gone", w.DeliveryState(m.ID, "ana"), parley.DeliverySeen)
			same(t, "nothing is owed", []any{w.InboxOf("ana"), w.writtenDepartures("tree")}, []any{parley.Inbox{}, []string{}})
			w.ReplyAs("ana", m.ID, "hello yourself")
			same(t, "answered", w.DeliveryState(m.ID, "ana"), parley.DeliveryAnswered)
			w.AssertConsistent()
		})
	}
}

// In a channel the rename settles it.
func TestStatesOfAFileInAChannel(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	w.CreateChannel("user", "paper")
	m := w.SayIn("user", "paper", "@claude have a look").Message
	out := w.onlyDepartureOf("tree", "paper")
	same(t, "its name", out.Name, "msg-20260301-090000-user-0000")
	same(t, "it is in", []string{out.Channel, out.Recipient}, []string{"paper", ""})
	w.Restart()
	same(t, "again", w.departuresOf("tree", "paper"), []parley.Departure{out})
	for range 2 {
		w.reportDepartures("tree", parley.DepartureWritten, out)
		same(t, "in place", w.DeliveryState(m.ID, "claude"), parley.DeliveryAcked)
	}
	same(t, "what is left", [][]string{w.writtenDepartures("tree"), namesOf(w.departuresOf("tree", "paper"))}, [][]string{{}, {}})
	answer := w.arriveFrom("tree", parley.Arrival{
		Name: "msg-20260301-090001-claude-ab12", From: "claude", Channel: "paper", ReplyTo: out.Name,
		Draft: parley.Draft{Content: text("I have")},
	})
	same(t, "answered", []any{w.DeliveryState(m.ID, "claude"), w.DeliveryOf(m.ID, "claude").Answer}, []any{parley.DeliveryAnswered, answer.Message})
	same(t, "what came from there does not go back", w.departuresOf("tree", "paper"), []parley.Departure(nil))
	w.AssertConsistent()
}

// Names in a channel rise within a second, for each sender, above what has come from the tree.
func TestNamesInAChannel(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	w.CreateChannel("user", "paper", "claude")
	w.arriveFrom("tree", parley.Arrival{
		Name: "msg-20260301-090000-claude-00fe", From: "claude", Channel: "paper", Draft: parley.Draft{Content: text("mine")},
	})
	for range 3 {
		w.SayIn("claude", "paper", "by another door")
		w.SayIn("user", "paper", "too")
	}
	w.Clock.Advance(time.Second)
	w.SayIn("user", "paper", "later")
	same(t, "the names", namesOf(w.departuresOf("tree", "paper")), []string{
		"msg-20260301-090000-claude-00ff", "msg-20260301-090000-user-0000", "msg-20260301-090000-claude-0100",
		"msg-20260301-090000-user-0001", "msg-20260301-090000-claude-0101", "msg-20260301-090000-user-0002",
		"msg-20260301-090001-user-0000",
	})
}

// A second has only so many names; after the last come those that are free.
func TestNamesInAChannelBeginAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	w.CreateChannel("user", "paper", "claude")
	for i, hex := range []string{"ffff", "0000"} {
		w.arriveFrom("tree", parley.Arrival{
			Name: "msg-20260301-090000-claude-" + hex, From: "claude", Channel: "paper", Draft: parley.Draft{Content: text(fmt.Sprint(i))},
		})
	}
	w.SayIn("claude", "paper", "by another door")
	same(t, "the name", w.onlyDepartureOf("tree", "paper").Name, "msg-20260301-090000-claude-0001")
}

// A name of S3 that is taken is not used again, whoever has it.
func TestNamesInAnInboxDoNotCollide(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana", "ben")
	m := w.SendDM("user", "ana", "hello").Message
	digits := m.ID[len(m.ID)-8:]
	w.arriveFrom("tree", parley.Arrival{Name: "msg_" + digits, From: "ben", To: "user", Draft: parley.Draft{Content: text("hi")}})
	var number uint32
	if _, err := fmt.Sscanf(digits, "%x", &number); err != nil {
		t.Fatal(err)
	}
	same(t, "the name", w.onlyDepartureOf("tree").Name, fmt.Sprintf("msg_%08x", number+1))
}

// One message for several has the same name in each inbox.
func TestOneNameForAMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana", "ben")
	w.CreateChannel("user", "open", "ana", "ben")
	w.SayIn("user", "open", "@ana @ben hello")
	names := namesOf(w.departuresOf("tree"))
	same(t, "how many names", []int{len(names), len(slices.Compact(names))}, []int{2, 1})
}

// What cannot be written, and what makes room for others, has failed, and its sender is told.
func TestSendersLearnOfFailedFiles(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	large, old := w.SendDM("user", "ana", "large").Message, w.SendDM("user", "ana", "old").Message
	list := w.departuresOf("tree")
	w.reportDepartures("tree", parley.DepartureWritten, list[1])
	tooLarge := parley.Errorf(parley.BadInput, "this has 20000 bytes, a document has at most 10240").Suggest("send an artifact")
	for range 2 {
		w.NoError(w.BridgeAt(user).Report(ctx, "tree", []parley.DepartureReport{{ID: list[0].ID, State: parley.DepartureFailed, Error: tooLarge}}))
		w.reportDepartures("tree", parley.DepartureEvicted, list[1])
	}
	same(t, "the states", []any{w.DeliveryState(large.ID, "ana"), w.DeliveryState(old.ID, "ana")}, []any{parley.DeliveryFailed, parley.DeliveryEvicted})
	same(t, "what the sender is told", textsOf(w.HubMessagesTo("user")), []string{
		"Error: this has 20000 bytes, a document has at most 10240. Hint: send an artifact.",
		"Error: the inbox of ana was full, and this was its oldest message. Hint: send it again later; it can still be read in its conversation.",
	})
	same(t, "what is left", []any{w.InboxOf("ana").Waking, w.writtenDepartures("tree"), w.departuresOf("tree")}, []any{0, []string{}, []parley.Departure(nil)})
	w.AssertConsistent()
}

// A post that cannot be written has failed for those who live there, and its sender is told once.
func TestSendersLearnOfFailedPosts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "tree", "claude", "codex")
	w.CreateChannel("user", "paper")
	m := w.SayIn("user", "paper", "@claude @codex look").Message
	w.reportDepartures("tree", parley.DepartureFailed, w.onlyDepartureOf("tree", "paper"))
	same(t, "the states", []any{w.DeliveryState(m.ID, "claude"), w.DeliveryState(m.ID, "codex")}, []any{parley.DeliveryFailed, parley.DeliveryFailed})
	same(t, "what the sender is told", textsOf(w.HubMessagesTo("user")), []string{
		"Error: the bridge could not write this message into the directory tree. Hint: see the log of the bridge.",
	})
}

// What has ended otherwise meanwhile stays as it is, and is not written any more.
func TestEndedDeliveriesDoNotDepart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(w *fixture, m parley.Message)
		want parley.DeliveryState
	}{
		"answered by another door": {func(w *fixture, m parley.Message) { w.ReplyAs("ana", m.ID, "done") }, parley.DeliveryAnswered},
		"acked by another door":    {func(w *fixture, m parley.Message) { w.AckAs("ana", m.ID) }, parley.DeliveryAcked},
		"redacted":                 {func(w *fixture, m parley.Message) { resultOf[parley.Message](w)(w.Redact(ctx, user, m.ID, "")) }, parley.DeliveryFailed},
		"expired": {func(w *fixture, _ parley.Message) {
			w.Clock.Advance(2 * time.Minute)
			w.SweepDueDeliveries()
		}, parley.DeliveryExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(parley.LayoutInbox, "tree", "ana")
			m := w.PostAs("user", parley.Draft{Direct: []string{"ana"}, TTL: 60, Content: text("hello")}).Message
			out := w.onlyDepartureOf("tree")
			c.end(w, m)
			same(t, "what departs", w.departuresOf("tree"), []parley.Departure(nil))
			w.reportDepartures("tree", parley.DepartureWritten, out)
			same(t, "the state", w.DeliveryState(m.ID, "ana"), c.want)
			if told := textsOf(w.HubMessagesTo("user")); c.want == parley.DeliveryFailed && len(told) > 0 {
				t.Errorf("the sender is told %q", told)
			}
			w.AssertConsistent()
		})
	}
}

// A conversation that is deleted takes its departures along.
func TestDeletedMessagesDoNotDepart(t *testing.T) {
	t.Parallel()
	for _, layout := range []parley.Layout{parley.LayoutAgentOS, parley.LayoutInbox} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(layout, "tree", "claude")
			w.CreateChannel("user", "paper")
			w.SayIn("user", "paper", "@claude look")
			out := w.onlyDepartureOf("tree", "paper")
			w.NoError(w.DeleteConversation(ctx, user, "paper"))
			w.reportDepartures("tree", parley.DepartureWritten, out)
			w.SayIn("user", w.CreateChannel("user", "other").ID, "@claude and here")
			w.NoError(w.DeleteConversation(ctx, user, "other"))
			same(t, "what departs", w.departuresOf("tree", "paper", "other"), []parley.Departure(nil))
			w.AssertConsistent()
		})
	}
}

// One side answers for an agent: what it has taken itself does not depart, unless it gives it back.
func TestTakenMessagesDoNotDepart(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	m := w.SendDM("user", "ana", "hello").Message
	named := w.onlyDepartureOf("tree")
	w.TakeAs("ana", parley.Take{})
	same(t, "what departs", w.departuresOf("tree"), []parley.Departure(nil))
	w.reportDepartures("tree", parley.DepartureSeen) // nothing
	w.AdvanceLeases(2 * time.Minute)                 // the lease is over
	w.AdvanceLeases(2 * time.Minute)                 // and the pause
	same(t, "what departs then", namesOf(w.departuresOf("tree")), []string{named.Name})
	w.TakeAs("ana", parley.Take{})
	w.reportDepartures("tree", parley.DepartureWritten, named)
	same(t, "whose it is", w.DeliveryState(m.ID, "ana") == parley.DeliveryDelivered && len(w.departuresOf("tree")) == 0, true)
	w.AssertConsistent()
}

// What somebody had taken by another door while its file was taken, and has not settled, is where the file is.
func TestReturnedMessagesHaveTheStateOfTheirFile(t *testing.T) {
	t.Parallel()
	for _, state := range []parley.DepartureState{parley.DepartureWritten, parley.DepartureSeen} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(parley.LayoutInbox, "tree", "ana")
			m := w.SendDM("user", "ana", "hello").Message
			out := w.onlyDepartureOf("tree")
			taken := w.TakeAs("ana", parley.Take{})
			w.reportDepartures("tree", state, out)
			w.NackTaken("ana", taken, parley.FailureLost)
			w.AdvanceLeases(time.Hour)
			same(t, "what departs", w.departuresOf("tree"), []parley.Departure(nil))
			same(t, "what became of it", string(w.DeliveryState(m.ID, "ana")), map[parley.DepartureState]string{"written": "delivered", "seen": "seen"}[state])
		})
	}
}

// Who is paused or stopped gets no files that would wake it, and who sleeps only what somebody waits for.
func TestHaltedAgentsGetNoFiles(t *testing.T) {
	t.Parallel()
	command := func(action parley.Action) func(w *fixture) {
		return func(w *fixture) { w.commandAs("user", "ana", action, parley.CommandParameters{}) }
	}
	for name, c := range map[string]struct {
		halt, end func(w *fixture)
		commanded bool
	}{
		"paused":  {command(parley.ActionPause), command(parley.ActionResume), true},
		"stopped": {command(parley.ActionStop), command(parley.ActionStart), true},
		"asleep": {
			func(w *fixture) { resultOf[parley.Agent](w)(w.Sleep(ctx, user, "ana", began.Add(time.Hour))) },
			func(w *fixture) { resultOf[parley.Agent](w)(w.Wake(ctx, user, "ana")) },
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(parley.LayoutInbox, "tree", "ana", "ben")
			w.SendDM("user", "ana", "named before")
			w.onlyDepartureOf("tree")
			c.halt(w)
			w.SendDM("user", "ana", "not named")
			w.SendDM("user", "ben", "for another")
			departs := func() (words []string) {
				commands := 0
				for _, out := range w.departuresOf("tree") {
					if out.Message.Type == parley.TypeCommand {
						commands++
						continue
					}
					words = append(words, out.Message.Content.Text)
				}
				same(t, "it is commanded by a file", commands > 0, c.commanded)
				return words
			}
			same(t, "what departs", departs(), []string{"for another"})
			c.end(w)
			same(t, "what departs then", departs(), []string{"named before", "for another", "not named"})
		})
	}
}

func TestSleepingAgentsInATreeGetAsks(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	defer w.openSessions("ana")()
	resultOf[parley.Agent](w)(w.Sleep(ctx, user, "ana", began.Add(time.Hour)))
	w.SendDM("user", "ana", "no hurry")
	asks := w.beginAsk(user, "ana", "well?")
	out := w.onlyDepartureOf("tree")
	same(t, "what departs", out.Message.ID, asks.request.ID)
	w.reportDepartures("tree", parley.DepartureWritten, out)
	w.reportDepartures("tree", parley.DepartureSeen, out)
	asks.assertWaiting()
	w.arriveFrom("tree", parley.Arrival{
		Name: "msg_00000001", From: "ana", To: "user", ReplyTo: out.Name, Draft: parley.Draft{Type: parley.TypeResult, Content: text("very")},
	})
	same(t, "the answer", asks.resultText(), "Response from ana: very")
}

// Who lives in several trees has its mail in one.
func TestMailGoesIntoOneTree(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "a", "ana")
	w.joinTree(parley.LayoutInbox, "c", "ana")
	w.joinTree(parley.LayoutBlackboard, "b", "ana")
	w.CreateChannel("user", "open")
	m := w.SayIn("user", "open", "@ana hello").Message
	same(t, "by c", w.departuresOf("c"), []parley.Departure(nil))
	w.reportDepartures("a", parley.DepartureWritten, w.onlyDepartureOf("a", "open"))
	same(t, "the channel does not settle it", w.DeliveryState(m.ID, "ana"), parley.DeliveryAccepted)
	w.reportDepartures("b", parley.DepartureWritten, w.onlyDepartureOf("b"))
	same(t, "the inbox has it", w.DeliveryState(m.ID, "ana"), parley.DeliveryDelivered)
	w.NoError(w.RemoveBridge(ctx, user, "b"))
	same(t, "it is given back", w.DeliveryState(m.ID, "ana"), parley.DeliveryAccepted)
	same(t, "by the other", w.onlyDepartureOf("c").Message.ID, m.ID)
	w.AssertConsistent()
}

// Who does not live in a tree any more gets nothing there, and once it does again, the same names.
func TestAgentsThatLeaveATreeGetNoFilesThere(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana", "ben")
	w.SendDM("user", "ana", "hello")
	out := w.onlyDepartureOf("tree")
	live := func(agents ...string) {
		resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, "tree", parley.BridgeChange{Agents: &agents}))
	}
	live("ben")
	same(t, "what departs", w.departuresOf("tree"), []parley.Departure(nil))
	live("ben", "ana")
	same(t, "again", w.departuresOf("tree"), []parley.Departure{out})
	live("ben")
	w.NoError(w.RemoveAgent(ctx, user, "ana"))
	same(t, "what departs to one who was removed", w.departuresOf("tree"), []parley.Departure(nil))
	w.AssertConsistent()
}

func TestAPausedBridgeDepartsNothing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	w.pauseBridge("tree", true)
	w.SendDM("user", "ana", "hello")
	same(t, "paused", w.departuresOf("tree"), []parley.Departure(nil))
	w.pauseBridge("tree", false)
	same(t, "resumed", wordsOf(w.departuresOf("tree")), []string{"hello"})
}

// A page ends where the next one begins.
func TestDeparturesComeInPages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	for i := range 5 {
		w.SendDM("user", "ana", fmt.Sprint(i))
	}
	for _, written := range []bool{false, true} {
		var names []string
		for q := (parley.DepartureQuery{Written: written, Limit: 2}); ; {
			page := resultOf[[]parley.Departure](w)(w.BridgeAt(user).Departures(ctx, "tree", q))
			if len(page) == 0 {
				break
			}
			names, q.After = append(names, namesOf(page)...), page[len(page)-1].ID
		}
		all := w.departuresOf("tree")
		if written {
			same(t, "written", names, w.writtenDepartures("tree"))
		} else {
			same(t, "due", names, namesOf(all))
		}
		same(t, "how many", len(names), 5)
		w.reportDepartures("tree", parley.DepartureWritten, all...)
	}
}

// Who waits for something to depart gets it when it comes.
func TestDeparturesAreWaitedFor(t *testing.T) {
	t.Parallel()
	for layout, post := range map[parley.Layout]func(w *fixture){
		parley.LayoutInbox:   func(w *fixture) { w.SendDM("user", "ana", "hello") },
		parley.LayoutAgentOS: func(w *fixture) { w.SayIn("user", "open", "hello") },
	} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(layout, "tree", "ana")
			w.CreateChannel("user", "open")
			got := make(chan []string)
			go func() {
				list, err := w.BridgeAt(user).Departures(ctx, "tree", parley.DepartureQuery{Channels: []string{"open"}, Wait: time.Hour})
				if err != nil {
					t.Error(err)
				}
				got <- wordsOf(list)
			}()
			post(w)
			same(t, "what departs", <-got, []string{"hello"})
		})
	}
}

func TestRefusedDepartures(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	ask := func(who, id string, q parley.DepartureQuery) func() error {
		return func() error {
			_, err := w.BridgeAt(as(who)).Departures(ctx, id, q)
			return err
		}
	}
	tell := func(who, id string, r parley.DepartureReport) func() error {
		return func() error { return w.BridgeAt(as(who)).Report(ctx, id, []parley.DepartureReport{r}) }
	}
	notOwner := refusalError(parley.NotPermitted, "", "only an owner may use a bridge", "ask an owner of this hub")
	none := notFoundError("bridge", "none", listBridges)
	w.assertRefusals(t, []refusal{
		{"an agent asks", ask("ana", "tree", parley.DepartureQuery{}), notOwner},
		{"an agent looks", ask("ana", "tree", parley.DepartureQuery{Written: true}), notOwner},
		{"an agent reports", tell("ana", "tree", parley.DepartureReport{ID: "1", State: parley.DepartureSeen}), notOwner},
		{"no bridge", ask("user", "none", parley.DepartureQuery{}), none},
		{"no bridge to report to", tell("user", "none", parley.DepartureReport{ID: "1", State: parley.DepartureSeen}), none},
		{"no departure", tell("user", "tree", parley.DepartureReport{ID: "7", State: parley.DepartureSeen}), notFoundError("departure", "7", checkName)},
		{
			"no number", tell("user", "tree", parley.DepartureReport{ID: "x", State: parley.DepartureSeen}),
			refusalError(parley.BadInput, "", `"x" is not a departure`, "use an id from the list of departures"),
		},
		{
			"no report", tell("user", "tree", parley.DepartureReport{ID: "7", State: parley.DepartureDue}),
			refusalError(parley.BadInput, "", `"due" is not a state of a departure`, "use written, seen, failed or evicted"),
		},
		{
			"a wait in the past", ask("user", "tree", parley.DepartureQuery{Wait: -1}),
			refusalError(parley.BadInput, "", "the wait is -1ns", "wait 0s or longer"),
		},
	})
}
