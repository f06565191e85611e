package post

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// setPurposes gives what a message reaches its purpose, and the sender's own count where it keeps one.
func setPurposes(u *unit.Unit, p Posting, m parley.Message, to []parley.Reach) (_ []parley.Reach, err error) {
	if to, err = messages.WithoutTree(u, p.Tree, to); err != nil {
		return nil, err
	}
	if to, err = leaveQueriedAsleep(u, p, to); err != nil {
		return nil, err
	}
	for i := range to {
		if to[i].Wakes {
			to[i].Purpose = p.Purpose
		}
	}
	return to, messages.Counted(u, m, p.Draft.Sequence, to)
}
