package trees

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// ErrNoInbox tells a refusal that lasts while an agent lives where it does.
var ErrNoInbox = errors.New("it has no inbox")

// MustReach refuses what is for one participant alone, if that lives only where there are channels and nothing else.
func MustReach(u *unit.Unit, a parley.Agent) error {
	if a.Runtime != parley.RuntimeBridge {
		return nil
	}
	trees, err := Homes(u, a.ID)
	if err != nil || len(trees) == 0 || slices.ContainsFunc(trees, hasInboxes) {
		return err
	}
	names, err := channelsOf(u, a, trees)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return parley.Errorf(parley.Unavailable, "%s reads only the channels of a directory tree, and takes part in none yet", a.Name).
			From(ErrNoInbox).Suggest("post in a channel that has a directory there, with @%s", a.ID)
	}
	return parley.Errorf(parley.Unavailable, "%s reads only the channels of a directory tree: #%s", a.Name, strings.Join(names, ", #")).
		From(ErrNoInbox).Suggest("%s", fmt.Sprintf(`post there and mention it: parley chat --conv %s "@%s …"`, names[0], a.ID))
}

// channelsOf are the names of the channels in which somebody who lives in trees can be reached: those that are mapped, or where
// that is left to the tree, those of everybody that it takes part in.
func channelsOf(u *unit.Unit, a parley.Agent, trees []parley.Bridge) (names []string, err error) {
	left := false
	for _, b := range trees {
		names = append(names, b.Channels...)
		left = left || len(b.Channels) == 0
	}
	if left {
		joined, err := u.Conversations().List(storage.ConversationFilter{Member: a.ID, Kinds: []parley.ConversationKind{parley.Channel}, Limit: unit.MaxWith})
		if err != nil {
			return nil, err
		}
		for _, c := range joined {
			if c.ReadableByAll() {
				names = append(names, c.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// HideFrom lets a message wake nobody who cannot read where it is, and tells the sender: nothing would ever come of it.
func HideFrom(u *unit.Unit, where parley.Conversation, to []parley.Reach, r *parley.Receipt) error {
	for i := range to {
		if !to[i].Wakes {
			continue
		}
		a, err := u.Agents().Find(to[i].Agent)
		if err != nil {
			return err
		}
		reads, err := ReadsIn(u, a, where)
		if err != nil {
			return err
		}
		if to[i].Wakes = reads; reads {
			continue
		}
		r.Notices = append(r.Notices, a.ID+" was not woken: it reads only channels that have a directory in its tree")
	}
	return nil
}

// ReadsIn says whether somebody can read a conversation: who lives only where there are channels reads those that are mapped.
func ReadsIn(u *unit.Unit, a parley.Agent, where parley.Conversation) (bool, error) {
	if a.Runtime != parley.RuntimeBridge {
		return true, nil
	}
	trees, err := Homes(u, a.ID)
	if err != nil || len(trees) == 0 || slices.ContainsFunc(trees, hasInboxes) {
		return true, err
	}
	return where.Kind == parley.Channel && slices.ContainsFunc(trees, func(b parley.Bridge) bool {
		return b.Maps(where.Name) && (where.Visibility == parley.Public || slices.Contains(b.Channels, where.Name))
	}), nil
}
