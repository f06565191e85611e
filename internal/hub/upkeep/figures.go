package upkeep

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Figures are the numbers of a hub at one moment.
type Figures struct {
	parley.Totals
	storage.OpenWork
	Members     []parley.Agent          // without removed ones
	Inboxes     map[string]parley.Inbox // by participant
	Runs        []parley.Run
	Subscribers int              // open streams of events
	Behind      map[string]int64 // events that a follower has not taken yet, by the follower's name
	Bridges     []parley.BridgeView
	DiskFree    int64 // bytes; both are 0 if unknown
	DiskTotal   int64
}

// Figures counts what is in the hub now. Only the hub's own process calls it.
func (s *Service) Figures(ctx context.Context) (f Figures, err error) {
	err = s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		if f.Totals, err = s.totals.count(u.Counts().Totals); err != nil {
			return err
		}
		if err := countOpen(u, &f); err != nil {
			return err
		}
		_, newest, err := u.Log().Bounds()
		f.Behind = feed.FollowerLags(s.feed, newest)
		return err
	})
	if err != nil {
		return f, err
	}
	f.Subscribers = feed.CountStreams(s.feed)
	if f.Bridges, err = s.bridges.Bridges(ctx, unit.TheHub); err != nil {
		return f, err
	}
	f.DiskFree, f.DiskTotal, _, err = alerts.DiskSpace(s.Core)
	return f, err
}

func countOpen(u *unit.Unit, f *Figures) (err error) {
	if f.OpenWork, err = u.Counts().OpenWork(); err != nil {
		return err
	}
	all, err := u.Agents().List()
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.RemovedAt == nil {
			f.Members = append(f.Members, a)
		}
	}
	if f.Inboxes, err = u.Queue().Inboxes(); err != nil {
		return err
	}
	u.SkipUnreadable(nil)
	f.Runs, err = u.Runs().Live("")
	return err
}

// MayObserve returns an error for callers that are no owners.
func (s *Service) MayObserve(ctx context.Context, caller unit.Caller) error {
	return s.View(ctx, caller, unit.OpMetrics, func(*unit.Unit) error { return nil })
}

// PostedBy returns the runs that posted messages, by the messages' ids. Messages that no run has posted are left out. Only the
// hub's own process calls it.
func (s *Service) PostedBy(ctx context.Context, messages []string) (map[string]parley.Run, error) {
	runs := map[string]parley.Run{}
	err := s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		for _, id := range messages {
			r, err := u.Runs().PostedBy(id)
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
