package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func TestRunsAreShownToTheirAgentAndOwners(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "gemini")
	w.AddPerson("sansa", parley.AccessMember)
	w.CreateChannel("user", "open", "codex", "gemini")
	w.SayIn("user", "open", "@codex @gemini")
	a, b := w.StartRun("codex"), w.StartRun("gemini")
	w.EndRun(a, "done")
	listed := func(who string, f parley.RunFilter) (ids []string) {
		for _, r := range resultOf[[]parley.Run](w)(w.Runs(ctx, as(who), f)) {
			ids = append(ids, r.ID)
		}
		return ids
	}
	same(t, "an owner's", listed("user", parley.RunFilter{}), []string{b.Run.ID, a.Run.ID})
	same(t, "of one", listed("user", parley.RunFilter{Agent: "CODEX", Conversation: "#open"}), []string{a.Run.ID})
	same(t, "live", listed("user", parley.RunFilter{Live: true}), []string{b.Run.ID})
	same(t, "an agent's", listed("codex", parley.RunFilter{}), []string{a.Run.ID})
	same(t, "a person's", listed("sansa", parley.RunFilter{}), []string{})
	same(t, "what it posted", w.RunByID(a.Run.ID).Posts, []string{w.RunByID(a.Run.ID).Answer})
	_, err := w.Run(ctx, as("gemini"), a.Run.ID)
	wantError(t, err, notFoundError("run", a.Run.ID, checkName))
	_, err = w.Runs(ctx, as("gemini"), parley.RunFilter{Agent: "codex"})
	wantError(t, err, refusalError(parley.NotPermitted, "", "only an owner may see the runs of others", "ask an owner of this hub"))
}

func TestEventsOfRunsAreForOwnersAndTheAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "gemini")
	w.CreateChannel("user", "open", "codex", "gemini")
	w.SayIn("user", "open", "@codex")
	before := w.LastEventNumber()
	w.EndRun(w.StartRun("codex"), "done")
	seen := func(who string) (kinds []parley.EventKind) {
		nums := map[int64]bool{}
		for _, n := range resultOf[[]int64](w)(w.Sees(ctx, as(who), before)) {
			nums[n] = true
		}
		w.NoError(w.Store.View(ctx, func(tx storage.Tx) error {
			list, err := tx.Log().Events(before, 1000)
			for _, e := range list {
				if nums[e.Num] && e.Kind.Within("run") {
					kinds = append(kinds, e.Kind)
				}
			}
			return err
		}))
		return kinds
	}
	all := []parley.EventKind{"run.starting", "run.running", "run.succeeded"}
	same(t, "an owner's", seen("user"), all)
	same(t, "its own", seen("codex"), all)
	same(t, "another's", seen("gemini"), []parley.EventKind{})
}

func TestRunIsCancelled(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "gemini", "boss")
	w.EditAgent("codex", func(a *parley.Agent) { a.Manager = "boss" })
	for _, by := range []string{"user", "boss", "codex"} {
		m := w.SendDM("user", "codex", "hello").Message
		a := w.StartRun("codex")
		_, err := w.CancelRun(ctx, as("gemini"), a.Run.ID, "")
		wantError(t, err, notFoundError("run", a.Run.ID, checkName))
		toCheck, _ := w.AgentsToCheck()
		toCheck()
		resultOf[parley.Run](w)(w.CancelRun(ctx, as(by), a.Run.ID, "wrong way"))
		resultOf[parley.Run](w)(w.CancelRun(ctx, user, a.Run.ID, "again"))
		same(t, "to check", toCheck(), []string{"codex"})
		same(t, "to end", resultOf[string](w)(w.ExtendRunLease(ctx, a.Run.ID)), "by "+by+": wrong way")
		r := w.FailRunWith(a, parley.FailureStopped)
		same(t, "state", r.State, parley.RunCancelled)
		same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryFailed)
		w.AssertIdle("codex")
		told := w.HubMessagesTo("user")
		same(t, "told", told[len(told)-1].Content.Text,
			"Error: codex did not do this: the run was cancelled: by "+by+": wrong way. Hint: send the message again if you still need it.")
	}
	same(t, "audited", strings.Count(actsOf(w.AuditEntries()), "run.cancel"), 3)
}

func actsOf(list []parley.AuditEntry) string {
	var acts []string
	for _, e := range list {
		acts = append(acts, e.Act)
	}
	return strings.Join(acts, " ")
}

// A cancelled run whose process is gone has been cancelled, not lost: nobody wants it again.
func TestCancelledRunIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	resultOf[parley.Run](w)(w.CancelRun(ctx, user, a.Run.ID, ""))
	w.AdvanceLeases(2 * time.Minute)
	same(t, "state", w.RunByID(a.Run.ID).State, parley.RunCancelled)
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryFailed)
}

// Of an agent that was stopped the queue is kept: what its cancelled run was at waits for it.
func TestStoppedAgentsRunGoesBack(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	resultOf[parley.Receipt](w)(w.Command(ctx, user, "codex", parley.Command{Action: parley.ActionStop}))
	w.Clock.Advance(31 * time.Second)
	w.NoError(w.SweepHalts(ctx))
	same(t, "to end", resultOf[string](w)(w.ExtendRunLease(ctx, a.Run.ID)), "codex was stopped")
	same(t, "state", w.EndRun(a, "done").State, parley.RunCancelled)
	d := w.DeliveryOf(m.ID, "codex")
	same(t, "what woke it", []any{d.State, d.Attempt}, []any{parley.DeliveryAccepted, 0})
	w.AssertIdle("codex")
	resultOf[parley.Receipt](w)(w.Command(ctx, user, "codex", parley.Command{Action: parley.ActionStart}))
	w.RunAndAnswer("codex", "here I am")
}

func TestLiveRunShowsItsOutput(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.SendDM("user", "codex", "hello")
	a := w.StartRun("codex")
	line := []byte(strings.Repeat("x", 1<<10-1) + "\n")
	for range 1024 {
		w.RunLogs(a.Run.ID, line)
	}
	w.RunLogs("unknown", line)
	w.RunLogs(a.Run.ID, []byte("the end"))
	output := func() string { return string(resultOf[[]byte](w)(w.RunOutput(ctx, as("codex"), a.Run.ID))) }
	before := output()
	same(t, "kept", []any{len(before), strings.HasSuffix(before, "x\nthe end")}, []any{256 << 10, true})
	w.EndRun(a, "done")
	same(t, "afterwards", output() == before, true)
}

func TestProgressOfARunIsAnEvent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.SendDM("user", "codex", "hello")
	a := w.StartRun("codex")
	w.Start(ctx)
	last := w.LastEventNumber()
	w.RunSays(a.Run.ID, "thinking \xff")
	w.RunSays("unknown", "nobody")
	got := follow(t, w.Hub, as("codex"), last, last+1)[0]
	same(t, "event", []any{got.Kind, got.Agent, string(got.Data)}, []any{
		parley.EventRunProgress, "codex", `{"run":"` + a.Run.ID + `","text":"thinking "}`,
	})
}

func TestWorkspaceOffersTheHubToARun(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "open", "codex")
	w.SayIn("user", "open", "@codex")
	at := w.At(w.StartRun("codex").Caller())
	resultOf[parley.Receipt](w)(at.Post(ctx, parley.Draft{Conversation: "open", Content: text("hi")}))
	same(t, "read", textsOf(resultOf[parley.NamedMessages](w)(at.Read(ctx, "open", 0, 1)).Messages), []string{"hi"})
	same(t, "who", len(resultOf[[]parley.Presence](w)(at.Who(ctx))), 3)
	same(t, "conversations", len(resultOf[[]parley.ConversationView](w)(at.Conversations(ctx, parley.ListFilter{}))), 1)
	same(t, "inbox", len(resultOf[parley.Peeked](w)(at.Peek(ctx, 10)).Deliveries), 1)
	resultOf[parley.SearchResult](w)(at.Search(ctx, parley.SearchRequest{Query: "hi"}))
	w.NoError(at.Sleep(ctx, began.Add(time.Hour)))
	if !resultOf[parley.Agent](w)(w.Agent(ctx, user, "codex")).Asleep(began) {
		t.Error("it does not sleep")
	}
}

// What a run sends counts as what its agent sends.
func TestRunsAreWithinTheirAgentsRate(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: 1, Burst: 3} })
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "open", "codex")
	w.SayIn("user", "open", "@codex")
	a := w.StartRun("codex")
	for range 2 {
		w.PostFromRun(a, parley.Draft{Conversation: "open", Content: text("hi")})
		w.SayIn("codex", "open", "hi")
		w.Clock.Advance(time.Second)
	}
	_, err := w.Post(ctx, a.Caller(), parley.Draft{Conversation: "open", Content: text("hi")})
	w.NoError(err)
	_, err = w.Post(ctx, a.Caller(), parley.Draft{Conversation: "open", Content: text("hi")})
	same(t, "refused", parley.AsError(err).Reason, parley.RateLimited)
	same(t, "its answer is not", w.EndRun(a, "done").State, parley.RunSucceeded)
}

func TestOutputsAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Retention.Outputs = time.Hour })
	w.AddScriptAgents("codex")
	w.SendDM("user", "codex", "hello")
	a := w.StartRun("codex")
	w.RunLogs(a.Run.ID, []byte("raw"))
	w.EndRun(a, "done")
	for _, want := range []string{"raw", ""} {
		w.NoError(w.Sweep(ctx))
		same(t, "output", string(resultOf[[]byte](w)(w.RunOutput(ctx, user, a.Run.ID))), want)
		w.Clock.Advance(2 * time.Hour)
	}
}
