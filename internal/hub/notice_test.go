package hub_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// postHeldMessage has arya write to gendry, and returns the approval that the message needs.
func (w *fixture) postHeldMessage(words string) parley.Approval {
	w.T.Helper()
	resultOf[parley.Permission](w)(w.Permit(ctx, user, parley.Permission{Agent: "arya", Target: "gendry", Effect: parley.EffectAllow, RequiresApproval: true}))
	_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: words}})
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		w.T.Fatalf("the call was not held: %v", err)
	}
	return held.Approval
}

func (w *fixture) pendingNotices() []hub.DueNotice {
	w.T.Helper()
	return resultOf[[]hub.DueNotice](w)(w.DueNotices(ctx, 100))
}

// noticeLines returns the recipients of due notices, with the keys of the notices up to their ids.
func noticeLines(due []hub.DueNotice) (list []string) {
	for _, n := range due {
		about, _, _ := strings.Cut(n.Key, "/")
		list = append(list, n.Person+" "+about+" "+n.Title)
	}
	return list
}

func TestRecipientsOfNotices(t *testing.T) {
	t.Parallel()
	t.Run("of an approval, the owners", func(t *testing.T) {
		w := newHub(t)
		w.AddAgents("arya", "gendry")
		w.AddPerson("sansa", parley.AccessOwner)
		w.AddPerson("rickon", parley.AccessMember)
		a := w.postHeldMessage("hello")
		due := w.pendingNotices()
		same(t, "told", noticeLines(due), []string{"user approval arya needs your approval (approval-1)", "sansa approval arya needs your approval (approval-1)"})
		same(t, "of what", []string{due[0].Approval, due[0].About.ID, due[0].Text}, []string{a.ID, a.ID, a.Summary})
	})
	t.Run("of an approval, the manager", func(t *testing.T) {
		w := newHub(t)
		w.AddAgents("arya", "gendry")
		w.AddPerson("rickon", parley.AccessMember)
		w.EditAgent("arya", func(a *parley.Agent) { a.Manager = "rickon" })
		w.postHeldMessage("hello")
		same(t, "told", noticeLines(w.pendingNotices()), []string{"rickon approval arya needs your approval (approval-1)"})
	})
	t.Run("of an approval that an agent decides, nobody", func(t *testing.T) {
		w := newHub(t)
		w.addInternOffice()
		w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "x")))
		same(t, "told", len(w.pendingNotices()), 0)
		w.Clock.Advance(time.Hour)
		w.NoError(w.SweepApprovals(ctx))
		same(t, "reminded", len(w.pendingNotices()), 0)
		w.AddPermission("intern", "senior", parley.EffectAllow, withPerson)
		w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "y")))
		w.Clock.Advance(time.Hour)
		w.NoError(w.SweepApprovals(ctx))
		told := "user approval intern needs your approval (approval-2)"
		same(t, "told of what a person must decide", noticeLines(w.pendingNotices()), []string{told, told})
	})
	t.Run("of a dead letter", func(t *testing.T) {
		w := newHub(t)
		w.AddAgents("arya", "ned")
		w.AddPerson("rickon", parley.AccessMember)
		w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 1 })
		for _, sender := range []string{"rickon", "arya"} {
			w.SendDM(sender, "ned", "secret words")
			w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
		}
		due := w.pendingNotices()
		title := " dead A message for ned could not be delivered"
		same(t, "told", noticeLines(due), []string{"rickon" + title, "user" + title})
		same(t, "what it said", strings.Contains(due[0].Text, "secret words"), false)
	})
	t.Run("of a budget", func(t *testing.T) {
		w := newHub(t)
		w.AddScriptAgents("bot")
		w.EditAgent("bot", func(a *parley.Agent) { a.Budget = parley.Budget{RunsPerHour: 1} })
		for range 2 {
			w.SendDM("user", "bot", "work")
			if run := w.nextInstantRun("bot"); run != nil {
				w.EndRunWith(run, parley.Result{})
			}
		}
		w.NoError(w.SweepBudgets(ctx))
		same(t, "told", noticeLines(w.pendingNotices()), []string{"user budget bot has used up a budget"})
	})
	t.Run("of a full disk, once a day", func(t *testing.T) {
		w, d, _ := onDisk(t, 10*gib)
		for _, free := range []int64{gib / 2, 9 * gib, gib / 2} {
			d.free.Store(free)
			w.sweepEverything()
		}
		same(t, "told", noticeLines(w.pendingNotices()), []string{"user alert The disk of the hub is almost full"})
	})
	t.Run("nobody who has no way to be told", func(t *testing.T) {
		w := newHub(t, func(w *fixture) { w.Config.Notified = func(person string) bool { return person == "sansa" } })
		w.AddAgents("arya", "gendry")
		w.AddPerson("sansa", parley.AccessOwner)
		w.postHeldMessage("hello")
		same(t, "told", noticeLines(w.pendingNotices()), []string{"sansa approval arya needs your approval (approval-1)"})
	})
}

func TestNoticesAreTakenByOneAndSurviveARestart(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.postHeldMessage("hello")
	select {
	case <-w.NoticesCome():
	default:
		t.Error("nobody is told that a notice is due")
	}
	first := w.pendingNotices()
	same(t, "taken", len(first), 1)
	w.Restart()
	same(t, "by another, meanwhile", w.pendingNotices(), []hub.DueNotice(nil))
	w.Clock.Advance(5 * time.Minute)
	again := w.pendingNotices()
	same(t, "once it takes too long", []any{len(again), again[0].ID, again[0].Attempt}, []any{1, first[0].ID, 2})
	again[0].Sent = []string{"ntfy:1"}
	w.NoError(w.NoticeSent(ctx, again[0].Notice))
	w.NoError(w.NoticeTried(ctx, again[0], ""))
	w.Clock.Advance(24 * time.Hour)
	same(t, "once it was sent", w.pendingNotices(), []hub.DueNotice(nil))
}

func TestNoticesAreTriedAgainButNotForEver(t *testing.T) {
	t.Parallel()
	lines := &strings.Builder{}
	w := newHub(t, func(w *fixture) { w.Config.Log = slog.New(slog.NewTextHandler(lines, nil)) })
	w.AddAgents("arya", "gendry")
	w.postHeldMessage("hello")
	var pauses []time.Duration
	pause := time.Duration(0)
	for range 3 * 240 { // three hours
		for _, due := range w.pendingNotices() {
			w.NoError(w.NoticeTried(ctx, due, "it is \x00 down"))
			pauses, pause = append(pauses, pause), 0
		}
		w.Clock.Advance(15 * time.Second)
		pause += 15 * time.Second
	}
	const s = time.Second
	same(t, "pauses", pauses, []time.Duration{0, 15 * s, 30 * s, 60 * s, 120 * s, 240 * s, 480 * s, 960 * s, 1920 * s, 3600 * s})
	if !strings.Contains(lines.String(), "cannot notify user of approval/") {
		t.Errorf("nobody is warned: %s", lines)
	}
}

// TestADecidedApprovalIsNotAskedFor decides before anything is sent, and after.
func TestADecidedApprovalIsNotAskedFor(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	early := w.postHeldMessage("one")
	resultOf[parley.Approval](w)(w.Decide(ctx, user, early.ID, parley.Decision{}))
	same(t, "decided before it is sent", w.pendingNotices(), []hub.DueNotice(nil))

	late := w.postHeldMessage("two")
	sent := w.pendingNotices()[0]
	sent.Sent = []string{"ntfy:1", "telegram:1 99"}
	w.NoError(w.NoticeTried(ctx, sent, ""))
	w.Clock.Advance(40 * 24 * time.Hour)
	w.sweepEverything()
	same(t, "while it is pending", w.pendingNotices(), []hub.DueNotice(nil))
	resultOf[parley.Approval](w)(w.Decide(ctx, user, late.ID, parley.Decision{Note: "no"}))
	due := w.pendingNotices()
	same(t, "decided", []any{len(due), due[0].About.State, due[0].Sent}, []any{1, parley.ApprovalDenied, sent.Sent})
	w.NoError(w.NoticeTried(ctx, due[0], ""))
	w.Clock.Advance(time.Hour)
	same(t, "once it says so", w.pendingNotices(), []hub.DueNotice(nil))

	racing := w.postHeldMessage("three")
	asked := w.pendingNotices()[0]
	resultOf[parley.Approval](w)(w.Decide(ctx, user, racing.ID, parley.Decision{}))
	asked.Sent = []string{"telegram:1 100"}
	w.NoError(w.NoticeTried(ctx, asked, ""))
	same(t, "decided while it is sent", len(w.pendingNotices()), 1)
}

func TestNoticesOfRemovedPeopleAreDropped(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.AddPerson("sansa", parley.AccessOwner)
	w.postHeldMessage("hello")
	w.NoError(w.RemoveAgent(ctx, user, "sansa"))
	same(t, "told", noticeLines(w.pendingNotices()), []string{"user approval arya needs your approval (approval-1)"})
}
