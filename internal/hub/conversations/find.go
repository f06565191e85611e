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

// FindConversation finds the conversation that a name, #name or id stands for, for the caller, or one of the other forms in which
// lists show conversations (parley.ParseConversationRef). A name stands for the one conversation of that name that the caller takes
// part in; else for the public channel; else it is a display name. So nobody can give a name that somebody uses another meaning.
// parley.ErrNotFound if the caller sees none.
func FindConversation(u *unit.Unit, ref string) (parley.Conversation, error) {
	if len(ref) > LongestRef {
		return parley.Conversation{}, parley.ErrNotFound
	}
	parsed := parley.ParseConversationRef(ref)
	if parsed.Members != nil {
		return conversationOf(u, parsed)
	}
	if len(parsed.Name) > longestName {
		return parley.Conversation{}, parley.ErrNotFound
	}
	key := strings.ToLower(parsed.Name)
	if parley.IsUUID(key) { // else it is a name that looks like one
		c, err := u.Conversations().Find(key)
		if err == nil && c.ID == key || err != nil && !errors.Is(err, parley.ErrNotFound) {
			return c, err
		}
	}
	list, err := u.Conversations().Named(key)
	switch {
	case err != nil:
		return parley.Conversation{}, err
	case len(list) == 0:
		return displayed(u, parsed.Name)
	case len(list) == 1:
		return list[0], nil
	}
	mine, err := meant(u, list)
	if err != nil {
		return parley.Conversation{}, err
	}
	switch len(mine) {
	case 0:
		return displayed(u, parsed.Name)
	case 1:
		return mine[0], nil
	default:
		return parley.Conversation{}, parley.Errorf(parley.BadInput, "%d conversations that you see are called #%s", len(mine), mine[0].Name).
			Because(parley.Conflict).Suggest("use an id: %s", eachNamed(mine, func(c parley.Conversation) string {
			return fmt.Sprintf("%s (%s)", c.ID, c.Visibility)
		}))
	}
}

// What is longer than these bytes names no conversation. It is refused before it is folded, which can make it eighteen times as
// long. A list of all members of the largest group is shorter than longestRef, a display name is shorter than longestName.
const (
	LongestRef  = 32 << 10
	longestName = 1 << 10
)

// displayed finds the conversation with a display name that the caller takes part in, else the one that it may read.
func displayed(u *unit.Unit, name string) (c parley.Conversation, err error) {
	list, err := u.Conversations().Displayed(name, u.Me.ID, u.SeesAll(), maxListed+1)
	if err != nil {
		return c, err
	}
	mine, err := meant(u, list)
	switch {
	case err != nil:
		return c, err
	case len(mine) == 0:
		return c, parley.ErrNotFound
	case len(mine) == 1:
		return mine[0], nil
	default:
		return c, parley.Errorf(parley.BadInput, "%s conversations that you see are called %q", howMany(mine), unit.Clipped(name)).
			Because(parley.Conflict).Suggest("use a name: %s", eachNamed(mine, parley.Conversation.Title))
	}
}

// maxListed is how many conversations a suggestion names.
const maxListed = 8

// howMany says how many conversations there are. Of a list that was cut the number is not known.
func howMany(list []parley.Conversation) string {
	if len(list) > maxListed {
		return fmt.Sprintf("more than %d", maxListed)
	}
	return strconv.Itoa(len(list))
}

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

// conversationOf finds a conversation by its members. Beside the caller there must be the others that are named, or, for whoever
// sees everything, nobody else than those.
func conversationOf(u *unit.Unit, ref parley.ConversationRef) (c parley.Conversation, err error) {
	var ids []string
	for _, name := range ref.Members {
		a, err := u.Agents().Find(name)
		if err != nil {
			return c, err
		}
		ids = append(ids, a.ID)
	}
	if ref.Mine {
		c, err = u.Conversations().FindSet(parley.SetKey(append(slices.Clone(ids), u.Me.ID)))
		if !errors.Is(err, parley.ErrNotFound) || len(ids) < 2 {
			return c, err
		}
	}
	if !u.SeesAll() && !slices.Contains(ids, u.Me.ID) {
		return c, parley.ErrNotFound
	}
	list, err := u.Conversations().OfSet(parley.SetKey(ids), maxListed+1)
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

// meant are those of several conversations with one name that the caller means: those that it takes part in, else those that it
// may read.
func meant(u *unit.Unit, list []parley.Conversation) ([]parley.Conversation, error) {
	var mine, readable []parley.Conversation
	for _, c := range list {
		in, err := TakesPart(u, c, u.Me.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case in:
			mine = append(mine, c)
		case c.ReadableByAll() || u.SeesAll():
			readable = append(readable, c)
		}
	}
	if len(mine) == 0 {
		return readable, nil
	}
	return mine, nil
}
