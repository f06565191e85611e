package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
)

// isNew tells the sender that a channel was made for its message, and which one it may have meant.
func (h *Hub) isNew(ctx context.Context, caller Caller, channel string) string {
	var names []string
	err := h.store.View(ctx, func(tx parley.Tx) (err error) {
		s := &scene{Tx: tx, hub: h}
		if err = s.enter(caller); err == nil {
			names, err = s.conversationNames()
		}
		return err
	})
	near := parley.Nearest(channel, slices.DeleteFunc(names, func(name string) bool { return name == channel }))
	if err != nil || len(near) == 0 { // the message is stored; this is a courtesy
		return "#" + channel + " is new"
	}
	return "#" + channel + " is new: " + parley.DidYouMean(near, "")
}

// nearMisses tells the sender of names that were mentioned, belong to nobody, and look misspelt.
func (h *Hub) nearMisses(ctx context.Context, strangers []string) (notices []string) {
	if len(strangers) == 0 {
		return nil
	}
	var names []string
	err := h.store.View(ctx, func(tx parley.Tx) (err error) {
		names, err = tx.Agents().Names()
		return err
	})
	if err != nil {
		return nil // the message is stored; this is a courtesy
	}
	for _, stranger := range strangers[:min(len(strangers), 8)] {
		if near := parley.Nearest(stranger, names); len(near) > 0 {
			notices = append(notices, fmt.Sprintf("nobody is called @%s: %s", stranger, parley.DidYouMean(near, "")))
		}
	}
	return notices
}
