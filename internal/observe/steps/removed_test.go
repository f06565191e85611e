package steps

import (
	"context"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

// passing is a follower that passes on what it is told.
type passing chan []hub.Followed

func (p passing) Take(ctx context.Context, batch []hub.Followed) error {
	select {
	case p <- batch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestStepsOfARemovedRecipient are told by a process that has never met it: what follows them waits for them.
func TestStepsOfARemovedRecipient(t *testing.T) {
	ctx := t.Context()
	w := hubtest.New(t, hubtest.SQLite, hubtest.SQLite.NewPlace(t), hubtest.RealTime)
	w.AddAgents("arya")
	batches := make(passing)
	following := w.Follow("test", batches)
	following.Start(ctx)
	t.Cleanup(following.Stop)
	<-following.Started()
	w.SendDM(parley.Owner, "arya", "hello")
	w.NoError(w.RemoveAgent(ctx, hubtest.Owner, "arya"))
	failed := false
	for r := NewReader(w.Hub); !failed; {
		steps, err := r.Steps(ctx, <-batches)
		w.NoError(err)
		for _, s := range steps {
			failed = failed || s.Recipient == "arya" && s.Status() == Failed
		}
	}
}
