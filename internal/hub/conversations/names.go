package conversations

import (
	"errors"
	"strconv"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Another returns a name that may be free if a name is taken, in the form that a person would type.
func Another(name, display string) string {
	if display != "" {
		return strconv.Quote(display + " 2")
	}
	return name[:min(len(name), 62)] + "-2"
}

// NameTaken returns the error for a name that another conversation has.
func NameTaken(name string) *parley.Error {
	return parley.Errorf(parley.BadInput, "the name %q is taken", name).Because(parley.Conflict).Suggest("choose another name")
}

// freeRank returns the rank of a new conversation among those with the same name. It returns parley.ErrTaken if the caller
// sees another conversation of that name. A conversation that the caller does not see does not matter, because an error
// would reveal it.
func freeRank(u *unit.Unit, name, id string) (int, error) {
	list, err := u.Conversations().Named(name)
	rank := 0
	for _, c := range list {
		if c.ID == id || err != nil {
			continue
		}
		var in bool
		if in, err = TakesPart(u, c, u.Me.ID); err == nil && (in || c.ReadableByAll() || u.SeesAll()) {
			err = parley.ErrTaken
		}
		rank = max(rank, c.NameRank+1)
	}
	return rank, err
}

// MustBeOnlyName refuses adding a participant to a private conversation that has the name of a public channel. The name
// would mean another conversation to that participant from then on.
func MustBeOnlyName(u *unit.Unit, p Place) error {
	if p.ReadableByAll() || p.Name == "" {
		return nil
	}
	list, err := u.Conversations().Named(p.Name)
	for _, c := range list {
		if c.ReadableByAll() {
			return parley.Errorf(parley.BadInput, "there is a public channel #%s too", p.Name).Because(parley.Conflict).
				Suggest("rename this conversation first")
		}
	}
	return err
}

// NameChange returns the change with the name and the display name that the conversation will have. A change of the name
// alone sets the display name too.
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

// rename changes the name, the display name, or both. A nil value stays as it is.
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

// TitleOf returns the title of a conversation, or its id if it was deleted.
func TitleOf(u *unit.Unit, id string) (string, error) {
	c, err := u.Conversations().Find(id)
	if err != nil {
		return id, unit.IgnoreNotFound(err)
	}
	return c.Title(), nil
}
