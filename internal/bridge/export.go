package bridge

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// longWait is how long the hub may wait for departures before it answers.
const longWait = 20 * time.Second

// writtenFile is a file that a departure was written to.
type writtenFile struct {
	id string    // the id of the departure
	at time.Time // when this process wrote the file; zero if an earlier process did
}

// retries stores when to retry departures that could not be written, by the id of the departure.
type retries map[string]retry

type retry struct {
	at   time.Time
	wait backoff
}

// export writes departures until ctx is done.
func (e *engine) export(ctx context.Context) {
	delayed := retries{}
	after := "" // the last departure of a page that could not be written; the next page follows it
	for wait := backoff(0); ctx.Err() == nil; {
		list, err := e.departures(ctx, after)
		if e.status.setProblem("departures", err) {
			wait.grow(maxHubPause)
			sleep(ctx, time.Duration(wait))
			continue
		}
		wait = 0
		idle := !e.depart(ctx, list, delayed)
		if after == "" && len(list) < batch {
			delayed.keepOnly(list)
		}
		switch {
		case idle && len(list) == batch:
			after = list[batch-1].ID
		case idle && len(delayed) > 0:
			after = ""
			sleep(ctx, e.Poll)
		default:
			after = ""
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// departures returns the next departures. It waits if there are none.
func (e *engine) departures(ctx context.Context, after string) ([]parley.Departure, error) {
	e.mu.Lock()
	channels, channelsCtx := e.channels, e.channelsContext
	e.mu.Unlock()
	if channels == nil { // the first scan is not over yet
		select {
		case <-ctx.Done():
		case <-channelsCtx.Done():
		}
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(channelsCtx, cancel)()
	query := parley.DepartureQuery{Channels: channels, After: after, Limit: batch}
	if after == "" {
		query.Wait = longWait
	}
	list, err := e.hub.Departures(ctx, e.id, query)
	if channelsCtx.Err() != nil {
		return list, nil // the next call uses the new channels
	}
	return list, err
}

// depart writes a list of departures and reports them to the hub. It returns false if it could report none.
func (e *engine) depart(ctx context.Context, list []parley.Departure, delayed retries) bool {
	var reports []parley.DepartureReport
	for _, d := range list {
		if delayed.tooEarly(d.ID, e.now()) {
			continue
		}
		report, err := e.write(ctx, d)
		if err != nil {
			delayed.delay(d.ID, e.now())
			e.status.setProblem("writing", err)
			continue
		}
		delete(delayed, d.ID)
		reports = append(reports, report)
	}
	if len(delayed) == 0 {
		e.status.setProblem("writing", nil)
	}
	if len(reports) == 0 {
		return false
	}
	err := e.hub.Report(ctx, e.id, reports)
	if err != nil {
		for _, r := range reports {
			delayed.delay(r.ID, e.now())
		}
	}
	return !e.status.setProblem("reports", err)
}

// tooEarly reports whether the retry of a departure is not due yet.
func (s retries) tooEarly(id string, now time.Time) bool {
	r, ok := s[id]
	return ok && now.Before(r.at)
}

// keepOnly forgets the departures that are not in the list.
func (s retries) keepOnly(list []parley.Departure) {
	maps.DeleteFunc(s, func(id string, _ retry) bool {
		return !slices.ContainsFunc(list, func(d parley.Departure) bool { return d.ID == id })
	})
}

// delay delays the retry of a departure, longer after each failure.
func (s retries) delay(id string, now time.Time) {
	r := s[id]
	r.wait.grow(maxFilePause)
	r.at = now.Add(time.Duration(r.wait))
	s[id] = r
}

// write writes one departure. It returns an error only for a failure that a retry may fix.
func (e *engine) write(ctx context.Context, d parley.Departure) (parley.DepartureReport, error) {
	raw, err := e.layout.encode(d)
	if err == nil {
		err = e.putDocument(ctx, d, raw)
	}
	if cause := refusalOf(err); cause != nil {
		e.logf("ERROR: cannot write %s: %s", d.Name, cause.Message)
		return parley.DepartureReport{ID: d.ID, State: parley.DepartureFailed, Error: cause}, nil
	}
	if err != nil {
		return parley.DepartureReport{}, err
	}
	e.status.exported.Add(1)
	return parley.DepartureReport{ID: d.ID, State: parley.DepartureWritten}, nil
}

// putDocument puts a document into its folder.
func (e *engine) putDocument(ctx context.Context, d parley.Departure, raw []byte) error {
	dir, name := e.layout.targetFolder(d), d.Name+".json"
	err := e.tree.inMadeFolder(dir, func(f *folder) error {
		_, err := f.stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = e.layout.beforeWrite(ctx, d)
		}
		if err != nil {
			return err
		}
		if err := f.write(name, raw); err == nil || !e.isSameMessage(f, name, raw) {
			return err
		}
		return f.sync()
	})
	if err != nil {
		return err
	}
	if err := e.tree.checkInPlace(); err != nil { // scripts look at the path of the tree, not at the directory that was moved
		return err
	}
	e.mu.Lock()
	e.written[path.Join(dir, name)] = writtenFile{d.ID, e.now()}
	e.mu.Unlock()
	return e.layout.afterWrite(ctx, d)
}

// isSameMessage reports whether an existing file is an earlier version of the same message. Versions differ if the sender's tier
// or the task has changed.
func (e *engine) isSameMessage(f *folder, name string, raw []byte) bool {
	existing, err := f.read(name, documentSize)
	if err != nil {
		return false
	}
	old, err := dialect.Decode(e.dialect, existing.raw)
	if err != nil {
		return false
	}
	wanted, err := dialect.Decode(e.dialect, raw)
	return err == nil && old.Name == wanted.Name && old.From == wanted.From && old.At.Equal(wanted.At)
}

// reportTaken checks the written files and reports those that were taken. It reports the others even if some cannot be
// checked, and returns the first error.
func (e *engine) reportTaken(ctx context.Context) error {
	stillWritten := map[string]writtenFile{}
	var firstErr error
	for after := ""; ; {
		list, err := e.hub.Departures(ctx, e.id, parley.DepartureQuery{Written: true, After: after, Limit: filesPerQuery})
		if err != nil {
			return err
		}
		reports, err := e.takenDepartures(list, stillWritten)
		firstErr = cmp.Or(firstErr, err)
		if len(reports) > 0 {
			if err := e.hub.Report(ctx, e.id, reports); err != nil {
				return err
			}
		}
		if len(list) < filesPerQuery {
			break
		}
		after = list[len(list)-1].ID
	}
	e.keepWritten(stillWritten)
	return firstErr
}

// keepWritten replaces the list of written files, but keeps files of the last minute, which the hub may not know yet.
func (e *engine) keepWritten(stillWritten map[string]writtenFile) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for at, file := range e.written {
		if e.now().Sub(file.at) < time.Minute {
			stillWritten[at] = file
		}
	}
	e.written = stillWritten
}

// takenDepartures returns reports on the files that were taken, and the first error. It adds the other files to stillWritten.
func (e *engine) takenDepartures(list []parley.Departure, stillWritten map[string]writtenFile) (reports []parley.DepartureReport, firstErr error) {
	for _, d := range list {
		taken, err := e.layout.wasTaken(d)
		firstErr = cmp.Or(firstErr, err)
		if taken && err == nil {
			reports = append(reports, parley.DepartureReport{ID: d.ID, State: parley.DepartureSeen})
		} else {
			stillWritten[path.Join(e.layout.targetFolder(d), d.Name+".json")] = writtenFile{id: d.ID}
		}
	}
	return reports, firstErr
}

// reportEviction tells the hub that a file is being deleted to make room. It tells nothing if no departure wrote the file.
func (e *engine) reportEviction(ctx context.Context, at string) error {
	e.mu.Lock()
	file, known := e.written[at]
	delete(e.written, at)
	e.mu.Unlock()
	e.status.evicted.Add(1)
	if !known {
		return nil
	}
	return e.hub.Report(ctx, e.id, []parley.DepartureReport{{ID: file.id, State: parley.DepartureEvicted}})
}
