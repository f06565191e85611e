package hub_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// presenceStatuses returns the status of each participant. Owners and agents must see the same.
func (w *fixture) presenceStatuses() map[string]string {
	w.T.Helper()
	found := map[string]string{}
	for _, p := range resultOf[[]parley.Presence](w)(w.Who(ctx, user)) {
		found[p.ID] = p.Status
		if p.Reason != "" {
			found[p.ID] += " " + p.Reason
		}
		view := resultOf[parley.AgentView](w)(w.AgentView(ctx, user, p.ID))
		same(w.T, "the view of "+p.ID,
			[]any{view.Status, view.Reason, view.LastSeen, view.Inbox}, []any{p.Status, p.Reason, p.LastSeen, p.Inbox})
	}
	return found
}

func TestAgentsComeAndGo(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry", "gone")
	w.AddPerson("sansa", parley.AccessMember)
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
	everybody := func(arya, gendry string) map[string]string {
		return map[string]string{"parley": "idle", "user": "idle", "sansa": "idle", "arya": arya, "gendry": gendry}
	}
	same(t, "at first", w.presenceStatuses(), everybody("offline away", "offline away"))
	resultOf[[]parley.Agent](w)(w.Agents(ctx, as("arya")))
	same(t, "after a call", w.presenceStatuses(), everybody("idle", "offline away"))
	resultOf[[]parley.Agent](w)(w.Agents(ctx, hub.Caller{Agent: "gendry", By: "user"}))
	same(t, "after a call by an owner in its name", w.presenceStatuses(), everybody("idle", "offline away"))
	w.Clock.Advance(parley.AwayAfter - time.Millisecond)
	same(t, "just before it counts as silent", w.presenceStatuses(), everybody("idle", "offline away"))
	leave := w.Attend("gendry")
	second := w.Attend("gendry")
	w.Clock.Advance(time.Hour)
	same(t, "with a session", w.presenceStatuses(), everybody("offline away", "idle"))
	leave()
	leave()
	w.Clock.Advance(time.Hour)
	same(t, "with one session left", w.presenceStatuses(), everybody("offline away", "idle"))
	second()
	same(t, "right after it", w.presenceStatuses(), everybody("offline away", "idle"))
	w.Clock.Advance(time.Second)
	same(t, "a second after it", w.presenceStatuses(), everybody("offline away", "offline away"))
	w.Attend("gendry")()
	resultOf[[]parley.Agent](w)(w.Agents(ctx, as("gendry")))
	w.Clock.Advance(parley.AwayAfter - time.Millisecond)
	same(t, "after a session and a call", w.presenceStatuses(), everybody("offline away", "idle"))
	w.Clock.Advance(time.Millisecond)
	resultOf[parley.Agent](w)(w.Sleep(ctx, as("arya"), "arya", w.Clock.Now().Add(time.Hour)))
	same(t, "asleep", w.presenceStatuses(), everybody("sleeping", "offline away"))
}

// TestPresenceShowsSleepWithEveryStatus has an agent that sleeps and is away: its status says the latter.
func TestPresenceShowsSleepWithEveryStatus(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya")
	until := w.Clock.Now().Add(time.Hour)
	asleep := func(status string, want *time.Time) {
		t.Helper()
		same(t, "status", w.presenceStatuses()["arya"], status)
		for _, p := range resultOf[[]parley.Presence](w)(w.Who(ctx, user)) {
			if p.ID == "arya" {
				same(t, "sleeps until, while "+status, p.SleepingUntil, want)
			}
		}
	}
	resultOf[parley.Agent](w)(w.Sleep(ctx, as("arya"), "arya", until))
	asleep("sleeping", &until)
	w.Clock.Advance(parley.AwayAfter)
	asleep("offline away", &until)
	same(t, "in its view", resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "arya")).SleepingUntil, &until)
	w.Clock.Advance(time.Hour)
	asleep("offline away", nil)
}

func TestPresenceIsWrittenOncePerArrival(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya")
	after := w.LastEventNumber()
	presence := func(what string, want ...string) {
		t.Helper()
		w.NoError(w.SweepAttendance(ctx))
		w.NoError(w.SweepAttendance(ctx))
		got := []string{}
		for _, e := range eventsAfter(w, after) {
			if e.Kind == parley.EventAgentPresence {
				got = append(got, fmt.Sprintf("%s %s", e.Agent, e.Data))
			}
		}
		after = w.LastEventNumber()
		same(t, what, got, want)
	}
	presence("nothing has happened")
	for range 3 {
		resultOf[[]parley.Agent](w)(w.Agents(ctx, as("arya")))
	}
	presence("it has come", `arya {"status":"idle"}`)
	w.Clock.Advance(parley.AwayAfter - time.Millisecond)
	resultOf[[]parley.Agent](w)(w.Agents(ctx, as("arya")))
	w.Clock.Advance(parley.AwayAfter - time.Millisecond)
	presence("it goes on")
	w.Clock.Advance(parley.AwayAfter)
	presence("it is silent", `arya {"status":"offline","reason":"away"}`)
	leave := w.Attend("arya")
	presence("it has a session", `arya {"status":"idle"}`)
	leave()
	w.Clock.Advance(parley.AwayAfter)
	presence("it has none", `arya {"status":"offline","reason":"away"}`)
	leave = w.Attend("arya")
	defer leave()
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	presence("it was removed")
}

func TestArrivalIsAnEventAtOnce(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.Hub.Start(ctx)
	told := subscribe(t, w.Hub, as("gendry"), w.LastEventNumber(), parley.EventAgentPresence)
	defer w.Attend("arya")()
	for {
		list, _, err := told.Next(ctx) // waits for it
		w.NoError(err)
		if slices.ContainsFunc(list, func(e parley.Event) bool { return e.Agent == "arya" }) {
			return
		}
	}
}

// TestLeavingIsAnEventWithinASecond has nothing but the hub's own timer tell: no sweep, no call.
func TestLeavingIsAnEventWithinASecond(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya")
	w.Hub.Start(ctx)
	told := subscribe(t, w.Hub, user, w.LastEventNumber(), parley.EventAgentPresence)
	next := func() string {
		t.Helper()
		list, _, err := told.Next(ctx) // waits for it
		w.NoError(err)
		return fmt.Sprintf("%d %s", len(list), list[0].Data)
	}
	leave := w.Attend("arya")
	same(t, "it has come", next(), `1 {"status":"idle"}`)
	leave()
	w.Clock.Advance(time.Second)
	same(t, "it has left", next(), `1 {"status":"offline","reason":"away"}`)
}

// TestAgentsTheHubRunsAreNeverAway has an agent that nobody needs to attend for.
func TestAgentsTheHubRunsAreNeverAway(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	before := w.LastEventNumber()
	resultOf[[]parley.Agent](w)(w.Agents(ctx, as("bot")))
	w.NoError(w.SweepAttendance(ctx))
	heard := w.Clock.Now()
	w.Clock.Advance(time.Hour)
	w.NoError(w.SweepAttendance(ctx))
	same(t, "nobody is told", kindsAfter(w, before), []parley.EventKind{})
	same(t, "status", w.presenceStatuses()["bot"], "idle")
	same(t, "last seen", w.presenceOf("bot").LastSeen, &heard)
}

// TestAnAgentIsSeenWhenItsRunsGoOn: what the hub runs needs not call to have been there, but whose run is lost was
// not.
func TestAnAgentIsSeenWhenItsRunsGoOn(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	seen := func(when string, want *time.Time) {
		t.Helper()
		same(t, when, w.presenceOf("bot").LastSeen, want)
	}
	seen("at first", nil)
	w.SendDM("user", "bot", "work")
	run, began := w.StartRun("bot"), w.Clock.Now()
	w.Clock.Advance(time.Minute)
	seen("at work", &began)
	ended := w.Clock.Now()
	w.EndRun(run, "done")
	w.Clock.Advance(time.Minute)
	seen("after it", &ended)
	w.SendDM("user", "bot", "more")
	again := w.Clock.Now()
	run = w.nextInstantRun("bot")
	seen("when a run has begun at once", &again)
	w.Clock.Advance(time.Minute)
	w.NoError(w.RecoverRun(ctx, run.Run.ID))
	seen("after a run that was lost", &again)
}

// TestEachStatusHasAStateOfTheAgentOSFormat goes through what an agent may be doing.
func TestEachStatusHasAStateOfTheAgentOSFormat(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	after := w.LastEventNumber()
	state := func(status string, want parley.State, sub parley.Substate) {
		t.Helper()
		p := w.presenceOf("bot")
		same(t, status, []any{w.presenceStatuses()["bot"], p.State, p.Substate}, []any{status, want, sub})
		view := resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "bot"))
		same(t, "in its view", []any{view.State, view.Substate, view.Work}, []any{want, sub, p.Work})
		told := ""
		for _, e := range eventsAfter(w, after) {
			if e.Kind == parley.EventAgentPresence {
				var s parley.Status
				w.NoError(json.Unmarshal(e.Data, &s))
				if told = s.Status; s.Reason != "" {
					told += " " + s.Reason
				}
			}
		}
		same(t, "as was told", told, status)
	}
	resultOf[parley.Agent](w)(w.Sleep(ctx, as("bot"), "bot", w.Clock.Now().Add(time.Hour)))
	state("sleeping", parley.Awake, parley.Sleeping)
	resultOf[parley.Agent](w)(w.Wake(ctx, as("bot"), "bot"))
	state("idle", parley.Awake, parley.Idle)
	w.SendDM("user", "bot", "work")
	run := w.StartRun("bot")
	state("working", parley.Awake, parley.Working)
	w.EndRun(run, "")
	state("idle", parley.Awake, parley.Idle)
	w.commandAs("user", "bot", parley.ActionPause, parley.CommandParameters{})
	state("idle paused", parley.Awake, parley.Idle)
	w.commandAs("user", "bot", parley.ActionStop, parley.CommandParameters{})
	state("offline stopped", parley.Offline, "")
}

// TestChannelOfARunIsShownOnlyToItsReaders is about what who tells, and to whom.
func TestChannelOfARunIsShownOnlyToItsReaders(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	w.AddAgents("member", "other")
	open := w.CreateChannel("user", "open", "bot")
	secret := w.CreatePrivateChannel("user", "secret", "bot", "member")
	since := w.Clock.Now()
	w.SayIn("user", "secret", "@bot go")
	first := w.StartRun("bot").Run.ID
	w.SayIn("user", "open", "@bot go")
	second := w.StartRun("bot").Run.ID
	shown := parley.Work{Run: first, State: parley.RunRunning, Since: since, Conversation: secret.ID, Channel: "secret"}
	hidden := parley.Work{Run: first, State: parley.RunRunning, Since: since}
	public := parley.Work{Run: second, State: parley.RunRunning, Since: since, Conversation: open.ID, Channel: "open"}
	for who, want := range map[string][]parley.Work{
		"user": {shown, public}, "bot": {shown, public}, "member": {shown, public}, "other": {hidden, public},
	} {
		list := resultOf[[]parley.Presence](w)(w.Who(ctx, as(who)))
		at := slices.IndexFunc(list, func(p parley.Presence) bool { return p.ID == "bot" })
		same(t, who, list[at].Work, want)
		view := resultOf[parley.AgentView](w)(w.AgentView(ctx, as(who), "bot"))
		same(t, who+" in its view", view.Work, want)
		same(t, who+" sees what it has spent", view.LastDay != nil && view.LastHour != nil, who == "user" || who == "bot")
	}
}

func TestAgentViewShowsItsUsage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	for range 2 {
		w.SendDM("user", "bot", "work")
		w.EndRunWith(w.StartRun("bot"), parley.Result{Usage: parley.Usage{InputTokens: 3, OutputTokens: 4, Cost: 0.5}})
		w.Clock.Advance(time.Hour)
	}
	view := resultOf[parley.AgentView](w)(w.AgentView(ctx, as("bot"), "bot"))
	same(t, "in an hour", view.LastHour, &parley.Spent{})
	same(t, "in a day", view.LastDay, &parley.Spent{Runs: 2, Usage: parley.Usage{InputTokens: 6, OutputTokens: 8, Cost: 1}})
	same(t, "a person has spent nothing", resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "user")).LastDay, (*parley.Spent)(nil))
}

func TestFollowingEventsCountsAsPresence(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	sub := resultOf[*hub.Subscription](w)(w.Subscribe(ctx, as("arya"), w.LastEventNumber(), parley.EventFilter{}))
	other := resultOf[*hub.Subscription](w)(w.Subscribe(ctx, hub.Caller{Agent: "gendry", By: "user"}, w.LastEventNumber(), parley.EventFilter{}))
	defer other.Close()
	w.Clock.Advance(time.Hour)
	same(t, "while it follows", []string{w.presenceStatuses()["arya"], w.presenceStatuses()["gendry"]}, []string{"idle", "offline away"})
	sub.Close()
	w.Clock.Advance(parley.AwayAfter)
	same(t, "afterwards", w.presenceStatuses()["arya"], "offline away")
}

func TestOthersSeeHowFullAnInboxIs(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.SendDM("user", "arya", "hello")
	for _, p := range resultOf[[]parley.Presence](w)(w.Who(ctx, as("gendry"))) {
		want := parley.Inbox{}
		if p.ID == "arya" {
			want.Waking = 1
		}
		same(t, p.ID, p.Inbox, want)
	}
	_, err := w.AgentView(ctx, user, "arja")
	wantError(t, err, notFoundError("agent", "arja", "did you mean arya?"))
}
