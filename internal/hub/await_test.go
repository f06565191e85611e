package hub_test

import (
	"context"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// awaitStateInBackground starts to wait for a state of a delivery. The returned function returns the result of the call.
func (w *fixture) awaitStateInBackground(who, message string, wanted parley.DeliveryState) func() parley.Shown {
	done := make(chan parley.Shown, 1)
	failed := make(chan error, 1)
	go func() {
		shown, err := w.AwaitState(ctx, as(who), message, wanted, time.Minute)
		failed <- err
		done <- shown
	}()
	return func() parley.Shown {
		w.T.Helper()
		w.NoError(<-failed)
		return <-done
	}
}

func TestAwaitState(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	sent := w.SendDM("user", "arya", "hello").Message
	delivered := w.awaitStateInBackground("user", sent.ID, parley.DeliveryDelivered)
	seen := w.awaitStateInBackground("arya", sent.ID, parley.DeliverySeen)
	answered := w.awaitStateInBackground("user", sent.ID, parley.DeliveryAnswered)
	taken := resultOf[parley.Taken](w)(w.Take(ctx, as("arya"), parley.Take{}))
	same(t, "delivered", delivered().Deliveries[0].State, parley.DeliveryDelivered)
	_, err := w.See(ctx, as("arya"), taken.Lease, "run-1")
	w.NoError(err)
	same(t, "seen", seen().Deliveries[0].State, parley.DeliverySeen)
	_, err = w.Ack(ctx, as("arya"), taken.Lease, sent.ID)
	w.NoError(err)
	reply := w.ReplyAs("arya", sent.ID, "hello yourself").Message
	same(t, "answered by", answered().Deliveries[0].Answer, reply.ID)
}

func TestAwaitStateEndsWithoutTheState(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	c := w.CreateChannel("user", "general", "arya", "gendry")
	plain := w.SayIn("user", c.ID, "for nobody")
	same(t, "for nobody", resultOf[parley.Shown](w)(w.AwaitState(ctx, user, plain.Message.ID, parley.DeliverySeen, time.Hour)).ID, plain.Message.ID)
	quiet := w.PostAs("user", parley.Draft{Conversation: c.ID, To: parley.All, Content: text("@arya first")})
	resultOf[parley.Taken](w)(w.Take(ctx, as("arya"), parley.Take{Seen: true}))
	shown := resultOf[parley.Shown](w)(w.AwaitState(ctx, user, quiet.Message.ID, parley.DeliverySeen, time.Hour))
	same(t, "only who is woken counts", len(shown.Deliveries), 2)
	open := w.SendDM("user", "gendry", "hello").Message
	shown = resultOf[parley.Shown](w)(w.AwaitState(ctx, user, open.ID, parley.DeliverySeen, time.Millisecond))
	same(t, "when the time is up", shown.Deliveries[0].State, parley.DeliveryAccepted)
	removed := w.awaitStateInBackground("user", open.ID, parley.DeliveryAnswered)
	w.NoError(w.RemoveAgent(ctx, user, "gendry"))
	same(t, "what has failed", removed().Deliveries[0].State, parley.DeliveryFailed)
	given, cancel := context.WithCancel(ctx)
	cancel()
	open = w.SendDM("user", "arya", "hello").Message
	if _, err := w.AwaitState(given, user, open.ID, parley.DeliverySeen, time.Hour); parley.CodeOf(err) != parley.TimedOut {
		t.Errorf("given up: %v", err)
	}
}

func TestAwaitStateRefuses(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	sent := w.SendDM("user", "arya", "hello").Message
	await := func(who, id string, wanted parley.DeliveryState, wait time.Duration) func() error {
		return func() error { _, err := w.AwaitState(ctx, as(who), id, wanted, wait); return err }
	}
	w.assertRefusals(t, []refusal{
		{
			"a state that is no step", await("user", sent.ID, parley.DeliveryDead, 0),
			refusalError(parley.BadInput, "", `"dead" is not a state to wait for`, "wait for delivered, seen or answered"),
		},
		{
			"a negative wait", await("user", sent.ID, parley.DeliverySeen, -time.Second),
			refusalError(parley.BadInput, "", "the wait is -1s", "wait 0s or longer"),
		},
		{"who may not read it", await("gendry", sent.ID, parley.DeliverySeen, time.Hour), notFoundError("message", sent.ID, checkName)},
	})
}
