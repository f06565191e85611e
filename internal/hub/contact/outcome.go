package contact

import (
	"context"
	"slices"

	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Bring is called when a call returns the content of messages to the participant that waited for them. It settles the
// callback, so that the participant gets the outcome once, and marks everything as shown to a person. If the caller has gone
// meanwhile, nothing changes: the outcome stays in the inbox.
func Bring(ctx context.Context, core *unit.Core, who Waiter, got unit.Brought) error {
	messages := slices.DeleteFunc(slices.Concat(got.Answers, []string{got.Callback}), func(id string) bool { return id == "" })
	if got.Failed.From == who.id {
		messages = append(messages, got.Failed.ID)
	}
	switch {
	case ctx.Err() != nil || len(messages) == 0:
		return nil
	case who.person && inbox.ShownInline(ctx, core, who.Caller, messages):
		return nil
	case got.Callback == "":
		return nil
	}
	return settleCallback(ctx, core, got.Callback, who.id)
}
