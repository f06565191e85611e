package hub_test

import (
	"sync"
	"testing"

	"github.com/parley-hub/parley"
)

// twoHubs returns two hubs on one database. Only PostgreSQL allows that.
func twoHubs(t *testing.T) [2]*fixture {
	t.Helper()
	if stores.Name != "PostgreSQL" {
		t.Skip("a home is one hub's")
	}
	place := stores.NewPlace(t)
	return [2]*fixture{openFixture(t, place), openFixture(t, place)}
}

// atOnce makes the same call on both hubs at the same time, several times.
func atOnce[V any](t *testing.T, hubs [2]*fixture, call func(*fixture) (V, error)) (results []V, errs []error) {
	t.Helper()
	const each = 4
	results, errs = make([]V, 2*each), make([]error, 2*each)
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range results {
		group.Go(func() {
			<-start
			results[i], errs[i] = call(hubs[i%2])
		})
	}
	close(start)
	group.Wait()
	return results, errs
}

func TestDMOpenedByTwoHubsAtOnceIsOne(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	hubs[0].AddAgents("arya", "ned")
	receipts, errs := atOnce(t, hubs, func(w *fixture) (parley.Receipt, error) {
		return w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Content: text("hello")})
	})
	for i, r := range receipts {
		hubs[0].NoError(errs[i])
		same(t, "the conversation", r.Message.Conversation, receipts[0].Message.Conversation)
	}
	same(t, "messages in it", len(hubs[1].TextsIn("ned", receipts[0].Message.Conversation)), len(receipts))
}

func TestKeyUsedWithTwoHubsAtOnceStoresOneMessage(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	hubs[0].AddAgents("arya")
	open := hubs[0].CreateChannel("arya", "open").ID
	receipts, errs := atOnce(t, hubs, func(w *fixture) (parley.Receipt, error) {
		return w.Post(ctx, as("arya"), parley.Draft{Conversation: open, Content: text("hello"), IdempotencyKey: "k"})
	})
	first := 0
	for i, r := range receipts {
		hubs[0].NoError(errs[i])
		same(t, "the message", r.Message.ID, receipts[0].Message.ID)
		if !r.Duplicate {
			first++
		}
	}
	same(t, "told that it was the first", first, 1)
	same(t, "messages", len(hubs[1].TextsIn("arya", open)), 1)
}

func TestNameTakenWithTwoHubsAtOnceIsGivenOnce(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	for what, call := range map[string]func(*fixture) (string, error){
		"an agent": func(w *fixture) (string, error) {
			a, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "arya"})
			return a.ID, err
		},
		"a channel": func(w *fixture) (string, error) {
			c, err := w.CreateConversation(ctx, user, parley.NewConversation{Name: "open"})
			return c.ID, err
		},
	} {
		_, errs := atOnce(t, hubs, call)
		given := 0
		for _, err := range errs {
			if err == nil {
				given++
			} else if parley.AsError(err).Reason != parley.Conflict {
				t.Errorf("%s: %v", what, err)
			}
		}
		same(t, what+" was made", given, 1)
	}
}

// What one hub does is seen by those who follow the log of the other.
func TestEventsOfOneHubReachFollowersOfTheOther(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	hubs[1].Start(ctx)
	hubs[0].AddAgents("arya", "ned")
	open := hubs[0].CreateChannel("arya", "open", "ned").ID
	last := hubs[1].LastEventNumber()
	id := hubs[0].SayIn("arya", open, "hi").Message.ID
	same(t, "the event", follow(t, hubs[1].Hub, as("ned"), last, last+1)[0].Message, id)
}
