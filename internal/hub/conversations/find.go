package conversations

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// FindConversation returns the conversation that a reference means to the caller. A reference is a name, #name, an id, or
// another form in which lists show conversations, see parley.ParseConversationRef.
//
// A name means, in this order: the one conversation of that name with the caller as a member, the public channel, a
// conversation with that display name. So no participant can change what a name means to another one.
//
// It returns parley.ErrNotFound if the caller sees no such conversation, and a conflict if it sees several.
func FindConversation(u *unit.Unit, ref string) (parley.Conversation, error) {
	if len(ref) > MaxRefLength {
		return parley.Conversation{}, parley.ErrNotFound
	}
	parsed := parley.ParseConversationRef(ref)
	if parsed.Members != nil {
		return findByMembers(u, parsed)
	}
	if len(parsed.Name) > maxNameLength {
		return parley.Conversation{}, parley.ErrNotFound
	}
	key := strings.ToLower(parsed.Name)
	if parley.IsUUID(key) {
		c, err := u.Conversations().Find(key)
		if err == nil && c.ID == key || err != nil && !errors.Is(err, parley.ErrNotFound) {
			return c, err
		}
	}
	list, err := u.Conversations().WithName(key)
	switch {
	case err != nil:
		return parley.Conversation{}, err
	case len(list) == 0:
		return findByDisplayName(u, parsed.Name)
	case len(list) == 1:
		return list[0], nil
	}
	joined, err := preferMember(u, list)
	if err != nil {
		return parley.Conversation{}, err
	}
	switch len(joined) {
	case 0:
		return findByDisplayName(u, parsed.Name)
	case 1:
		return joined[0], nil
	default:
		return parley.Conversation{}, parley.Errorf(parley.BadInput, "%d conversations that you see are called #%s", len(joined), joined[0].Name).
			Because(parley.Conflict).Suggest("use an id: %s", eachNamed(joined, func(c parley.Conversation) string {
			return fmt.Sprintf("%s (%s)", c.ID, c.Visibility)
		}))
	}
}

// Longer references name no conversation. They are refused before case folding, which can make them eighteen times as long.
// A list of all members of the largest group is shorter than MaxRefLength. A display name is shorter than maxNameLength.
const (
	MaxRefLength  = 32 << 10
	maxNameLength = 1 << 10
)

// findByDisplayName returns the conversation with a display name that the caller is a member of, or else the one that it may read.
func findByDisplayName(u *unit.Unit, name string) (c parley.Conversation, err error) {
	list, err := u.Conversations().WithDisplayName(name, u.Me.ID, u.SeesAll(), maxListed+1)
	if err != nil {
		return c, err
	}
	joined, err := preferMember(u, list)
	switch {
	case err != nil:
		return c, err
	case len(joined) == 0:
		return c, parley.ErrNotFound
	case len(joined) == 1:
		return joined[0], nil
	default:
		return c, parley.Errorf(parley.BadInput, "%s conversations that you see are called %q", howMany(joined), unit.Clipped(name)).
			Because(parley.Conflict).Suggest("use a name: %s", eachNamed(joined, parley.Conversation.Title))
	}
}

// maxListed is how many conversations a suggestion lists.
const maxListed = 8

// howMany returns the number of conversations as text. The number is not known if the list was cut.
func howMany(list []parley.Conversation) string {
	if len(list) > maxListed {
		return fmt.Sprintf("more than %d", maxListed)
	}
	return strconv.Itoa(len(list))
}

// eachNamed lists conversations, each by what word returns for it.
func eachNamed(list []parley.Conversation, word func(parley.Conversation) string) string {
	var words []string
	for _, c := range list[:min(len(list), maxListed)] {
		words = append(words, word(c))
	}
	if len(list) > maxListed {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// findByMembers returns the conversation with some members. Its members are the caller and the named participants, or, for
// a caller that sees everything, exactly the named ones.
func findByMembers(u *unit.Unit, ref parley.ConversationRef) (c parley.Conversation, err error) {
	var ids []string
	for _, name := range ref.Members {
		a, err := u.Agents().Find(name)
		if err != nil {
			return c, err
		}
		ids = append(ids, a.ID)
	}
	if ref.Mine {
		c, err = u.Conversations().FindSet(parley.MemberSetKey(append(slices.Clone(ids), u.Me.ID)))
		if !errors.Is(err, parley.ErrNotFound) || len(ids) < 2 {
			return c, err
		}
	}
	if !u.SeesAll() && !slices.Contains(ids, u.Me.ID) {
		return c, parley.ErrNotFound
	}
	list, err := u.Conversations().WithSet(parley.MemberSetKey(ids), maxListed+1)
	switch {
	case err != nil:
		return c, err
	case len(list) == 0:
		return c, parley.ErrNotFound
	case len(list) == 1:
		return list[0], nil
	default:
		return c, parley.Errorf(parley.BadInput, "%s conversations have the members %s", howMany(list), strings.Join(ids, ", ")).
			Because(parley.Conflict).Suggest("use an id: %s", eachNamed(list, func(c parley.Conversation) string {
			return fmt.Sprintf("%s (%s)", c.ID, c.Kind)
		}))
	}
}

// preferMember returns which of several conversations with one name the caller means: those it is a member of, or else those it may
// read.
func preferMember(u *unit.Unit, list []parley.Conversation) ([]parley.Conversation, error) {
	var joined, readable []parley.Conversation
	for _, c := range list {
		in, err := TakesPart(u, c, u.Me.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case in:
			joined = append(joined, c)
		case c.ReadableByAll() || u.SeesAll():
			readable = append(readable, c)
		}
	}
	if len(joined) == 0 {
		return readable, nil
	}
	return joined, nil
}

// SuggestName returns a name that may be free if a name is taken, in the form that a person would type.
func SuggestName(name, display string) string {
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
	list, err := u.Conversations().WithName(name)
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
	list, err := u.Conversations().WithName(p.Name)
	for _, c := range list {
		if c.ReadableByAll() {
			return parley.Errorf(parley.BadInput, "a public channel is called #%s too, so new members could confuse the two", p.Name).Because(parley.Conflict).
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
		return parley.Errorf(parley.BadInput, "a %s cannot have a name", p.Kind).Suggest("create a channel with that name")
	}
	if err := MustBeCreator(u, *p, "rename it"); err != nil {
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
		err = saveField(u, &p.Conversation, "name")
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
