package hub

import (
	"github.com/parley-hub/parley"
)

// Bounds of what one participant can make, so that a loop of calls does not fill the hub. Owners are exempt.
const (
	mostConversations = 2000 // channels and groups that one participant has made and that are not archived
	mostCredentials   = 100  // tokens, sessions and sign-in links of one participant that can be used
)

// mayCreate refuses one conversation too many. Direct and ephemeral ones do not count: there is one for each pair, and
// ephemeral ones end by themselves.
func (s *scene) mayCreate(kind parley.ConversationKind) error {
	if s.seesAll() || kind != parley.Channel && kind != parley.Group {
		return nil
	}
	made, err := s.Conversations().Made(s.me.ID)
	if err == nil && made >= mostConversations {
		err = parley.Errorf(parley.Unavailable, "%s has made %d conversations, which is the most it may have", s.me.ID, made).
			Suggest("archive those that are not used any more: parley conv archive")
	}
	return err
}

// mayHold refuses one credential too many for a participant.
func (s *scene) mayHold(holder string) error {
	if s.seesAll() {
		return nil
	}
	good, err := s.Tokens().Good(holder, s.now)
	if err == nil && good >= mostCredentials {
		err = parley.Errorf(parley.Unavailable, "%s has %d credentials, which is the most it may have", holder, good).
			Suggest("revoke those that are not used any more: parley token list, parley token revoke")
	}
	return err
}
