package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// residents are the agents that live in the tree of a bridge and whose mail goes there, by their ids. Who lives in several trees
// has it in one: the first by its id that has inboxes, and only where there is none in the channels of the others.
func (s *scene) residents(b parley.Bridge) (map[string]parley.Agent, error) {
	all, err := s.Bridges().List()
	if err != nil {
		return nil, err
	}
	residents := map[string]parley.Agent{}
	for _, id := range b.Agents {
		a, lives, err := s.livesIn(b, id)
		if err != nil {
			return nil, err
		}
		if lives && hasMailIn(b, treesOf(all, id)) {
			residents[a.ID] = a
		}
	}
	return residents, nil
}

// elsewhere are the agents that live in the trees of other bridges than one, and not in its own.
func (s *scene) elsewhere(b parley.Bridge) (agents []string, err error) {
	all, err := s.Bridges().List()
	for _, other := range all {
		for _, id := range other.Agents {
			if _, lives, err := s.livesIn(other, id); err != nil {
				return nil, err
			} else if lives && !b.Speaks(id) {
				agents = append(agents, id)
			}
		}
	}
	slices.Sort(agents)
	return slices.Compact(agents), err
}

// homes are the bridges whose trees an agent lives in. A message may reach many agents: they are read once for it.
func (s *scene) homes(agent string) (_ []parley.Bridge, err error) {
	if s.joined == nil {
		s.joined, err = s.Bridges().List()
	}
	return treesOf(s.joined, agent), err
}

// treesOf are the bridges whose trees an agent lives in.
func treesOf(all []parley.Bridge, agent string) []parley.Bridge {
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

// toldIn says that somebody is told something in a channel of a tree though its mail goes elsewhere: how a task has ended that was
// asked for there.
func (s *scene) toldIn(b parley.Bridge, message, agent string) (bool, error) {
	if b.Layout != parley.LayoutAgentOS || !b.Speaks(agent) {
		return false, nil
	}
	m, err := s.Messages().Get(message)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	t, found, err := s.belongsTo(m)
	if err != nil || !found || m.ID != t.Callback {
		return false, err
	}
	_, err = s.Bridges().Came(b.ID, m.InReplyTo)
	return err == nil, ignoreNotFound(err)
}

// toldElsewhere says so of any tree into which it is written, or may yet be.
func (s *scene) toldElsewhere(d parley.Delivery) (told bool, err error) {
	trees, err := s.homes(d.Recipient)
	for _, b := range trees {
		if err == nil && !told {
			told, err = s.toldIn(b, d.Message, d.Recipient)
		}
		if err == nil && told {
			told, err = s.mayCome(b, d.Message, d.Seq)
		}
	}
	return told, err
}

// errNoInbox tells a refusal that lasts while an agent lives where it does.
var errNoInbox = errors.New("it has no inbox")

// mustReach refuses what is for one participant alone, if that lives only where there are channels and nothing else.
func (s *scene) mustReach(a parley.Agent) error {
	if a.Runtime != parley.RuntimeBridge {
		return nil
	}
	trees, err := s.homes(a.ID)
	if err != nil || len(trees) == 0 || slices.ContainsFunc(trees, hasInboxes) {
		return err
	}
	names, err := s.channelsOf(a, trees)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return parley.Errorf(parley.Unavailable, "%s reads only the channels of a directory tree, and takes part in none yet", a.Name).
			From(errNoInbox).Suggest("post in a channel that has a directory there, with @%s", a.ID)
	}
	return parley.Errorf(parley.Unavailable, "%s reads only the channels of a directory tree: #%s", a.Name, strings.Join(names, ", #")).
		From(errNoInbox).Suggest("%s", fmt.Sprintf(`post there and mention it: parley chat --conv %s "@%s …"`, names[0], a.ID))
}

// channelsOf are the names of the channels in which somebody who lives in trees can be reached: those that are mapped, or where
// that is left to the tree, those of everybody that it takes part in.
func (s *scene) channelsOf(a parley.Agent, trees []parley.Bridge) (names []string, err error) {
	left := false
	for _, b := range trees {
		names = append(names, b.Channels...)
		left = left || len(b.Channels) == 0
	}
	if left {
		joined, err := s.Conversations().List(parley.ConversationFilter{Member: a.ID, Kinds: []parley.ConversationKind{parley.Channel}, Limit: maxWith})
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

// mustReachIn refuses a post in a conversation of two whose other member could never read it. An answer is for whoever has
// written there, and a command for the hub.
func (s *scene) mustReachIn(where parley.Conversation, p post) error {
	if p.answers || p.command != nil || where.Kind != parley.DM && where.Kind != parley.Ephemeral {
		return nil
	}
	for _, id := range where.SetMembers() {
		if id == s.me.ID {
			continue
		}
		a, err := s.Agents().Find(id)
		if err == nil {
			err = s.mustReach(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hideFrom lets a message wake nobody who cannot read where it is, and tells the sender: nothing would ever come of it.
func (s *scene) hideFrom(where parley.Conversation, to []parley.Reach, r *parley.Receipt) error {
	for i := range to {
		if !to[i].Wakes {
			continue
		}
		a, err := s.Agents().Find(to[i].Agent)
		if err != nil {
			return err
		}
		reads, err := s.readsIn(a, where)
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

// readsIn says whether somebody can read a conversation: who lives only where there are channels reads those that are mapped.
func (s *scene) readsIn(a parley.Agent, where parley.Conversation) (bool, error) {
	if a.Runtime != parley.RuntimeBridge {
		return true, nil
	}
	trees, err := s.homes(a.ID)
	if err != nil || len(trees) == 0 || slices.ContainsFunc(trees, hasInboxes) {
		return true, err
	}
	return where.Kind == parley.Channel && slices.ContainsFunc(trees, func(b parley.Bridge) bool {
		return b.Maps(where.Name) && (where.Visibility == parley.Public || slices.Contains(b.Channels, where.Name))
	}), nil
}
