package post

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// newChannelNotice tells the sender that the hub made a channel for its message, and which existing channel has a similar name.
func newChannelNotice(ctx context.Context, core *unit.Core, caller unit.Caller, channel string) string {
	var existing []string
	err := core.Store.View(ctx, func(tx storage.Tx) (err error) {
		u := core.NewUnit(tx)
		if err = u.Enter(caller); err == nil {
			existing, err = names.ConversationNames(u)
		}
		return err
	})
	near := parley.Nearest(channel, slices.DeleteFunc(existing, func(name string) bool { return name == channel }))
	if err != nil || len(near) == 0 { // the message is stored: the notice is only a help
		return "#" + channel + " is new"
	}
	return "#" + channel + " is new: " + parley.DidYouMean(near, "")
}

// maxUnknownNotices is how many unknown names get a notice of their own.
const maxUnknownNotices = 8

// UnknownNotices returns a notice for each name that a text mentions and that no participant has. It looks up similar names after the
// transaction of the post, to keep that short.
func UnknownNotices(ctx context.Context, core *unit.Core, unknown []string) (notices []string) {
	if len(unknown) == 0 {
		return nil
	}
	err := core.Store.View(context.WithoutCancel(ctx), func(tx storage.Tx) (err error) {
		notices, err = nearestNameNotices(tx, unknown)
		return err
	})
	if err != nil { // the message is stored: the nearest names are only a help
		return []string{"nobody is called @" + strings.Join(unknown, ", @")}
	}
	return notices
}

// UnknownNoticesIn is UnknownNotices within the transaction of the post, for a caller that has no receipt afterwards.
func UnknownNoticesIn(u *unit.Unit) ([]string, error) {
	if len(u.UnknownNames) == 0 {
		return nil, nil
	}
	return nearestNameNotices(u.Tx, u.UnknownNames)
}

// nearestNameNotices returns a notice for each unknown name, with the names that are similar to it.
func nearestNameNotices(tx storage.Tx, unknown []string) (notices []string, err error) {
	names, err := tx.Agents().Names()
	if err != nil {
		return nil, err
	}
	for _, name := range unknown[:min(len(unknown), maxUnknownNotices)] {
		a, err := tx.Agents().Find(name)
		switch {
		case errors.Is(err, parley.ErrNotFound):
			hint := parley.DidYouMean(parley.Nearest(name, names), "list agents: parley agent list")
			notices = append(notices, fmt.Sprintf("nobody is called @%s: %s", name, hint))
		case err != nil:
			return nil, err
		case a.RemovedAt != nil:
			notices = append(notices, "@"+name+" was removed and does not receive this")
		default:
			notices = append(notices, fmt.Sprintf("@%s was added just now and does not receive this", name))
		}
	}
	if rest := len(unknown) - maxUnknownNotices; rest > 0 {
		notices = append(notices, fmt.Sprintf("nobody has the other %d names that the text mentions", rest))
	}
	return notices, nil
}
