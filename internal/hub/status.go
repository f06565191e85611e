package hub

import (
	"context"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Status says how the hub is doing.
func (h *Hub) Status(ctx context.Context, caller Caller) (parley.HubStatus, error) {
	status := h.config.About
	status.StartedAt, status.Alerts, status.NotReady = h.started, h.alerts.list(), h.Readiness(ctx)
	if h.config.UnknownClients != nil {
		status.UnknownClients = h.config.UnknownClients()
	}
	err := h.view(ctx, caller, opStatus, func(s *scene) (err error) {
		if !s.seesAll() {
			status.Home, status.UnknownClients = "", nil
			for i, n := range status.NotReady {
				status.NotReady[i] = InPublic(n)
			}
		}
		if status.Totals, err = h.totals.count(s.Counts().Totals); err != nil {
			return err
		}
		_, status.LastEvent, err = s.Log().Bounds()
		return err
	})
	if err != nil {
		return parley.HubStatus{}, err
	}
	if err := h.addDisk(&status); err != nil {
		return parley.HubStatus{}, h.explain(ctx, caller, err)
	}
	status.AlertGroups = parley.GroupAlerts(status.Alerts)
	return status, nil
}

// addDisk adds how much of the disk is free, and says so at once where it is too little.
func (h *Hub) addDisk(status *parley.HubStatus) error {
	free, total, known, err := h.space()
	if err != nil || !known {
		return err
	}
	status.DiskFree, status.DiskTotal = free, total
	if alert := diskAlert(free, total); free < enoughFree(total) && !h.alerts.has(alert) {
		alert.Since = h.now()
		status.Alerts = append(status.Alerts, alert)
	}
	return nil
}

const (
	// quickCount is how long counting may take to be done each time somebody asks.
	quickCount = 5 * time.Millisecond
	// countedFor is how many times as long as it took a slow count holds.
	countedFor = 100
)

// totals remembers what was counted, if counting was slow: so it takes one part in a hundred of the time at
// most, however often somebody asks.
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
	if took := time.Since(began); err == nil && took > quickCount {
		t.last, t.until = counted, time.Now().Add(countedFor*took)
	}
	return counted, err
}
