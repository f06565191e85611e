package access

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Limits of what one participant can create, so that a program in a loop does not fill the hub. Owners have no limits.
const (
	MostConversations = 2000 // channels and groups of one creator that are not archived
	MostCredentials   = 100  // usable tokens, sessions and sign-in links of one participant
)

// MayCreate returns E002 if the caller has too many conversations. Direct and ephemeral conversations do not count: each
// pair has only one direct conversation, and ephemeral ones end by themselves.
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

// checkCredentialQuota returns E002 if a participant has too many credentials.
func checkCredentialQuota(u *unit.Unit, holder string) error {
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
