package steps

import (
	"context"

	"github.com/parley-hub/parley/internal/hub"
)

// Batch are events, and the steps among them.
type Batch struct {
	Events []hub.Followed
	Steps  []Step
}

// Consumer is told what happens, in order. What fails is told again, and so is what others were told before it.
type Consumer interface {
	Consume(ctx context.Context, n Batch) error
}

// Follower tells several what happens, one after the other.
type Follower struct {
	reader    *Reader
	consumers []Consumer
}

// NewFollower makes a follower of a hub's order.
func NewFollower(h Hub, tellers ...Consumer) *Follower {
	return &Follower{reader: NewReader(h), consumers: tellers}
}

// Take implements hub.Follower.
func (f *Follower) Take(ctx context.Context, batch []hub.Followed) error {
	steps, err := f.reader.Steps(ctx, batch)
	for _, t := range f.consumers {
		if err == nil {
			err = t.Consume(ctx, Batch{batch, steps})
		}
	}
	return err
}
