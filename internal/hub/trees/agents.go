package trees

import (
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// AgentsIn returns, by id, the agents that live in the tree of a bridge and get their mail there. An agent that lives in
// several trees gets its mail in one of them: the first tree, by the id of the bridge, that has inboxes. If no tree has inboxes,
// the agent gets its mail in the channels of all of them.
func AgentsIn(u *unit.Unit, b parley.Bridge) (map[string]parley.Agent, error) {
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
		if lives && hasMailIn(b, FilterByAgent(all, id)) {
			residents[a.ID] = a
		}
	}
	return residents, nil
}

// AgentsInOtherTrees returns the ids of the agents that live in trees of other bridges and that this bridge does not list.
func AgentsInOtherTrees(u *unit.Unit, b parley.Bridge) (agents []string, err error) {
	all, err := u.Bridges().List()
	for _, other := range all {
		for _, id := range other.Agents {
			if _, lives, err := LivesIn(u, other, id); err != nil {
				return nil, err
			} else if lives && !b.HasAgent(id) {
				agents = append(agents, id)
			}
		}
	}
	slices.Sort(agents)
	return slices.Compact(agents), err
}

// BridgesOf returns the bridges that list an agent. The unit caches all bridges, because a message may reach many agents.
func BridgesOf(u *unit.Unit, agent string) (_ []parley.Bridge, err error) {
	if u.AllBridges == nil {
		u.AllBridges, err = u.Bridges().List()
	}
	return FilterByAgent(u.AllBridges, agent), err
}

// FilterByAgent returns those bridges of a list that list an agent.
func FilterByAgent(all []parley.Bridge, agent string) []parley.Bridge {
	return slices.DeleteFunc(slices.Clone(all), func(b parley.Bridge) bool { return !slices.Contains(b.Agents, agent) })
}

// hasMailIn reports whether an agent that lives in several trees gets its mail in the tree of one bridge.
func hasMailIn(b parley.Bridge, trees []parley.Bridge) bool {
	first := slices.IndexFunc(trees, hasInboxes)
	if first < 0 {
		return true
	}
	return trees[first].ID == b.ID
}

// hasInboxes reports whether the tree of a bridge has an inbox for each agent.
func hasInboxes(b parley.Bridge) bool { return b.Layout != parley.LayoutAgentOS }

// presenceAfterFile is how long an agent stays present after it has written or taken a file, in a tree without presence files.
const presenceAfterFile = 2 * parley.PresenceInterval

// LivesIn returns an agent, and reports whether it lives in the tree of a bridge. It returns false if the bridge does not list
// the agent or the agent does not exist.
func LivesIn(u *unit.Unit, b parley.Bridge, id string) (a parley.Agent, lives bool, err error) {
	if !b.HasAgent(id) {
		return a, false, nil
	}
	a, err = u.Agents().Find(id)
	return a, err == nil && a.Runtime == parley.RuntimeBridge && a.RemovedAt == nil, unit.IgnoreNotFound(err)
}

// NotePresence notes that an agent is present, because it has written or taken a file in its tree. In a tree with presence files
// it does nothing, because there the presence files say whether the agent is present.
func NotePresence(u *unit.Unit, b parley.Bridge, a parley.Agent, at time.Time) {
	if b.Layout != parley.LayoutAgentOS && a.Runtime == parley.RuntimeBridge && !at.After(u.Now) {
		u.Core.Attendance.HeardFor(a.ID, at, presenceAfterFile)
	}
}
