package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// heartbeat is what the bridge knows of the presence file of a script.
type heartbeat struct {
	digest  string // of what it said when it was last told to the hub
	mtime   time.Time
	gone    bool // it was reported as away
	watcher watcherProcess
}

// watcherProcess is what is known of the process that a presence file names. A file does not say on which machine that is.
type watcherProcess struct {
	alive    int       // the number of the process that was last seen here
	deadAt   time.Time // the time of the file when its process was first found dead
	untraced bool      // the file was renewed after that: its processes are not on this machine
}

// gone reports whether the process that a file names is dead. On a file server only a process that was seen here counts,
// because others may be on another machine. A file that is renewed although its process is dead names a process elsewhere.
func (w *watcherProcess) gone(pid int, mtime time.Time, remote bool) bool {
	switch {
	case pid <= 0:
		return false
	case !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH):
		*w = watcherProcess{alive: pid}
		return false
	case w.untraced || remote && w.alive != pid:
		return false
	case w.deadAt.IsZero():
		w.deadAt = mtime
	case !w.deadAt.Equal(mtime):
		w.untraced = true
	}
	return !w.untraced
}

// presenceFile is a presence file of a script. Fields that cannot be read do not count.
type presenceFile struct {
	state    parley.State
	substate parley.Substate
	at       time.Time // none: it does not say
	pid      int
	interval int64 // in seconds; none: it does not say
}

// parsePresence parses a presence file. It reports false if the file is no JSON object.
func parsePresence(raw []byte) (s presenceFile, ok bool) {
	var said map[string]any
	if json.Unmarshal(dialect.TrimByteOrderMark(raw), &said) != nil || said == nil {
		return s, false
	}
	state, _ := said["state"].(string)
	substate, _ := said["substate"].(string)
	pid, _ := said["watcher_pid"].(float64)
	s = presenceFile{state: parley.State(state), substate: parley.Substate(substate), at: parseTime(said["timestamp"]), pid: int(pid)}
	for _, field := range []string{"interval", "heartbeat_interval"} {
		if s.interval == 0 {
			s.interval = parseSeconds(said[field])
		}
	}
	return s, true
}

// parseTime parses a time as text or as a number of seconds or milliseconds; zero if it cannot.
func parseTime(value any) (at time.Time) {
	const millisFrom = 1e11 // seconds until the year 5138
	switch value := value.(type) {
	case string:
		at, _ = dialect.ParseTime(value)
	case float64:
		if value >= millisFrom {
			value /= 1000
		}
		if value > 0 && value < millisFrom {
			at = time.UnixMilli(int64(value * 1000))
		}
	}
	return at
}

// parseSeconds parses a duration as a number of seconds or as text like 90s; 0 if it cannot.
func parseSeconds(value any) int64 {
	switch value := value.(type) {
	case float64:
		return max(0, int64(min(value, 1<<31)))
	case string:
		length, _ := time.ParseDuration(value)
		return max(0, int64(length/time.Second))
	default:
		return 0
	}
}

// newBeat returns the beat of an agent if something changed: its file was written or is too old, or its process is dead.
func (p *presence) newBeat(f *folder, id string) (parley.Beat, bool) {
	found, err := f.read(id+".json", presenceSize)
	if err != nil {
		p.warnUnreadable(f, id, err)
		return parley.Beat{}, false
	}
	last := p.heartbeats[id]
	said, ok := parsePresence(found.raw)
	if p.warnBroken(id, found, said, ok); !ok {
		said = presenceFile{state: parley.Awake} // it may be being written
	}
	b := parley.Beat{Agent: id, State: said.state, Substate: said.substate, At: said.beatTime(found.mtime.Add(-p.ahead)), Interval: said.interval}
	gone := said.state != parley.Awake || p.now().Sub(b.At) >= b.Lasts() || last.watcher.gone(said.pid, found.mtime, p.tree.remote)
	news := gone != last.gone || ok && (found.digest != last.digest || !found.mtime.Equal(last.mtime))
	if ok || gone {
		last.digest, last.mtime, last.gone = found.digest, found.mtime, gone
	}
	p.heartbeats[id] = last
	if !ok && !gone || !news {
		return parley.Beat{}, false
	}
	if gone {
		b.State, b.Substate = parley.Offline, ""
	}
	return b, true
}

// beatTime returns the time that the file gives, but not later than the file was written.
func (s presenceFile) beatTime(written time.Time) time.Time {
	if s.at.IsZero() || s.at.After(written) {
		return written
	}
	return s.at
}

// warnUnreadable says, once for each state of the file, that a presence file cannot be read.
func (p *presence) warnUnreadable(f *folder, id string, err error) {
	if errors.Is(err, errReplaced) {
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		delete(p.warned, id)
		return
	}
	why := err.Error()
	if refused := refusal(err); refused != nil {
		why = refused.Message
	} else {
		why = presenceDir + "/" + id + ".json: " + why
	}
	d := f.describe(id + ".json")
	p.warnOnce(id, markOf(d.name, d.size, d.mtime), "WARN: the presence file of %s is left alone: %s", id, why)
}

// warnBroken says, once for each state of the file, that a presence file says nothing that counts. One that is no object may still be
// being written for a while.
func (p *presence) warnBroken(id string, f file, said presenceFile, ok bool) {
	m := markOf(f.name, f.size, f.mtime)
	switch {
	case !ok && p.partial[id].of != m:
		p.partial[id] = unfinished{m, p.now()}
	case !ok && p.now().Sub(p.partial[id].since) >= unfinishedFor:
		p.warnOnce(id, m, "WARN: %s is broken: it is no JSON object, and counts for nothing", f.path)
	case ok && said.state != parley.Awake && said.state != parley.Offline:
		p.warnOnce(id, m, "WARN: %s is broken: its state is %q, neither AWAKE nor OFFLINE; it counts as OFFLINE", f.path, string(said.state))
	case ok:
		delete(p.warned, id)
		delete(p.partial, id)
	}
}

// unfinished is a file that could not be parsed, and since when.
type unfinished struct {
	of    mark
	since time.Time
}

// warnOnce logs a problem of a presence file, unless it was the last one logged and the file is unchanged.
func (p *presence) warnOnce(id string, of mark, format string, args ...any) {
	if p.warned[id] == of {
		return
	}
	p.warned[id] = of
	p.say(format, args...)
}
