package hub

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// reply lets the token of a webhook's reply post what it is good for: a message that answers what woke its run, and goes
// nowhere else. The hub refuses that token everywhere else, so the caller that it returns has the rights of the run.
// spend uses the token up, within the update that posts.
func (h *Hub) reply(caller Caller, d parley.Draft) (as Caller, spend func(*scene) error, err error) {
	kinds := []parley.Type{"", parley.TypeChat, parley.TypeResponse}
	if d.InReplyTo == "" || d.Conversation != "" || len(d.Direct) > 0 || d.Ephemeral || d.Make || d.To != "" || d.Task != "" ||
		d.TraceID != "" || !slices.Contains(kinds, d.Type) {
		err = errReplyOnly()
		h.Refused(caller, "reply", err)
		return caller, nil, err
	}
	as = caller
	as.Kind = parley.TokenRun
	return as, func(s *scene) error { return s.spendReply(caller, d) }, nil
}

// spendReply uses up the token of a reply. Of two that come at once the second finds it gone, and a message that is
// refused leaves it good.
func (s *scene) spendReply(caller Caller, d parley.Draft) error {
	r, err := s.liveRun(caller.Run)
	if err != nil {
		return errNotKnown()
	}
	if !slices.Contains(r.Triggers, d.InReplyTo) {
		return errReplyOnly()
	}
	if err = s.Tokens().Erase(caller.Token); errors.Is(err, parley.ErrNotFound) {
		err = errNotKnown()
	}
	return err
}
