package post

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// findDuplicate returns the receipt of the message that the same call has posted before: with the same key, or by an earlier attempt of
// the run. It reads the run that posts, if a run does.
func findDuplicate(u *unit.Unit, p *Posting) (first parley.Receipt, found bool, err error) {
	if first, found, err = FindByKey(u, p.Draft.IdempotencyKey); found || err != nil {
		return first, found, err
	}
	if p.Run == "" {
		return first, false, nil
	}
	return enterRun(u, p)
}

// FindByKey returns the message that the sender has already posted with this key. E003, conflict, if the sender cannot read that message
// any more, because it left the conversation or the conversation was deleted: the hub does not store it twice.
func FindByKey(u *unit.Unit, key string) (first parley.Receipt, found bool, err error) {
	id, err := messages.FindKeyed(u, key)
	switch {
	case err != nil || id == "":
		return first, false, err
	case !parley.IsUUID(id):
		return first, true, messages.KeyUsedError(key)
	}
	first, err = receiptOf(u, id)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return parley.Receipt{}, true, parley.Errorf(parley.BadInput, "the idempotency key %q was used for a message that was removed", key).
			Because(parley.Conflict).Suggest("use another key")
	}
	if err == nil && first.Message.Damage == nil && first.Message.IdempotencyKey != key {
		return parley.Receipt{}, true, wrongKey(key, first.Message)
	}
	return first, true, err
}

// wrongKey is the error for an idempotency key whose row names a message that was sent without the key.
func wrongKey(key string, m parley.Message) error {
	return parley.Errorf(parley.Internal, "the idempotency key %q is damaged: it names message %d (%s), which was sent without it", key, m.Seq, m.ID).
		From(parley.ErrDamagedRow).Suggest("use another key, and run `parley doctor --deep`")
}

// receiptOf returns the receipt of a message that was posted before.
func receiptOf(u *unit.Unit, id string) (first parley.Receipt, err error) {
	first.Duplicate = true
	if first.Message, _, err = conversations.Message(u, id); err == nil {
		first.Deliveries, err = u.Deliveries().OfMessage(id)
	}
	return first, err
}

// enterRun reads the run that posts, and returns what an earlier attempt of the run has posted by the same call. E003, conflict, if the
// run is over.
func enterRun(u *unit.Unit, p *Posting) (first parley.Receipt, found bool, err error) {
	r, err := runs.OwnRun(u, p.Run)
	if err != nil {
		return first, false, err
	}
	p.By = &r
	return FindRepeated(u, r, p.Call)
}

// FindRepeated returns what an earlier attempt of a run has posted by the same call, and notes it as a post of this run. If the earlier
// attempt made the call twice, this run finds its first message first, and its second message when it makes the call again.
func FindRepeated(u *unit.Unit, r parley.Run, call string) (first parley.Receipt, found bool, err error) {
	ownPosts, err := u.Runs().Posts(r.ID)
	if err != nil {
		return first, false, err
	}
	earlier, err := runs.Earlier(u, r)
	for _, other := range earlier {
		posts, postsErr := u.Runs().Posts(other.ID)
		if err = errors.Join(err, postsErr); err != nil {
			return first, false, err
		}
		for _, p := range posts {
			if p.Digest != call || slices.Contains(ownPosts, p) {
				continue
			}
			first, err = receiptOf(u, p.Message)
			if _, hidden := errors.AsType[unit.Unknown](err); hidden {
				continue // it was deleted, or the run cannot read it any more
			}
			if err == nil {
				err = runs.NotePost(u.Tx, r.ID, p)
			}
			return first, true, err
		}
	}
	return first, false, err
}

// earlierReply returns the receipt of what a run has posted by the same call. E001, unauthenticated, if it has posted nothing by it.
func earlierReply(u *unit.Unit, run, call string) (parley.Receipt, error) {
	posts, err := u.Runs().Posts(run)
	if err != nil {
		return parley.Receipt{}, err
	}
	at := slices.IndexFunc(posts, func(p storage.RunPost) bool { return p.Digest == call })
	if at < 0 {
		return parley.Receipt{}, access.ErrNotKnown()
	}
	return receiptOf(u, posts[at].Message)
}
