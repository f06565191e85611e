package alerts

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const (
	leastFree      = 1 << 30
	leastFreeShare = 20 // one in so many bytes
)

// CheckDisk raises an alert when the disk of the store is almost full. It ends the alert once a fifth more than the minimum is free, so
// that it does not flicker.
func CheckDisk(ctx context.Context, s *Service) error {
	free, total, known, err := DiskSpace(s.Core)
	if err != nil || !known {
		return err
	}
	alert := DiskAlert(free, total)
	enough := EnoughFree(total)
	low := free < enough
	if s.Alerts.Has(alert) {
		low = free <= enough+enough/5
	}
	return s.Alert(ctx, alert, low)
}

// DiskSpace returns how much of the store's disk is free. known is false for a store that cannot tell.
func DiskSpace(core *unit.Core) (free, total int64, known bool, err error) {
	disk, known := core.Store.(storage.Disk)
	if !known {
		return 0, 0, false, nil
	}
	free, total, err = disk.Space()
	if errors.Is(err, errors.ErrUnsupported) {
		return 0, 0, false, nil
	}
	return free, total, true, err
}

// DiskAlert returns the alert about a disk that is almost full.
func DiskAlert(free, total int64) parley.Alert {
	return parley.Alert{
		Name: "disk", Title: "The disk of the hub is almost full",
		Message:    fmt.Sprintf("the disk is almost full: %d MiB of %d are free", free>>20, total>>20),
		Suggestion: "free space on the disk, or set a retention; when the disk is full, the hub stores nothing",
		Facts:      map[string]any{"free": free, "total": total},
	}
}

// EnoughFree returns how many bytes of a disk should be free.
func EnoughFree(total int64) int64 { return max(leastFree, total/leastFreeShare) }
