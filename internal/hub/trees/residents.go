package trees

import (
	"slices"
	"time"

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

// bridgeHeard is how long an agent that lives in a tree without presence files counts as there after each sign of it.
const bridgeHeard = 2 * parley.PresenceInterval

// LivesIn finds an agent that may speak through a bridge and lives in its tree.
func LivesIn(u *unit.Unit, b parley.Bridge, id string) (a parley.Agent, lives bool, err error) {
	if !b.Speaks(id) {
		return a, false, nil
	}
	a, err = u.Agents().Find(id)
	return a, err == nil && a.Runtime == parley.RuntimeBridge && a.RemovedAt == nil, unit.IgnoreNotFound(err)
}

// SignOf notes that an agent that lives in a tree has written or taken a file there. Where there are presence files, these
// say whether it is there.
func SignOf(u *unit.Unit, b parley.Bridge, a parley.Agent, at time.Time) {
	if b.Layout != parley.LayoutAgentOS && a.Runtime == parley.RuntimeBridge && !at.After(u.Now) {
		u.Core.Attendance.HeardFor(a.ID, at, bridgeHeard)
	}
}
