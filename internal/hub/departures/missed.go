package departures

import (
	"errors"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// listMissed lists deliveries of messages that the cursor has passed. Such a delivery exists if the bridge or the agent was added
// after the post, if the task had dependencies, or if the channel had no directory.
func (d *Search) listMissed(upTo int64) error {
	pending, err := d.missedDeliveries()
	if err != nil {
		return err
	}
	for _, delivery := range pending {
		if d.finished() {
			return nil
		}
		if delivery.Seq > upTo || delivery.ExpiresAt != nil && !delivery.ExpiresAt.After(d.Now) {
			continue
		}
		if err := d.listMissedDelivery(delivery); err != nil {
			return err
		}
	}
	return nil
}

// missedDeliveries returns the deliveries that may still be written or fail: all waking ones, and the others in channels
// with a directory.
func (d *Search) missedDeliveries() ([]parley.Delivery, error) {
	queries := []storage.QueueFilter{{Wakes: true}}
	for _, name := range d.Channels() {
		c, err := d.Conversations().Find(name)
		if err = unit.IgnoreNotFound(err); err != nil {
			return nil, err
		}
		if c.ID != "" {
			queries = append(queries, storage.QueueFilter{In: c.ID})
		}
	}
	return d.readyDeliveries(queries...)
}

func (d *Search) listMissedDelivery(delivery parley.Delivery) error {
	row, err := d.Bridges().Departure(d.BridgeID, delivery.Message, "")
	if err == nil && row.State == parley.DepartureDue {
		return nil // listDue has listed it
	}
	known := err == nil
	if err = unit.IgnoreNotFound(err); err != nil {
		return err
	}
	m, err := d.Messages().Get(delivery.Message)
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	name, err := d.folder(m.Conversation)
	if err != nil {
		return err
	}
	exported, err := d.isForTree(m)
	switch {
	case err != nil:
		return err
	case unit.Damaged(delivery, m) != nil:
		return d.endDamaged(delivery, unit.Damaged(delivery, m))
	case m.RedactedAt != nil:
		return d.endRedacted(delivery)
	case m.Type == parley.TypeHeartbeat:
		return d.evictHeartbeat(delivery)
	case name == "":
		return d.failWithoutDirectory(m, delivery)
	case !exported || known && row.State == parley.DepartureSeen:
		return d.ackDelivery(delivery)
	case !d.needsWrite():
		return nil
	case known:
		err = setState(d.Unit, &row, parley.DepartureDue)
	default:
		row, err = d.insertDeparture(m, "", name)
	}
	if err != nil {
		return err
	}
	return d.addDeparture(row, m, parley.Delivery{})
}

// ackDelivery acks a delivery whose text is already in the channel of the tree.
func (d *Search) ackDelivery(delivery parley.Delivery) error {
	if !d.needsWrite() {
		return nil
	}
	return deliveries.SetState(d.Unit, &delivery, parley.DeliveryAcked, nil)
}

// directoryGrace is how long a channel may take to get its directory after a post: bridges look every 2 seconds.
const directoryGrace = 5 * time.Second

// failWithoutDirectory fails a delivery in a channel that has no directory in any tree of its recipient, and tells the sender. It
// leaves direct messages alone, because the agent can take them from its inbox in the hub.
func (d *Search) failWithoutDirectory(m parley.Message, delivery parley.Delivery) error {
	where, err := d.Conversations().Find(m.Conversation)
	if err != nil || where.Kind != parley.Channel || !delivery.Waking || delivery.AcceptedAt.Add(directoryGrace).After(d.Now) {
		return unit.IgnoreNotFound(err)
	}
	bridges, err := trees.BridgesOf(d.Unit, delivery.Recipient)
	if err != nil {
		return err
	}
	for _, b := range bridges {
		if b.ID == d.BridgeID {
			continue
		}
		if mayBeWritten, err := trees.MayBeWritten(d.Unit, b, m.ID, m.Seq); err != nil || mayBeWritten {
			return errors.Join(err, d.requireCursor(m))
		}
	}
	if !d.needsWrite() {
		return nil
	}
	return deliveries.End(d.Unit, &delivery, parley.DeliveryFailed, parley.Errorf(parley.Unavailable,
		"%s reads only channels that have a directory in its tree, and #%s has none", delivery.Recipient, where.Name).
		Suggest("create the directory, or post in another channel"))
}

// requireCursor makes sure that the cursor passes a message, so that searches for other trees see that it was examined.
func (d *Search) requireCursor(m parley.Message) error {
	cursor, err := d.Bridges().Cursor(d.BridgeID)
	if err == nil && cursor < m.Seq {
		d.needsWrite()
	}
	return err
}
