package conversations

import (
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Join makes an agent a member that has read everything so far.
func Join(u *unit.Unit, c parley.Conversation, id string) error {
	u.Note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
	return SaveMember(u.Tx, parley.Member{Conversation: c.ID, Agent: id, JoinedAt: u.Now, ReadSeq: c.LastSeq})
}

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

// MaxUnread is where counting unread messages ends.
const MaxUnread = 10_000

func See(u *unit.Unit, c parley.Conversation) (parley.ConversationView, error) {
	view := parley.ConversationView{Conversation: c}
	members, err := u.Members().List(c.ID)
	for _, m := range members {
		view.Members = append(view.Members, m.Agent)
		if m.Agent == u.Me.ID && err == nil {
			view.Joined, view.ReadSeq = true, m.ReadSeq
			view.Unread, err = u.Members().Unread(m, MaxUnread)
		}
	}
	return view, err
}

func MoveCursor(u *unit.Unit, m parley.Member) error {
	data, err := json.Marshal(map[string]int64{"read_seq": m.ReadSeq})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventCursorMoved, Conversation: m.Conversation, Agent: m.Agent, Data: data})
	return SaveMember(u.Tx, m)
}
