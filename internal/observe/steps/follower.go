package steps

import (
	"context"

	"github.com/parley-hub/parley/internal/hub"
)

// Batch holds events and the steps that they contain.
type Batch struct {
	Events []hub.Followed
	Steps  []Step
}

// Consumer gets all batches in order. If a consumer returns an error, all consumers get the batch again.
type Consumer interface {
	Consume(ctx context.Context, n Batch) error
}

// Follower passes the events of a hub to several consumers, one after the other.
type Follower struct {
	reader    *Reader
	consumers []Consumer
}

// NewFollower makes a follower of the events of a hub.
func NewFollower(h Hub, consumers ...Consumer) *Follower {
	return &Follower{reader: NewReader(h), consumers: consumers}
}

// Take implements hub.Follower.
func (f *Follower) Take(ctx context.Context, batch []hub.Followed) error {
	steps, err := f.reader.Steps(ctx, batch)
	for _, c := range f.consumers {
		if err == nil {
			err = c.Consume(ctx, Batch{batch, steps})
		}
	}
	return err
}
