package hub_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// S4's example 7, to the letter, with a restart between any two steps.
func TestApprovalOfAnAsk(t *testing.T) {
	w := newHub(t)
	w.addNamedAgent("senior", "SeniorAnalystBot", func(*parley.Profile) {})
	w.addNamedAgent("intern", "InternBot", func(p *parley.Profile) { p.Mode = parley.ModeSupervised })
	run, dm := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "Can you validate my analysis approach?")))
	if a.State != parley.ApprovalPending || a.Decider != "" || a.Rule != "mode supervised" || a.Target != "senior" {
		t.Errorf("approval %+v", a)
	}
	want := "InternBot wants to contact SeniorAnalystBot:\nAction: ask\nMessage: \"Can you validate my analysis approach?\"\n\n[Approve] [Deny]"
	requests := w.MessagesFrom(w.DMBetween("intern", "user"), parley.System)
	if len(requests) != 1 || requests[0].Content.Text != want {
		t.Errorf("requests %+v", requests)
	}
	w.EndRun(run, "")
	w.Restart()
	if decided := w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true}); decided.State != parley.ApprovalApproved {
		t.Errorf("after the decision it is %s", decided.State)
	}
	w.Restart()
	if again := w.NextRunOf("intern"); again != nil {
		t.Errorf("intern is woken before the answer: %+v", again.Messages)
	}
	w.EndRun(w.StartRun("senior"), "Looks sound.")
	w.Restart()
	done := w.ApprovalByID(a.ID)
	if done.State != parley.ApprovalExecuted || done.Result != "Response from SeniorAnalystBot: Looks sound." || done.DecidedBy != parley.Owner {
		t.Errorf("in the end %+v", done)
	}
	again := w.StartRun("intern")
	if len(again.Messages) != 1 || again.Messages[0].ID != done.Outcome || again.Messages[0].Content.Text != done.Result ||
		again.Run.Conversation != dm || again.Messages[0].From != parley.System {
		t.Errorf("intern is woken by %+v in %s", again.Messages, again.Run.Conversation)
	}
	w.EndRun(again, "thanks")
	if more := w.NextRunOf("intern"); more != nil {
		t.Errorf("intern is woken again by %+v", more.Messages)
	}
	w.AssertConsistent()
}

func TestApprovedAskThatIsLateOrFails(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(*fixture)
		want string
	}{
		"late": {func(w *fixture) {
			w.Clock.Advance(parley.AskWait)
			w.NoError(w.SweepWaits(ctx))
		}, "Error: senior did not respond within 120 seconds."},
		"failed": {func(w *fixture) {
			_, err := w.FailRun(ctx, w.StartRun("senior").Run.ID, &parley.RunError{
				Trouble: parley.Trouble{Failure: parley.FailureFinal, Reason: "out of ideas"},
			}, parley.Result{}, nil)
			w.NoError(err)
		}, "Error: senior failed to respond: "},
		"removed": {func(w *fixture) { w.NoError(w.RemoveAgent(ctx, user, "senior")) }, "Error: senior failed to respond: removed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			w.addInternOffice()
			run, dm := w.startRunInDM("intern")
			a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
			w.EndRun(run, "")
			w.Clock.Advance(time.Hour) // the time starts with the decision
			w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
			end.do(w)
			done := w.ApprovalByID(a.ID)
			if done.State != parley.ApprovalExecuted || done.Failure == nil || !strings.HasPrefix(done.Result, end.want) {
				t.Errorf("in the end %+v", done)
			}
			if n := len(w.MessagesFrom(dm, parley.System)); n != 1 {
				t.Errorf("intern was told %d times", n)
			}
		})
	}
}

func TestDenialTellsTheCallerOnce(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	run, dm := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
	w.EndRun(run, "")
	w.Restart()
	w.DecideAs("boss", a.ID, parley.Decision{Note: "not now"})
	outcomes := w.MessagesFrom(dm, parley.System)
	if len(outcomes) != 1 || outcomes[0].Content.Text != "Approval denied for contacting senior.\nNote: not now" || outcomes[0].Source != "approval" {
		t.Errorf("intern is told %+v", outcomes)
	}
	if again := w.StartRun("intern"); again.Messages[0].ID != outcomes[0].ID {
		t.Errorf("intern is woken by %+v", again.Messages)
	}
	if w.NextRunOf("senior") != nil {
		t.Error("what was denied has woken somebody")
	}
	_, err := w.Decide(ctx, user, a.ID, parley.Decision{Approve: true})
	if e := parley.AsError(err); e.Code != parley.BadInput || e.Reason != parley.Conflict || !strings.Contains(e.Message, "denied by boss") {
		t.Errorf("a later answer gets %v", err)
	}
}

func TestSameCallSameApproval(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	run, _ := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?")))
	if same := w.HeldApproval(w.TryContact(run.Caller(), askContact("senior", "well?"))); same.ID != a.ID {
		t.Error("the same call has another approval")
	}
	_, err := w.FailRun(ctx, run.Run.ID, &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureLost}}, parley.Result{}, nil)
	w.NoError(err)
	w.Leases.Advance(time.Hour)
	w.NoError(w.SweepDeliveries(ctx))
	retry := w.StartRun("intern")
	if same := w.HeldApproval(w.TryContact(retry.Caller(), askContact("senior", "well?"))); same.ID != a.ID {
		t.Error("another attempt has another approval")
	}
	w.DecideAs("boss", a.ID, parley.Decision{})
	if same := w.HeldApproval(w.TryContact(retry.Caller(), askContact("senior", "well?"))); same.ID != a.ID {
		t.Error("another attempt asks again for what was denied")
	}
}

// Approval reuse: an approval is good for exactly its call, once.
func TestApprovalReuse(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	w.AddScriptAgents("other")
	run, _ := w.startRunInDM("intern")
	a := w.HeldApproval(w.TryContact(run.Caller(), notifyContact("senior", "one")))
	for name, c := range map[string]parley.Contact{
		"message": notifyContact("senior", "two"), "target": notifyContact("other", "one"), "action": askContact("senior", "one"),
		"context": {Pattern: parley.PatternNotify, Agent: "senior", Message: "one", Context: "more"},
	} {
		if other := w.HeldApproval(w.TryContact(run.Caller(), c)); other.ID == a.ID || other.Digest == a.Digest {
			t.Errorf("another %s goes with the same approval", name)
		}
	}
	if done := w.DecideAs("boss", a.ID, parley.Decision{Approve: true}); done.State != parley.ApprovalExecuted || done.Result != "Notification sent to senior." {
		t.Errorf("it is %+v", done)
	}
	if next := w.HeldApproval(w.TryContact(run.Caller(), notifyContact("senior", "one"))); next.ID == a.ID {
		t.Error("an approval was used twice")
	}
	if n := len(w.MessagesFrom(w.DMBetween("intern", "senior"), "intern")); n != 1 {
		t.Errorf("senior was told %d times", n)
	}
}

// Agent as owner, scope escalation: who may decide whose call.
func TestOnlyManagersAndOwnersDecide(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	w.AddScriptAgents("stranger")
	w.AddPerson("olga", parley.AccessOwner)
	w.AddPerson("mike", parley.AccessMember)
	hold := func(message string) parley.Approval {
		return w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", message)))
	}
	a := hold("one")
	run, _ := w.startRunInDM("intern")
	for name, caller := range map[string]hub.Caller{
		"itself": as("intern"), "its run": run.Caller(),
		"an owner in its name":          {Agent: "intern", By: parley.Owner, Source: "test"},
		"a credential without a decide": {Agent: parley.Owner, Token: "x", Scopes: parley.Scopes{parley.ScopeRead, parley.ScopeSend, parley.ScopeAdmin}},
	} {
		_, err := w.Decide(ctx, caller, a.ID, parley.Decision{Approve: true})
		if parley.CodeOf(err) != parley.NotPermitted {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, other := range []string{"senior", "stranger", "mike"} { // for whom it does not exist
		_, err := w.Decide(ctx, as(other), a.ID, parley.Decision{Approve: true})
		if e := parley.AsError(err); e == nil || e.Reason != parley.NotFound {
			t.Errorf("%s: %v", other, err)
		}
		if _, err := w.Approval(ctx, as(other), a.ID); parley.AsError(err).Reason != parley.NotFound {
			t.Errorf("%s sees it: %v", other, err)
		}
		if list, err := w.Approvals(ctx, as(other), parley.ApprovalFilter{}); err != nil || len(list) > 0 {
			t.Errorf("%s lists %+v, %v", other, list, err)
		}
	}
	if now := w.ApprovalByID(a.ID); now.State != parley.ApprovalPending {
		t.Errorf("it is %s", now.State)
	}
	for i, who := range []string{"boss", parley.Owner, "olga"} {
		if done := w.DecideAs(who, hold(strings.Repeat("x", i+2)).ID, parley.Decision{Approve: true}); done.DecidedBy != who {
			t.Errorf("%s: %+v", who, done)
		}
	}
	w.NoError(w.RemoveAgent(ctx, user, "boss"))
	if requests := w.MessagesFrom(w.DMBetween("intern", "olga"), parley.System); len(requests) != 1 {
		t.Errorf("without a manager, olga is asked %d times", len(requests))
	}
	_, err := w.ChangeAgent(ctx, user, "intern", func(a *parley.Agent) error { a.Manager = "mike"; return nil })
	w.NoError(err)
	w.DecideAs("mike", a.ID, parley.Decision{Approve: true})
}

func TestRuleCanDemandAPerson(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("boss", "senior")
	w.addNamedAgent("intern", "InternBot", func(p *parley.Profile) { p.Manager = "boss" })
	w.AddPermission("intern", "senior", parley.EffectAllow, withPerson)
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "one")))
	if !a.RequiresHuman || a.Decider != "" {
		t.Errorf("approval %+v", a)
	}
	_, err := w.Decide(ctx, as("boss"), a.ID, parley.Decision{Approve: true})
	w.AssertCode(parley.NotPermitted, err)
	w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
	// A rule that was made stricter meanwhile holds for what waits already.
	w.AddPermission("intern", "senior", parley.EffectAllow, withApproval)
	a = w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "two")))
	w.AddPermission("intern", "senior", parley.EffectAllow, withPerson)
	if done := w.DecideAs("boss", a.ID, parley.Decision{Approve: true}); done.Failure == nil || done.Failure.Code != parley.NotPermitted {
		t.Errorf("it is %+v", done)
	}
}

func TestFirstOfManyDecisionsWins(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "once")))
	var (
		all  sync.WaitGroup
		wins atomic.Int32
	)
	for i := range 32 {
		all.Go(func() {
			who := []string{"boss", parley.Owner}[i%2]
			_, err := w.Decide(ctx, as(who), a.ID, parley.Decision{Approve: i%4 < 2})
			if err == nil {
				wins.Add(1)
			} else if e := parley.AsError(err); e.Code != parley.BadInput || e.Reason != parley.Conflict {
				t.Errorf("who came later got %v", err)
			}
		})
	}
	all.Wait()
	done := w.ApprovalByID(a.ID)
	told := 0
	if done.State == parley.ApprovalExecuted {
		told = 1
	}
	if n := wins.Load(); n != 1 {
		t.Errorf("%d decisions have won", n)
	}
	if list, _, err := w.Conversations(ctx, as("senior"), parley.ListFilter{}); err != nil || len(list) != told {
		t.Errorf("%s, and senior has %d conversations, %v", done.State, len(list), err)
	}
	w.AssertConsistent()
}

// Rights, depth and the target are looked at again when the call is made.
func TestRefusalAtExecutionIsTheOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		contact parley.Contact
		before  func(*fixture)
		code    parley.Code
	}{
		"denied":  {notifyContact("senior", "x"), func(w *fixture) { w.AddPermission("intern", "senior", parley.EffectDeny) }, parley.NotPermitted},
		"removed": {notifyContact("senior", "x"), func(w *fixture) { w.NoError(w.RemoveAgent(ctx, user, "senior")) }, parley.Unavailable},
		"stopped": {askContact("senior", "x"), func(w *fixture) {
			w.commandAs(parley.Owner, "senior", parley.ActionStop, parley.CommandParameters{Reason: "enough"})
		}, parley.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			w.addInternOffice()
			run, dm := w.startRunInDM("intern")
			a := w.HeldApproval(w.TryContact(run.Caller(), c.contact))
			w.EndRun(run, "")
			c.before(w)
			done := w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
			if done.State != parley.ApprovalWithdrawn || !done.Refused() || done.Failure.Code != c.code || done.ExecutedAt != nil {
				t.Errorf("it is %+v", done)
			}
			same(t, "as it is listed", resultOf[[]parley.Approval](w)(w.Approvals(ctx, user, parley.ApprovalFilter{State: parley.ApprovalWithdrawn}))[0].Refused(), true)
			outcomes := w.MessagesFrom(dm, parley.System)
			if len(outcomes) != 1 || !strings.HasPrefix(outcomes[0].Content.Text, "Error: boss approved this call, but the hub then refused it: "+done.Failure.Message) {
				t.Errorf("intern is told %+v", outcomes)
			}
			same(t, "audited", strings.Contains(actsOf(w.AuditEntries()), "approval.approved approval.refused"), true)
			_, err := w.Decide(ctx, user, a.ID, parley.Decision{})
			if !strings.HasSuffix(parley.AsError(err).Message, ", and the call was refused: "+done.Failure.Message) {
				t.Errorf("who comes later is told %v", err)
			}
			w.AssertConsistent()
		})
	}
}

func TestApprovalsExpireAndRemind(t *testing.T) {
	w := newHub(t, func(w *fixture) { w.Config.Approvals = hub.Approvals{Expire: 5 * time.Hour} })
	w.addInternOffice()
	w.AddPerson("olga", parley.AccessOwner)
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "x")))
	asked := func() int { return len(w.MessagesFrom(w.DMBetween("intern", "boss"), parley.System)) }
	for _, step := range []struct {
		after time.Duration
		asked int
	}{{59 * time.Minute, 1}, {time.Minute, 2}, {59 * time.Minute, 2}, {time.Minute, 3}, {2 * time.Hour, 4}} {
		w.Clock.Advance(step.after)
		w.NoError(w.SweepApprovals(ctx))
		w.NoError(w.SweepApprovals(ctx))
		if got := asked(); got != step.asked {
			t.Errorf("after %s more, boss was asked %d times, want %d", step.after, got, step.asked)
		}
	}
	w.Restart()
	w.Clock.Advance(time.Hour)
	w.NoError(w.SweepApprovals(ctx))
	if done := w.ApprovalByID(a.ID); done.State != parley.ApprovalExpired || done.Outcome == "" {
		t.Errorf("it is %+v", done)
	}
	last := w.MessagesFrom(w.DMBetween("intern", "boss"), parley.System)
	if text := last[len(last)-1].Content.Text; text != "Approval expired for contacting senior." {
		t.Errorf("intern is told %q", text)
	}
	_, err := w.Decide(ctx, user, a.ID, parley.Decision{Approve: true})
	w.AssertCode(parley.BadInput, err)
}

// TestDecidedRequestsLeaveEveryInbox: a request leaves every inbox with the decision, however it ends.
func TestDecidedRequestsLeaveEveryInbox(t *testing.T) {
	w := newHub(t, func(w *fixture) { w.Config.Approvals = hub.Approvals{Expire: 5 * time.Hour} })
	w.AddScriptAgents("senior")
	w.addNamedAgent("junior", "Junior", func(p *parley.Profile) { p.Mode = parley.ModeSupervised })
	w.AddPerson("olga", parley.AccessOwner)
	waits := func(note string, want int) {
		t.Helper()
		for _, who := range []string{parley.Owner, "olga"} {
			if got := len(w.PendingTexts(who)); got != want {
				t.Errorf("%s: %d requests wait for %s, want %d", note, got, who, want)
			}
		}
	}
	first := w.HeldApproval(w.TryContact(as("junior"), notifyContact("senior", "one")))
	second := w.HeldApproval(w.TryContact(as("junior"), notifyContact("senior", "two")))
	w.HeldApproval(w.TryContact(as("junior"), notifyContact("senior", "three")))
	waits("asked", 3)
	w.DecideAs(parley.Owner, first.ID, parley.Decision{Approve: true})
	waits("approved", 2)
	w.DecideAs("olga", second.ID, parley.Decision{})
	waits("denied", 1)
	w.Clock.Advance(6 * time.Hour)
	w.NoError(w.SweepApprovals(ctx))
	waits("expired", 0)
}

// TestFormerManagerIsNotAskedAnyMore: what it may not decide leaves its inbox.
func TestFormerManagerIsNotAskedAnyMore(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	w.AddScriptAgents("chief")
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "x")))
	w.EditAgent("intern", func(a *parley.Agent) { a.Manager = "chief" })
	same(t, "woken", w.WokenAgents("boss", "chief"), []string{"chief"})
	w.EditAgent("intern", func(a *parley.Agent) { a.Manager = "" })
	same(t, "the owners are asked", []any{w.ApprovalByID(a.ID).Decider, len(w.PendingTexts(parley.Owner))}, []any{"", 1})
	w.EditAgent("intern", func(a *parley.Agent) { a.Manager = "boss" })
	same(t, "and not any more", []any{w.ApprovalByID(a.ID).Decider, len(w.PendingTexts(parley.Owner))}, []any{"boss", 0})
	w.AssertConsistent()
}

// TestDecidedRequestIsFoundAmongMany looks for the last of more than are read at once elsewhere.
func TestDecidedRequestIsFoundAmongMany(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	var last parley.Approval
	for n := range 150 {
		last = w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", strconv.Itoa(n))))
	}
	w.DecideAs(parley.Owner, last.ID, parley.Decision{})
	left := resultOf[parley.Peeked](w)(w.Peek(ctx, as("boss"), 500)).Messages
	same(t, "left", []any{len(left), strings.Contains(left[len(left)-1].Content.Text, last.ID)}, []any{149, false})
	w.AssertConsistent()
}

func TestRemovalWithdrawsApprovals(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "x")))
	w.NoError(w.RemoveAgent(ctx, user, "intern"))
	if now := w.ApprovalByID(a.ID); now.State != parley.ApprovalWithdrawn {
		t.Errorf("it is %s", now.State)
	}
	_, err := w.Decide(ctx, user, a.ID, parley.Decision{Approve: true})
	w.AssertCode(parley.BadInput, err)
}

func TestManagerThatIsAnAgentIsWokenToDecide(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "x")))
	run := w.StartRun("boss")
	if !strings.HasSuffix(run.Messages[0].Content.Text, "decide_approval, id "+a.ShortName()+".") {
		t.Errorf("boss is asked %q", run.Messages[0].Content.Text)
	}
	done, err := w.Decide(ctx, run.Caller(), a.ID, parley.Decision{Approve: true})
	w.NoError(err)
	if done.State != parley.ApprovalExecuted || done.DecidedBy != "boss" {
		t.Errorf("it is %+v", done)
	}
}

func TestDecisionsAreAudited(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "one")))
	w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	w.DecideAs("boss", w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "two"))).ID, parley.Decision{})
	w.AddPermission("intern", "*", parley.EffectDeny)
	w.NoError(w.Unpermit(ctx, user, "intern", "*", ""))
	var acts []string
	for _, e := range resultOf[[]parley.AuditEntry](w)(w.AuditLog(ctx, user, 0, 1000)) {
		if strings.HasPrefix(e.Act, "approval.") || strings.HasPrefix(e.Act, "permit.") {
			var detail struct{ Approval string }
			w.NoError(json.Unmarshal(e.Detail, &detail))
			acts = append(acts, strings.TrimSpace(e.Actor+" "+e.Act+" "+detail.Approval))
		}
	}
	want := []string{"boss approval.approved approval-1", "boss approval.denied approval-2", "user permit.deny", "user permit.remove"}
	if diff := cmp.Diff(want, acts); diff != "" {
		t.Errorf("audited (-want +got):\n%s", diff)
	}
}

// A question that is deleted with its conversation is not answered any more, and nobody waits for it.
func TestDeletedConversationEndsItsAsks(t *testing.T) {
	const lost = "Error: senior failed to respond: the conversation was deleted"
	t.Run("approved", func(t *testing.T) {
		w := newHub(t)
		task, run, a := w.startTaskWithHeldAsk()
		w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
		w.EndRun(run, "so far")
		w.NoError(w.DeleteConversation(ctx, user, w.DMBetween("intern", "senior")))
		w.AssertIdle("senior")
		w.finishTaskAfterApproval(task, a.ID, lost)
	})
	t.Run("approved where it is deleted", func(t *testing.T) {
		w := newHub(t)
		w.AddPollingAgents("arya")
		w.AddPermission("arya", parley.Owner, parley.EffectAllow, withApproval)
		a := w.HeldApproval(w.TryContact(as("arya"), askContact(parley.Owner, "well?")))
		w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
		w.NoError(w.DeleteConversation(ctx, user, w.DMBetween("arya", parley.Owner)))
		same(t, "told", w.PendingTexts("arya"), []string{"Error: user failed to respond: the conversation was deleted"})
		w.AssertConsistent()
	})
	t.Run("late", func(t *testing.T) {
		w := newHub(t, withShortAsks)
		w.AddScriptAgents("intern", "senior")
		run := w.WakeAndStartRun("intern")
		w.beginAsk(run.Caller(), "senior", "well?").resultText()
		w.EndRun(run, "so far")
		w.NoError(w.DeleteConversation(ctx, user, w.DMBetween("intern", "senior")))
		same(t, "brought", w.askResultsTo("intern"), []string{lost})
		w.AssertConsistent()
	})
	t.Run("late, of somebody who was removed", func(t *testing.T) {
		w := newHub(t, withShortAsks)
		w.AddScriptAgents("intern", "senior")
		w.beginAsk(as("intern"), "senior", "well?").resultText()
		w.NoError(w.RemoveAgent(ctx, user, "intern"))
		w.NoError(w.DeleteConversation(ctx, user, w.DMBetween("intern", "senior")))
		same(t, "conversations", w.ConversationIDs(parley.Owner, parley.ListFilter{All: true}), []string{})
		w.AssertConsistent()
	})
	t.Run("waited for", func(t *testing.T) {
		w := newHub(t)
		w.AddScriptAgents("intern", "senior")
		run := w.WakeAndStartRun("intern")
		a := w.beginAsk(run.Caller(), "senior", "well?")
		w.NoError(w.DeleteConversation(ctx, user, w.DMBetween("intern", "senior")))
		same(t, "the run", w.RunByID(run.Run.ID).State, parley.RunRunning)
		same(t, "heard", a.resultText(), "E005 "+lost)
		same(t, "brought", w.askResultsTo("intern"), []string{})
		w.AssertConsistent()
	})
}

// Who asks outside of runs is as deep as what it has to answer, with an approval too.
func TestApprovedAskHasTheDepthOfItsCaller(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("a", "c")
	w.AddPollingAgents("b")
	defer w.openSessions("b")()
	w.AddPermission("b", "c", parley.EffectAllow, withApproval)
	w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "first")
	w.TakeAs("b", parley.Take{})
	a := w.HeldApproval(w.TryContact(as("b"), askContact("c", "second")))
	w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
	same(t, "depth", w.askWait(w.NewestMessage().ID).Depth, 1)
	w.AssertConsistent()
}
