package steps

import (
	"context"

	"github.com/parley-hub/parley/internal/hub"
)

// News are events, and the steps among them.
type News struct {
	Events []hub.Followed
	Steps  []Step
}

// Teller is told what happens, in order. What fails is told again, and so is what others were told before it.
type Teller interface {
	Tell(ctx context.Context, n News) error
}

// Follower tells several what happens, one after the other.
type Follower struct {
	reader  *Reader
	tellers []Teller
}

// NewFollower makes a follower of a hub's order.
func NewFollower(h Hub, tellers ...Teller) *Follower {
	return &Follower{reader: NewReader(h), tellers: tellers}
}

// Take implements hub.Follower.
func (f *Follower) Take(ctx context.Context, batch []hub.Followed) error {
	steps, err := f.reader.Steps(ctx, batch)
	for _, t := range f.tellers {
		if err == nil {
			err = t.Tell(ctx, News{batch, steps})
		}
	}
	return err
}
