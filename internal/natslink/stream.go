package natslink

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-hub/parley"
)

// ownerKey says in a stream's metadata whose it is.
const ownerKey = "parley_hub"

// streamPosition is how far a stream has come.
type streamPosition struct {
	last    uint64 // the stream's own number of what came last
	id      string // of what this hub has published last; none: that is not known
	seq     int64  // of its message
	maxSize int64  // bytes that a message of the stream may have; none: as many as the server takes
}

// openStream returns the hub's stream and creates a missing one. It sets the limits to the configured ones and leaves the
// rest to the operator.
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
		return nil, parley.Errorf(parley.BadInput, "the stream %s is not this hub's", config.Name).
			Suggest("give this hub another name with nats.hub; if the stream is not needed any more, delete it: nats stream rm %s", config.Name)
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

// findPosition returns how far the stream has come.
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
	at := streamPosition{last: info.State.LastSeq, maxSize: int64(info.Config.MaxMsgSize)}
	newest, err := stream.GetLastMsgForSubject(ctx, l.subject(">"))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return at, nil // it is empty: all of it was kept long enough, or purged
	case err != nil:
		return streamPosition{}, err
	}
	seq, err := strconv.ParseInt(newest.Header.Get(headerSeq), 10, 64)
	if err != nil {
		return at, nil //nolint:nilerr // somebody else has written there
	}
	at.id, at.seq = newest.Header.Get(headerID), seq
	return at, nil
}

// streamRetryDelay is how long to wait before a stream that cannot be had is asked for again.
const streamRetryDelay = 2 * time.Second
