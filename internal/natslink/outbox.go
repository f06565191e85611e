package natslink

import (
	"context"
	"errors"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	maxInFlight = 256 // publications that wait for their acknowledgement at once
	// races is how often it is begun again because another process of the hub has published meanwhile.
	maxConflicts = 100
)

// outbox publishes what the hub stores. Each publication names the sequence and the id that it must follow in the stream, so
// that the server refuses repeated and reordered ones. The sequence alone is not enough: after another process was faster, a
// later one may fit. The server recognises repeated ids only for a while.
type outbox struct {
	*Link
	at *streamPosition // where the stream is; nil: that must be found out
}

func newOutbox(l *Link) *outbox { return &outbox{Link: l} }

// Take publishes a batch, and returns once the server has acknowledged all of it.
func (o *outbox) Take(ctx context.Context, batch []hub.Followed) error {
	list, err := o.publications(batch)
	if err == nil && len(list) == 0 {
		o.state.notePublishing(nil) // what could not be published before was deleted
	}
	if err != nil || len(list) == 0 {
		return err
	}
	if !o.state.connected() {
		if err := o.state.await(ctx); err != nil {
			return err
		}
		return hub.ErrReadAgain // what was deleted meanwhile is not published
	}
	if err = o.publishAll(ctx, list); err == nil {
		err = o.copyResponses(ctx, batch)
	}
	if ctx.Err() == nil {
		o.state.notePublishing(err)
	}
	return err
}

func (o *outbox) publishAll(ctx context.Context, list []publication) error {
	for lost := 0; lost < maxConflicts; {
		rest, err := o.unpublished(ctx, list)
		if err != nil || len(rest) == 0 {
			return err
		}
		n, err := o.publish(ctx, rest[:min(maxInFlight, len(rest))])
		list = rest[n:]
		if err == nil {
			continue
		}
		o.at = nil
		if !isConflict(err) {
			return err
		}
		lost++
	}
	return parley.Errorf(parley.Unavailable, "others publish to the stream of this hub").
		Suggest("let nobody but the hub publish to %s and %s", o.subject("conv", ">"), o.subject("inbox", ">"))
}

// errRepeated says that the server knows the id of a publication.
var errRepeated = errors.New("it was published before")

// isConflict reports whether the stream holds something else where a publication should be.
func isConflict(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, errRepeated) || ok && slices.Contains([]jetstream.ErrorCode{
		jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant, wrongLastID,
	}, api.ErrorCode)
}

// wrongLastID is the server's code for a publication that does not come after the one it should.
const wrongLastID jetstream.ErrorCode = 10070

// unpublished returns the part of a list that is not in the stream. The list is published in order, so the last publication
// of the hub tells, whichever process made it.
func (o *outbox) unpublished(ctx context.Context, list []publication) ([]publication, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if o.at == nil {
		at, err := o.findPosition(ctx)
		if err != nil {
			return nil, err
		}
		o.at = &at
	}
	if i := slices.IndexFunc(list, func(p publication) bool { return p.id == o.at.id }); i >= 0 {
		return list[i+1:], nil
	}
	if o.at.seq <= list[0].message.Seq {
		return list, nil
	}
	ours, err := o.isOurs(ctx, *o.at)
	if err != nil || !ours {
		return list, err
	}
	// Another process has gone on from where this one is.
	return slices.DeleteFunc(slices.Clone(list), func(p publication) bool { return p.message.Seq < o.at.seq }), nil
}

// isOurs reports whether a message of the stream has the same place in this hub. After a restore from a backup, the stream
// has messages that the hub does not know.
func (o *outbox) isOurs(ctx context.Context, at streamPosition) (bool, error) {
	shown, err := o.hub.Message(ctx, hub.Caller{Agent: parley.System, Source: source}, messageOf(at.id))
	if err != nil && parley.AsError(err).Code == parley.BadInput {
		return false, nil
	}
	return err == nil && shown.Seq == at.seq, err
}

// maxSize returns how large a publication may be.
func (o *outbox) maxSize() int64 {
	if o.at.maxSize > 0 {
		return min(o.at.maxSize, o.conn.MaxPayload())
	}
	return o.conn.MaxPayload()
}

// publish sends publications and waits for their acknowledgements. It returns how many, from the first on, are in the
// stream.
func (o *outbox) publish(ctx context.Context, list []publication) (n int, err error) {
	futures := make([]jetstream.PubAckFuture, 0, len(list))
	for i, p := range list {
		m, err := p.natsMessage(o.maxSize())
		if err != nil {
			return 0, err
		}
		where := []jetstream.PublishOpt{jetstream.WithExpectLastSequence(o.at.last + uint64(i)), jetstream.WithRetryAttempts(0)} //nolint:gosec // i counts up
		if i > 0 {
			where = append(where, jetstream.WithExpectLastMsgID(list[i-1].id))
		}
		future, err := o.stream.PublishMsgAsync(m, where...)
		if err != nil {
			return 0, err
		}
		futures = append(futures, future)
	}
	for i, future := range futures {
		select {
		case ack := <-future.Ok():
			if ack.Duplicate { // it stands elsewhere, so the next one stands one earlier
				return i + 1, errRepeated
			}
			o.at.last, o.at.id, o.at.seq = ack.Sequence, list[i].id, list[i].message.Seq
		case err := <-future.Err():
			return i, err
		case <-ctx.Done():
			return i, ctx.Err()
		}
	}
	return len(list), nil
}
