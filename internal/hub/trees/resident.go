package trees

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Residents are the agents that live in the tree of a bridge and whose mail goes there, by their ids. Who lives in several trees
// has it in one: the first by its id that has inboxes, and only where there is none in the channels of the others.
func Residents(u *unit.Unit, b parley.Bridge) (map[string]parley.Agent, error) {
	all, err := u.Bridges().List()
	if err != nil {
		return nil, err
	}
	residents := map[string]parley.Agent{}
	for _, id := range b.Agents {
		a, lives, err := LivesIn(u, b, id)
		if err != nil {
			return nil, err
		}
		if lives && hasMailIn(b, TreesOf(all, id)) {
			residents[a.ID] = a
		}
	}
	return residents, nil
}

// Elsewhere are the agents that live in the trees of other bridges than one, and not in its own.
func Elsewhere(u *unit.Unit, b parley.Bridge) (agents []string, err error) {
	all, err := u.Bridges().List()
	for _, other := range all {
		for _, id := range other.Agents {
			if _, lives, err := LivesIn(u, other, id); err != nil {
				return nil, err
			} else if lives && !b.Speaks(id) {
				agents = append(agents, id)
			}
		}
	}
	slices.Sort(agents)
	return slices.Compact(agents), err
}

// Homes are the bridges whose trees an agent lives in. A message may reach many agents: they are read once for it.
func Homes(u *unit.Unit, agent string) (_ []parley.Bridge, err error) {
	if u.Joined == nil {
		u.Joined, err = u.Bridges().List()
	}
	return TreesOf(u.Joined, agent), err
}

// TreesOf are the bridges whose trees an agent lives in.
func TreesOf(all []parley.Bridge, agent string) []parley.Bridge {
	return slices.DeleteFunc(slices.Clone(all), func(b parley.Bridge) bool { return !slices.Contains(b.Agents, agent) })
}

// hasMailIn says whether somebody who lives in some trees has its mail in that of one bridge.
func hasMailIn(b parley.Bridge, trees []parley.Bridge) bool {
	first := slices.IndexFunc(trees, hasInboxes)
	if first < 0 {
		return true
	}
	return trees[first].ID == b.ID
}

func hasInboxes(b parley.Bridge) bool { return b.Layout != parley.LayoutAgentOS }

// ToldIn says that somebody is told something in a channel of a tree though its mail goes elsewhere: how a task has ended that was
// asked for there.
func ToldIn(u *unit.Unit, b parley.Bridge, message, agent string) (bool, error) {
	if b.Layout != parley.LayoutAgentOS || !b.Speaks(agent) {
		return false, nil
	}
	m, err := u.Messages().Get(message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	t, found, err := BelongsTo(u, m)
	if err != nil || !found || m.ID != t.Callback {
		return false, err
	}
	_, err = u.Bridges().Came(b.ID, m.InReplyTo)
	return err == nil, unit.IgnoreNotFound(err)
}

// ToldElsewhere says so of any tree into which it is written, or may yet be.
func ToldElsewhere(u *unit.Unit, d parley.Delivery) (told bool, err error) {
	trees, err := Homes(u, d.Recipient)
	for _, b := range trees {
		if err == nil && !told {
			told, err = ToldIn(u, b, d.Message, d.Recipient)
		}
		if err == nil && told {
			told, err = MayCome(u, b, d.Message, d.Seq)
		}
	}
	return told, err
}

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
