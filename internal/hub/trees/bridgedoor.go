package trees

import (
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

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
