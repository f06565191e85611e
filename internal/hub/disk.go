package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-hub/parley"
)

const (
	leastFree      = 1 << 30
	leastFreeShare = 20 // one in so many bytes
)

// checkDisk raises an alert when the store's disk has little room, and ends it once there is enough again
// to stay so.
func (h *Hub) checkDisk(ctx context.Context) error {
	free, total, known, err := h.space()
	if err != nil || !known {
		return err
	}
	alert := diskAlert(free, total)
	least := enoughFree(total)
	low := free < least
	if h.alerts.has(alert) {
		low = free <= least+least/5
	}
	return h.Alert(ctx, alert, low)
}

// space is how much of the store's disk is free, where that can be known.
func (h *Hub) space() (free, total int64, known bool, err error) {
	disk, known := h.store.(parley.Disk)
	if !known {
		return 0, 0, false, nil
	}
	free, total, err = disk.Space()
	if errors.Is(err, errors.ErrUnsupported) {
		return 0, 0, false, nil
	}
	return free, total, true, err
}

func diskAlert(free, total int64) parley.Alert {
	return parley.Alert{
		Name: "disk", Title: "The disk of the hub is almost full",
		Message:    fmt.Sprintf("the disk is almost full: %d MiB of %d are free", free>>20, total>>20),
		Suggestion: "make room on it, or set a retention; when it is full, nothing more is stored",
		Facts:      map[string]any{"free": free, "total": total},
	}
}

// enoughFree is how many bytes of a disk should be free.
func enoughFree(total int64) int64 { return max(leastFree, total/leastFreeShare) }
