package hub_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// statuses is what everybody is doing, as owners and agents alike see it.
func (w *world) statuses() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for _, p := range get[[]parley.Presence](w)(w.Who(ctx, user)) {
		found[p.ID] = p.Status
		if p.Reason != "" {
			found[p.ID] += " " + p.Reason
		}
		view := get[parley.AgentView](w)(w.AgentView(ctx, user, p.ID))
		same(w.t, "the view of "+p.ID,
			[]any{view.Status, view.Reason, view.LastSeen, view.Inbox}, []any{p.Status, p.Reason, p.LastSeen, p.Inbox})
	}
	return found
}

func TestAgentsComeAndGo(t *testing.T) {
	w := newHub(t)
	w.add("arya", "gendry", "gone")
	w.addPerson("sansa", parley.AccessMember)
	w.ok(w.RemoveAgent(ctx, user, "gone"))
	everybody := func(arya, gendry string) map[string]string {
		return map[string]string{"parley": "idle", "user": "idle", "sansa": "idle", "arya": arya, "gendry": gendry}
	}
	same(t, "at first", w.statuses(), everybody("offline away", "offline away"))
	get[[]parley.Agent](w)(w.Agents(ctx, as("arya")))
	same(t, "after a call", w.statuses(), everybody("idle", "offline away"))
	get[[]parley.Agent](w)(w.Agents(ctx, hub.Caller{Agent: "gendry", By: "user"}))
	same(t, "after a call by an owner in its name", w.statuses(), everybody("idle", "offline away"))
	w.clock.advance(parley.AwayAfter - time.Millisecond)
	same(t, "just before it counts as silent", w.statuses(), everybody("idle", "offline away"))
	leave := w.Attend("gendry")
	second := w.Attend("gendry")
	w.clock.advance(time.Hour)
	same(t, "with a session", w.statuses(), everybody("offline away", "idle"))
	leave()
	leave()
	w.clock.advance(time.Hour)
	same(t, "with one session left", w.statuses(), everybody("offline away", "idle"))
	second()
	same(t, "right after it", w.statuses(), everybody("offline away", "idle"))
	w.clock.advance(parley.AwayAfter)
	same(t, "a while after it", w.statuses(), everybody("offline away", "offline away"))
	get[parley.Agent](w)(w.Sleep(ctx, as("arya"), "arya", w.clock.Now().Add(time.Hour)))
	same(t, "asleep", w.statuses(), everybody("sleeping", "offline away"))
}

// TestWhoSleepsIsSaidWhateverItsStatus has an agent that sleeps and is away: its status says the latter.
func TestWhoSleepsIsSaidWhateverItsStatus(t *testing.T) {
	w := newHub(t)
	w.add("arya")
	until := w.clock.Now().Add(time.Hour)
	asleep := func(status string, want *time.Time) {
		t.Helper()
		same(t, "status", w.statuses()["arya"], status)
		for _, p := range get[[]parley.Presence](w)(w.Who(ctx, user)) {
			if p.ID == "arya" {
				same(t, "sleeps until, while "+status, p.SleepingUntil, want)
			}
		}
	}
	get[parley.Agent](w)(w.Sleep(ctx, as("arya"), "arya", until))
	asleep("sleeping", &until)
	w.clock.advance(parley.AwayAfter)
	asleep("offline away", &until)
	same(t, "in its view", get[parley.AgentView](w)(w.AgentView(ctx, user, "arya")).SleepingUntil, &until)
	w.clock.advance(time.Hour)
	asleep("offline away", nil)
}

func TestPresenceIsWrittenOnceAComing(t *testing.T) {
	w := newHub(t)
	w.add("arya")
	after := w.lastEvent()
	presence := func(what string, want ...string) {
		t.Helper()
		w.ok(w.SweepAttendance(ctx))
		w.ok(w.SweepAttendance(ctx))
		got := []string{}
		for _, e := range eventsAfter(w, after) {
			if e.Kind == parley.EventAgentPresence {
				got = append(got, fmt.Sprintf("%s %s", e.Agent, e.Data))
			}
		}
		after = w.lastEvent()
		same(t, what, got, want)
	}
	presence("nothing has happened")
	for range 3 {
		get[[]parley.Agent](w)(w.Agents(ctx, as("arya")))
	}
	presence("it has come", `arya {"status":"idle"}`)
	w.clock.advance(parley.AwayAfter - time.Millisecond)
	get[[]parley.Agent](w)(w.Agents(ctx, as("arya")))
	w.clock.advance(parley.AwayAfter - time.Millisecond)
	presence("it goes on")
	w.clock.advance(parley.AwayAfter)
	presence("it is silent", `arya {"status":"offline","reason":"away"}`)
	leave := w.Attend("arya")
	presence("it has a session", `arya {"status":"idle"}`)
	leave()
	w.clock.advance(parley.AwayAfter)
	presence("it has none", `arya {"status":"offline","reason":"away"}`)
	leave = w.Attend("arya")
	defer leave()
	w.ok(w.RemoveAgent(ctx, user, "arya"))
	presence("it was removed")
}

func TestComingIsToldAtOnce(t *testing.T) {
	w := newHub(t)
	w.add("arya", "gendry")
	w.Hub.Start(ctx)
	told := subscribe(t, w.Hub, as("gendry"), w.lastEvent(), parley.EventAgentPresence)
	defer w.Attend("arya")()
	for {
		list, _, err := told.Next(ctx) // waits for it
		w.ok(err)
		if slices.ContainsFunc(list, func(e parley.Event) bool { return e.Agent == "arya" }) {
			return
		}
	}
}

func TestWhoFollowsEventsIsThere(t *testing.T) {
	w := newHub(t)
	w.add("arya", "gendry")
	sub := get[*hub.Subscription](w)(w.Subscribe(ctx, as("arya"), w.lastEvent(), parley.EventFilter{}))
	other := get[*hub.Subscription](w)(w.Subscribe(ctx, hub.Caller{Agent: "gendry", By: "user"}, w.lastEvent(), parley.EventFilter{}))
	defer other.Close()
	w.clock.advance(time.Hour)
	same(t, "while it follows", []string{w.statuses()["arya"], w.statuses()["gendry"]}, []string{"idle", "offline away"})
	sub.Close()
	w.clock.advance(parley.AwayAfter)
	same(t, "afterwards", w.statuses()["arya"], "offline away")
}

func TestOthersSeeHowFullAnInboxIs(t *testing.T) {
	w := newHub(t)
	w.add("arya", "gendry")
	w.dm("user", "arya", "hello")
	for _, p := range get[[]parley.Presence](w)(w.Who(ctx, as("gendry"))) {
		want := parley.Inbox{}
		if p.ID == "arya" {
			want.Waking = 1
		}
		same(t, p.ID, p.Inbox, want)
	}
	_, err := w.AgentView(ctx, user, "arja")
	wantError(t, err, absent("agent", "arja", "did you mean arya?"))
}
