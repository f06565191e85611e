package hub

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

const (
	leastFree      = 1 << 30
	leastFreeShare = 20 // one in so many bytes
)

// checkDisk raises an alert when the store's disk has little room, and ends it once there is enough again
// to stay so.
func (h *Hub) checkDisk(ctx context.Context) error {
	disk, known := h.store.(parley.Disk)
	if !known {
		return nil
	}
	free, total, err := disk.Space()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	least := enoughFree(total)
	low := free < least
	if h.diskLow {
		low = free <= least+least/5
	}
	if low == h.diskLow {
		return nil
	}
	if low {
		h.config.Log.Warn("the disk is almost full: make room on it, or set a retention; when it is full, nothing more is stored",
			"free", free, "total", total)
	} else {
		h.config.Log.Info("the disk has room again", "free", free, "total", total)
	}
	if err := h.alertDisk(ctx, low, free, total); err != nil {
		return err
	}
	h.diskLow = low // not before: who follows the events must learn of it
	return nil
}

// enoughFree is how many bytes of a disk should be free.
func enoughFree(total int64) int64 { return max(leastFree, total/leastFreeShare) }

func (h *Hub) alertDisk(ctx context.Context, low bool, free, total int64) error {
	state := "off"
	if low {
		state = "on"
	}
	data, err := json.Marshal(map[string]any{"name": "disk", "state": state, "free": free, "total": total})
	if err != nil {
		return err
	}
	return h.update(ctx, Caller{Agent: parley.System}, func(s *scene) error {
		s.note(parley.Event{Kind: parley.EventAlert, Data: data})
		if !low {
			return nil
		}
		return s.tellDisk(free, total)
	})
}
