package natslink

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-hub/parley"
)

// ownerKey is the key in the metadata of a stream for the id of the hub that owns the stream.
const ownerKey = "parley_hub"

// streamPosition is the end of a stream.
type streamPosition struct {
	last    uint64 // the sequence of the last message, as the stream counts
	id      string // the id of the last publication of this hub; empty if unknown
	seq     int64  // the seq of its message in the hub
	maxSize int64  // size limit of a message in the stream, in bytes; 0 or less: the limit of the server
}

// openStream returns the hub's stream, and creates a missing one. It sets the configured limits, and leaves all other settings to
// the operator. E003 if another hub owns the stream.
func (l *Link) openStream(ctx context.Context) (jetstream.Stream, error) {
	stream, err := l.stream.Stream(ctx, "PARLEY_"+l.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return l.stream.CreateStream(ctx, l.withLimits(jetstream.StreamConfig{
			Name: "PARLEY_" + l.Name, Description: "The messages of the Parley hub " + l.Name,
			Subjects: []string{l.subject("conv", ">"), l.subject("inbox", ">")},
			Metadata: map[string]string{ownerKey: l.ID},
		}))
	}
	if err != nil {
		return nil, err
	}
	config := stream.CachedInfo().Config
	if owner := config.Metadata[ownerKey]; owner != l.ID {
		return nil, parley.Errorf(parley.BadInput, "the stream %s belongs to another hub", config.Name).
			Suggest("give this hub another name with nats.hub; if nobody needs the stream, delete it: nats stream rm %s", config.Name)
	}
	if wanted := l.withLimits(config); wanted.MaxAge != config.MaxAge || wanted.MaxBytes != config.MaxBytes || wanted.Duplicates != config.Duplicates {
		return l.stream.UpdateStream(ctx, wanted)
	}
	return stream, nil
}

func (l *Link) withLimits(c jetstream.StreamConfig) jetstream.StreamConfig {
	c.MaxAge, c.MaxBytes, c.Duplicates = l.Limit.Age, l.Limit.Bytes, l.Limit.Window
	if c.MaxBytes == 0 {
		c.MaxBytes = -1
	}
	if c.MaxAge > 0 {
		c.Duplicates = min(c.Duplicates, c.MaxAge)
	}
	return c
}

// findPosition returns the end of the stream. The id is empty if the stream is empty or its last message is not of this hub.
func (l *Link) findPosition(ctx context.Context) (streamPosition, error) {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	stream, err := l.openStream(ctx)
	if err != nil {
		return streamPosition{}, err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return streamPosition{}, err
	}
	position := streamPosition{last: info.State.LastSeq, maxSize: int64(info.Config.MaxMsgSize)}
	newest, err := stream.GetLastMsgForSubject(ctx, l.subject(">"))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return position, nil // the stream is empty: its messages are too old or were purged
	case err != nil:
		return streamPosition{}, err
	}
	seq, err := strconv.ParseInt(newest.Header.Get(headerSeq), 10, 64)
	if err != nil {
		return position, nil //nolint:nilerr // another program has published there
	}
	position.id, position.seq = newest.Header.Get(headerID), seq
	return position, nil
}

// streamRetryDelay is the delay before the next attempt to open a stream.
const streamRetryDelay = 2 * time.Second
