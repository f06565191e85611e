package rungs

import (
	"context"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
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
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sqlite.Open(ctx, t.TempDir())
	ok(err)
	t.Cleanup(func() { ok(db.Close()) }) // after the follower has stopped
	h, err := hub.New(ctx, struct{ parley.Store }{db}, hub.Config{})
	ok(err)
	user := hub.Caller{Agent: parley.Owner, Source: "test", Scopes: parley.AllScopes()}
	_, err = h.AddAgent(ctx, user, parley.NewAgent{ID: "arya"})
	ok(err)
	batches := make(passing)
	following := h.Follow("test", batches)
	following.Start(ctx)
	t.Cleanup(following.Stop)
	<-following.Started()
	_, err = h.Post(ctx, user, parley.Draft{Direct: []string{"arya"}, Content: parley.Content{Text: "hello"}})
	ok(err)
	ok(h.RemoveAgent(ctx, user, "arya"))
	failed := false
	for r := NewReader(h); !failed; {
		steps, err := r.Steps(ctx, <-batches)
		ok(err)
		for _, s := range steps {
			failed = failed || s.Recipient == "arya" && s.Status() == Failed
		}
	}
}
