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
	maxInFlight = 256 // publications at once without an acknowledgement
	// maxConflicts is how often publishing begins again because another process of the hub has published meanwhile.
	maxConflicts = 100
)

// publisher publishes the messages that the hub stores. Each publication names the sequence and the id that it must follow in the
// stream, so that the server refuses repeated and reordered publications. The sequence alone is not enough: if another process
// was faster, a later publication may have the right sequence. The ids alone are not enough either, because the server recognizes
// repeated ids only for a while.
type publisher struct {
	*Link
	position *streamPosition // the end of the stream; nil if it is unknown
}

func newPublisher(l *Link) *publisher { return &publisher{Link: l} }

// Take publishes a batch. It returns after the server has acknowledged all of it.
func (o *publisher) Take(ctx context.Context, batch []hub.Followed) error {
	list, err := o.publications(batch)
	if err == nil && len(list) == 0 {
		o.state.notePublishing(nil) // an earlier message that could not be published was deleted
	}
	if err != nil || len(list) == 0 {
		return err
	}
	if !o.state.connected() {
		if err := o.state.await(ctx); err != nil {
			return err
		}
		return hub.ErrReadAgain // messages may have been deleted meanwhile
	}
	if err = o.publishAll(ctx, list); err == nil {
		err = o.copyResponses(ctx, batch)
	}
	if ctx.Err() == nil {
		o.state.notePublishing(err)
	}
	return err
}

func (o *publisher) publishAll(ctx context.Context, list []publication) error {
	for conflicts := 0; conflicts < maxConflicts; {
		rest, err := o.unpublished(ctx, list)
		if err != nil || len(rest) == 0 {
			return err
		}
		n, err := o.publish(ctx, rest[:min(maxInFlight, len(rest))])
		list = rest[n:]
		if err == nil {
			continue
		}
		o.position = nil
		if !isConflict(err) {
			return err
		}
		conflicts++
	}
	return parley.Errorf(parley.Unavailable, "other programs publish to the stream of this hub").
		Suggest("allow only the hub to publish to %s and %s", o.subject("conv", ">"), o.subject("inbox", ">"))
}

// errRepeated is the error for a publication whose id the server knows.
var errRepeated = errors.New("it was published before")

// isConflict reports whether an error says that the stream has another message in the place of a publication.
func isConflict(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, errRepeated) || ok && slices.Contains([]jetstream.ErrorCode{
		jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant, wrongLastID,
	}, api.ErrorCode)
}

// wrongLastID is the server's error code for a publication that would not follow the expected message.
const wrongLastID jetstream.ErrorCode = 10070

// unpublished returns the part of a list that is not in the stream. All processes of the hub publish in order, so the last
// publication in the stream shows how much of the list is there.
func (o *publisher) unpublished(ctx context.Context, list []publication) ([]publication, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if o.position == nil {
		position, err := o.findPosition(ctx)
		if err != nil {
			return nil, err
		}
		o.position = &position
	}
	if i := slices.IndexFunc(list, func(p publication) bool { return p.id == o.position.id }); i >= 0 {
		return list[i+1:], nil
	}
	if o.position.seq <= list[0].message.Seq {
		return list, nil
	}
	isOwn, err := o.isOurs(ctx, *o.position)
	if err != nil || !isOwn {
		return list, err
	}
	// Another process has published since.
	return slices.DeleteFunc(slices.Clone(list), func(p publication) bool { return p.message.Seq < o.position.seq }), nil
}

// isOurs reports whether a message of the stream is in this hub, with the same seq. After a restore from a backup, the stream has
// messages that the hub does not have.
func (o *publisher) isOurs(ctx context.Context, position streamPosition) (bool, error) {
	message, err := o.hub.Message(ctx, hub.Caller{Agent: parley.System, Source: source}, messageOf(position.id))
	if err != nil && parley.AsError(err).Code == parley.BadInput {
		return false, nil
	}
	return err == nil && message.Seq == position.seq, err
}

// maxSize returns the size limit of a publication, in bytes.
func (o *publisher) maxSize() int64 {
	if o.position.maxSize > 0 {
		return min(o.position.maxSize, o.conn.MaxPayload())
	}
	return o.conn.MaxPayload()
}

// publish sends publications and waits for their acknowledgements. It returns how many of them, counted from the first, are in
// the stream.
func (o *publisher) publish(ctx context.Context, list []publication) (n int, err error) {
	futures := make([]jetstream.PubAckFuture, 0, len(list))
	for i, p := range list {
		m, err := p.natsMessage(o.maxSize())
		if err != nil {
			return 0, err
		}
		expected := []jetstream.PublishOpt{jetstream.WithExpectLastSequence(o.position.last + uint64(i)), jetstream.WithRetryAttempts(0)} //nolint:gosec // i counts up
		if i > 0 {
			expected = append(expected, jetstream.WithExpectLastMsgID(list[i-1].id))
		}
		future, err := o.stream.PublishMsgAsync(m, expected...)
		if err != nil {
			return 0, err
		}
		futures = append(futures, future)
	}
	for i, future := range futures {
		select {
		case ack := <-future.Ok():
			if ack.Duplicate { // it is in the stream already, so the next one has a lower sequence than expected
				return i + 1, errRepeated
			}
			o.position.last, o.position.id, o.position.seq = ack.Sequence, list[i].id, list[i].message.Seq
		case err := <-future.Err():
			return i, err
		case <-ctx.Done():
			return i, ctx.Err()
		}
	}
	return len(list), nil
}
