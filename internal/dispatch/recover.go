package dispatch

import (
	"context"
	"time"
)

// killTime is how long recover waits until the processes of earlier runs have ended.
const killTime = 10 * time.Second

// recover ends the processes of runs of an earlier process of this node, and returns their deliveries to the queue.
// If it fails, the leases of the runs end by themselves.
func (d *Dispatcher) recover(ctx context.Context) {
	lost, err := d.hub.LostRuns(ctx, d.options.Node)
	if err != nil {
		d.options.Log.Warn("cannot find the runs from before the start; the hub retries their messages when their leases end", "error", err)
		return
	}
	if len(lost) == 0 {
		return
	}
	limited, done := context.WithTimeout(ctx, killTime)
	defer done()
	if err := d.options.Processes.Kill(limited, lost); err != nil {
		d.options.Log.Warn("cannot end all processes of runs from before the start; some may still be running", "error", err)
	}
	for _, run := range lost {
		if err := d.hub.RecoverRun(ctx, run.ID); err != nil {
			d.options.Log.Warn("cannot recover a run from before the start; the hub retries its messages when its lease ends", "run", run.ID, "error", err)
		}
	}
	d.options.Log.Info("the hub has recovered the runs from before the start; it retries their messages", "runs", len(lost))
}
