package upkeep

import (
	"context"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Status returns the state of the hub.
func (s *Service) Status(ctx context.Context, caller unit.Caller) (parley.HubStatus, error) {
	status := s.Config.About
	status.StartedAt, status.Alerts, status.NotReady = s.Started, s.alerts.Alerts.List(), s.Readiness(ctx)
	if s.Config.UnknownClients != nil {
		status.UnknownClients = s.Config.UnknownClients()
	}
	if s.Config.ClientProcesses != nil {
		status.ClientProcesses = s.Config.ClientProcesses()
	}
	err := s.View(ctx, caller, unit.OpStatus, func(u *unit.Unit) (err error) {
		if !u.SeesAll() {
			status.Home, status.UnknownClients, status.ClientProcesses = "", nil, nil
			for i, n := range status.NotReady {
				status.NotReady[i] = InPublic(n)
			}
		}
		if status.Totals, err = s.totals.count(u.Counts().Totals); err != nil {
			return err
		}
		_, status.LastEvent, err = u.Log().Bounds()
		return err
	})
	if err != nil {
		return parley.HubStatus{}, err
	}
	if err := s.addDisk(&status); err != nil {
		return parley.HubStatus{}, s.Explain(ctx, caller, err)
	}
	status.AlertGroups = parley.GroupAlerts(status.Alerts)
	return status, nil
}

// addDisk adds the free disk space, and an alert if it is too low and the alert is not raised yet.
func (s *Service) addDisk(status *parley.HubStatus) error {
	free, total, known, err := alerts.DiskSpace(s.Core)
	if err != nil || !known {
		return err
	}
	status.DiskFree, status.DiskTotal = free, total
	if alert := alerts.DiskAlert(free, total); free < alerts.EnoughFree(total) && !s.alerts.Alerts.Has(alert) {
		alert.Since = s.Now()
		status.Alerts = append(status.Alerts, alert)
	}
	return nil
}

const (
	// quickCountTime is how long a count may take that the hub repeats for every request.
	quickCountTime = 5 * time.Millisecond
	// countLifetimeFactor is how many times its own duration the result of a slow count is reused.
	countLifetimeFactor = 100
)

// totals remembers the result of a slow count. So counting takes at most one percent of the time, however many requests come.
type totals struct {
	mu    sync.Mutex
	last  parley.Totals
	until time.Time
}

func (t *totals) count(count func() (parley.Totals, error)) (parley.Totals, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	began := time.Now()
	if began.Before(t.until) {
		return t.last, nil
	}
	counted, err := count()
	if took := time.Since(began); err == nil && took > quickCountTime {
		t.last, t.until = counted, time.Now().Add(countLifetimeFactor*took)
	}
	return counted, err
}
