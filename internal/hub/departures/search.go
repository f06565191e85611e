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
	postsPerSearch = 1000 // the largest number of messages that one search reads
	mailPage       = 1000 // ready deliveries that one search reads for an agent
)

// Search is one search for the departures of a bridge. In an update it also writes: it names new departures, and ends departures
// that nobody needs. In a view it stops at the first thing to write, and sets NeedsUpdate.
type Search struct {
	*unit.Unit
	BridgeID string
	Query    parley.DepartureQuery
	After    int64
	MayWrite bool

	Bridge       parley.Bridge
	agentsInTree map[string]parley.Agent // by id, the agents that get their mail in this tree
	Found        []parley.Departure
	NeedsUpdate  bool // the search must run again in an update
}

// LoadBridge loads the bridge. It returns an error if the bridge does not exist.
func (d *Search) LoadBridge(u *unit.Unit) (err error) {
	d.Unit = u
	d.Bridge, err = trees.Bridge(u, d.BridgeID)
	return err
}

// Run fills Found, first with departures that already have a name, then with new ones. A paused bridge has none.
func (d *Search) Run(u *unit.Unit) error {
	if err := d.LoadBridge(u); err != nil || d.Bridge.Paused {
		return err
	}
	var err error
	if d.agentsInTree, err = trees.AgentsIn(u, d.Bridge); err != nil {
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

func (d *Search) limitReached() bool { return len(d.Found) >= d.Query.Limit }

// finished reports whether the search can stop: the list is full, or a read-only search has found something to write.
func (d *Search) finished() bool { return d.limitReached() || d.NeedsUpdate && !d.MayWrite }

// needsWrite reports whether the search may write now. In a read-only search it notes that an update is needed.
func (d *Search) needsWrite() bool {
	d.NeedsUpdate = d.NeedsUpdate || !d.MayWrite
	return d.MayWrite
}

// listDue lists the departures that have a name and that the bridge has not reported on.
func (d *Search) listDue() error {
	for after := d.After; ; {
		rows, err := d.Bridges().Departures(d.BridgeID, parley.DepartureDue, after, departuresPage)
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

// listDueRow lists a departure that has a name. It ends the departure if nobody needs it any more, and skips it while the
// recipient does not accept mail.
func (d *Search) listDueRow(row storage.DepartureRow) error {
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
	damage := unit.Damaged(delivery, m)
	switch {
	case delivery.State == parley.DeliveryFailed:
		return d.failUnwanted(row, delivery)
	case !lives || delivery.Message == "" || delivery.State.Settled():
		return d.failQuietly(row)
	case !delivery.Ready() || !d.acceptsNow(to, delivery):
		return nil
	case damage != nil:
		return d.endDamaged(delivery, damage)
	case m.RedactedAt != nil:
		return d.endRedacted(delivery)
	default:
		return d.addDeparture(row, m, delivery)
	}
}

// endDamaged ends a delivery whose row or message is damaged.
func (d *Search) endDamaged(delivery parley.Delivery, damage *parley.Error) error {
	if !d.needsWrite() {
		return nil
	}
	return work.EndDamaged(d.Unit, &delivery, damage)
}

// failQuietly ends a departure whose file was not written, and tells nobody. If its delivery becomes pending again, a later
// search restarts the departure.
func (d *Search) failQuietly(row storage.DepartureRow) error {
	if !d.needsWrite() {
		return nil
	}
	return setState(d.Unit, &row, parley.DepartureFailed)
}

// failUnwanted ends a departure whose delivery has failed. Its file may exist nevertheless, because a bridge that was killed
// has not reported it, so the assignee is told.
func (d *Search) failUnwanted(row storage.DepartureRow, delivery parley.Delivery) error {
	if err := d.failQuietly(row); err != nil || !d.MayWrite {
		return err
	}
	return tellAssigneeFailed(d.Unit, delivery)
}

// endRedacted ends the delivery of a redacted message. The next search ends its departure.
func (d *Search) endRedacted(delivery parley.Delivery) error {
	if !d.needsWrite() {
		return nil
	}
	return work.FailUnwanted(d.Unit, &delivery, "the message was redacted")
}

// evictHeartbeat ends the delivery of a heartbeat in a format that has no heartbeats. That is no failure, so the hub tells
// nobody.
func (d *Search) evictHeartbeat(delivery parley.Delivery) error {
	if !d.needsWrite() {
		return nil
	}
	return deliveries.SetState(d.Unit, &delivery, parley.DeliveryEvicted, nil)
}

// acceptsNow reports whether an agent gets a file now. A paused or stopped agent gets only messages that do not wake it,
// which includes commands. A sleeping agent gets only asks.
func (d *Search) acceptsNow(to parley.Agent, delivery parley.Delivery) bool {
	switch {
	case delivery.ExpiresAt != nil && !delivery.ExpiresAt.After(d.Now):
		return false // a sweep ends it
	case to.Halted(d.Now):
		return !delivery.Waking
	default:
		return !to.Asleep(d.Now) || delivery.Purpose == parley.PurposeAsk
	}
}

// listMail lists the pending deliveries of agents in the tree that have no name yet, the oldest first.
func (d *Search) listMail() error {
	pending, err := d.readyDeliveries(storage.QueueFilter{Wakes: true}, storage.QueueFilter{})
	if err != nil {
		return err
	}
	for _, delivery := range pending {
		if d.finished() {
			return nil
		}
		if err := d.listDelivery(delivery); err != nil {
			return err
		}
	}
	return nil
}

// readyDeliveries returns the ready deliveries of the agents in the tree that match one of the queries, in the order of
// their seq.
func (d *Search) readyDeliveries(queries ...storage.QueueFilter) (list []parley.Delivery, err error) {
	inboxes, err := d.Queue().Inboxes()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(d.agentsInTree)) {
		open := inboxes[id]
		for _, query := range queries {
			if open.Work == 0 && (query.Wakes && open.Waking == 0 || !query.Wakes && open.Quiet == 0) {
				continue
			}
			query.Recipient, query.Limit = id, mailPage
			ready, err := d.Queue().Ready(query)
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

// listDelivery gives a delivery a name, unless it has one, and lists it.
func (d *Search) listDelivery(delivery parley.Delivery) error {
	if !d.acceptsNow(d.agentsInTree[delivery.Recipient], delivery) {
		return nil
	}
	row, err := d.Bridges().Departure(d.BridgeID, delivery.Message, delivery.Recipient)
	known := err == nil
	if err = unit.IgnoreNotFound(err); err != nil {
		return err
	}
	if known && row.State != parley.DepartureFailed {
		return d.followFile(row, delivery)
	}
	if reported, err := trees.ReportedElsewhere(d.Unit, delivery); err != nil || reported {
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
		err = setState(d.Unit, &row, parley.DepartureDue)
	default:
		row, err = d.insertDeparture(m, delivery.Recipient, delivery.Recipient)
	}
	if err != nil {
		return err
	}
	return d.addDeparture(row, m, delivery)
}

// followFile moves a delivery to the state of its file. The delivery was leased elsewhere when the bridge reported on the
// file, and was given back since.
func (d *Search) followFile(row storage.DepartureRow, delivery parley.Delivery) error {
	if row.State == parley.DepartureDue || !d.needsWrite() {
		return nil // listDue has listed it
	}
	return moveDelivery(d.Unit, &delivery, parley.DepartureReport{State: row.State})
}
