package conversations

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Alter changes a conversation. Fields of the change that are nil stay as they are.
func Alter(u *unit.Unit, p *Place, to parley.ConversationChange) error {
	if to.Name != nil || to.DisplayName != nil {
		if err := rename(u, p, to.Name, to.DisplayName); err != nil {
			return err
		}
	}
	if to.Answers != nil {
		if err := setAnswers(u, p, to.Answers.Stored()); err != nil {
			return err
		}
	}
	if to.Topic != nil || to.Archived != nil {
		if err := checkMember(u, *p); err != nil {
			return err
		}
	}
	if to.Topic != nil {
		p.Topic = *to.Topic
		if err := saveField(u, &p.Conversation, "topic"); err != nil {
			return err
		}
	}
	if to.Archived == nil || *to.Archived == (p.ArchivedAt != nil) {
		return nil
	}
	return SetArchived(u, &p.Conversation, *to.Archived)
}

// setAnswers sets who answers when several agents are woken. An agent whose turn it is then checks again.
func setAnswers(u *unit.Unit, p *Place, to parley.Answers) error {
	if p.Kind != parley.Channel && p.Kind != parley.Group {
		return parley.Errorf(parley.BadInput, "a message in a %s wakes only one participant", p.Kind).Suggest("use a channel")
	}
	if err := MustBeCreator(u, *p, "set the order of its answers"); err != nil || p.Answers == to {
		return err
	}
	p.Answers = to
	return saveField(u, &p.Conversation, "answers")
}

// SetArchived archives a conversation, or brings it back.
func SetArchived(u *unit.Unit, c *parley.Conversation, archived bool) error {
	c.ArchivedAt = nil
	if archived {
		c.ArchivedAt = &u.Now
	}
	return saveField(u, c, "archived_at")
}

// saveField stores a changed conversation and notes the event, which names the changed field.
func saveField(u *unit.Unit, c *parley.Conversation, field string) error {
	c.UpdatedAt = u.Now
	data, err := json.Marshal(map[string]string{"field": field})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventConversationChanged, Conversation: c.ID, Data: data})
	return Save(u.Tx, *c)
}

// checkMember returns E001 unless the caller is a member or an owner.
func checkMember(u *unit.Unit, p Place) error {
	if p.Joined || u.SeesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "%s does not take part in %s", u.Me.ID, p.Title()).Suggest("join it first")
}

// MustBeCreator returns E001 unless the caller is the creator of the conversation and still a member, or an owner.
func MustBeCreator(u *unit.Unit, p Place, act string) error {
	if p.CreatedBy == u.Me.ID && p.Joined || u.SeesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "only the creator of %s and owners may %s", p.Title(), act).
		Suggest("ask %s", p.CreatedBy)
}
