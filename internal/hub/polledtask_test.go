package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// delegateTo has the agent ana delegate a task to a participant, and returns the request.
func (w *fixture) delegateTo(who string) (task parley.Task) {
	w.T.Helper()
	return w.TaskByID(w.Delegate(as("ana"), who, "Draft it")).Task
}

// TestReportOnATaskKeepsItsRequest has an agent that polls without a session report every 22 seconds: the request must not come again.
func TestReportOnATaskKeepsItsRequest(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "lou")
	task := w.delegateTo("lou")
	same(t, "taken", len(w.TakeAs("lou", parley.Take{Seen: true}).Messages), 1)
	for range 20 {
		resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("lou"), task.ID, parley.TaskChange{Progress: &parley.TaskProgress{Message: "on it"}}))
		same(t, "the request", w.DeliveryState(task.Message, "lou"), parley.DeliveryAcked)
		w.AdvanceLeases(22 * time.Second)
	}
	same(t, "comes again", w.TakeTexts("lou", parley.Take{}), []string{})
	w.AssertTaskState(parley.TaskActive, task.ID)
	w.AssertConsistent()
}

// TestReportOfAnotherSettlesNoRequest: an owner may report on the task, and the agent must still get its request.
func TestReportOfAnotherSettlesNoRequest(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "lou")
	w.AddPerson("sansa", parley.AccessMember)
	task := w.delegateTo("lou")
	progress := parley.TaskChange{Progress: &parley.TaskProgress{Message: "on it"}}
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, user, task.ID, progress))
	same(t, "the request", w.DeliveryState(task.Message, "lou"), parley.DeliveryAccepted)
	task = w.delegateTo("sansa")
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("sansa"), task.ID, progress))
	same(t, "the request to a person", w.DeliveryState(task.Message, "sansa"), parley.DeliveryAccepted)
}

// TestTaskFailsByTheTrueReason: the agent takes the request each time, and does nothing.
func TestTaskFailsByTheTrueReason(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "lou")
	task := w.delegateTo("lou")
	for attempt := 1; w.DeliveryState(task.Message, "lou") != parley.DeliveryDead; attempt++ {
		same(t, "attempt", len(w.TakeAs("lou", parley.Take{Seen: true}).Messages), 1)
		w.AdvanceLeases(time.Minute)
		w.AdvanceLeases(time.Minute)
	}
	const why = "it took the message 5 times and neither answered nor acknowledged it"
	same(t, "why", w.TaskByID(task.ID).Error.Message, why)
	same(t, "the delivery", w.DeliveryOf(task.Message, "lou").Failure.Message, "lou did not do this: "+why)
}

// TestLapsedLeaseOfASessionIsALostSession: the hub of the session has not renewed it, and another hub notices that first.
func TestLapsedLeaseOfASessionIsALostSession(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "lou")
	w.openSession("lou", stdioSession("k"))
	m := w.SendDM("ana", "lou", "hello").Message
	w.TakeAs("lou", parley.Take{Session: "k", Seen: true})
	w.AdvanceLeases(time.Minute)
	same(t, "why", w.DeliveryOf(m.ID, "lou").Failure.Message, "lou did not do this: its process or session ended")
}

// TestDelegationToAnAbsentAgentSaysSo: the task waits until the agent calls again.
func TestDelegationToAnAbsentAgentSaysSo(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "lou")
	w.AddScriptAgents("bot")
	w.AddPerson("sansa", parley.AccessMember)
	notices := func(who string) []string {
		return resultOf[parley.Contacted](w)(w.Contact(ctx, as("ana"), parley.Contact{Pattern: parley.PatternDelegate, Agent: who, Message: "Draft it"})).Notices
	}
	same(t, "away", notices("lou"), []string{"lou is away; it starts when lou is back"})
	w.TakeAs("lou", parley.Take{})
	for _, present := range []string{"lou", "bot", "sansa"} {
		same(t, present, notices(present), []string(nil))
	}
}
