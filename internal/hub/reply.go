package hub

import (
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// repliesKept is how long a reply token is remembered after its answer, for a receiver that has lost the receipt.
const repliesKept = time.Hour

// reply lets the token of a webhook's reply post what it is good for: a message that answers what woke its run, and goes
// nowhere else. The hub refuses that token everywhere else, so the caller that it returns has the rights of the run.
func (h *Hub) reply(caller Caller, d parley.Draft) (as Caller, err error) {
	kinds := []parley.Type{"", parley.TypeChat, parley.TypeResponse}
	if d.InReplyTo == "" || d.Conversation != "" || len(d.Direct) > 0 || d.Ephemeral || d.Make || d.To != "" || d.Task != "" ||
		d.TraceID != "" || !slices.Contains(kinds, d.Type) {
		err = errReplyOnly()
		h.Refused(caller, "reply", err)
		return caller, err
	}
	as = caller
	as.Kind = parley.TokenRun
	return as, nil
}

// spendReply uses up the token of a reply, within the update that posts. A message that is refused leaves it good. Once it is used
// up, the same message gets the receipt of the first, and every other one is refused.
func (s *scene) spendReply(caller Caller, p post) (first parley.Receipt, found bool, err error) {
	t, err := s.Tokens().Get(caller.Token)
	if errors.Is(err, parley.ErrNotFound) {
		return first, false, errNotKnown()
	}
	if err != nil {
		return first, false, err
	}
	if t.RevokedAt != nil {
		first, err = s.repliedBefore(caller.Run, p.call)
		return first, true, err
	}
	r, err := s.liveRun(caller.Run)
	if err != nil {
		return first, false, errNotKnown()
	}
	if !slices.Contains(r.Triggers, p.draft.InReplyTo) {
		return first, false, errReplyOnly()
	}
	t.RevokedAt = &s.now
	return first, false, s.Tokens().Put(t)
}

// repliedBefore is the receipt of what a run has posted by the same call. E001, unauthenticated, if it has not.
func (s *scene) repliedBefore(run, call string) (parley.Receipt, error) {
	posts, err := s.Runs().Posts(run)
	if err != nil {
		return parley.Receipt{}, err
	}
	at := slices.IndexFunc(posts, func(p parley.RunPost) bool { return p.Digest == call })
	if at < 0 {
		return parley.Receipt{}, errNotKnown()
	}
	return s.postedAs(posts[at].Message)
}

// keptReply says that a token of an ended run has answered, and is remembered for whoever repeats the answer.
func keptReply(t parley.Token) bool { return t.Kind == parley.TokenReply && t.RevokedAt != nil }
