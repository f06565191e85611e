package hub_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestDeliveryCallsRefuseBadInput(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "hello").Message
	lease := w.TakeAs("ned", parley.Take{}).Lease
	bad := func(sentence, hint string) *parley.Error { return refusalError(parley.BadInput, "", sentence, hint) }
	take := func(t parley.Take) func() error {
		return func() error { _, err := w.Take(ctx, as("ned"), t); return err }
	}
	extend := func(length time.Duration) func() error {
		return func() error { _, err := w.Extend(ctx, as("ned"), lease, length); return err }
	}
	nack := func(why parley.Trouble, ids ...string) func() error {
		return func() error { _, err := w.Nack(ctx, as("ned"), lease, why, ids...); return err }
	}
	settle := func(how parley.Outcome) func() error {
		return func() error { _, err := w.Settle(ctx, as("ned"), lease, how); return err }
	}
	tooMany := slices.Repeat([]string{m.ID}, 501)
	const kinds = "use lost, busy, server, nostart or final"
	w.assertRefusals(t, []refusal{
		{"take: a negative limit", take(parley.Take{Limit: -1}), bad("the limit is -1", "take 1 to 500")},
		{"take: too large a limit", take(parley.Take{Limit: 501}), bad("the limit is 501", "take 1 to 500")},
		{"take: too many named", take(parley.Take{Only: tooMany}), bad("the call names 501 messages", "name 1 to 500")},
		{"take: a short lease", take(parley.Take{Lease: time.Millisecond}), bad("the lease is 1ms", "ask for 1s to 12h0m0s")},
		{"take: a long lease", take(parley.Take{Lease: 13 * time.Hour}), bad("the lease is 13h0m0s", "ask for 1s to 12h0m0s")},
		{"take: a negative wait", take(parley.Take{Wait: -time.Second}), bad("the wait is -1s", "wait 0s or longer")},
		{"take: a run with a NUL", take(parley.Take{Run: "a\x00"}), bad("run contains a NUL character", "remove it")},
		{"take: a run that is no text", take(parley.Take{Run: "\xff"}), bad("run is not valid UTF-8", "encode it as UTF-8")},
		{"take: a run without end", take(parley.Take{Run: strings.Repeat("r", 257)}), refusalError(parley.BadInput, parley.TooLarge,
			"run has 257 bytes, the limit is 256", "shorten it, or send an artifact")},
		{"see: a run with a NUL", func() error { _, err := w.See(ctx, as("ned"), lease, "\x00"); return err }, bad("run contains a NUL character", "remove it")},
		{"see a context: a run with a NUL", func() error {
			return w.SeeContext(ctx, as("ned"), []parley.Message{m}, "\x00")
		}, bad("run contains a NUL character", "remove it")},
		{"extend: a short lease", extend(time.Millisecond), bad("the lease is 1ms", "ask for 1s to 12h0m0s")},
		{"extend: a long lease", extend(13 * time.Hour), bad("the lease is 13h0m0s", "ask for 1s to 12h0m0s")},
		{"nack: an unknown failure", nack(parley.Trouble{Failure: "moody"}, m.ID), bad(`unknown failure "moody"`, kinds)},
		{"nack: in the past", nack(parley.Trouble{After: -1}, m.ID), bad("the next attempt would be in -1ns", "use 0s to 24h0m0s")},
		{"nack: too far ahead", nack(parley.Trouble{After: 25 * time.Hour}, m.ID), bad("the next attempt would be in 25h0m0s", "use 0s to 24h0m0s")},
		{"nack: nothing named", nack(parley.Trouble{}), bad("the call names 0 messages", "name 1 to 500")},
		{"nack: too many named", nack(parley.Trouble{}, tooMany...), bad("the call names 501 messages", "name 1 to 500")},
		{"nack: no such message", nack(parley.Trouble{}, noRoom), notFoundError("message", noRoom, checkName)},
		{"settle: an unknown failure", settle(parley.Outcome{Trouble: &parley.Trouble{Failure: "moody"}}), bad(`unknown failure "moody"`, kinds)},
		{"settle: no such answer", settle(parley.Outcome{Answer: noRoom}), notFoundError("message", noRoom, checkName)},
		{"settle: another's answer", settle(parley.Outcome{Answer: m.ID}), bad("message "+m.ShortName()+" is not from ned", "name an answer that this participant sent")},
		{"ack: nothing named", func() error { _, err := w.Ack(ctx, as("ned"), ""); return err }, bad("the call names 0 messages", "name 1 to 500")},
		{"ack: no id at all", func() error { _, err := w.Ack(ctx, as("ned"), "", "x"); return err }, notFoundError("message", "x", checkName)},
		{"ack: the sender's own", func() error { _, err := w.Ack(ctx, as("arya"), "", m.ID); return err }, notFoundError("message", m.ID, checkName)},
		{"a sequence for two", func() error {
			_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned", "user"}, Sequence: 1, Content: text("x")})
			return err
		}, bad("the message has a sequence and 2 recipients", "a sequence counts the messages to one recipient: name one recipient, or leave the sequence out")},
	})
}

func TestDeadLettersAreForOwners(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "bran")
	w.AddPerson("sansa", parley.AccessMember)
	for _, id := range []string{"ned", "bran"} {
		w.EditAgent(id, func(a *parley.Agent) { a.Attempts = 1 })
	}
	w.CreateGroup("arya", "both", "ned", "bran")
	both := w.SayIn("arya", "both", "@ned @bran").Message
	alive := w.SendDM("arya", "ned", "alive").Message
	for _, id := range []string{"ned", "bran"} {
		w.NackTaken(id, w.TakeAs(id, parley.Take{Only: []string{both.ID}}), parley.FailureBusy)
	}
	w.NoError(w.RemoveAgent(ctx, user, "bran"))
	retry := func(by, message, recipient string) func() error {
		return func() error { _, err := w.RetryDead(ctx, as(by), message, recipient); return err }
	}
	drop := func(by, message, recipient string) func() error {
		return func() error { _, err := w.DropDead(ctx, as(by), message, recipient); return err }
	}
	noDead := refusalError(parley.BadInput, parley.Conflict, "message "+alive.ShortName()+" is not a dead letter", "list dead letters: parley dead list")
	w.assertRefusals(t, []refusal{
		{"a member lists", func() error { _, err := w.DeadLetters(ctx, as("sansa"), 0, 0); return err }, onlyOwner("see dead letters")},
		{"the sender retries", retry("arya", both.ID, "ned"), onlyOwner("handle dead letters")},
		{"the recipient drops", drop("ned", both.ID, "ned"), onlyOwner("handle dead letters")},
		{"which of the two?", retry("user", both.ID, ""), refusalError(parley.BadInput, "", "message "+both.ShortName()+" is a dead letter for 2 recipients", "name the recipient")},
		{"one that is alive", retry("user", alive.ID, "ned"), noDead},
		{"dropping one that is alive", drop("user", alive.ID, ""), noDead},
		{"no such message", drop("user", noRoom, ""), notFoundError("message", noRoom, checkName)},
		{"no such recipient", drop("user", both.ID, "nobody"), notFoundError("agent", "nobody", listAgents)},
		{"retried for one who was removed", retry("user", both.ID, "bran"), refusalError(parley.Unavailable, parley.Gone, "bran was removed", "write to another participant")},
	})
	w.NoError(drop("user", both.ID, "bran")())
	w.NoError(retry("user", both.ID, "ned")())
	same(t, "each by itself", []parley.DeliveryState{w.DeliveryState(both.ID, "bran"), w.DeliveryState(both.ID, "ned")},
		[]parley.DeliveryState{parley.DeliveryDropped, parley.DeliveryAccepted})
}

func TestNonParticipantsHaveNoInbox(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	stranger := refusalError(parley.NotPermitted, "", "nobody is not a participant of this hub", "ask an owner of this hub to add it")
	by := as("nobody")
	w.assertRefusals(t, []refusal{
		{"take", func() error { _, err := w.Take(ctx, by, parley.Take{Wait: time.Hour}); return err }, stranger},
		{"peek", func() error { _, err := w.Peek(ctx, by, 0); return err }, stranger},
		{"ack", func() error { _, err := w.Ack(ctx, by, "", noRoom); return err }, stranger},
		{"nack", func() error { _, err := w.Nack(ctx, by, "", parley.Trouble{}, noRoom); return err }, stranger},
		{"extend", func() error { _, err := w.Extend(ctx, by, noRoom, 0); return err }, stranger},
		{"see", func() error { _, err := w.See(ctx, by, noRoom, ""); return err }, stranger},
		{"see a context", func() error { return w.SeeContext(ctx, by, []parley.Message{{}}, "") }, stranger},
		{"settle", func() error { _, err := w.Settle(ctx, by, noRoom, parley.Outcome{}); return err }, stranger},
		{"sleep", func() error { _, err := w.Sleep(ctx, by, "user", began.Add(1)); return err }, stranger},
		{"dead letters", func() error { _, err := w.DeadLetters(ctx, by, 0, 0); return err }, stranger},
	})
}
