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

const longWait = 20 * time.Second

// writtenFile is the file of a departure.
type writtenFile struct {
	id string    // of the departure
	at time.Time // when it was written; none: before
}

// retries says when to retry departures that could not be written.
type retries map[string]retry

type retry struct {
	at   time.Time
	wait backoff
}

// export writes departures until ctx is done.
func (e *engine) export(ctx context.Context) {
	waiting := retries{}
	after := "" // what cannot be written at present is passed over, so that the rest goes on
	for wait := backoff(0); ctx.Err() == nil; {
		list, err := e.departures(ctx, after)
		if e.status.trouble("departures", err) {
			wait.grow(hubPause)
			pause(ctx, time.Duration(wait))
			continue
		}
		wait = 0
		idle := !e.depart(ctx, list, waiting)
		if after == "" && len(list) < batch {
			waiting.keepOnly(list)
		}
		switch {
		case idle && len(list) == batch:
			after = list[batch-1].ID
		case idle && len(waiting) > 0:
			after = ""
			pause(ctx, e.Poll)
		default:
			after = ""
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// departures waits for departures.
func (e *engine) departures(ctx context.Context, after string) ([]parley.Departure, error) {
	e.mu.Lock()
	channels, here := e.channels, e.channelsContext
	e.mu.Unlock()
	if channels == nil { // the tree was not looked at yet
		select {
		case <-ctx.Done():
		case <-here.Done():
		}
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(here, cancel)()
	query := parley.DepartureQuery{Channels: channels, After: after, Limit: batch}
	if after == "" {
		query.Wait = longWait
	}
	list, err := e.hub.Departures(ctx, e.id, query)
	if here.Err() != nil {
		return list, nil // it is asked again, with the channels of now
	}
	return list, err
}

// depart writes the departures that it can. It returns false if it could write none.
func (e *engine) depart(ctx context.Context, list []parley.Departure, waiting retries) bool {
	var reports []parley.DepartureReport
	for _, d := range list {
		if waiting.tooEarly(d.ID, e.now()) {
			continue
		}
		report, err := e.write(ctx, d)
		if err != nil {
			waiting.delay(d.ID, e.now())
			e.status.trouble("writing", err)
			continue
		}
		delete(waiting, d.ID)
		reports = append(reports, report)
	}
	if len(waiting) == 0 {
		e.status.trouble("writing", nil)
	}
	if len(reports) == 0 {
		return false
	}
	err := e.hub.Report(ctx, e.id, reports)
	if err != nil {
		for _, r := range reports {
			waiting.delay(r.ID, e.now())
		}
	}
	return !e.status.trouble("reports", err)
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
	r.wait.grow(filePause)
	r.at = now.Add(time.Duration(r.wait))
	s[id] = r
}

// write writes one departure. It returns an error only for a failure that a retry may fix.
func (e *engine) write(ctx context.Context, d parley.Departure) (parley.DepartureReport, error) {
	raw, err := e.layout.encode(d)
	if err == nil {
		err = e.putDocument(ctx, d, raw)
	}
	if why := refusal(err); why != nil {
		e.say("ERROR: %s cannot be written: %s", d.Name, why.Message)
		return parley.DepartureReport{ID: d.ID, State: parley.DepartureFailed, Error: why}, nil
	}
	if err != nil {
		return parley.DepartureReport{}, err
	}
	e.status.exported.Add(1)
	return parley.DepartureReport{ID: d.ID, State: parley.DepartureWritten}, nil
}

// putDocument puts a document into its folder.
func (e *engine) putDocument(ctx context.Context, d parley.Departure, raw []byte) error {
	dir, name := e.layout.place(d), d.Name+".json"
	err := e.tree.inMadeFolder(dir, func(f *folder) error {
		_, err := f.stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = e.layout.before(ctx, d)
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
	if err := e.tree.checkInPlace(); err != nil { // nobody finds it there
		return err
	}
	e.mu.Lock()
	e.written[path.Join(dir, name)] = writtenFile{d.ID, e.now()}
	e.mu.Unlock()
	return e.layout.after(ctx, d)
}

// isSameMessage reports whether an existing file is the same message, written when the sender's tier or the task differed.
func (e *engine) isSameMessage(f *folder, name string, raw []byte) bool {
	there, err := f.read(name, documentSize)
	if err != nil {
		return false
	}
	was, err := dialect.Decode(e.dialect, there.raw)
	if err != nil {
		return false
	}
	is, err := dialect.Decode(e.dialect, raw)
	return err == nil && was.Name == is.Name && was.From == is.From && was.At.Equal(is.At)
}

// reportTaken checks the written files and reports those that were taken. It reports the others even if some cannot be
// checked, and returns the first error.
func (e *engine) reportTaken(ctx context.Context) error {
	there := map[string]writtenFile{}
	var hidden error
	for after := ""; ; {
		list, err := e.hub.Departures(ctx, e.id, parley.DepartureQuery{Written: true, After: after, Limit: askedAtOnce})
		if err != nil {
			return err
		}
		reports, err := e.takenDepartures(list, there)
		hidden = cmp.Or(hidden, err)
		if len(reports) > 0 {
			if err := e.hub.Report(ctx, e.id, reports); err != nil {
				return err
			}
		}
		if len(list) < askedAtOnce {
			break
		}
		after = list[len(list)-1].ID
	}
	e.keepWritten(there)
	return hidden
}

// keepWritten replaces the list of written files, but keeps those of the last minute, which the hub may not know yet.
func (e *engine) keepWritten(there map[string]writtenFile) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for at, l := range e.written {
		if e.now().Sub(l.at) < time.Minute {
			there[at] = l
		}
	}
	e.written = there
}

// takenDepartures returns reports on the files that were taken, and the first error.
func (e *engine) takenDepartures(list []parley.Departure, there map[string]writtenFile) (reports []parley.DepartureReport, hidden error) {
	for _, d := range list {
		taken, err := e.layout.taken(d)
		hidden = cmp.Or(hidden, err)
		if taken && err == nil {
			reports = append(reports, parley.DepartureReport{ID: d.ID, State: parley.DepartureSeen})
		} else {
			there[path.Join(e.layout.place(d), d.Name+".json")] = writtenFile{id: d.ID}
		}
	}
	return reports, hidden
}

// evict tells the hub that a file was deleted to make room.
func (e *engine) evict(ctx context.Context, at string) error {
	e.mu.Lock()
	l, ours := e.written[at]
	delete(e.written, at)
	e.mu.Unlock()
	e.status.evicted.Add(1)
	if !ours {
		return nil
	}
	return e.hub.Report(ctx, e.id, []parley.DepartureReport{{ID: l.id, State: parley.DepartureEvicted}})
}
