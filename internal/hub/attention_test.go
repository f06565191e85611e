package hub_test

import (
	"fmt"
	"testing"

	"github.com/parley-hub/parley"
)

// attentionOf returns the items that need a participant: the kind, name, sender and text of each.
func (w *fixture) attentionOf(who string) (list []string) {
	w.T.Helper()
	for _, i := range resultOf[parley.Attention](w)(w.Attention(ctx, as(who), 0)).Items {
		list = append(list, fmt.Sprintf("%s %s from %s: %s", i.Kind, i.Name, i.From, i.Text))
	}
	return list
}

func TestAttentionListsEachItemOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b", "frail")
	w.AddAgents("intern", "senior")
	w.AddPerson("sansa", parley.AccessMember)
	same(t, "nothing", w.attentionOf("user"), []string(nil))

	w.AddPermission("intern", "senior", parley.EffectAllow, func(p *parley.Permission) { p.RequiresApproval = true })
	held := w.HeldApproval(w.TryContact(as("intern"), askContact("senior", "may I?")))
	dead := w.SendDM("user", "frail", "die").Message
	w.EditAgent("frail", func(a *parley.Agent) { a.Attempts = 1 })
	w.FailRunWith(w.StartRun("frail"), parley.FailureBusy)
	asked := w.beginAsk(as("b"), "user", "which one?").request
	task := w.Delegate(as("b"), "user", "Review the text")
	must := w.PostAs("b", parley.Draft{Direct: []string{"user"}, RequiresAck: true, Content: text("confirm")}).Message
	w.SendDM("b", "user", "just so you know")
	want := []string{
		fmt.Sprintf("approval %s from intern: intern wants to contact senior: ask \"may I?\"", held.ShortName()),
		fmt.Sprintf("dead_letter %s from user: frail did not do this: it broke", dead.ShortName()),
		fmt.Sprintf("ask %s from b: which one?", asked.ShortName()),
		fmt.Sprintf("task %s from b: Review the text", task),
		fmt.Sprintf("ack %s from b: confirm", must.ShortName()),
	}
	same(t, "all, once each", w.attentionOf("user"), want)
	now := resultOf[parley.Attention](w)(w.Attention(ctx, user, 0))
	same(t, "unread besides", now.Unread, 2) // the plain message, and the error about the dead letter
	same(t, "totals", now.Totals, map[parley.AttentionKind]int{"approval": 1, "dead_letter": 1, "ask": 1, "task": 1, "ack": 1})
	for _, d := range resultOf[parley.Peeked](w)(w.PeekNewest(ctx, user, 0, 50)).Deliveries {
		w.markShownTo("user", d.Message)
	}
	same(t, "after all was shown", w.attentionOf("user"), want)
	same(t, "nothing is unread", resultOf[parley.Attention](w)(w.Attention(ctx, user, 0)).Unread, 0)
	same(t, "of another person", w.attentionOf("sansa"), []string(nil))

	w.DecideAs("user", held.ID, parley.Decision{})
	resultOf[parley.Delivery](w)(w.DropDead(ctx, user, dead.ID, "frail"))
	w.ReplyAs("user", asked.ID, "this one")
	w.updateTaskAs("user", task, parley.TaskChange{Status: parley.TaskCompleted})
	w.AckAs("user", must.ID)
	same(t, "after all was done", w.attentionOf("user"), []string(nil))
}

func TestAttentionIsCutToALimitAndCountsTheRest(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("b")
	for n := range 3 {
		w.PostAs("b", parley.Draft{Direct: []string{"user"}, RequiresAck: true, Content: text(fmt.Sprint("confirm ", n))})
	}
	now := resultOf[parley.Attention](w)(w.Attention(ctx, user, 2))
	same(t, "listed", []any{len(now.Items), now.Items[0].Text}, []any{2, "confirm 2"})
	same(t, "totals", now.Totals, map[parley.AttentionKind]int{"ack": 3})
}

func TestAttentionLeavesAManagersDecisionsToTheManager(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.addInternOffice()
	held := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "hello")))
	same(t, "an owner", w.attentionOf("user"), []string(nil))
	same(t, "the manager", w.attentionOf("boss"), []string{fmt.Sprintf("approval %s from intern: InternBot wants to contact senior: notify \"hello\"", held.ShortName())})
}
