package conversations

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MaxUnread is where counting unread messages ends.
const MaxUnread = 10_000

// CheckNewConversation returns what is to be made, by the name that it will have.
func CheckNewConversation(n parley.NewConversation) (parley.NewConversation, error) {
	var err error
	if n.Name == "" || n.DisplayName == "" {
		n.Name, n.DisplayName, err = parley.ConversationName(n.Name + n.DisplayName)
	} else if err = parley.CheckChannelName(n.Name); err == nil {
		n.DisplayName, err = parley.ConversationDisplay(n.Name, n.DisplayName)
	}
	if err := errors.Join(err, parley.CheckTopic(n.Topic), n.Answers.Check()); err != nil {
		return n, parley.AsError(err)
	}
	if len(n.With) > unit.MaxWith {
		return n, parley.Errorf(parley.BadInput, "the conversation is made with %d participants, the limit is %d", len(n.With), unit.MaxWith).
			Because(parley.TooLarge).Suggest("add the others afterwards")
	}
	return n, nil
}

// Invited are the ids of the caller and of those whom it names, each once.
func Invited(u *unit.Unit, names []string) ([]string, error) {
	ids := []string{u.Me.ID}
	for _, name := range names {
		a, err := agents.Agent(u, name)
		if err != nil {
			return nil, err
		}
		if a.Kind == parley.KindSystem {
			return nil, EverywhereAlready(a.ID)
		}
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}

func NewConversation(n parley.NewConversation) parley.Conversation {
	c := parley.Conversation{
		Name: n.Name, DisplayName: n.DisplayName, Topic: n.Topic, Kind: parley.Channel, Visibility: parley.Public, Answers: n.Answers.Stored(),
	}
	if n.Group {
		c.Kind = parley.Group
	}
	if n.Group || n.Private {
		c.Visibility = parley.Private
	}
	return c
}

// Another is a name that may be free where one is taken, as a person would type it.
func Another(name, display string) string {
	if display != "" {
		return strconv.Quote(display + " 2")
	}
	return name[:min(len(name), 62)] + "-2"
}

func NameTaken(name string) *parley.Error {
	return parley.Errorf(parley.BadInput, "the name %q is taken", name).Because(parley.Conflict).Suggest("choose another name")
}

// Create stores a conversation with its first members, the caller among them. Nobody can make the channel for broadcasts:
// its creator would read what is said to everybody.
func Create(u *unit.Unit, c parley.Conversation, ids []string) (Place, error) {
	if c.Name == BroadcastChannel {
		return Place{}, NameTaken(c.Name)
	}
	return CreateNamed(u, c, ids)
}

// CreateNamed is create for any name.
func CreateNamed(u *unit.Unit, c parley.Conversation, ids []string) (Place, error) {
	if err := access.MayCreate(u, c.Kind); err != nil {
		return Place{}, err
	}
	c.ID, c.CreatedBy, c.CreatedAt, c.UpdatedAt = unit.NewID(), u.Me.ID, u.Now, u.Now
	if c.Name != "" {
		var err error
		if c.NameRank, err = freeRank(u, c.Name, c.ID); err != nil {
			return Place{}, err
		}
	}
	if err := InsertRow(u.Tx, c); err != nil {
		return Place{}, err
	}
	u.Note(parley.Event{Kind: parley.EventConversationCreated, Conversation: c.ID})
	for _, id := range ids {
		m := parley.Member{Conversation: c.ID, Agent: id, JoinedAt: u.Now}
		if err := SaveMember(u.Tx, m); err != nil {
			return Place{}, err
		}
		u.Note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
	}
	return Place{Conversation: c, Joined: true}, nil
}

// Join makes an agent a member that has read everything so far.
func Join(u *unit.Unit, c parley.Conversation, id string) error {
	u.Note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
	return SaveMember(u.Tx, parley.Member{Conversation: c.ID, Agent: id, JoinedAt: u.Now, ReadSeq: c.LastSeq})
}

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

// NameChange returns a change by the names that the conversation will have. A new name is a new display name too.
func NameChange(to parley.ConversationChange) (_ parley.ConversationChange, err error) {
	switch {
	case to.Name != nil && to.DisplayName != nil:
		var display string
		if err = parley.CheckChannelName(*to.Name); err == nil {
			display, err = parley.ConversationDisplay(*to.Name, *to.DisplayName)
		}
		to.DisplayName = &display
	case to.Name != nil:
		var name, display string
		name, display, err = parley.ConversationName(*to.Name)
		to.Name, to.DisplayName = &name, &display
	case to.DisplayName != nil:
		var display string
		display, err = parley.ConversationDisplay("", *to.DisplayName)
		to.DisplayName = &display
	}
	return to, err
}

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
		if err := mustBeIn(u, *p); err != nil {
			return err
		}
	}
	if to.Topic != nil {
		p.Topic = *to.Topic
		if err := save(u, &p.Conversation, "topic"); err != nil {
			return err
		}
	}
	if to.Archived == nil || *to.Archived == (p.ArchivedAt != nil) {
		return nil
	}
	return SetArchived(u, &p.Conversation, *to.Archived)
}

// rename gives a conversation another name, display name, or both. What is nil stays.
func rename(u *unit.Unit, p *Place, to, display *string) error {
	if p.Name == "" {
		return parley.Errorf(parley.BadInput, "a %s has no name", p.Kind).Suggest("make a channel with that name")
	}
	if err := MustRun(u, *p, "rename it"); err != nil {
		return err
	}
	name := p.Name
	if to != nil {
		name = *to
	}
	if name == BroadcastChannel && name != p.Name {
		return NameTaken(name)
	}
	rank, err := freeRank(u, name, p.ID)
	if name != p.Name {
		p.Name, p.NameRank = name, rank
	}
	if display != nil {
		p.DisplayName = *display
	}
	if p.DisplayName == p.Name {
		p.DisplayName = ""
	}
	if err == nil {
		err = save(u, &p.Conversation, "name")
	}
	if errors.Is(err, parley.ErrTaken) {
		return NameTaken(name)
	}
	return err
}

// setAnswers says who answers from now on when several are woken. Who is told that it is its turn looks again.
func setAnswers(u *unit.Unit, p *Place, to parley.Answers) error {
	if p.Kind != parley.Channel && p.Kind != parley.Group {
		return parley.Errorf(parley.BadInput, "in a %s only one is woken at a time", p.Kind).Suggest("use a channel")
	}
	if err := MustRun(u, *p, "say who answers there"); err != nil || p.Answers == to {
		return err
	}
	p.Answers = to
	return save(u, &p.Conversation, "answers")
}

func SetArchived(u *unit.Unit, c *parley.Conversation, archived bool) error {
	c.ArchivedAt = nil
	if archived {
		c.ArchivedAt = &u.Now
	}
	return save(u, c, "archived_at")
}

// save stores a changed conversation and says which field it was.
func save(u *unit.Unit, c *parley.Conversation, field string) error {
	c.UpdatedAt = u.Now
	data, err := json.Marshal(map[string]string{"field": field})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventConversationChanged, Conversation: c.ID, Data: data})
	return SaveRow(u.Tx, *c)
}

func mustBeIn(u *unit.Unit, p Place) error {
	if p.Joined || u.SeesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "%s does not take part in %s", u.Me.ID, p.Title()).Suggest("join it first")
}

// MustRun lets a conversation's creator and owners pass.
func MustRun(u *unit.Unit, p Place, act string) error {
	if p.CreatedBy == u.Me.ID && p.Joined || u.SeesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "only the creator of %s and owners may %s", p.Title(), act).
		Suggest("ask %s", p.CreatedBy)
}
