package trees

import (
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Residents returns, by id, the agents that live in the tree of a bridge and get their mail there. An agent that lives in
// several trees gets it in one: the first tree by id that has inboxes. Only without such a tree it gets its mail in the
// channels.
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

// Elsewhere returns the ids of the agents that live in trees of other bridges and that this bridge does not list.
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

// Homes returns the bridges in whose trees an agent lives. The unit caches all bridges, because a message may reach many
// agents.
func Homes(u *unit.Unit, agent string) (_ []parley.Bridge, err error) {
	if u.Joined == nil {
		u.Joined, err = u.Bridges().List()
	}
	return TreesOf(u.Joined, agent), err
}

// TreesOf returns the bridges of a list that an agent is listed in.
func TreesOf(all []parley.Bridge, agent string) []parley.Bridge {
	return slices.DeleteFunc(slices.Clone(all), func(b parley.Bridge) bool { return !slices.Contains(b.Agents, agent) })
}

// hasMailIn reports whether an agent that lives in some trees gets its mail in that of one bridge.
func hasMailIn(b parley.Bridge, trees []parley.Bridge) bool {
	first := slices.IndexFunc(trees, hasInboxes)
	if first < 0 {
		return true
	}
	return trees[first].ID == b.ID
}

// hasInboxes reports whether the tree of a bridge has an inbox for each agent.
func hasInboxes(b parley.Bridge) bool { return b.Layout != parley.LayoutAgentOS }

// bridgeHeard is how long an agent that lives in a tree without presence files stays present after a sign of it.
const bridgeHeard = 2 * parley.PresenceInterval

// LivesIn finds an agent that a bridge lists, and reports whether it lives in the bridge's tree.
func LivesIn(u *unit.Unit, b parley.Bridge, id string) (a parley.Agent, lives bool, err error) {
	if !b.Speaks(id) {
		return a, false, nil
	}
	a, err = u.Agents().Find(id)
	return a, err == nil && a.Runtime == parley.RuntimeBridge && a.RemovedAt == nil, unit.IgnoreNotFound(err)
}

// SignOf notes that an agent that lives in a tree wrote or took a file there. In trees with presence files only those say
// whether the agent is present.
func SignOf(u *unit.Unit, b parley.Bridge, a parley.Agent, at time.Time) {
	if b.Layout != parley.LayoutAgentOS && a.Runtime == parley.RuntimeBridge && !at.After(u.Now) {
		u.Core.Attendance.HeardFor(a.ID, at, bridgeHeard)
	}
}
