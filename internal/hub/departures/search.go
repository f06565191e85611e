package departures

import (
	"cmp"
	"maps"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

const (
	departuresPage = 200  // rows and messages read at once
	postsPerLook   = 1000 // messages that one look for posts reads at most
	mailPage       = 1000 // ready deliveries that are looked at for one agent
)

// Departing is one look at what is to depart by a bridge. Only in an update does it write: elsewhere it finds out whether there
// is something to be written, and looks no further.
type Departing struct {
	*unit.Unit
	Id     string
	Query  parley.DepartureQuery
	After  int64
	Writes bool

	Bridge       parley.Bridge
	agentsInTree map[string]parley.Agent // whose mail goes into this tree
	List         []parley.Departure
	Undone       bool // something is to be written
}

// Enter finds the bridge.
func (d *Departing) Enter(u *unit.Unit) error {
	view, err := trees.Bridge(u, d.Id)
	d.Unit, d.Bridge = u, view.Bridge
	return err
}

// Look fills the list: with what was to depart before, then with what is new.
func (d *Departing) Look(u *unit.Unit) error {
	if err := d.Enter(u); err != nil || d.Bridge.Paused {
		return err
	}
	var err error
	if d.agentsInTree, err = trees.Residents(u, d.Bridge); err != nil {
		return err
	}
	if err := d.listDue(); err != nil || d.finished() {
		return err
	}
	if d.Bridge.Layout == parley.LayoutAgentOS {
		return d.listPosts()
	}
	return d.listMail()
}

func (d *Departing) limitReached() bool { return len(d.List) >= d.Query.Limit }

// finished says that there is nothing more to be found out.
func (d *Departing) finished() bool { return d.limitReached() || d.Undone && !d.Writes }

// needsWrite says whether to write something now.
func (d *Departing) needsWrite() bool {
	d.Undone = d.Undone || !d.Writes
	return d.Writes
}

// listDue lists what has its name and was not reported on.
func (d *Departing) listDue() error {
	for after := d.After; ; {
		rows, err := d.Bridges().Departures(d.Id, parley.DepartureDue, after, departuresPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if after = row.Num; d.finished() {
				return nil
			}
			if err := d.listDueRow(row); err != nil {
				return err
			}
		}
		if len(rows) < departuresPage {
			return nil
		}
	}
}

// listDueRow lists a departure that has its name, unless nobody needs it any more, or it has to wait.
func (d *Departing) listDueRow(row storage.DepartureRow) error {
	m, err := d.Messages().Get(row.Message)
	if err = unit.IgnoreNotFound(err); err != nil {
		return err
	}
	if row.Recipient == "" {
		if m.ID == "" || m.RedactedAt != nil || m.Damage != nil {
			return d.failQuietly(row)
		}
		return d.addDeparture(row, m, parley.Delivery{})
	}
	to, lives := d.agentsInTree[row.Recipient]
	delivery, err := d.Deliveries().Get(row.Message, row.Recipient)
	if err = unit.IgnoreNotFound(err); err != nil {
		return err
	}
	why := unit.Damaged(delivery, m)
	switch {
	case delivery.State == parley.DeliveryFailed:
		return d.failUnwanted(row, delivery)
	case !lives || delivery.Message == "" || delivery.State.Settled():
		return d.failQuietly(row)
	case !delivery.Ready() || !d.acceptsNow(to, delivery):
		return nil
	case why != nil:
		return d.endDamaged(delivery, why)
	case m.RedactedAt != nil:
		return d.endRedacted(delivery)
	default:
		return d.addDeparture(row, m, delivery)
	}
}

// endDamaged ends a delivery whose row or message is damaged.
func (d *Departing) endDamaged(delivery parley.Delivery, why *parley.Error) error {
	if !d.needsWrite() {
		return nil
	}
	return work.EndDamaged(d.Unit, &delivery, why)
}

// failQuietly ends a departure of which nothing was written, and of which nobody is told. It is taken up again if its delivery waits for
// it once more.
func (d *Departing) failQuietly(row storage.DepartureRow) error {
	if !d.needsWrite() {
		return nil
	}
	return stepDeparture(d.Unit, &row, parley.DepartureFailed)
}

// failUnwanted forgets a departure that is not wanted any more. Its file may be there all the same: a bridge that was killed has not said.
func (d *Departing) failUnwanted(row storage.DepartureRow, delivery parley.Delivery) error {
	if err := d.failQuietly(row); err != nil || !d.Writes {
		return err
	}
	return tellAssigneeFailed(d.Unit, delivery)
}

// endRedacted ends a delivery of which there is nothing left to write. Its departure goes with the next look.
func (d *Departing) endRedacted(delivery parley.Delivery) error {
	if !d.needsWrite() {
		return nil
	}
	return work.Drop(d.Unit, &delivery, "the message was redacted")
}

// evictHeartbeat ends the delivery of a heartbeat to where there is no word for it. That is no failure: nobody is told.
func (d *Departing) evictHeartbeat(delivery parley.Delivery) error {
	if !d.needsWrite() {
		return nil
	}
	return deliveries.Move(d.Unit, &delivery, parley.DeliveryEvicted, nil)
}

// acceptsNow says whether an agent gets a file now, by the rules of an inbox: who is paused or stopped gets what wakes nobody, the
// command among it, and who sleeps only what somebody waits for.
func (d *Departing) acceptsNow(to parley.Agent, delivery parley.Delivery) bool {
	switch {
	case delivery.ExpiresAt != nil && !delivery.ExpiresAt.After(d.Now):
		return false // a sweep ends it
	case to.Halted(d.Now):
		return !delivery.Waking
	default:
		return !to.Asleep(d.Now) || delivery.Purpose == parley.PurposeAsk
	}
}

// listMail lists what waits for those who live in the tree and has no name yet, oldest first.
func (d *Departing) listMail() error {
	waiting, err := d.readyDeliveries(storage.Queue{Wakes: true}, storage.Queue{})
	if err != nil {
		return err
	}
	for _, delivery := range waiting {
		if d.finished() {
			return nil
		}
		if err := d.listDelivery(delivery); err != nil {
			return err
		}
	}
	return nil
}

// readyDeliveries is what is ready for those who live in the tree, of what is looked for, by seq.
func (d *Departing) readyDeliveries(looks ...storage.Queue) (list []parley.Delivery, err error) {
	inboxes, err := d.Queue().Inboxes()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(d.agentsInTree)) {
		open := inboxes[id]
		for _, look := range looks {
			if open.Work == 0 && (look.Wakes && open.Waking == 0 || !look.Wakes && open.Quiet == 0) {
				continue
			}
			look.Recipient, look.Limit = id, mailPage
			ready, err := d.Queue().Ready(look)
			if err != nil {
				return nil, err
			}
			list = append(list, ready...)
		}
	}
	slices.SortFunc(list, func(a, b parley.Delivery) int {
		return cmp.Or(deliveries.BySeq(a, b), cmp.Compare(a.Recipient, b.Recipient))
	})
	return list, nil
}

// listDelivery gives a delivery its name, unless it has one, and lists it.
func (d *Departing) listDelivery(delivery parley.Delivery) error {
	if !d.acceptsNow(d.agentsInTree[delivery.Recipient], delivery) {
		return nil
	}
	row, err := d.Bridges().Departure(d.Id, delivery.Message, delivery.Recipient)
	known := err == nil
	if err = unit.IgnoreNotFound(err); err != nil {
		return err
	}
	if known && row.State != parley.DepartureFailed {
		return d.followFile(row, delivery)
	}
	if told, err := trees.ToldElsewhere(d.Unit, delivery); err != nil || told {
		return err
	}
	m, err := d.Messages().Get(delivery.Message)
	switch {
	case err != nil:
		return unit.IgnoreNotFound(err)
	case unit.Damaged(delivery, m) != nil:
		return d.endDamaged(delivery, unit.Damaged(delivery, m))
	case m.RedactedAt != nil:
		return d.endRedacted(delivery)
	case m.Type == parley.TypeHeartbeat && d.Bridge.Layout == parley.LayoutBlackboard:
		return d.evictHeartbeat(delivery)
	case !d.needsWrite():
		return nil
	case known:
		err = stepDeparture(d.Unit, &row, parley.DepartureDue)
	default:
		row, err = d.insertDeparture(m, delivery.Recipient, delivery.Recipient)
	}
	if err != nil {
		return err
	}
	return d.addDeparture(row, m, delivery)
}

// followFile has a delivery be where its file is: somebody had taken it by another door when that was reported, and gave it back.
func (d *Departing) followFile(row storage.DepartureRow, delivery parley.Delivery) error {
	if row.State == parley.DepartureDue || !d.needsWrite() {
		return nil // it is listed
	}
	return moveDelivery(d.Unit, &delivery, parley.DepartureReport{State: row.State})
}
