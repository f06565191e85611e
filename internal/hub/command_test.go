package hub_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// nextInstantRun makes the next run of an agent, which begins at once. It returns nil if there is none.
func (w *fixture) nextInstantRun(agent string) *hub.Assignment {
	w.T.Helper()
	return resultOf[*hub.Assignment](w)(w.NextRun(ctx, agent, hub.RunOptions{Node: node, Plan: instantly}))
}

func (w *fixture) commandAs(by, agent string, action parley.Action, p parley.CommandParameters) parley.Receipt {
	w.T.Helper()
	return resultOf[parley.Receipt](w)(w.Command(ctx, as(by), agent, parley.Command{Action: action, Parameters: p}))
}

// presenceOf returns the presence of a participant as an owner sees it.
func (w *fixture) presenceOf(id string) parley.Presence {
	w.T.Helper()
	for _, p := range resultOf[[]parley.Presence](w)(w.Who(ctx, user)) {
		if p.ID == id {
			return p
		}
	}
	w.T.Fatalf("%s is not there", id)
	return parley.Presence{}
}

func TestACommandIsObeyedWithItsPost(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.SendDM("user", "bot", "work")
	table := []struct {
		action parley.Action
		status string
		starts bool
	}{
		{parley.ActionPause, "idle paused", false},
		{parley.ActionResume, "idle", true},
		{parley.ActionStop, "offline stopped", false},
		{parley.ActionStart, "idle", true},
	}
	for _, step := range table {
		before := w.LastEventNumber()
		r := w.commandAs("user", "bot", step.action, parley.CommandParameters{Reason: "a test"})
		same(t, "status after "+string(step.action), w.presenceStatuses()["bot"], step.status)
		note := ""
		if !step.starts {
			note = "a test"
		}
		same(t, "note", w.presenceOf("bot").Note, note)
		same(t, "it wakes nobody", wakesByRecipient(r.Deliveries), map[string]bool{"bot": false})
		same(t, "the hub has obeyed", r.Deliveries[0].State, parley.DeliveryAcked)
		kinds := kindsAfter(w, before)
		same(t, "events", kinds[len(kinds)-4:], []parley.EventKind{
			parley.EventMessagePosted, parley.EventDelivery(parley.DeliveryAcked), parley.EventAgentChanged, parley.EventAgentPresence,
		})
		last := w.AuditEntries()[len(w.AuditEntries())-1]
		same(t, "audit", []string{last.Act, last.Subject, last.Actor}, []string{"agent." + string(step.action), "bot", "user"})
		same(t, "its queue is kept", w.presenceOf("bot").Inbox.Waking, 1)
		if run := w.nextInstantRun("bot"); (run != nil) != step.starts {
			t.Errorf("after %s a run starts: %v", step.action, run != nil)
		} else if run != nil {
			w.EndRun(run, "")
			w.SendDM("user", "bot", "more work")
		}
	}
}

func TestAPauseWithATimeEndsByItself(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.commandAs("user", "bot", parley.ActionPause, parley.CommandParameters{TimeoutMS: 300_000})
	w.NoError(w.SweepHalts(ctx))
	w.SendDM("user", "bot", "work")
	w.Clock.Advance(300*time.Second - time.Millisecond)
	w.NoError(w.SweepHalts(ctx))
	same(t, "just before", w.presenceStatuses()["bot"], "idle paused")
	w.Clock.Advance(time.Millisecond)
	same(t, "without a sweep", w.presenceStatuses()["bot"], "idle")
	before := w.LastEventNumber()
	w.NoError(w.SweepHalts(ctx))
	w.NoError(w.SweepHalts(ctx))
	same(t, "told once", kindsAfter(w, before), []parley.EventKind{parley.EventAgentChanged, parley.EventAgentPresence})
	same(t, "gone", resultOf[parley.Agent](w)(w.Agent(ctx, user, "bot")).Paused, (*parley.Halt)(nil))
	w.StartRun("bot")
}

func TestRestartsKeepHalts(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.SendDM("user", "bot", "work")
	w.commandAs("user", "bot", parley.ActionPause, parley.CommandParameters{TimeoutMS: 1000})
	w.Restart()
	if w.nextInstantRun("bot") != nil {
		t.Error("a paused agent started after a restart")
	}
	w.Clock.Advance(time.Second)
	before := w.LastEventNumber()
	w.NoError(w.SweepHalts(ctx))
	same(t, "the new process ends it", kindsAfter(w, before), []parley.EventKind{parley.EventAgentChanged, parley.EventAgentPresence})
}

func TestAStopLetsRunsEndThenCancelsThem(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.SendDM("user", "bot", "work")
	run := w.StartRun("bot")
	w.commandAs("user", "bot", parley.ActionStop, parley.CommandParameters{Reason: "enough"})
	cancel := func() string {
		t.Helper()
		w.NoError(w.SweepHalts(ctx))
		return resultOf[string](w)(w.ExtendRunLease(ctx, run.Run.ID))
	}
	same(t, "at once", []string{w.presenceStatuses()["bot"], cancel()}, []string{"offline stopped", ""})
	w.Clock.Advance(30*time.Second - time.Millisecond)
	same(t, "before its time", cancel(), "")
	w.Clock.Advance(time.Millisecond)
	same(t, "then", cancel(), "bot was stopped: enough")
	before := w.LastEventNumber()
	same(t, "once", cancel(), "bot was stopped: enough")
	same(t, "no further event", kindsAfter(w, before), []parley.EventKind{})
	w.FailRunWith(run, parley.FailureFinal)
	same(t, "its work is back in the queue", w.presenceOf("bot").Inbox.Waking, 1)
	w.commandAs("user", "bot", parley.ActionStart, parley.CommandParameters{})
	same(t, "and no try is counted", w.StartRun("bot").Run.Attempt, 1)
}

func TestEndOfSleepIsAnEvent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	resultOf[parley.Agent](w)(w.Sleep(ctx, as("bot"), "bot", w.Clock.Now().Add(time.Hour)))
	w.SendDM("user", "bot", "work")
	w.NoError(w.SweepHalts(ctx))
	if w.nextInstantRun("bot") != nil {
		t.Error("a run started while its agent sleeps")
	}
	w.Clock.Advance(time.Hour)
	before := w.LastEventNumber()
	w.NoError(w.SweepHalts(ctx))
	same(t, "events", kindsAfter(w, before), []parley.EventKind{parley.EventAgentChanged, parley.EventAgentPresence})
	w.StartRun("bot")
}

// TestOnlyOwnersAndManagersMayCommand is the matrix of rights: by whom, and over which way.
func TestOnlyOwnersAndManagersMayCommand(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot", "boss")
	w.AddAgents("peer")
	w.AddPerson("arya", parley.AccessMember)
	w.AddPerson("ned", parley.AccessMember)
	w.AddPerson("sansa", parley.AccessOwner)
	w.EditAgent("bot", func(a *parley.Agent) { a.Manager = "boss" })
	w.EditAgent("peer", func(a *parley.Agent) { a.Manager = "ned" })
	w.CreateChannel("user", "all", "bot", "boss", "peer", "arya", "ned", "sansa")
	w.SendDM("user", "boss", "lead")
	boss := w.StartRun("boss")
	w.SendDM("user", "bot", "work")
	bot := w.StartRun("bot")
	callers := map[string]hub.Caller{
		"an owner": user, "another owner": as("sansa"), "its manager": as("boss"), "a run of its manager": boss.Caller(),
		"an owner as its manager": {Agent: "boss", By: "user", Source: "test"},
		"a member":                as("arya"), "the manager of another": as("ned"), "another agent": as("peer"),
		"itself": as("bot"), "its own run": bot.Caller(), "an owner over a bridge": {Agent: "user", Source: "file"},
	}
	may := map[string]bool{
		"an owner": true, "another owner": true, "its manager": true, "a run of its manager": true, "an owner as its manager": true,
	}
	for who, caller := range callers {
		for way, call := range map[string]func() error{
			"a call": func() error {
				_, err := w.Command(ctx, caller, "bot", parley.Command{Action: parley.ActionPause})
				return err
			},
			"a message": func() error { return w.postCommand(caller, "all", "bot", `{"action":"pause"}`) },
		} {
			before := w.storeSnapshot()
			err := call()
			if may[who] != (err == nil) {
				t.Errorf("%s by %s: %v", who, way, err)
			}
			if !may[who] {
				want := parley.NotPermitted
				if caller.Agent == "bot" {
					want = parley.BadInput // nobody writes to itself
				}
				same(t, who+" by "+way, parley.CodeOf(err), want)
				same(t, who+" by "+way+": nothing is stored", w.storeSnapshot() == before, true)
			}
			w.commandAs("user", "bot", parley.ActionResume, parley.CommandParameters{})
		}
	}
}

// postCommand posts a command as a message.
func (w *fixture) postCommand(caller hub.Caller, where, to, payload string) error {
	_, err := w.Post(ctx, caller, parley.Draft{Conversation: where, To: to, Type: parley.TypeCommand, Payload: json.RawMessage(payload)})
	return err
}

func TestBadCommandsAreRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.AddPerson("ned", parley.AccessMember)
	w.CreateChannel("user", "all", "bot", "ned")
	order := func(to, payload string) func() error {
		return func() error { return w.postCommand(user, "all", to, payload) }
	}
	noCommand := refusalError(parley.BadInput, "", "the payload is not a valid command",
		`give {"action": "pause", "parameters": {"reason": "…", "timeout_ms": 30000}}; the parameters may be left out`)
	w.assertRefusals(t, []refusal{
		{"no action", order("bot", `{}`), refusalError(parley.BadInput, "", `unknown action ""`, "use start, stop, pause, resume or health_check")},
		{
			"unknown action", order("bot", `{"action":"dance"}`),
			refusalError(parley.BadInput, "", `unknown action "dance"`, "use start, stop, pause, resume or health_check"),
		},
		{"wrong type", order("bot", `{"action":1}`), noCommand},
		{"other case", order("bot", `{"Action":"pause"}`), noCommand},
		{"unknown key", order("bot", `{"action":"pause","force":true}`), noCommand},
		{"unknown parameter", order("bot", `{"action":"pause","parameters":{"timeout":1}}`), noCommand},
		{"parameters of another case", order("bot", `{"action":"pause","parameters":{"Timeout_ms":1}}`), noCommand},
		{
			"negative time", order("bot", `{"action":"pause","parameters":{"timeout_ms":-1}}`),
			refusalError(parley.BadInput, "", "timeout_ms is -1", "use 1 to 2592000000, or leave it out"),
		},
		{
			"for all", order("all", `{"action":"pause"}`),
			refusalError(parley.BadInput, "", "the command names no agent", "name the agent in to"),
		},
		{
			"for nobody", order("", `{"action":"pause"}`),
			refusalError(parley.BadInput, "", "the command names no agent", "name the agent in to"),
		},
		{"for a person", order("ned", `{"action":"pause"}`), refusalError(parley.BadInput, "", "ned is not an agent", "name an agent")},
	})
}

func TestACommandIsObeyedOncePerKey(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	draft := parley.Draft{
		Direct: []string{"bot"}, Type: parley.TypeCommand, Payload: json.RawMessage(`{"action":"pause"}`), IdempotencyKey: "once",
	}
	w.PostAs("user", draft)
	w.commandAs("user", "bot", parley.ActionResume, parley.CommandParameters{})
	same(t, "the second is the first", w.PostAs("user", draft).Duplicate, true)
	same(t, "status", w.presenceStatuses()["bot"], "idle")
}

// TestAHealthCheckIsAnswered has the hub answer for the agents it runs.
func TestAHealthCheckIsAnswered(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.Clock.Advance(time.Minute)
	run := func(end func(*hub.Assignment)) {
		w.SendDM("user", "bot", "work")
		end(w.StartRun("bot"))
		w.Clock.Advance(time.Millisecond)
	}
	well := func(a *hub.Assignment) { w.EndRun(a, "") }
	broken := func(a *hub.Assignment) { w.FailRunWith(a, parley.FailureFinal) }
	health := func(want string) {
		t.Helper()
		r := w.commandAs("user", "bot", parley.ActionHealthCheck, parley.CommandParameters{})
		list := resultOf[[]parley.Message](w)(w.History(ctx, user, r.Message.Conversation, parley.Page{}))
		got := list[len(list)-1]
		same(t, "the answer", []any{got.From, got.To, got.Type, got.InReplyTo}, []any{"bot", "user", parley.TypeHeartbeat, r.Message.ID})
		var says parley.Health
		w.NoError(json.Unmarshal(got.Payload, &says))
		same(t, "health", says.Health, want)
		same(t, "kept", w.presenceOf("bot").Health.Health, want)
		same(t, "metrics", string(says.Metrics), `{"active_tasks":0}`)
		same(t, "answered", resultOf[parley.Shown](w)(w.Message(ctx, user, r.Message.ID)).Deliveries[0].State, parley.DeliveryAnswered)
	}
	health(parley.Healthy)
	run(broken)
	health(parley.Degraded)
	run(broken)
	run(broken)
	health(parley.Unhealthy)
	run(well)
	health(parley.Healthy)
	run(broken)
	health(parley.Degraded)
}

func TestAHealthCheckOfOthersIsDue(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	errors := func() int {
		t.Helper()
		w.NoError(w.SweepDeliveries(ctx))
		return len(w.HubMessagesTo("user"))
	}
	asked := w.commandAs("user", "arya", parley.ActionHealthCheck, parley.CommandParameters{TimeoutMS: 5000})
	same(t, "it is left to the agent", asked.Deliveries[0].State, parley.DeliveryAccepted)
	answered := w.commandAs("user", "ned", parley.ActionHealthCheck, parley.CommandParameters{TimeoutMS: 5000})
	w.PostAs("ned", parley.Draft{InReplyTo: answered.Message.ID, Type: parley.TypeHeartbeat, Payload: json.RawMessage(`{"health":"degraded"}`)})
	w.Clock.Advance(5*time.Second - time.Millisecond)
	same(t, "before its time", errors(), 0)
	w.Clock.Advance(time.Millisecond)
	same(t, "E004, once, for the one that is silent", fmt.Sprint(errors(), errors()), "1 1")
	same(t, "what the other says is kept", w.presenceOf("ned").Health.Health, parley.Degraded)
}

// TestAHaltedAgentThatFetchesGetsNoWork has a client that runs by itself: what wakes it waits, and the command
// comes through.
func TestAHaltedAgentThatFetchesGetsNoWork(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	work := w.SendDM("user", "arya", "work").Message.ID
	for _, halt := range [][2]parley.Action{{parley.ActionPause, parley.ActionResume}, {parley.ActionStop, parley.ActionStart}} {
		w.commandAs("user", "arya", halt[0], parley.CommandParameters{})
		same(t, "only", w.TakeTexts("arya", parley.Take{Only: []string{work}}), []string{})
		same(t, "what wakes", w.TakeTexts("arya", parley.Take{Waking: true}), []string{})
		same(t, "the rest", w.TakeTexts("arya", parley.Take{}), []string{string(halt[0])})
		w.commandAs("user", "arya", halt[1], parley.CommandParameters{})
		same(t, "afterwards", w.TakeTexts("arya", parley.Take{AtMostOnce: true}), []string{"work", string(halt[1])})
		work = w.SendDM("user", "arya", "work").Message.ID
	}
}

func TestOverdueErrorSaysWhyTheAgentIsHalted(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot", "spender")
	w.EditAgent("spender", func(a *parley.Agent) { a.Budget = parley.Budget{CostPerDay: 1} })
	w.SendDM("user", "spender", "work")
	w.EndRunWith(w.StartRun("spender"), parley.Result{Usage: parley.Usage{Cost: 2}})
	w.commandAs("user", "bot", parley.ActionPause, parley.CommandParameters{})
	for agent, why := range map[string]string{"bot": "paused", "spender": "over budget: $2.00 of $1.00 in a day"} {
		asked := w.SendDM("user", agent, "work").Message
		w.Clock.Advance(asked.Priority.Due())
		w.NoError(w.SweepDeliveries(ctx))
		told := w.HubMessagesTo("user")
		same(t, agent, told[len(told)-1].Content.Text,
			"Error: "+agent+" has not seen this for 30 min. Hint: it is "+why+"; until that ends, the message stays in its inbox.")
	}
}
