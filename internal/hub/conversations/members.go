package conversations

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

func JoinIn(u *unit.Unit, p Place) error {
	if p.Joined {
		return nil
	}
	if err := MembersChange(p); err != nil {
		return err
	}
	return Join(u, p.Conversation, u.Me.ID)
}

func LeaveFrom(u *unit.Unit, p Place) error {
	if !p.Joined {
		return notAMember(u.Me.ID, p)
	}
	return TakeOut(u, p, u.Me.ID)
}

func TakeOut(u *unit.Unit, p Place, id string) error {
	if err := MembersChange(p); err != nil {
		return err
	}
	err := u.Members().Remove(p.ID, id)
	if errors.Is(err, parley.ErrNotFound) {
		return notAMember(id, p)
	}
	u.Note(parley.Event{Kind: parley.EventMemberLeft, Conversation: p.ID, Agent: id})
	return err
}

func MembersChange(p Place) error {
	if !p.FixedMembers() {
		return nil
	}
	return parley.Errorf(parley.BadInput, "the members of a %s are fixed", p.Kind).Suggest("use a channel")
}

func EverywhereAlready(id string) error {
	return parley.Errorf(parley.BadInput, "%s is in every conversation already", id).Suggest("name an agent or a person")
}

func notAMember(id string, p Place) error {
	return parley.Errorf(parley.BadInput, "%s does not take part in %s", id, p.Title()).Suggest("see who its members are")
}
