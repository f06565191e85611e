package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// TestATraceSaysWhoDecided: the trace of an approved call has the request with the decision, for everybody who may read it.
func TestATraceSaysWhoDecided(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	w.Start(ctx)
	indexed := func() { // the trace of an owner waits until the index has its own newest message, and all before that
		w.T.Helper()
		m := w.SendDM(parley.Owner, "senior", "hello").Message
		resultOf[parley.Traced](w)(w.Trace(ctx, user, m.ID))
	}
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "deployed")))
	decided := func(reader, id string) (found []parley.TracedApproval) {
		for _, m := range resultOf[parley.Traced](w)(w.Trace(ctx, as(reader), id)).Items {
			if m.Approval != nil {
				found = append(found, *m.Approval)
			}
		}
		return found
	}
	indexed()
	same(t, "before", decided("boss", a.ShortName()), []parley.TracedApproval{{Name: "approval-1", State: parley.ApprovalPending}})
	a = w.DecideAs("boss", a.ID, parley.Decision{Approve: true})
	told := w.MessagesFrom(w.DMBetween("intern", "senior"), "intern")[0]
	indexed()
	want := []parley.TracedApproval{{Name: "approval-1", State: parley.ApprovalExecuted, DecidedBy: "boss", DecidedAt: a.DecidedAt}}
	for _, reader := range []string{parley.Owner, "boss", "intern"} {
		same(t, reader, decided(reader, a.ShortName()), want)
	}
	same(t, "by the message", decided("intern", told.ShortName()), want)
	same(t, "the recipient of the call", decided("senior", told.ShortName()), []parley.TracedApproval(nil))
}
