package hub_test

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// TestBudgetsHoldRunsBack lets an agent spend what it may, and go on once the window has moved.
func TestBudgetsHoldRunsBack(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	used := parley.Result{Usage: parley.Usage{InputTokens: 600, OutputTokens: 400, Cost: 0.5}}
	for name, c := range map[string]struct {
		budget parley.Budget
		runs   int
		window time.Duration
		says   string
		flag   string
	}{
		"runs":   {parley.Budget{RunsPerHour: 3}, 3, time.Hour, "3 of 3 runs in an hour", "--runs-per-hour"},
		"tokens": {parley.Budget{TokensPerDay: 1500}, 2, day, "2000 of 1500 tokens in a day", "--tokens-per-day"},
		"cost":   {parley.Budget{CostPerDay: 1.5}, 3, day, "$1.50 of $1.50 in a day", "--cost-per-day"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			w.AddScriptAgents("bot")
			w.EditAgent("bot", func(a *parley.Agent) { a.Budget = c.budget })
			spend := func() (runs int) {
				for ; ; runs++ {
					w.SendDM("user", "bot", "work")
					run := w.nextInstantRun("bot")
					if run == nil {
						return runs
					}
					w.EndRunWith(run, used)
				}
			}
			same(t, "before", w.presenceStatuses()["bot"], "idle")
			same(t, "runs", spend(), c.runs)
			same(t, "held back", w.presenceStatuses()["bot"], "idle over budget")
			same(t, "why", w.presenceOf("bot").Note, c.says)
			w.Restart()
			same(t, "after a restart", w.nextInstantRun("bot") == nil, true)
			w.Clock.Advance(c.window - time.Millisecond)
			same(t, "just before", w.nextInstantRun("bot") == nil, true)
			w.NoError(w.SweepBudgets(ctx))
			told := w.HubMessagesTo("user")
			same(t, "told once, with what to do", textsOf(told), []string{
				"bot has used up a budget (" + c.says + "); its messages are pending. It continues by itself later; to continue now, raise the budget: parley agent set bot " + c.flag + " …",
			})
			w.Clock.Advance(time.Millisecond)
			w.EndRun(w.StartRun("bot"), "")
		})
	}
}

func TestBudgetNoticeIsSentOnceAWindow(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot", "boss")
	w.AddPerson("ned", parley.AccessMember)
	w.AddPerson("sansa", parley.AccessOwner)
	w.EditAgent("bot", func(a *parley.Agent) { a.Budget, a.Manager = parley.Budget{RunsPerHour: 1}, "boss" })
	holdBack := func() {
		t.Helper()
		w.SendDM("user", "bot", "work")
		if run := w.nextInstantRun("bot"); run != nil {
			w.EndRun(run, "")
		}
		w.NoError(w.SweepBudgets(ctx))
	}
	counts := func() []int {
		return []int{len(w.HubMessagesTo("user")), len(w.HubMessagesTo("sansa")), len(w.HubMessagesTo("ned"))}
	}
	holdBack()
	w.nextInstantRun("bot")
	w.NoError(w.SweepBudgets(ctx))
	same(t, "while nothing waits", counts(), []int{0, 0, 0})
	before := w.LastEventNumber()
	holdBack()
	holdBack()
	same(t, "its manager is an agent: all owners", counts(), []int{1, 1, 0})
	alerts := slices.DeleteFunc(eventsAfter(w, before), func(e parley.Event) bool { return e.Kind != parley.EventAlert })
	same(t, "alerts", len(alerts), 1)
	same(t, "alert", string(alerts[0].Data), `{"name":"budget","state":"on","agent":"bot","budget":"runs_per_hour","limit":1,"spent":1}`)
	w.Restart()
	holdBack()
	same(t, "after a restart", counts(), []int{1, 1, 0})
	w.Clock.Advance(time.Hour)
	w.EditAgent("bot", func(a *parley.Agent) { a.Manager = "ned" })
	holdBack()
	holdBack()
	same(t, "in the next hour, its manager", counts(), []int{1, 1, 1})
	dm := w.HubMessagesTo("ned")[0]
	same(t, "a notification", dm.Type, parley.TypeNotification)
	same(t, "which wakes nobody", wakesByRecipient(resultOf[parley.Shown](w)(w.Message(ctx, as("ned"), dm.ID)).Deliveries), map[string]bool{"ned": false})
	same(t, "in a DM with the hub", w.ConversationAs("ned", dm.Conversation).Members, []string{parley.System, "ned"})
	w.SayIn("ned", dm.Conversation, "thank you")
	_, err := w.Post(ctx, as("ned"), parley.Draft{Direct: []string{parley.System}, Content: text("hello")})
	wantError(t, err, refusalError(parley.BadInput, "", "parley cannot receive messages", "name an agent or a person"))
}
