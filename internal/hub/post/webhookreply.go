package post

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// checkReply lets the token of a webhook's reply post what it is good for: a message that answers what woke its run, and goes
// nowhere else. The hub refuses that token everywhere else, so the caller that it returns has the rights of the run.
func (s *Service) checkReply(caller unit.Caller, d parley.Draft) (as unit.Caller, err error) {
	kinds := []parley.Type{"", parley.TypeChat, parley.TypeResponse}
	if d.InReplyTo == "" || d.Conversation != "" || len(d.Direct) > 0 || d.Ephemeral || d.Make || d.To != "" || d.Task != "" ||
		d.TraceID != "" || !slices.Contains(kinds, d.Type) {
		err = unit.ErrReplyOnly()
		s.access.Refused(caller, "reply", err)
		return caller, err
	}
	as = caller
	as.Kind = parley.TokenRun
	return as, nil
}

// spendReply uses up the token of a reply, within the update that posts. A message that is refused leaves it good. Once it is used
// up, the same message gets the receipt of the first, and every other one is refused.
func spendReply(u *unit.Unit, caller unit.Caller, p Posting) (first parley.Receipt, found bool, err error) {
	t, err := u.Tokens().Get(caller.Token)
	if errors.Is(err, parley.ErrNotFound) {
		return first, false, access.ErrNotKnown()
	}
	if err != nil {
		return first, false, err
	}
	if t.RevokedAt != nil {
		first, err = earlierReply(u, caller.Run, p.Call)
		return first, true, err
	}
	r, err := runs.LiveRun(u, caller.Run)
	if err != nil {
		return first, false, access.ErrNotKnown()
	}
	if !slices.Contains(r.Triggers, p.Draft.InReplyTo) {
		return first, false, unit.ErrReplyOnly()
	}
	t.RevokedAt = &u.Now
	return first, false, access.SaveToken(u.Tx, t)
}

// earlierReply is the receipt of what a run has posted by the same call. E001, unauthenticated, if it has not.
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
