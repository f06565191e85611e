package contact

import (
	"fmt"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/assignment"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// delegate makes a task for another participant, inside the update of the contact.
func delegate(u *unit.Unit, o unit.Origin, target parley.Agent, c Prepared) (parley.Contacted, error) {
	o.Task.Source = parley.TaskFromDelegation
	if u.Me.Kind != parley.KindAgent {
		o.Task.Source = o.Caller.Source
	}
	t, err := assignment.NewTask(u, &o, target, c.Contact)
	if err != nil {
		return parley.Contacted{}, err
	}
	if err := tasks.InsertRow(u.Tx, t); err != nil { // before the request, which contains the task's number
		return parley.Contacted{}, err
	}
	receipt, err := postRequest(u, o, target, c, t.ID)
	if err != nil {
		return parley.Contacted{}, err
	}
	made := delegateResult(target, receipt.Message, t.ID)
	made.Notices = receipt.Notices
	away, err := assignment.IsAway(u, target)
	if err != nil {
		return made, err
	}
	if away {
		made.Notices = append(made.Notices, fmt.Sprintf("%[1]s is away; it starts when %[1]s is back", target.ID))
	}
	return made, work.SetRequest(u, t, receipt.Message)
}
