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

// runsFile is the file in .parley that stores up to which point failed runs were logged.
const runsFile = "runs"

// runLog writes failed runs of the hub's agents into the logs of a tree of channels. Each agent has a log, as if a watcher wrote
// it.
type runLog struct {
	layoutBase
	progress runProgress
}

// runProgress is the point up to which failed runs were logged.
type runProgress struct {
	Added time.Time `json:"added"` // when the bridge was added; the file of another bridge does not count
	UpTo  int64     `json:"up_to"` // a position in the hub's order; 0: unknown
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

// add writes the line for one run.
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

// load reads the progress of an earlier process.
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
	if json.Unmarshal(found.raw, &kept) == nil && kept.Added.Equal(b.CreatedAt) { // otherwise the progress begins anew
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
