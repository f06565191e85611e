package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Status says how the hub is doing.
func (h *Hub) Status(ctx context.Context, caller Caller) (parley.HubStatus, error) {
	status := h.config.About
	status.StartedAt, status.Alerts = h.started, []parley.Alert{}
	err := h.view(ctx, caller, func(s *scene) (err error) {
		if !s.seesAll() {
			status.Home = ""
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
	return status, nil
}

func (h *Hub) addDisk(status *parley.HubStatus) error {
	disk, known := h.store.(parley.Disk)
	if !known {
		return nil
	}
	free, total, err := disk.Space()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	status.DiskFree, status.DiskTotal = free, total
	if err == nil && free < enoughFree(total) {
		status.Alerts = append(status.Alerts, parley.Alert{
			Name: "disk", Message: fmt.Sprintf("the disk is almost full: %d MiB of %d are free", free>>20, total>>20),
			Suggestion: "make room on it, or set a retention; when it is full, nothing more is stored",
		})
	}
	return err
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
