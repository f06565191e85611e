package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// TestMessagesSentToAClientOfAPersonAreDelivered shows that a person's message is delivered once a client of
// theirs was sent it, and nothing else is.
func TestMessagesSentToAClientOfAPersonAreDelivered(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddAgents("arya", "gendry")
	w.AddPerson("sansa", parley.AccessMember)
	after := w.LastEventNumber()
	toUser := w.SendDM("arya", "user", "done").Message.ID
	toSansa := w.SendDM("arya", "sansa", "done").Message.ID
	toGendry := w.SendDM("arya", "gendry", "done").Message.ID
	state := func(message string) parley.DeliveryState {
		shown, err := w.Message(ctx, user, message)
		w.NoError(err)
		return shown.Deliveries[0].State
	}
	sends := func(who string) {
		sub := subscribe(t, w.Hub, as(who), after)
		list := readUntil(t, w.Hub, sub, w.LastEventNumber())
		w.NoError(sub.MarkDelivered(ctx, list))
		last := w.LastEventNumber()
		w.NoError(sub.MarkDelivered(ctx, list))
		same(t, "sent again, nothing is written", w.LastEventNumber(), last)
	}
	sends("gendry") // an agent takes
	for _, message := range []string{toUser, toSansa, toGendry} {
		same(t, "before", state(message), parley.DeliveryAccepted)
	}
	sends("user") // who sees the other two as an owner
	same(t, "to the one who was sent it", state(toUser), parley.DeliveryDelivered)
	same(t, "to another person", state(toSansa), parley.DeliveryAccepted)
	same(t, "to an agent", state(toGendry), parley.DeliveryAccepted)
	sends("sansa")
	same(t, "to the other person", state(toSansa), parley.DeliveryDelivered)
	shown, err := w.Message(ctx, user, toUser)
	w.NoError(err)
	w.NoError(w.MarkRead(ctx, user, shown.Conversation, 0))
	same(t, "after reading", state(toUser), parley.DeliverySeen)
	w.AssertConsistent()
}
