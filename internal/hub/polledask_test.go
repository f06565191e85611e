package hub_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// pass lets time pass on all clocks of a hub without a clock of its own, one second after the other, with the sweeps of each.
func (w *fixture) pass(d time.Duration) {
	w.T.Helper()
	for range int(d / time.Second) {
		time.Sleep(time.Second)
		w.AdvanceLeases(time.Second)
		w.NoError(w.SweepAttendance(ctx))
	}
}

// TestAgentThatThinksIsPresent has an agent take an ask without a session, and answer it after a minute without any other sign. After two
// minutes it is away, and can still answer what it has taken.
func TestAgentThatThinksIsPresent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait   time.Duration // of the asker's call
		thinks time.Duration
		status string // of ben then
		want   string
	}{
		"the asker waits":        {0, 100 * time.Second, "idle", "Response from ben: at last"},
		"the asker waits long":   {10 * time.Minute, 5 * time.Minute, "offline away", "Response from ben: at last"},
		"the asker has a ticket": {50 * time.Second, 100 * time.Second, "idle", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := stores.NewPlace(t)
			synctest.Test(t, func(t *testing.T) {
				w := openFixture(t, place, func(w *fixture) { w.Config.Clock = nil })
				w.AddPollingAgents("ana", "ben")
				resultOf[[]parley.Agent](w)(w.Agents(ctx, as("ben")))
				a := w.beginContact(as("ana"), parley.Contact{Pattern: parley.PatternAsk, Agent: "ben", Message: "well?", Wait: c.wait})
				same(t, "taken", len(w.TakeAs("ben", parley.Take{Seen: true}).Messages), 1)
				w.pass(c.thinks)
				same(t, "ben", w.presenceStatuses()["ben"], c.status)
				w.NoError(w.TryContact(as("ana"), parley.Contact{Pattern: parley.PatternNotify, Agent: "ben", Message: "hurry"}))
				w.ReplyAs("ben", a.request.ID, "at last")
				text := a.resultText()
				if c.want != "" {
					same(t, "the answer", text, c.want)
					return
				}
				same(t, "the call", a.made.Outcome, parley.ContactLate)
				same(t, "the callback", w.askResultsTo("ana"), []string{"Response from ben: at last"})
			})
		})
	}
}

// TestAgentWhoseLeaseLapsedIsAway: the ask fails by its own reason, and the agent is away from then on.
func TestAgentWhoseLeaseLapsedIsAway(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place, func(w *fixture) { w.Config.Clock = nil })
		w.AddPollingAgents("ana", "ben")
		resultOf[[]parley.Agent](w)(w.Agents(ctx, as("ben")))
		a := w.beginContact(as("ana"), parley.Contact{Pattern: parley.PatternAsk, Agent: "ben", Message: "well?", Wait: 50 * time.Second})
		w.TakeAs("ben", parley.Take{Seen: true})
		w.NoError(w.SweepAttendance(ctx))
		event := w.LastEventNumber()
		w.pass(119 * time.Second)
		same(t, "while it holds the question", w.presenceStatuses()["ben"], "idle")
		w.pass(2 * time.Second)
		same(t, "afterwards", w.presenceStatuses()["ben"], "offline away")
		a.resultText()
		same(t, "told", w.askResultsTo("ana"), []string{"Error: ben failed to respond: it took the message and neither answered nor acknowledged it"})
		announced := 0
		for _, e := range eventsAfter(w, event) {
			if e.Kind == parley.EventAgentPresence && e.Agent == "ben" {
				announced++
			}
		}
		same(t, "presence events", announced, 1)
		receipt := w.ReplyAs("ben", a.request.ID, "after all")
		same(t, "told ben", receipt.Notices, []string{"the ask of ana failed before this reply; ana gets it as a message"})
	})
}

// TestPresenceByALease: a silent agent may be asked while it works on what it took.
func TestPresenceByALease(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "ben")
	m := w.SendDM("ana", "ben", "hello").Message
	w.TakeAs("ben", parley.Take{})
	w.Clock.Advance(2 * parley.AwayAfter)
	same(t, "while it holds the lease", w.presenceStatuses()["ben"], "idle")
	w.beginAsk(as("ana"), "ben", "well?").assertWaiting()
	w.AdvanceLeases(time.Minute)
	same(t, "after its end", w.presenceStatuses()["ben"], "offline away")
	same(t, "its message", w.DeliveryState(m.ID, "ben"), parley.DeliveryAccepted)
	err := w.TryContact(as("ana"), parley.Contact{Pattern: parley.PatternAsk, Agent: "ben", Message: "well?"})
	wantError(t, err, refusalError(parley.Unavailable, "", "Error: ben is offline and cannot be asked. Use 'notify' to leave a message.", ""))
}

// TestPresenceByALeaseAtEachHub: the agent took its message from another hub on the same database.
func TestPresenceByALeaseAtEachHub(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	hubs[0].AddPollingAgents("ana", "ben")
	hubs[0].SendDM("ana", "ben", "hello")
	same(t, "before", hubs[1].presenceStatuses()["ben"], "offline away")
	hubs[0].TakeAs("ben", parley.Take{})
	same(t, "while it holds the lease", hubs[1].presenceStatuses()["ben"], "idle")
}
