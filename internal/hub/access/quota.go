package access

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Bounds of what one participant can make, so that a loop of calls does not fill the hub. Owners are exempt.
const (
	MostConversations = 2000 // channels and groups that one participant has made and that are not archived
	MostCredentials   = 100  // tokens, sessions and sign-in links of one participant that can be used
)

// MayCreate refuses one conversation too many. Direct and ephemeral ones do not count: there is one for each pair, and
// ephemeral ones end by themselves.
func MayCreate(u *unit.Unit, kind parley.ConversationKind) error {
	if u.SeesAll() || kind != parley.Channel && kind != parley.Group {
		return nil
	}
	made, err := u.Conversations().Made(u.Me.ID)
	if err == nil && made >= MostConversations {
		err = parley.Errorf(parley.Unavailable, "%s has made %d conversations, which is the most it may have", u.Me.ID, made).
			Suggest("archive those that are not used any more: parley conv archive")
	}
	return err
}

// mayHold refuses one credential too many for a participant.
func mayHold(u *unit.Unit, holder string) error {
	if u.SeesAll() {
		return nil
	}
	good, err := u.Tokens().Good(holder, u.Now)
	if err == nil && good >= MostCredentials {
		err = parley.Errorf(parley.Unavailable, "%s has %d credentials, which is the most it may have", holder, good).
			Suggest("revoke those that are not used any more: parley token list, parley token revoke")
	}
	return err
}
