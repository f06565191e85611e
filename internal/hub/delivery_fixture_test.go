package hub_test

import (
	"bytes"
	"log/slog"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

func (w *fixture) TakeAs(who string, t parley.Take) parley.Taken {
	w.T.Helper()
	taken, err := w.Take(ctx, as(who), t)
	w.NoError(err)
	return taken
}

// TakeTexts is what a take returns, as the texts of the messages.
func (w *fixture) TakeTexts(who string, t parley.Take) []string {
	w.T.Helper()
	return textsOf(w.TakeAs(who, t).Messages)
}

func (w *fixture) AckAs(who string, messages ...string) {
	w.T.Helper()
	_, err := w.Ack(ctx, as(who), "", messages...)
	w.NoError(err)
}

// NackTaken returns everything that was taken.
func (w *fixture) NackTaken(who string, taken parley.Taken, why parley.Failure) {
	w.T.Helper()
	var messages []string
	for _, d := range taken.Deliveries {
		messages = append(messages, d.Message)
	}
	_, err := w.Nack(ctx, as(who), taken.Lease, parley.Trouble{Failure: why}, messages...)
	w.NoError(err)
}

// SweepDueDeliveries does what is due.
func (w *fixture) SweepDueDeliveries() {
	w.T.Helper()
	w.NoError(w.SweepDeliveries(ctx))
}

// AdvanceLeases moves the lease clock and does what is due then.
func (w *fixture) AdvanceLeases(d time.Duration) {
	w.T.Helper()
	w.Leases.Advance(d)
	w.SweepDueDeliveries()
}

func (w *fixture) EditAgent(id string, edit func(*parley.Agent)) {
	w.T.Helper()
	_, err := w.ChangeAgent(ctx, user, id, func(a *parley.Agent) error {
		edit(a)
		return nil
	})
	w.NoError(err)
}

// SetInboxDepth makes an inbox small.
func (w *fixture) SetInboxDepth(id string, depth int, overflow parley.Overflow) {
	w.T.Helper()
	w.EditAgent(id, func(a *parley.Agent) { a.InboxDepth, a.InboxOverflow = depth, overflow })
}

// DeliveryOf is what has become of a message for one recipient.
func (w *fixture) DeliveryOf(message, recipient string) (d parley.Delivery) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx parley.Tx) (err error) {
		d, err = tx.Deliveries().Get(message, recipient)
		return err
	}))
	return d
}

func (w *fixture) DeliveryState(message, recipient string) parley.DeliveryState {
	w.T.Helper()
	return w.DeliveryOf(message, recipient).State
}

func (w *fixture) InboxOf(who string) parley.Inbox {
	w.T.Helper()
	return get[parley.Peeked](w)(w.Peek(ctx, as(who), 1)).Inbox
}

// PendingTexts is what can be taken or is held, as the texts of the messages.
func (w *fixture) PendingTexts(who string) []string {
	w.T.Helper()
	return textsOf(get[parley.Peeked](w)(w.Peek(ctx, as(who), 500)).Messages)
}

// HubMessagesTo is what the hub has said to somebody, oldest first.
func (w *fixture) HubMessagesTo(who string) (list []parley.Message) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx parley.Tx) (err error) {
		list, err = tx.Messages().Scan(0, 10_000)
		return err
	}))
	return slices.DeleteFunc(list, func(m parley.Message) bool { return m.From != parley.System || m.To != who })
}

// post for a purpose, as asks, tasks, callbacks and approvals are.
func (w *fixture) postForPurpose(purpose parley.Purpose, from, to, words string) parley.Message {
	w.T.Helper()
	r, err := w.PostFor(ctx, as(from), parley.Draft{Direct: []string{to}, Content: text(words)}, purpose)
	w.NoError(err)
	return r.Message
}

// purposes are all but that of the hub's own errors.
var purposes = []parley.Purpose{parley.PurposeAsk, parley.PurposeTask, parley.PurposeCallback, parley.PurposeApproval}

// logTo keeps the lines of the log, without their times.
func logTo(log *bytes.Buffer) func(*fixture) {
	return func(w *fixture) {
		w.Config.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			},
		}))
	}
}
