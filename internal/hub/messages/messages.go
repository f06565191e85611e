// Package messages holds putting messages into the order with their deliveries: the hub's own messages, room in inboxes, and the
// loop breaker.
package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// New makes the use cases from the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// The rows of this package are written here and nowhere else.

// InsertRow stores a message that has its place in the order.
func InsertRow(tx storage.Tx, m parley.Message) error {
	return tx.Messages().Insert(m)
}

// RedactRow stores a message without its body.
func RedactRow(tx storage.Tx, m parley.Message) error {
	return tx.Messages().Redact(m)
}

// CheckSequence checks the sequence number that a sender gives its messages to one recipient, and writes an event if it has a gap. E003 if
// the message has no single recipient. A message that reaches its recipient without a delivery counts too.
func CheckSequence(u *unit.Unit, m parley.Message, sequence int64, to []parley.NewDelivery) error {
	if sequence == 0 {
		return nil
	}
	recipient := m.To
	if len(to) == 1 {
		recipient = to[0].Agent
	}
	if recipient == "" || recipient == parley.All {
		return parley.Errorf(parley.BadInput, "the message has a sequence and %d recipients", len(to)).
			Suggest("a sequence counts the messages to one recipient: name one recipient, or leave the sequence out")
	}
	delivered := slices.IndexFunc(to, func(r parley.NewDelivery) bool { return r.Agent == recipient })
	if delivered >= 0 {
		to[delivered].Sequence = sequence
	}
	last, err := u.Deliveries().PairSeq(m.From, recipient)
	if err == nil && delivered < 0 {
		err = deliveries.CountRow(u.Tx, m.From, recipient, sequence)
	}
	if err != nil || sequence == last+1 || sequence == 1 { // 1: the sender starts over
		return err
	}
	data, err := json.Marshal(map[string]int64{"expected": last + 1, "got": sequence})
	u.Note(parley.Event{Kind: parley.EventSequenceGap, Conversation: m.Conversation, Agent: recipient, Data: data})
	return err
}

// Deliver stores the deliveries of a stored message, and evicts older deliveries where an inbox is full. E002 if an inbox rejects the
// message.
func Deliver(u *unit.Unit, m parley.Message, to []parley.NewDelivery) ([]parley.Delivery, error) {
	if m.Type == parley.TypeHeartbeat {
		if err := evictHeartbeats(u, m.From, to); err != nil {
			return nil, err
		}
	}
	made, err := deliveries.InsertRows(u.Tx, m, to)
	if err != nil {
		return nil, err
	}
	loop, err := newLoop(u, m)
	for i := range made {
		held := false
		if err == nil {
			held, err = loop.stopIfLoop(&made[i])
		}
		if err == nil && !held {
			err = makeRoom(u, made[i])
			u.Wake(made[i].Recipient)
		}
	}
	return made, err
}

// evictHeartbeats evicts the older heartbeats that a new one replaces. Nobody is told, and they do not count as overflow.
func evictHeartbeats(u *unit.Unit, sender string, to []parley.NewDelivery) error {
	for _, recipient := range to {
		old, err := u.Queue().Heartbeat(sender, recipient.Agent)
		if errors.Is(err, parley.ErrNotFound) || err == nil && old.State != parley.DeliveryAccepted {
			continue
		}
		if err == nil {
			err = deliveries.SetState(u, &old, parley.DeliveryEvicted, func(d *parley.Delivery) { d.Failure = nil })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxEvictions bounds how many deliveries one message evicts from an inbox that was made smaller.
const maxEvictions = 16

// makeRoom keeps an inbox to its depth. For messages that wake the recipient, the overflow policy decides; of the others the oldest are
// evicted. The inbox of a person has no limit.
func makeRoom(u *unit.Unit, d parley.Delivery) error {
	if d.Purpose != "" {
		return nil
	}
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil || recipient.Kind != parley.KindAgent || recipient.InboxOverflow == parley.OverflowUnbounded {
		return err
	}
	inbox, err := u.Queue().Inbox(d.Recipient)
	if err != nil {
		return err
	}
	full := inbox.Quiet
	if d.Waking {
		full = inbox.Waking
	}
	if full, err = countTaken(u, recipient, d, full); err != nil {
		return err
	}
	excess := full - recipient.InboxDepth
	if excess > 0 && d.Waking && (u.Tree != nil || recipient.InboxOverflow == parley.OverflowReject) { // the documents stay queued in the directory
		return inboxFullError(recipient, full-1)
	}
	for n := range min(excess, maxEvictions) {
		evicted, err := evict(u, d, full-1-n)
		if err != nil {
			return err
		}
		if !evicted && d.Waking {
			return inboxFullError(recipient, full-1-n)
		}
	}
	return nil
}

// countTaken returns how many open deliveries count against the depth of an inbox. What lies in a directory tree does not: the bridge
// bounds that.
func countTaken(u *unit.Unit, a parley.Agent, d parley.Delivery, open int) (int, error) {
	if a.Runtime != parley.RuntimeBridge || open <= a.InboxDepth {
		return open, nil
	}
	waiting, err := u.Queue().Ready(storage.QueueFilter{Recipient: a.ID, Wakes: d.Waking, Plain: true, Limit: a.InboxDepth + maxEvictions})
	return len(waiting), err
}

// ErrInboxFull marks the error of a full inbox, unlike an error of the store.
var ErrInboxFull = errors.New("an inbox is full")

func inboxFullError(a parley.Agent, n int) error {
	return parley.Errorf(parley.Unavailable, "the inbox of %s is full (%d messages)", a.ID, n).
		From(ErrInboxFull).Retryable(0).Suggest("wait until it has handled some messages, or raise its inbox depth")
}

// evict ends a pending delivery of the same kind as the new one. It returns false if there is none.
func evict(u *unit.Unit, d parley.Delivery, n int) (bool, error) {
	victim, found, err := findVictim(u, d)
	if err != nil || !found {
		return false, err
	}
	u.Warn(fmt.Sprintf("Inbox overflow for %s (%d messages), evicted oldest: %s", d.Recipient, n, victim.Message))
	cause := parley.Errorf(parley.Unavailable, "the inbox of %s was full (%d messages), and this was the oldest message of %s, which had the most messages there",
		d.Recipient, n, victim.From).Suggest("send it again later; it can still be read in its conversation")
	return true, deliveries.End(u, &victim, parley.DeliveryEvicted, cause)
}

// findVictim returns the oldest pending delivery of the sender that has the most of them in the inbox, so that a sender that floods an
// inbox evicts its own messages. Among equal senders it is the oldest delivery. It never returns the new delivery.
func findVictim(u *unit.Unit, d parley.Delivery) (parley.Delivery, bool, error) {
	sender, found, err := busiestSender(u, d)
	if err != nil || !found {
		return parley.Delivery{}, false, err
	}
	return findOldest(u, d, sender)
}

// busiestSender returns the sender with the most pending deliveries of the same kind as d, of those senders that have one besides d.
func busiestSender(u *unit.Unit, d parley.Delivery) (sender string, found bool, err error) {
	counts := map[string]storage.SenderCount{}
	for _, paused := range []bool{false, true} {
		list, err := u.Queue().Senders(storage.QueueFilter{Recipient: d.Recipient, Wakes: d.Waking, Paused: paused})
		if err != nil {
			return "", false, err
		}
		for _, one := range list {
			if known, ok := counts[one.Sender]; ok {
				one.Count, one.Oldest = one.Count+known.Count, min(one.Oldest, known.Oldest)
			}
			counts[one.Sender] = one
		}
	}
	largest := storage.SenderCount{}
	for _, one := range counts {
		if one.Oldest != d.Seq && (one.Count > largest.Count || one.Count == largest.Count && one.Oldest < largest.Oldest) {
			largest = one
		}
	}
	return largest.Sender, largest.Count > 0, nil
}

// findOldest returns the oldest pending delivery of a sender of the same kind as d, paused ones included.
func findOldest(u *unit.Unit, d parley.Delivery, sender string) (oldest parley.Delivery, found bool, err error) {
	for _, paused := range []bool{false, true} {
		list, err := u.Queue().Ready(storage.QueueFilter{
			Recipient: d.Recipient, Wakes: d.Waking, Paused: paused, Plain: true, From: sender, Limit: 1,
		})
		if err != nil {
			return oldest, false, err
		}
		if len(list) > 0 && list[0].Message != d.Message && (!found || list[0].Seq < oldest.Seq) {
			oldest, found = list[0], true
		}
	}
	return oldest, found, nil
}

// FindKeyed returns the id of the message, or of the task of its own, that the caller has given a key, or nothing.
func FindKeyed(u *unit.Unit, key string) (id string, err error) {
	if key == "" {
		return "", nil
	}
	id, err = u.Messages().FindByKey(u.Me.ID, key, u.Now.Add(-unit.KeyMemory))
	return id, unit.IgnoreNotFound(err)
}

// KeyUsedError is the error for an idempotency key that was used for something else.
func KeyUsedError(key string) error {
	return parley.Errorf(parley.BadInput, "the idempotency key %q was used for another call", key).
		Because(parley.Conflict).Suggest("use another key")
}

// maxDeadline bounds deadlines, so that each can be written down.
const maxDeadline = 10 * 365 * 24 * time.Hour

// Deadline returns when the answer to a draft is due: as given or, if the sender requires an ack, by its priority. nil if there is no
// deadline.
func Deadline(u *unit.Unit, d parley.Draft) (*time.Time, error) {
	if d.Deadline == nil {
		if !d.RequiresAck {
			return nil, nil
		}
		due := u.Now.Add(d.Priority.Due())
		return &due, nil
	}
	due := d.Deadline.UTC().Truncate(time.Millisecond)
	if !due.After(u.Now) {
		return nil, parley.Errorf(parley.BadInput, "the deadline %s has passed", due.Format(time.RFC3339)).
			Suggest("use a time in the future, or leave the deadline out")
	}
	if due.After(u.Now.Add(maxDeadline)) {
		return nil, parley.Errorf(parley.BadInput, "the deadline %s is too far ahead", due.Format(time.RFC3339)).
			Suggest("use a time within ten years, or leave the deadline out")
	}
	return &due, nil
}
