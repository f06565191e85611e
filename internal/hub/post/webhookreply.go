package post

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// checkReply lets the reply token of a webhook post the one message that the token allows: an answer to a message that woke its run, in
// the same conversation. The hub refuses that token everywhere else, so checkReply returns a caller with the rights of the run.
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

// spendReply revokes a reply token in the transaction that posts. If the message is refused, the token stays valid. Once the token is
// revoked, the same message gets the receipt of the first, and the hub refuses any other message.
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
