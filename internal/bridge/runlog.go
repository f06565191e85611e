package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// runsFile is where a tree of channels keeps how far the runs of the hub were looked through.
const runsFile = "runs"

// runLog writes the runs of the hub's agents that have failed into the logs of a tree of channels: one log for each agent, as its watcher
// would.
type runLog struct {
	layoutBase
	progress runProgress
}

// runProgress is how far the event log was read.
type runProgress struct {
	Added time.Time `json:"added"` // when the bridge was; the order of another one, of another hub perhaps, tells nothing
	UpTo  int64     `json:"up_to"` // in the hub's order; 0: not known yet
}

// write logs the runs that failed since the last poll. A crash may repeat a line but loses none.
func (r *runLog) write(ctx context.Context, b parley.Bridge, channels []string) error {
	if err := r.load(b); err != nil {
		return err
	}
	for {
		page, err := r.hub.BridgeTasks(ctx, r.id, r.progress.UpTo)
		if err != nil {
			return err
		}
		lines := 0
		for _, run := range page.FailedRuns {
			if !slices.Contains(channels, run.Channel) {
				continue
			}
			if err := r.add(run); err != nil {
				return err
			}
			lines++
		}
		begun := r.progress.UpTo > 0
		if r.progress.UpTo = max(r.progress.UpTo, page.UpTo); lines > 0 || !begun && r.progress.UpTo > 0 {
			err = r.save()
		}
		if err != nil || !page.More {
			return err
		}
	}
}

// add writes one line.
func (r *runLog) add(run parley.FailedRun) error {
	line := fmt.Sprintf("%s failed in #%s, attempt %d", run.Run, run.Channel, run.Attempt)
	if run.Name != "" {
		line += ", answering " + run.Name
	}
	if run.Error != nil {
		line += fmt.Sprintf(": %s: %s", run.Error.Code, run.Error.Message)
	}
	return r.tree.inMadeFolder("logs", func(f *folder) error {
		return f.appendLine(run.Agent+".log", run.At.UTC().Format(timeFormat)+" ERROR: "+oneLine(line))
	})
}

// load reads how far an earlier process has come.
func (r *runLog) load(b parley.Bridge) error {
	if r.progress.UpTo > 0 {
		return nil
	}
	r.progress.Added = b.CreatedAt
	found, err := r.tree.read(ownFolder+"/"+runsFile, presenceSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept runProgress
	if json.Unmarshal(found.raw, &kept) == nil && kept.Added.Equal(b.CreatedAt) { // else it begins anew
		r.progress.UpTo = kept.UpTo
	}
	return nil
}

func (r *runLog) save() error {
	raw, err := json.Marshal(r.progress)
	if err != nil {
		return err
	}
	return r.tree.inMadeFolder(ownFolder, func(f *folder) error { return f.refresh(runsFile, append(raw, '\n')) })
}
