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

// ErrNoInbox is the cause of a refusal that lasts as long as the agent lives in its tree.
var ErrNoInbox = errors.New("it has no inbox")

// CheckReachable returns E002 if a direct message cannot reach a participant, because the participant lives in a tree that has
// channels but no inboxes. The error names the channels that the participant reads.
func CheckReachable(u *unit.Unit, a parley.Agent) error {
	if a.Runtime != parley.RuntimeBridge {
		return nil
	}
	trees, err := BridgesOf(u, a.ID)
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

// channelsOf returns the names of the channels in which an agent that lives in trees can be reached: the mapped channels,
// and where a tree maps none, the public channels that the agent is a member of.
func channelsOf(u *unit.Unit, a parley.Agent, trees []parley.Bridge) (names []string, err error) {
	mapsNone := false
	for _, b := range trees {
		names = append(names, b.Channels...)
		mapsNone = mapsNone || len(b.Channels) == 0
	}
	if mapsNone {
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

// WakeOnlyReaders stops a message from waking agents that cannot read the conversation, and adds a notice for the sender. Without
// the notice the sender would wait for an answer that never comes.
func WakeOnlyReaders(u *unit.Unit, where parley.Conversation, to []parley.NewDelivery, r *parley.Receipt) error {
	for i := range to {
		if !to[i].Wakes {
			continue
		}
		a, err := u.Agents().Find(to[i].Agent)
		if err != nil {
			return err
		}
		reads, err := CanRead(u, a, where)
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

// CanRead reports whether an agent can read a conversation. An agent that lives in a tree without inboxes reads only the
// mapped channels.
func CanRead(u *unit.Unit, a parley.Agent, where parley.Conversation) (bool, error) {
	if a.Runtime != parley.RuntimeBridge {
		return true, nil
	}
	trees, err := BridgesOf(u, a.ID)
	if err != nil || len(trees) == 0 || slices.ContainsFunc(trees, hasInboxes) {
		return true, err
	}
	return where.Kind == parley.Channel && slices.ContainsFunc(trees, func(b parley.Bridge) bool {
		return b.HasChannel(where.Name) && (where.Visibility == parley.Public || slices.Contains(b.Channels, where.Name))
	}), nil
}
