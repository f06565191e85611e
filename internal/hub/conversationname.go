package hub

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// findConversation finds the conversation that a name, #name or id stands for, for the caller. A name stands for the
// one conversation of that name that the caller takes part in; else for the public channel. So nobody can
// give a name that somebody uses another meaning. parley.ErrNotFound if the caller sees none.
func (s *scene) findConversation(ref string) (parley.Conversation, error) {
	key := conversationKey(ref)
	if parley.IsUUID(key) { // else it is a name that looks like one
		c, err := s.Conversations().Find(key)
		if err == nil && c.ID == key || err != nil && !errors.Is(err, parley.ErrNotFound) {
			return c, err
		}
	}
	list, err := s.Conversations().Named(key)
	switch {
	case err != nil:
		return parley.Conversation{}, err
	case len(list) == 0:
		return parley.Conversation{}, parley.ErrNotFound
	case len(list) == 1:
		return list[0], nil
	default:
		return s.meant(list)
	}
}

// meant is the one of several conversations with one name that the caller means.
func (s *scene) meant(list []parley.Conversation) (c parley.Conversation, err error) {
	var mine, readable []parley.Conversation
	for _, c := range list {
		in, err := s.takesPart(c, s.me.ID)
		if err != nil {
			return c, err
		}
		switch {
		case in:
			mine = append(mine, c)
		case c.ReadableByAll() || s.seesAll():
			readable = append(readable, c)
		}
	}
	if len(mine) == 0 {
		mine = readable
	}
	switch len(mine) {
	case 0:
		return c, parley.ErrNotFound
	case 1:
		return mine[0], nil
	}
	ids := make([]string, len(mine))
	for i, c := range mine {
		ids[i] = fmt.Sprintf("%s (%s)", c.ID, c.Visibility)
	}
	return c, parley.Errorf(parley.BadInput, "%d conversations that you see are called #%s", len(mine), mine[0].Name).
		Because(parley.Conflict).Suggest("use an id: %s", strings.Join(ids, ", "))
}

// freeRank is the rank that a conversation gets with a name. parley.ErrTaken if the caller sees another one of the
// name. A conversation that the caller does not see makes no difference, because a difference would reveal it.
func (s *scene) freeRank(name, id string) (int, error) {
	list, err := s.Conversations().Named(name)
	rank := 0
	for _, c := range list {
		if c.ID == id || err != nil {
			continue
		}
		var in bool
		if in, err = s.takesPart(c, s.me.ID); err == nil && (in || c.ReadableByAll() || s.seesAll()) {
			err = parley.ErrTaken
		}
		rank = max(rank, c.NameRank+1)
	}
	return rank, err
}

// mustBeOnlyName refuses adding somebody to a private conversation that has the name of a public channel: for the one
// who is added the name would stand for another conversation from then on.
func (s *scene) mustBeOnlyName(p place) error {
	if p.ReadableByAll() || p.Name == "" {
		return nil
	}
	list, err := s.Conversations().Named(p.Name)
	for _, c := range list {
		if c.ReadableByAll() {
			return parley.Errorf(parley.BadInput, "there is a public channel #%s too", p.Name).Because(parley.Conflict).
				Suggest("rename this conversation first")
		}
	}
	return err
}
