package hub

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
)

// Figures are what can be counted of a hub at one moment.
type Figures struct {
	parley.Totals
	parley.OpenWork
	Members     []parley.Agent          // without those that were removed
	Inboxes     map[string]parley.Inbox // by participant
	Runs        []parley.Run            // live ones
	Subscribers int                     // of events
	Behind      map[string]int64        // by the name of a follower, how many events it has not been told
	Bridges     []parley.BridgeView
	DiskFree    int64 // bytes; both are 0 where they cannot be known
	DiskTotal   int64
}

// Figures counts what is in the hub now. It is for the hub's own process.
func (h *Hub) Figures(ctx context.Context) (f Figures, err error) {
	err = h.view(ctx, theHub, opItself, func(s *scene) (err error) {
		if f.Totals, err = h.totals.count(s.Counts().Totals); err != nil {
			return err
		}
		if err := s.countNow(&f); err != nil {
			return err
		}
		_, newest, err := s.Log().Bounds()
		f.Behind = h.followers.behind(newest)
		return err
	})
	if err != nil {
		return f, err
	}
	f.Subscribers = h.stream.subscribers()
	if f.Bridges, err = h.Bridges(ctx, theHub); err != nil {
		return f, err
	}
	f.DiskFree, f.DiskTotal, _, err = h.space()
	return f, err
}

func (s *scene) countNow(f *Figures) (err error) {
	if f.OpenWork, err = s.Counts().OpenWork(); err != nil {
		return err
	}
	all, err := s.Agents().List()
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.RemovedAt == nil {
			f.Members = append(f.Members, a)
		}
	}
	if f.Inboxes, err = s.Queue().Inboxes(); err != nil {
		return err
	}
	s.LeaveOut(nil)
	f.Runs, err = s.Runs().Live("")
	return err
}

// MayObserve refuses everybody but owners.
func (h *Hub) MayObserve(ctx context.Context, caller Caller) error {
	return h.view(ctx, caller, opMetrics, func(*scene) error { return nil })
}

// PostedBy returns for each of some messages the run that has posted it, if one did. It is for the hub's own process.
func (h *Hub) PostedBy(ctx context.Context, messages []string) (map[string]parley.Run, error) {
	runs := map[string]parley.Run{}
	err := h.view(ctx, theHub, opItself, func(s *scene) error {
		for _, id := range messages {
			r, err := s.Runs().PostedBy(id)
			if errors.Is(err, parley.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			runs[id] = r
		}
		return nil
	})
	return runs, err
}
